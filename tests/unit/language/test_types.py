"""Types, constexprs, tuples: what they print, compare and compute."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tritonx.language as tl
from tritonx.frontend.errors import CompilationError
from tritonx.interpreter.function import interpreted
from tritonx.kernel.active import OutsideKernelError
from tritonx.language.types.signatures import str_to_ty
from tritonx.language.types.type_names import element_type
from tritonx.runtime.jit import jit

ELEMENTS = [
    tl.int1, tl.int8, tl.int16, tl.int32, tl.int64, tl.uint8, tl.uint16, tl.uint32, tl.uint64, tl.float8e5,
    tl.float8e5b16, tl.float8e4nv, tl.float8e4b8, tl.float8e4b15, tl.float16, tl.bfloat16, tl.float32, tl.float64,
]  # fmt: skip


def test_names() -> None:
    assert (str(tl.float32), repr(tl.float32), tl.float32.name) == ("fp32", "triton.language.float32", "fp32")
    assert repr(tl.bfloat16) == "triton.language.bfloat16" and repr(tl.int64) == "triton.language.int64"
    assert repr(tl.float8e4nv) == "triton.language.float8e4nv" and str(tl.float8e4nv) == "fp8e4nv"
    assert str(tl.pointer_type(tl.float16)) == "pointer<fp16>"
    assert str(tl.pointer_type(tl.float16, 1, True)) == "const_pointer<fp16>"
    assert str(tl.block_type(tl.int32, [2, 4])) == "<['2', '4'], int32>"
    assert tl.pointer_type(tl.float32).mangle() == "Pfp32" and tl.block_type(tl.int32, [2, 4]).mangle() == "i32S2_4S"


@pytest.mark.parametrize("ty", ELEMENTS, ids=str)
def test_an_element_type_is_one_thing(ty: tl.dtype) -> None:
    assert ty == tl.dtype(ty.name) == tl.constexpr(ty).value and hash(ty) == hash(tl.dtype(ty.name))
    assert pickle.loads(pickle.dumps(ty)) == ty
    assert ty.is_floating() != ty.is_int() and (ty.is_int_signed() + ty.is_int_unsigned() == ty.is_int())
    assert ty.scalar is ty and not ty.is_block() and not ty.is_ptr() and not ty.is_const()
    assert ty.itemsize == ty.primitive_bitwidth // 8
    predicates = [p for p in dir(ty) if p.startswith("is_") and p[3:].strip("u").startswith(("int", "fp", "bf"))]
    exact = {p for p in predicates if p not in ("is_int", "is_int_signed", "is_int_unsigned", "is_fp8")}
    assert {p for p in exact if getattr(ty, p)()} == {f"is_{ty.name}"}
    assert ty.is_fp8() == ty.name.startswith("fp8")
    if ty.is_int():
        low, high = ty.get_int_min_value(), ty.get_int_max_value()
        assert high - low + 1 == 2**ty.int_bitwidth and (low < 0) == ty.is_int_signed()


def test_types_differ() -> None:
    distinct = [*ELEMENTS, *map(tl.pointer_type, ELEMENTS)]
    distinct += [tl.pointer_type(tl.int8, 3), tl.pointer_type(tl.int8, 1, True)]
    distinct += [tl.block_type(tl.int8, [4]), tl.block_type(tl.int8, [4, 1]), tl.block_type(tl.int16, [4])]
    assert len(set(distinct)) == len(distinct)
    assert tl.float32 != "fp32" and tl.int1 != 1


@pytest.mark.parametrize(
    ("shape", "error", "text"),
    [
        ([-3], ValueError, "Shape element 0 must be positive"),
        ([4, 0], ValueError, "Shape element 1 must be positive"),
        ([2**19 + 1, 2], ValueError, "numel \\(2097152\\) exceeds triton maximum tensor numel"),
        ([2**21], ValueError, "exceeds triton maximum tensor numel"),
        ([4.0], TypeError, "must have type `constexpr\\[int\\]`"),
    ],
)
def test_shapes_that_no_block_has(shape: list[Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        tl.block_type(tl.int32, shape)


def test_signature_strings() -> None:
    assert str_to_ty("*fp32") == tl.pointer_type(tl.float32)
    assert str_to_ty("*ki8") == tl.pointer_type(tl.int8, 1, True)
    assert str_to_ty("**i64") == tl.pointer_type(tl.pointer_type(tl.int64))
    assert (str_to_ty("i1"), str_to_ty("u1"), str_to_ty("u64")) == (tl.int1, tl.int1, tl.uint64)
    desc = str_to_ty("tensordesc<fp16[128, 64]>")
    assert desc.block_type == tl.block_type(tl.float16, [128, 64])
    assert [str(t) for t in desc.leaves()[1:]] == ["int32", "int32", "int64", "int64"]
    assert str(str_to_ty(("i32", ("fp32", "constexpr")), [None, [None, 3]])) == "[:int32,:[:fp32,:constexpr_type[3]]]"


# constexpr


@given(st.integers(-50, 50), st.integers(1, 9))
def test_constexpr_arithmetic_is_pythons(a: int, b: int) -> None:
    x, y = tl.constexpr(a), tl.constexpr(b)
    for result, expected in (
        (x + y, a + b), (x - b, a - b), (a * y, a * b), (x / y, a / b), (x // y, a // b), (x % y, a % b),
        (x**y, a**b), (x & y, a & b), (x | y, a | b), (x ^ y, a ^ b), (x << y, a << b), (x >> y, a >> b),
        (-x, -a), (+x, a), (~x, ~a), (x < y, a < b), (x <= b, a <= b), (a > y, a > b), (x >= y, a >= b),
        (x == y, a == b), (x != y, a != b), (x.logical_and(y), a and b), (x.logical_or(y), a or b),
    ):  # fmt: skip
        assert isinstance(result, tl.constexpr) and result.value == expected and type(result.value) is type(expected)
    assert bool(x) == bool(a) and int(x) == a and float(x) == a and [0, 1, 2][tl.constexpr(1)] == 1


def test_constexprs_nest_and_hash() -> None:
    assert tl.constexpr(tl.constexpr(5)).value == 5
    assert hash(tl.constexpr(5)) == hash(tl.constexpr(5)) and {tl.constexpr(5): 1}[tl.constexpr(5)] == 1
    assert repr(tl.constexpr("a")) == "constexpr[a]" and tl.constexpr(5).type == tl.constexpr_type(5)
    assert tl.constexpr(max)(1, 2) == 2 and tl.constexpr([3, 4])[1] == 4 and list(tl.constexpr((1, 2))) == [1, 2]


# tuples


def test_tuples() -> None:
    t = tl.tuple([tl.constexpr(1), tl.constexpr(2), tl.constexpr(3)])
    assert len(t) == 3 and t[0] == 1 and t[-1] == 3 and t[tl.constexpr(1)] == 2
    assert [v.value for v in t[1:]] == [2, 3] and [v.value for v in t[tl.slice(0, None, tl.constexpr(2))]] == [1, 3]
    longer = t + tl.tuple([tl.constexpr(4)])
    assert [v.value for v in longer] == [1, 2, 3, 4] and len(t * 2) == 6
    assert (t == (1, 2, 3)).value is True and (t == tl.tuple([1, 2])).value is False and 2 in t
    assert str(t) == "['constexpr[1]', 'constexpr[2]', 'constexpr[3]']" and t.handles() == []
    with pytest.raises(TypeError, match="'tuple' object does not support item assignment"):
        t[0] = 5


def test_named_tuples_keep_their_names() -> None:
    point = namedtuple("point", ["x", "y"])
    t = tl.tuple(point(tl.constexpr(1), tl.constexpr(2)))
    assert t.y == 2 and t.type.fields == ("x", "y") and str(t.type) == "[x:constexpr_type[1],y:constexpr_type[2]]"
    again = t.type.rebuild(iter([]))
    assert again.x == 1
    with pytest.raises(AttributeError, match="no attribute 'z'"):
        _ = t.z


# outside of kernels


def test_builtins_need_a_kernel() -> None:
    for call in (lambda: tl.exp(1.0), lambda: tl.arange(0, 4), lambda: tl.load(None), lambda: tl.program_id(0)):
        with pytest.raises(OutsideKernelError, match="Did you forget to add @jit"):
            call()
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        tl.sum(1)


def test_importing_the_language_imports_no_ir() -> None:
    heavy = "('xdsl', 'llvmlite', 'numpy')"
    code = f"import tritonx.language, sys; print([m for m in sys.modules if m.split('.')[0] in {heavy}])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_libdevice_names() -> None:
    libdevice = tl.extra.libdevice
    assert len(dir(libdevice)) == 198 and libdevice.tanh is libdevice.tanh and libdevice.tanh.__name__ == "tanh"
    with pytest.raises(AttributeError, match="no attribute 'thanh'"):
        _ = libdevice.thanh


NAMED = {
    "float32": tl.float32,
    "fp32": tl.float32,
    "f32": tl.float32,
    "float16": tl.float16,
    "fp16": tl.float16,
    "bfloat16": tl.bfloat16,
    "bf16": tl.bfloat16,
    "float64": tl.float64,
    "int8": tl.int8,
    "i8": tl.int8,
    "int64": tl.int64,
    "uint16": tl.uint16,
    "u16": tl.uint16,
    "int1": tl.int1,
    "bool": tl.int1,
    "float8e5": tl.float8e5,
    "fp8e4nv": tl.float8e4nv,
    "float8_e4m3fn": tl.float8e4nv,
}


@pytest.mark.parametrize("name", NAMED)
def test_a_dtype_by_its_name(name: str) -> None:
    assert element_type(name) == element_type(tl.constexpr(name)) == NAMED[name]
    assert element_type(NAMED[name]) is NAMED[name]


@jit
def converted(x, o, D: tl.constexpr):
    i = tl.arange(0, 4)
    v = tl.load(x + i).to("int32").to(D) + tl.full((4,), 1, "float32") + tl.cast(i, "fp32")
    tl.store(o + i, v)


def test_conversions_by_name() -> None:
    for kernel in (converted, interpreted(converted)):
        x, o = np.array([1.5, -2.5, 300.25, 0.0], np.float32), np.zeros(4, np.float32)
        kernel[(1,)](x, o, D="float16")
        assert o.tolist() == [2, 0, 303, 4]


@pytest.mark.parametrize("values", [(1.0, float("nan")), (float("nan"), 2), (1.0, -0.0)])
@pytest.mark.parametrize("function", ["min", "max"])
def test_extremes_at_compile_time_take_no_nan_and_no_zero_below_zero(
    function: str, values: tuple[float, float]
) -> None:
    """Python's depend on the order there, and a device's choose otherwise."""

    @jit
    def smallest(a: tl.constexpr, b: tl.constexpr):
        tl.static_print(min(a, b))

    @jit
    def largest(a: tl.constexpr, b: tl.constexpr):
        tl.static_print(max(a, b))

    kernel = smallest if function == "min" else largest
    with pytest.raises(CompilationError, match=r"min and max of compile-time values take no (nan|-0.0)"):
        kernel.warmup(*values, grid=(1,))


def test_address_spaces_have_words() -> None:
    assert tl.pointer_type(tl.float32, "global") == tl.pointer_type(tl.float32)
    assert tl.pointer_type(tl.float32, tl.constexpr("constant")).address_space == 4
    with pytest.raises(ValueError, match="unknown address space 'shared', there are global, descriptor, constant"):
        tl.pointer_type(tl.float32, "shared")
