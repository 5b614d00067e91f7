"""Objects of LLVM text that a user gave: what our own linker cannot place is linked by LLVM, first in a helper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.cpu import loader
from tritonx.runtime.devices import elf
from tritonx.runtime.errors import TritonError
from tritonx.runtime.isolation import pool as pools
from tritonx.runtime.isolation.helper import HelperFailure


@tritonx.jit
def fill(x, n):
    tl.store(x, n)


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``fill`` launched with LLVM text made of its own by a function; what it stored."""
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TRITONX_ISOLATE", raising=False)

    def launch(change: Any) -> int:
        x = np.zeros(1, np.int32)
        compiled: Any = fill.warmup(x, 5, grid=(1,))
        assert compiled.metadata.foreign is False
        path = tmp_path / "given.llir"
        path.write_text(change(compiled.asm["llir"]))
        assert path.read_text() != compiled.asm["llir"]
        fill[(1,)](x, 5, ir_override=str(path))
        return int(x[0])

    return launch


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes in which an object was linked by LLVM before it was here."""
    seen: list[int] = []
    known = loader._try_elsewhere  # pyright: ignore[reportPrivateUsage]

    def asked(binary: bytes, reason: str) -> None:
        known(binary, reason)
        seen.extend(pools.pool().pids())

    monkeypatch.setattr(loader, "_try_elsewhere", asked)
    return seen


def six(text: str) -> str:
    return text.replace("store i32 %arg1", "store i32 6", 1)


def calling_nothing(text: str) -> str:
    text = text.replace("entry:\n", "entry:\n  call void @nowhere_to_be_found()\n", 1)
    return text + "\ndeclare void @nowhere_to_be_found()\n"


def test_text_that_our_linker_takes_needs_no_other(given: Any, tried: list[int]) -> None:
    assert given(six) == 6
    assert bool(tried) is not elf.supported()


def test_what_our_linker_does_not_take_is_tried_in_a_helper(
    given: Any, tried: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elf, "supported", lambda: False)
    assert given(six) == 6
    assert tried and os.getpid() not in tried


def test_our_own_objects_are_not(tried: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(elf, "supported", lambda: False)
    x = np.zeros(1, np.int32)
    fresh = tritonx.jit(fill.fn)
    fresh[(1,)](x, 7)
    assert x[0] == 7 and not tried


def test_a_symbol_that_is_nowhere_is_an_error(given: Any) -> None:
    with pytest.raises(TritonError, match=r"cannot be linked; .*nowhere_to_be_found"):
        given(calling_nothing)


def test_a_death_in_the_linker_is_an_error(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if LLVM's linker ended its process over the object."""

    known = pools.Pool.run

    def dies(pool: Any, function: str, *rest: Any) -> Any:
        if function.endswith(":try_to_link"):
            raise HelperFailure("LLVM ended its process by SIGABRT", "symbols")
        return known(pool, function, *rest)

    monkeypatch.setattr(elf, "supported", lambda: False)
    monkeypatch.setattr(pools.Pool, "run", dies)
    with pytest.raises(TritonError, match=r"SIGABRT"):
        given(six)
