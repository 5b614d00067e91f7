"""What the wheel's backends take where a launch says nothing."""

from __future__ import annotations

import importlib

import pytest

from tritonx.backends.registry import parse_target

compiler = pytest.importorskip("triton.backends.compiler")
KINDS = {"cuda": ("nvidia", "CUDABackend"), "hip": ("amd", "HIPBackend")}


@pytest.mark.parametrize("name", ["cuda:80", "hip:gfx942"])
def test_they_are_those_of_triton(name: str) -> None:
    backend, target = parse_target(name)
    options = backend.parse_options(target, {})
    chip = compiler.GPUTarget(target.backend, target.arch, target.warp_size)
    vendor, kind = KINDS[target.backend]
    theirs = getattr(importlib.import_module(f"triton.backends.{vendor}.compiler"), kind)(chip).parse_options({})
    for option in ("num_warps", "num_stages", "num_ctas"):
        assert getattr(options, option) == getattr(theirs, option), option
