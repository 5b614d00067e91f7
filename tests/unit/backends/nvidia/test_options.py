"""Targets and options that are wrong are errors with the right ones."""

from __future__ import annotations

from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Target
from tritonx.backends.nvidia import BACKEND
from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx.runtime.errors import PTXASError


@pytest.mark.parametrize("arch", ["", "75", "80", "86", "89", "90", "100", "120"])
def test_targets(arch: str) -> None:
    target = BACKEND.parse_target(arch)
    assert target.backend == "cuda"
    assert target.warp_size == 32
    assert BACKEND.binary_stage == BACKEND.stages(target, BACKEND.parse_options(target, {}))[-1].name


@pytest.mark.parametrize("arch", ["beans", "42", "999", "-1"])
def test_unknown_targets_are_named_with_the_known_ones(arch: str) -> None:
    with pytest.raises(ValueError, match=r"known are .*80"):
        BACKEND.parse_target(arch)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"num_warps": 3}, "power of 2"),
        ({"num_warps": 0}, "power of 2"),
        ({"num_warps": 64}, "threads, Required: 2048, Hardware limit: 1024"),
        ({"num_ctas": 3}, "power of two"),
        ({"num_ctas": 2}, "num_ctas > 1 requires"),
    ],
)
def test_impossible_options(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        BACKEND.parse_options(BACKEND.parse_target("80"), given)


def test_unknown_options() -> None:
    with pytest.raises(KeyError, match="beans"):
        BACKEND.parse_options(BACKEND.parse_target("80"), {"beans": 1})


@pytest.mark.parametrize("arch", ["75", "80", "90"])
def test_fp8_formats_are_there_everywhere(arch: str) -> None:
    """Where the hardware has no conversion, integer arithmetic does it."""
    options = BACKEND.parse_options(BACKEND.parse_target(arch), {})
    assert {"fp8e4nv", "fp8e5"} <= set(options.supported_fp8_dtypes)


OVERLOADS = tl.constexpr({(tl.float32,): ("no_such_function", tl.float32)})


@tl.core.extern
def no_such_function(x, _semantic=None):
    return tl.core.extern_elementwise("", "", [x], OVERLOADS.value, True, _semantic=_semantic)


@tritonx.jit
def unknown_function(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + i, no_such_function(x))


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
def test_a_function_that_no_library_has(compiler: Any) -> None:
    with pytest.raises(PTXASError, match="no_such_function"):
        compiler(unknown_function, "90", {"x_ptr": "*fp32"}, {"N": 128})


@tritonx.jit
def exponential(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tl.exp(tl.load(x_ptr + i)))


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
def test_fp64_functions_come_from_the_device_library(compiler: Any) -> None:
    made = compiler(exponential, "90", {"x_ptr": "*fp64"}, {"N": 128})
    assert made.metadata["spills"] == 0
    assert ".extern .func" not in made.ptx


def test_a_target_of_other_warps_is_refused() -> None:
    """Code for it would leave most of the threads without elements, or two with the same."""
    with pytest.raises(ValueError, match="a warp of cuda:90 has 32 threads, the target says 1"):
        BACKEND.parse_options(Target("cuda", 90), {})
