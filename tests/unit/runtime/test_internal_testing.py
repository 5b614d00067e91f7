"""What tests of libraries take from ``triton._internal_testing``."""

from __future__ import annotations

import os
from typing import Any

import pytest

import tritonx
from tritonx import _internal_testing as testing


def test_fresh_settings_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "/somewhere")
    monkeypatch.delenv("TRITONX_CACHE_DIR", raising=False)
    tritonx.knobs.compilation.listener = print
    fresh, restore = testing._fresh_knobs_impl()
    knobs: Any = fresh()
    assert knobs is tritonx.knobs
    assert knobs.compilation.listener is None and "TRITON_CACHE_DIR" not in os.environ
    knobs.runtime.debug = True
    restore()
    assert tritonx.knobs.compilation.listener is print and os.environ["TRITON_CACHE_DIR"] == "/somewhere"
    assert not tritonx.knobs.runtime.debug
    tritonx.knobs.compilation.reset()


def test_the_target_here() -> None:
    target = testing.get_current_target()
    assert target is not None
    assert testing.is_cuda() == (target.backend == "cuda") and not testing.is_interpreter()
    assert not testing.is_hopper() or testing.is_hopper_or_newer()
