"""What folding computes is what the interpreter computes, for every op that folds of constants: pairs of 8-bit integers
whole, wider ones and floats at the edges of their types and where they are drawn.

Folding has Python's numbers and the interpreter NumPy's arrays (`tritonx.ir.fold` says why)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block

from tritonx.dialects import arith
from tritonx.interpreter.meanings import meaning_of
from tritonx.ir.builder import Builder
from tritonx.ir.fold import Constant, constant_of, fold
from tritonx.ir.fold.casts import CAST_RULES
from tritonx.ir.fold.floating import FLOAT_RULES
from tritonx.ir.fold.integer import INTEGER_RULES
from tritonx.ir.types import bf16, f16, f32, f64, i1, i8, i16, i32, i64

SEED = int(os.environ["TRITONX_SEED"])
INTEGERS: dict[Any, Any] = {i1: np.bool_, i8: np.int8, i16: np.int16, i32: np.int32, i64: np.int64}
FLOATS: dict[Any, Any] = {f16: np.float16, bf16: ml_dtypes.bfloat16, f32: np.float32, f64: np.float64}
DTYPES = INTEGERS | FLOATS
SOME = 12
"""Drawn values of a type, beside its edges."""


def values_of(type_: Any) -> Any:
    """All values of a narrow type; of a wider one its edges and some that are drawn."""
    dtype = np.dtype(DTYPES[type_])
    if type_ is i1:
        return np.array([False, True])
    if type_ is i8:
        return np.arange(-128, 128).astype(np.int8)
    random = Random(f"{SEED} {type_}")
    bits = dtype.itemsize * 8
    drawn = np.array([random.getrandbits(bits) for _ in range(SOME)], f"u{dtype.itemsize}").view(dtype)
    if type_ in INTEGERS:
        few = [
            0,
            1,
            -1,
            2,
            3,
            bits - 1,
            bits,
            -bits,
            127,
            -128,
            -(1 << bits - 1),
            1 - (1 << bits - 1),
            (1 << bits - 1) - 1,
        ]
        return np.concatenate([np.array(few, dtype), drawn])
    tiny = np.array([1], f"u{dtype.itemsize}").view(dtype)[0]
    few = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -3.0, np.inf, -np.inf, tiny, float(ml_dtypes.finfo(dtype).max)]
    kept = drawn[~np.isnan(drawn.astype(np.float64))]
    return np.concatenate([np.array(few).astype(dtype), kept])


def bits_of(x: Any) -> Any:
    return x if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def differences(
    cls: Any, types: Sequence[Any], result: Attribute, properties: Mapping[str, Attribute]
) -> tuple[list[str], int]:
    """The operands for which folding and the meaning differ; how many it folded."""
    block = Block(arg_types=types)
    builder = Builder(block)
    op = cls.create(operands=block.args, result_types=(result,), properties=dict(properties))
    meaning = meaning_of(cls)
    assert meaning is not None, f"{cls.name} has no meaning"
    held = [values_of(type_) for type_ in types]
    columns = [column.ravel() for column in np.meshgrid(*held, indexing="ij")]
    with np.errstate(all="ignore"):
        expected = np.asarray(meaning(op, None)(*columns))  # pyright: ignore[reportArgumentType] -- no regions, no state
    wanted = bits_of(expected.astype(DTYPES[result])).tolist()
    constants = [[builder.constant(each.item() if t in INTEGERS else float(each), t) for each in column]
                 for column, t in zip(held, types, strict=True)]  # fmt: skip
    wrong: list[str] = []
    count = 0
    for operands, bits in zip(product(*constants), wanted, strict=True):
        folded = fold(cls, operands, result, properties)
        if folded is None:
            continue
        count += 1
        found = folded.value if isinstance(folded, Constant) else constant_of(folded)
        if bits_in(found, result) != bits:
            shown = ", ".join(str(constant_of(each)) for each in operands)
            wrong.append(f"{cls.name} of {shown}: {found} folded, {bits:#x} by meaning")
    return wrong, count


def bits_in(found: Any, type_: Any) -> int:
    """A number that folding gives, whatever multiple of the width it has more, as the type holds it."""
    if type_ in INTEGERS:
        return int(found) & (1 << type_.width.data) - 1
    return int(bits_of(np.array([found]).astype(DTYPES[type_]))[0])


def check(cls: Any, types: Sequence[Any], result: Any, **properties: Attribute) -> None:
    wrong, count = differences(cls, types, result, properties)
    assert not wrong, f"seed {SEED}: {len(wrong)}, the first {wrong[0]}"
    assert count, "nothing was folded"


def number(value: int) -> IntegerAttr[Any]:
    return IntegerAttr(value, 64)


def named(ops: Sequence[Any]) -> dict[str, Any]:
    """Parameters of a test: ops, by their names."""
    return {"argvalues": ops, "ids": [op.name for op in ops]}


@pytest.mark.parametrize("type_", INTEGERS, ids=str)
@pytest.mark.parametrize("op", **named([op for op in INTEGER_RULES if op is not arith.CmpiOp]))
def test_integers(op: Any, type_: Any) -> None:
    if type_ is i1 and op.name in ("tt.mulhiui", "math.absi"):
        pytest.skip("of numbers alone")
    check(op, [type_] * (1 if op.name == "math.absi" else 2), type_)


@pytest.mark.parametrize("type_", INTEGERS, ids=str)
@pytest.mark.parametrize("predicate", range(10))
def test_comparisons_of_integers(predicate: int, type_: Any) -> None:
    check(arith.CmpiOp, [type_, type_], i1, predicate=number(predicate))


ONE_FLOAT = ("arith.negf", "math.absf", "math.floor", "math.ceil", "math.sqrt", "tt.precise_sqrt")


@pytest.mark.parametrize("type_", FLOATS, ids=str)
@pytest.mark.parametrize("op", **named([op for op in FLOAT_RULES if op is not arith.CmpfOp]))
def test_floats(op: Any, type_: Any) -> None:
    check(op, [type_] * (1 if op.name in ONE_FLOAT else 2), type_)


@pytest.mark.parametrize("type_", FLOATS, ids=str)
@pytest.mark.parametrize("predicate", range(16))
def test_comparisons_of_floats(predicate: int, type_: Any) -> None:
    check(arith.CmpfOp, [type_, type_], i1, predicate=number(predicate))


def _width(type_: Any) -> int:
    return 1 if type_ is i1 else np.dtype(DTYPES[type_]).itemsize * 8


CASTS = [
    *((op, a, b) for op in (arith.ExtSIOp, arith.ExtUIOp) for a in INTEGERS for b in INTEGERS if _width(a) < _width(b)),
    *((arith.TruncIOp, a, b) for a in INTEGERS for b in INTEGERS if _width(a) > _width(b)),
    *((arith.ExtFOp, a, b) for a in FLOATS for b in FLOATS if _width(a) < _width(b)),
    *((arith.TruncFOp, a, b) for a in FLOATS for b in FLOATS if _width(a) > _width(b)),
    *((op, a, b) for op in (arith.SIToFPOp, arith.UIToFPOp) for a in INTEGERS for b in FLOATS),
    *((op, a, b) for op in (arith.FPToSIOp, arith.FPToUIOp) for a in FLOATS for b in INTEGERS if b is not i1),
    *((arith.BitcastOp, a, b) for a in DTYPES for b in DTYPES if a is not b and _width(a) == _width(b)),
]


@pytest.mark.parametrize("case", CASTS, ids=lambda case: f"{case[0].name}-{case[1]}-{case[2]}")
def test_casts(case: tuple[Any, Any, Any]) -> None:
    op, source, target = case
    check(op, [source], target)


def test_every_cast_is_compared() -> None:
    """But for pointers, which are no numbers, and conversions with a rounding mode (`test_fold`)."""
    left_out = {"arith.index_cast", "tt.bitcast", "tt.fp_to_fp", "tt.int_to_ptr", "tt.ptr_to_int"}
    assert {op.name for op in CAST_RULES} == {op.name for op, _, _ in CASTS} | left_out
