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
from tritonx.dialects.tile import (
    AtomicCASOp,
    AtomicLoadOp,
    AtomicPollOp,
    AtomicRMWOp,
    AtomicStoreOp,
    MemSemantic,
    MemSyncScope,
    RMWOp,
)
from tritonx.frontend.semantics import Semantics, ir_type
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.ir import types
from tritonx.ir.builder import Builder
from tritonx.language.values.tensor import tensor
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


ACCESSES = ("load", "store", "poll")
FLOAT8 = ("fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16")
NEW = {"load": AtomicLoadOp, "store": AtomicStoreOp, "poll": AtomicPollOp}


def written_access(name: str, element: tl.dtype) -> set[tuple[str, Attribute]]:
    """(name, element type) of the op that `tl.atomic_<name>` becomes on pointers to a dtype."""
    block = Block()
    semantics = Semantics(Builder(block), Options(debug=True, supported_fp8_dtypes=FLOAT8), Target("cpu"))
    pointer, value = (tensor(Block(arg_types=[ir_type(t)]).args[0], t) for t in (tl.pointer_type(element), element))
    try:
        getattr(tl, f"atomic_{name}")(*((pointer,) if name == "load" else (pointer, value)), _semantic=semantics)
    except ValueError:
        return set()
    (op,) = (op for op in block.ops if isinstance(op, NEW[name]))
    pointee = types.pointee_of(op.operands[0].type)
    return {(name, pointee)}


def accepted_access(name: str, element: Attribute, sem: MemSemantic = MemSemantic.RELAXED) -> bool:
    pointer, value = Block(arg_types=[types.pointer(element), element]).args
    results = {"load": [element], "store": [], "poll": [types.i1]}[name]
    operands = [pointer] if name == "load" else [pointer, value]
    properties = {**ORDER, "sem": enum_attribute(sem)}
    try:
        NEW[name].create(operands=operands, result_types=results, properties=properties).verify()
    except VerifyException:
        return False
    return True


TAKEN_ACCESSES = {(n, e) for n in ACCESSES for e in ELEMENTS if accepted_access(n, e)}


def test_the_verifiers_take_the_accesses_that_the_front_end_writes() -> None:
    """int1 is a byte in memory, and so is fp8e4b15 in the IR; its type is of another float."""
    pointers = tl.pointer_type(tl.int32)
    found = set().union(*(written_access(name, element) for name in ACCESSES for element in (*DTYPES, pointers)))
    other = {(name, types.f8E4M3B11FNUZ) for name in ("load", "store")}
    assert not found & other
    assert found | other == TAKEN_ACCESSES
    assert len(TAKEN_ACCESSES) == 2 * (4 + len(types.FLOAT_BITS)) + 3


@pytest.mark.parametrize("name", ACCESSES)
def test_orders_of_accesses(name: str) -> None:
    taken = {sem for sem in MemSemantic if accepted_access(name, types.i32, sem)}
    assert taken == {MemSemantic.RELAXED, MemSemantic.RELEASE if name == "store" else MemSemantic.ACQUIRE}


@pytest.mark.parametrize("target", TARGETS)
def test_each_access_has_code(target: str) -> None:
    """In both orders, under a mask and without one; a poll with a timeout and without."""
    for name, element in sorted(TAKEN_ACCESSES, key=str):
        pointer, order = f"!tt.ptr<{element}>", "release" if name == "store" else "acquire"
        lines = {
            "load": [
                f"%0 = tt.atomic_load relaxed, gpu, %p, %m : ({pointer}, i1) -> {element}",
                f"%1 = tt.atomic_load {order}, sys, %p : ({pointer}) -> {element}",
                f"tt.store %q, %1 : {pointer}",
            ],
            "store": [
                f"tt.atomic_store relaxed, cta, %p, %v, %m : {pointer}",
                f"tt.atomic_store {order}, gpu, %p, %v : {pointer}",
            ],
            "poll": [
                f"%0 = tt.atomic_poll relaxed, gpu, %p, %v timeout %t : {pointer}, {element} -> i1",
                f"%1 = tt.atomic_poll {order}, sys, %p, %v : {pointer}, {element} -> i1",
                f"tt.atomic_store relaxed, gpu, %q, %v, %0 : {pointer}",
            ],
        }[name]
        parameters = f"%p: {pointer}, %q: {pointer}, %v: {element}, %m: i1, %t: i64"
        text = f"tt.func public @k({parameters}) {{\n" + "\n".join(lines) + "\ntt.return\n}\n"
        made, said = io.StringIO(), io.StringIO()
        code = opt.run(["--target", target, "-t", "llir"], stdin=io.BytesIO(text.encode()), stdout=made, stderr=said)
        assert code == 0, said.getvalue()
        words = ("store atomic", "st.relaxed.cta") if name == "store" else ("load atomic", "ld.relaxed.gpu")
        assert any(word in made.getvalue() for word in words), made.getvalue()
