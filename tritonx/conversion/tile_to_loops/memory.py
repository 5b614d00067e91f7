"""Loads and stores of tiles.

By its formula (index.py) a chunk of addresses is consecutive, strided, or arbitrary:

* consecutive: one vector access, masked where the op has a mask;
* consecutive unless it wraps (`(start + arange) % N`, the common guard of a matrix product): tested at run time, see
  `_wraps`; the chunk falls back to a gather where it does wrap;
* the same in every lane: one scalar access;
* anything else: a gather or scatter.

Masked lanes never touch memory. A tile of i1 is a byte an element. Under a mask without `other` the lanes are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.tile_to_loops import streaming
from tritonx.conversion.tile_to_loops.addresses import element_address, emit_polynomial, evaluate_form
from tritonx.conversion.tile_to_loops.constants import literal
from tritonx.conversion.tile_to_loops.emitter import TRUE, unsupported
from tritonx.conversion.tile_to_loops.index import Form, IndexAtom, Polynomial, ScalarAtom, TensorAtom, varies_along
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.remarks import describe_access
from tritonx.conversion.tile_to_loops.tables import EffectRule, InlineRule, StatementRule
from tritonx.conversion.tile_to_loops.types import memory_type, register_type, type_bytes
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import arith, tile
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import PointerType, element_type, is_tensor

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


_BLOCK_POINTER = "block pointers and descriptors are rewritten to pointers before this (pass 'rewrite-descriptors')"


@dataclass(frozen=True)
class Chunk:
    """Addresses of a chunk: consecutive from ``pointer`` (``pointers`` None), or one a lane in the vector ``pointers``.

    With ``consecutive`` set, that i1 says at run time whether ``pointer`` holds; ``lazily`` writes the code for the
    vector of addresses where it does not.
    """

    pointer: str | None
    pointers: str | None = None
    consecutive: str | None = None
    lazily: Callable[[], str] | None = None


def chunk_addresses(e: Emitter, pointer: SSAValue, position: Position) -> Chunk:
    """Where the elements of a chunk are; `position` has lanes."""
    form = e.index.form(pointer)
    lane = position.lane
    if form is not None:
        step = form.offset.stride(lane)
        constant = step.constant_value() if step is not None else None
        if constant == 1:
            return Chunk(element_address(e, form, emit_polynomial(e, form.offset, position.index), pointer))
        if step is None:
            wrapped = _wraps(form, lane)
            if wrapped is not None:
                return _maybe_consecutive(e, form, pointer, wrapped, position)
        else:
            return Chunk(None, _strided(e, form, step, pointer, position))
    lanes = e.evaluate(pointer, position)
    return Chunk(None, e.writer.widen("ptr", lanes, position.width))


def _strided(e: Emitter, form: Form, step: Polynomial, pointer: SSAValue, position: Position) -> str:
    w, width = e.writer, position.width
    first = element_address(e, form, emit_polynomial(e, form.offset, position.index), pointer)
    stride = emit_polynomial(e, step, position.index)
    element = element_type(pointer.type)
    assert isinstance(element, PointerType)
    numbers = f"<{', '.join(f'i64 {i}' for i in range(width))}>"
    offsets = w.inst(f"mul {vector('i64', width)} {numbers}, {w.splat('i64', stride, width)}")
    return w.inst(f"getelementptr {e.pointee_type(element)}, ptr {first}, {vector('i64', width)} {offsets}")


def _wraps(form: Form, lane: int) -> TensorAtom | None:
    """The remainder tile `r = x % n` through which alone, with coefficient 1, the address varies along the lanes.

    For it to qualify x must be consecutive along that dimension: then r is consecutive over a chunk exactly if its last
    element is its first plus the width minus one.
    """
    found: TensorAtom | None = None
    for monomial, coefficient in form.offset.terms:
        moving = [a for a in monomial if varies_along(a, lane)]
        if not moving:
            continue
        atom = moving[0]
        if found is not None or len(monomial) != 1 or coefficient != 1 or not isinstance(atom, TensorAtom):
            return None
        found = atom
    return found


def _consecutive_remainder(e: Emitter, atom: TensorAtom, lane: int) -> bool:
    op = atom.value.owner
    if not isinstance(op, arith.RemSIOp | arith.RemUIOp):
        return False
    x, n = e.index.form(op.operands[0]), e.index.form(op.operands[1])
    if x is None or n is None or not n.offset.uniform():
        return False
    step = x.offset.stride(atom.dims.index(lane))
    return step is not None and step.constant_value() == 1


def _maybe_consecutive(e: Emitter, form: Form, pointer: SSAValue, atom: TensorAtom, position: Position) -> Chunk:
    w, width, lane = e.writer, position.width, position.lane

    def pointers() -> str:
        return w.widen("ptr", evaluate_form(e, form, pointer, position), width)

    if not _consecutive_remainder(e, atom, lane):
        return Chunk(None, pointers())
    last_index = list(position.index)
    last_index[lane] = w.add(last_index[lane], str(width - 1))

    def at(index: list[str]) -> str:
        return e.evaluate(atom.value, Position(tuple(index[d] if d >= 0 else "0" for d in atom.dims))).text

    kind = register_type(element_type(atom.value.type))
    first, last = at(list(position.index)), at(last_index)
    expected = w.inst(f"add {kind} {first}, {width - 1}")
    consecutive = w.inst(f"icmp eq {kind} {last}, {expected}")
    first_address = element_address(e, form, emit_polynomial(e, form.offset, position.index), pointer)
    return Chunk(first_address, None, consecutive, pointers)


# ---- accesses


def load_chunk(e: Emitter, chunk: Chunk, element: Attribute, width: int, mask: str | None, other: str) -> Lanes:
    """Read `width` elements; lanes whose `mask` is false hold `other` (a vector, in memory form)."""
    w = e.writer
    scalar = memory_type(element)
    ty = vector(scalar, width)
    if chunk.consecutive is None:
        if chunk.pointer is not None:
            return e.from_memory(Lanes(_load_consecutive(e, chunk.pointer, scalar, width, mask, other), width), element)
        assert chunk.pointers is not None
        return e.from_memory(Lanes(_gather(e, chunk.pointers, scalar, width, mask, other), width), element)
    assert chunk.pointer is not None and chunk.lazily is not None
    fast, slow, done = (w.new_label(s) for s in ("whole", "wrapped", "loaded"))
    w.branch_if(chunk.consecutive, fast, slow)
    w.label(fast)
    a = _load_consecutive(e, chunk.pointer, scalar, width, mask, other)
    end_a = w.block
    w.branch(done)
    w.label(slow)
    with e.conditionally():
        b = _gather(e, chunk.lazily(), scalar, width, mask, other)
    end_b = w.block
    w.enter(done)
    return e.from_memory(Lanes(w.inst(f"phi {ty} [ {a}, %{end_a} ], [ {b}, %{end_b} ]"), width), element)


def _load_consecutive(e: Emitter, pointer: str, scalar: str, width: int, mask: str | None, other: str) -> str:
    w, ty, align = e.writer, vector(scalar, width), type_bytes(scalar)
    if mask is None:
        return w.inst(f"load {ty}, ptr {pointer}, align {align}")
    name = f"llvm.masked.load.{_suffix(scalar, width)}.p0"
    return _masked_call(
        e, ty, name, f"ptr align {align} {pointer}, {vector('i1', width)} {mask}, {ty} {other}", "ptr", ty, width
    )


def _gather(e: Emitter, pointers: str, scalar: str, width: int, mask: str | None, other: str) -> str:
    ty, align, bits = vector(scalar, width), type_bytes(scalar), vector("i1", width)
    name = f"llvm.masked.gather.{_suffix(scalar, width)}.v{width}p0"
    where = vector("ptr", width)
    every = mask if mask is not None else "splat (i1 true)"
    return _masked_call(
        e, ty, name, f"{where} align {align} {pointers}, {bits} {every}, {ty} {other}", where, ty, width
    )


def _masked_call(e: Emitter, ty: str, name: str, arguments: str, where: str, other: str, width: int) -> str:
    e.module.declare(ty, f"@{name}", (where, vector("i1", width), other))
    return e.writer.inst(f"call {ty} @{name}({arguments})")


def _suffix(scalar: str, width: int) -> str:
    short = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}.get(scalar, scalar)
    return f"v{width}{short}"


def store_chunk(
    e: Emitter, chunk: Chunk, lanes: Lanes, element: Attribute, width: int, mask: str | None, *, streamed: bool = False
) -> None:
    """Write the lanes whose `mask` is true; `lanes` is in register form. ``streamed``: past the caches."""
    w = e.writer
    scalar = memory_type(element)
    value = w.widen(scalar, e.to_memory(lanes, element), width)
    ty, align, bits = vector(scalar, width), type_bytes(scalar), vector("i1", width)
    if chunk.pointer is not None and chunk.consecutive is None:
        if mask is None:
            e.streams = e.streams or streamed
            align, mark = (min(streaming.LINE, width * align), streaming.MARK) if streamed else (align, "")
            w.line(f"store {ty} {value}, ptr {chunk.pointer}, align {align}{mark}")
            return
        name = f"llvm.masked.store.{_suffix(scalar, width)}.p0"
        e.module.declare("void", f"@{name}", (ty, "ptr", bits))
        w.line(f"call void @{name}({ty} {value}, ptr align {align} {chunk.pointer}, {bits} {mask})")
        return
    name = f"llvm.masked.scatter.{_suffix(scalar, width)}.v{width}p0"
    where = vector("ptr", width)
    e.module.declare("void", f"@{name}", (ty, where, bits))
    every = mask if mask is not None else "splat (i1 true)"
    w.line(f"call void @{name}({ty} {value}, {where} align {align} {chunk.pointers}, {bits} {every})")


def guarded(e: Emitter, mask: str | None, action: Callable[[], None]) -> None:
    """Run `action()` where the scalar `mask` is true."""
    if mask is None:
        action()
        return
    w = e.writer
    then, after = w.new_label("if"), w.new_label("endif")
    w.branch_if(mask, then, after)
    w.label(then)
    action()
    w.enter(after)


def load_scalar(
    e: Emitter, address: str, element: Attribute, mask: str | None, other: str, *, volatile: bool = False
) -> str:
    """One element, or `other` (memory form) where the scalar `mask` is false; in register form."""
    w = e.writer
    scalar = memory_type(element)
    load = "load volatile" if volatile else "load"
    if mask is None:
        text = w.inst(f"{load} {scalar}, ptr {address}, align {type_bytes(scalar)}")
        return e.from_memory(Lanes(text, 0), element).text
    then, after = w.new_label("if"), w.new_label("endif")
    before = w.block
    w.branch_if(mask, then, after)
    w.label(then)
    text = w.inst(f"{load} {scalar}, ptr {address}, align {type_bytes(scalar)}")
    w.enter(after)
    text = w.inst(f"phi {scalar} [ {text}, %{then} ], [ {other}, %{before} ]")
    return e.from_memory(Lanes(text, 0), element).text


# ---- tt.load, tt.store


def _load(e: Emitter, op: tile.LoadOp, value: SSAValue, position: Position) -> Lanes:
    element = element_type(value.type)
    w, width = e.writer, position.width
    if isinstance(op.ptr.type, PointerType):
        raise unsupported(op, _BLOCK_POINTER)
    if position.lane >= 0 and _same_along(e, op, position.lane):
        return e.evaluate(value, Position(position.index))
    if position.lane < 0:
        describe_access(e, op, None, 0)
        address = scalar_address(e, op.ptr, position)
        mask = _mask(e, op.mask, position)
        other = _other_scalar(e, op, element, position) if mask is not None else ""
        return Lanes(load_scalar(e, address, element, mask, other), 0)
    mask = _mask(e, op.mask, position)
    scalar = memory_type(element)
    if op.other is not None and mask is not None:
        other = w.widen(scalar, e.to_memory(e.evaluate(op.other, position), element), width)
    else:
        other = "zeroinitializer"
    chunk = chunk_addresses(e, op.ptr, position)
    describe_access(e, op, chunk, width)
    return load_chunk(e, chunk, element, width, mask, other)


def _mask(e: Emitter, mask: SSAValue | None, position: Position) -> str | None:
    """A mask with every lane present; None where it is true."""
    lanes = TRUE if mask is None else e.evaluate(mask, position)
    return None if lanes == TRUE else e.writer.widen("i1", lanes, position.width)


def _other_scalar(e: Emitter, op: tile.LoadOp, element: Attribute, position: Position) -> str:
    if op.other is None:
        return literal(0, element)
    return e.to_memory(e.evaluate(op.other, position), element).text


def _same_along(e: Emitter, op: tile.LoadOp, lane: int) -> bool:
    """Whether all lanes read one address under one mask."""
    form = e.index.form(op.ptr)
    if form is None or form.offset.varies_along(lane):
        return False
    return op.mask is None and op.other is None


def scalar_address(e: Emitter, pointer: SSAValue, position: Position) -> str:
    """The address of one element of a tile of pointers."""
    form = e.index.form(pointer)
    if form is not None and form.base is not None:
        return element_address(e, form, emit_polynomial(e, form.offset, position.index), pointer)
    return e.evaluate(pointer, position).text


def _store(e: Emitter, op: tile.StoreOp, position: Position) -> None:
    element = element_type(op.value.type)
    value = e.evaluate(op.value, position)
    mask = _mask(e, op.mask, position)
    if position.lane < 0:
        describe_access(e, op, None, 0)
        address = scalar_address(e, op.ptr, position)
        text = e.to_memory(value, element).text
        scalar = memory_type(element)
        guarded(
            e,
            mask,
            lambda: e.writer.line(f"store {scalar} {text}, ptr {address}, align {type_bytes(scalar)}"),
        )
        return
    chunk = chunk_addresses(e, op.ptr, position)
    if chunk.lazily is not None:
        chunk = Chunk(None, chunk.lazily())
    describe_access(e, op, chunk, position.width)
    if e.stored_lanes is not None:
        within = streaming.within(e, position, e.stored_lanes)
        mask = within if mask is None else e.writer.inst(f"and {vector('i1', position.width)} {mask}, {within}")
        scalar = memory_type(element)
        lanes = e.writer.widen(scalar, e.to_memory(value, element), position.width)
        assert chunk.pointer is not None, "a streamed store is along the lanes"
        streaming.store_each(e, scalar, lanes, chunk.pointer, position.width, mask)
        return
    store_chunk(e, chunk, value, element, position.width, mask, streamed=op in e.streamed)


def _load_statement(e: Emitter, op: tile.LoadOp) -> None:
    """A load through one pointer."""
    element = op.result.type
    assert isinstance(element, Attribute)
    mask = e.scalar(op.mask) if op.mask is not None else None
    other = literal(0, element)
    if op.other is not None:
        other = e.to_memory(Lanes(e.scalar(op.other), 0), element).text
    volatile = bool(op.isVolatile.value.data)
    e.values[op.result] = (load_scalar(e, e.scalar(op.ptr), element, mask, other, volatile=volatile),)


def _store_statement(e: Emitter, op: tile.StoreOp) -> None:
    if is_tensor(op.value.type):
        raise unsupported(op, _BLOCK_POINTER)
    element = op.value.type
    text = e.to_memory(Lanes(e.scalar(op.value), 0), element).text
    scalar, address = memory_type(element), e.scalar(op.ptr)
    mask = e.scalar(op.mask) if op.mask is not None else None
    guarded(e, mask, lambda: e.writer.line(f"store {scalar} {text}, ptr {address}, align {type_bytes(scalar)}"))


INLINE: dict[type[Operation], InlineRule] = {**case_in(tile.LoadOp, _load)}
EFFECTS: dict[type[Operation], EffectRule] = {**case_in(tile.StoreOp, _store)}
STATEMENTS: dict[type[Operation], StatementRule] = {
    **case_in(tile.LoadOp, _load_statement),
    **case_in(tile.StoreOp, _store_statement),
}

__all__ = [
    "EFFECTS",
    "INLINE",
    "STATEMENTS",
    "Chunk",
    "IndexAtom",
    "ScalarAtom",
    "chunk_addresses",
    "load_chunk",
    "store_chunk",
]
