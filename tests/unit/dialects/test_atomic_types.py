"""Which atomics there are: the verifiers take what the front end writes, which is what Triton's lets through
(tests/peer/test_both_frontends.py), and what descriptors' reductions become, and no more; every one of them has code on
every target."""

from __future__ import annotations

import io

import pytest
from xdsl.ir import Attribute, Block
from xdsl.utils.exceptions import VerifyException

import tritonx.language as tl
from tritonx.backends.api import Options, Target
from tritonx.dialects.tile import AtomicCASOp, AtomicRMWOp, MemSemantic, MemSyncScope, RMWOp
from tritonx.frontend.semantics import Semantics, ir_type
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.ir import types
from tritonx.ir.builder import Builder
from tritonx.language.values import tensor
from tritonx.tools import opt

NAMES = ("add", "max", "min", "and", "or", "xor", "xchg", "cas")
DTYPES = [getattr(tl, name) for name in (
    "int1", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float8e4nv", "float8e5", "float8e4b15", "float8e4b8", "float8e5b16", "float16", "bfloat16", "float32", "float64",
)]  # fmt: skip
ELEMENTS = (types.i1, types.i4, types.i8, types.i16, types.i32, types.i64, *types.FLOAT_BITS, types.pointer(types.i32))
ORDER = {"sem": enum_attribute(MemSemantic.RELAXED), "scope": enum_attribute(MemSyncScope.GPU)}
TARGETS = ("cuda:75", "cuda:90", "hip:gfx942", "hip:gfx1100", "cpu")


def kind_of(op: AtomicRMWOp | AtomicCASOp) -> str:
    return RMWOp(op.atomic_rmw_op.value.data).keyword if isinstance(op, AtomicRMWOp) else "cas"


def written(name: str, element: tl.dtype) -> set[tuple[str, Attribute]]:
    """(kind, element type) of the ops that `tl.atomic_<name>` becomes on pointers to a dtype."""
    block = Block()
    semantics = Semantics(Builder(block), Options(debug=True), Target("cpu"))
    pointer, value = (tensor(Block(arg_types=[ir_type(t)]).args[0], t) for t in (tl.pointer_type(element), element))
    operands = (pointer, value, value) if name == "cas" else (pointer, value)
    try:
        getattr(tl, f"atomic_{name}")(*operands, _semantic=semantics)
    except (ValueError, TypeError):
        return set()
    found = [op for op in block.ops if isinstance(op, AtomicRMWOp | AtomicCASOp)]
    assert found
    return {(kind_of(op), op.val.type) for op in found}


REDUCED = {(name, element) for name in ("max", "min") for element in (types.f16, types.bf16)}
"""Of these the front end writes reductions through descriptors alone."""


def accepted(kind: RMWOp | None, element: Attribute) -> bool:
    pointer, value = Block(arg_types=[types.pointer(element), element]).args
    if kind is None:
        op = AtomicCASOp.create(operands=[pointer, value, value], result_types=[element], properties=ORDER)
    else:
        properties = {**ORDER, "atomic_rmw_op": enum_attribute(kind)}
        op = AtomicRMWOp.create(operands=[pointer, value], result_types=[element], properties=properties)
    try:
        op.verify()
    except VerifyException:
        return False
    return True


KINDS = {kind.keyword: kind for kind in RMWOp} | {"cas": None}
TAKEN = {(name, element) for name, kind in KINDS.items() for element in ELEMENTS if accepted(kind, element)}


def test_the_verifiers_take_what_the_front_end_writes():
    pointers = tl.pointer_type(tl.int32)
    found = set().union(*(written(name, element) for name in NAMES for element in (*DTYPES, pointers)))
    assert not found & REDUCED
    assert found | REDUCED == TAKEN
    assert len(TAKEN) > 20


@pytest.mark.parametrize("target", TARGETS)
def test_each_has_code(target):
    for name, element in sorted(TAKEN, key=str):
        operands = "%p, %v, %v" if name == "cas" else "%p, %v"
        op = "atomic_cas" if name == "cas" else f"atomic_rmw {name},"
        pointer = f"!tt.ptr<{element}>"
        given = pointer + f", {element}" * operands.count("%v")
        text = (
            f"tt.func public @k(%p: {pointer}, %v: {element}) {{\n"
            f"  %0 = tt.{op} relaxed, gpu, {operands} : ({given}) -> {element}\n"
            f"  tt.store %p, %0 : {pointer}\n  tt.return\n}}\n"
        )
        said = io.StringIO()
        made = io.StringIO()
        code = opt.run(["--target", target, "-t", "llir"], stdin=io.BytesIO(text.encode()), stdout=made, stderr=said)
        assert code == 0, said.getvalue()
        found = (word in made.getvalue() for word in ("atomicrmw", "cmpxchg", "atom.global", ".global.cas"))
        assert any(found), made.getvalue()
