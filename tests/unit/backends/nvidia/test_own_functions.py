"""Where libdevice is missing, functions of our own stand in for those that it shares with `conversion.mathlib`."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.libdevice import device_library
from tritonx.backends.nvidia.libdevice.own_functions import table
from tritonx.conversion.mathlib.doubles.table import FUNCTIONS


@tritonx.jit
def applied(x_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, F(tl.load(x_ptr + i)))


@tritonx.jit
def applied_to_two(x_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, F(tl.load(x_ptr + i), tl.load(x_ptr + N + i)))


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_library, "_search", lambda given: None)


NAMES = sorted(name for name, (_, arity, _) in FUNCTIONS.items() if arity < 3 and name not in ("ldexp", "remainder"))


@pytest.mark.parametrize("dtype", ["fp64", "fp32"])
@pytest.mark.parametrize("name", NAMES[::7])
def test_they_stand_in_and_nothing_is_fused(compiler: Any, name: str, dtype: str) -> None:
    """Products that the assembler may fuse with a sum have no rounding in their name."""
    if name not in dir(tl.extra.libdevice):
        pytest.skip("no function of tl.extra.libdevice")
    kernel = applied if FUNCTIONS[name][1] == 1 else applied_to_two
    constants = {"F": getattr(tl.extra.libdevice, name), "N": 128}
    text = compiler(kernel, "90", {"x_ptr": f"*{dtype}"}, constants, until="ptx").ptx
    assert "__nv_" not in text and ".extern .func" not in text
    assert not re.search(r"\b(mul|add|sub)\.f64", text)


def test_the_language(compiler: Any) -> None:
    for name in ("exp", "exp2", "log", "log2", "sin", "cos", "erf", "rsqrt"):
        constants = {"F": getattr(tl, name), "N": 128}
        text = compiler(applied, "90", {"x_ptr": "*fp64"}, constants, until="ptx").ptx
        assert "__nv_" not in text and ".extern .func" not in text, name


def test_what_has_none_names_the_package(compiler: Any) -> None:
    assert "__nv_jn" not in table()
    with pytest.raises(FileNotFoundError, match=r"libdevice\.10\.bc.*pip install nvidia-nvvm"):
        compiler(applied, "90", {"x_ptr": "*fp64"}, {"F": tl.extra.libdevice.rcp_rd, "N": 128}, until="ptx")
