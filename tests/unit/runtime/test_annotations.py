"""What a parameter's annotation says of its type, and what a launch then makes of the argument."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.kernel.params import KernelParam

SPELLINGS: list[tuple[object, str]] = [
    (int, "i32"), ("int", "i32"), (float, "fp32"), (bool, "u1"), ("tl.uint1", "u1"), ("int32_t", "i32"),
    ("half", "fp16"), ("double", "fp64"), (tl.bfloat16, "bf16"), (tl.float8e5, "fp8e5"), ("*fp32", "*fp32"),
    ("tl.float16*", "*fp16"), ("const *int8", "*ki8"), (tl.pointer_type(tl.int8), "*i8"),
    ("torch.Tensor", ""), (tl.const, ""), (tl.constexpr, ""),
]  # fmt: skip


def param(annotation: object) -> KernelParam:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return KernelParam(0, inspect.Parameter("x", kind, annotation=annotation), False, False)


@pytest.mark.parametrize(("annotation", "type_"), SPELLINGS)
def test_spellings(annotation: object, type_: str) -> None:
    assert param(annotation).annotation_type == type_


def test_a_number_is_not_const() -> None:
    with pytest.raises(TypeError, match="only what a pointer points to is const"):
        assert param("const int").annotation_type


@pytest.mark.peer
@pytest.mark.parametrize("annotation", [a for a, _ in SPELLINGS])
def test_spellings_are_tritons(annotation: Any) -> None:
    """Of a pointer to what is only read, Triton says that as well."""
    jit = pytest.importorskip("triton.runtime.jit")
    theirs: Any = pytest.importorskip("triton.language")
    if isinstance(annotation, tl.pointer_type):
        annotation, given = theirs.pointer_type(theirs.int8), annotation
    elif isinstance(annotation, tl.dtype):
        annotation, given = getattr(theirs, {"bf16": "bfloat16", "fp8e5": "float8e5"}[annotation.name]), annotation
    else:
        given = annotation
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    other = jit.KernelParam(0, inspect.Parameter("x", kind, annotation=annotation), False, False)
    mine = param(given)
    said = other.annotation_type, other.is_const, other.is_constexpr
    assert (mine.annotation_type, mine.is_const, mine.is_constexpr) == said


@tritonx.jit
def whole(out, n: int):
    tl.store(out, n.to(tl.int64))


@tritonx.jit
def number(out, x: float):
    tl.static_assert(x.dtype == tl.float32)
    tl.store(out, x)


@tritonx.jit
def truth(out, x: bool):
    tl.static_assert(x.dtype == tl.int1)
    tl.store(out, x.to(tl.int32))


@tritonx.jit
def narrow(out, x: tl.int8):
    tl.store(out, x.to(tl.int32))


@pytest.mark.parametrize("value", [1, 16, -5, 2**40, True])
def test_an_int_is_a_value_of_the_kernel(value: int) -> None:
    """Also a 1, which else is a constant; what 32 bits cannot hold has 64."""
    out = np.zeros(1, np.int64)
    compiled = whole[(1,)](out, value)
    assert out[0] == value
    assert f"%n: {'i64' if value > 2**32 else 'i32'}" in compiled.asm["ttir"]


@pytest.mark.parametrize("value", [1, 3, 2.5, True])
def test_a_float_is_one_whatever_is_given(value: float) -> None:
    out = np.zeros(1, np.float32)
    number[(1,)](out, value)
    assert out[0] == value


@pytest.mark.parametrize("value", [True, False, 0, 1, 16])
def test_a_bool_is_a_truth(value: int) -> None:
    out = np.full(1, 7, np.int32)
    truth[(1,)](out, value)
    assert out[0] == bool(value)


def test_what_a_type_cannot_hold_is_refused() -> None:
    out = np.zeros(1, np.int32)
    narrow[(1,)](out, -128)
    assert out[0] == -128
    with pytest.raises(OverflowError, match="300 does not fit i8"):
        narrow[(1,)](out, 300)


def halves(x, out):
    tl.store(out, tl.load(x + 1).to(tl.int32))


halves.__annotations__ = {"x": "*i16"}


def test_a_pointers_type_is_the_annotations() -> None:
    """An array is read as that, and an integer is an address."""
    x, out = np.array([5 << 16 | 9], np.int32), np.zeros(1, np.int32)
    kernel = tritonx.jit(halves)
    kernel[(1,)](x, out)
    assert out[0] == 5
    out[:] = 0
    kernel[(1,)](x.ctypes.data, out)
    assert out[0] == 5
