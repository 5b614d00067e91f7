"""Atomic operations: one LLVM atomic instruction an element, in row-major order, where the mask is true.

The order of a `sem` is LLVM's; scopes do not differ on a host. bf16, whose arithmetic has no instruction, and f16 are
added and ordered in a loop of compare-and-swap on their bits. The result of a masked-off element is 0.

A thread that polls gives its processor to others between two reads. Programs begin in the order of their numbers, and
there may be one thread, so a poll that has no timeout must not wait for a program with a higher number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation

from tritonx.conversion.float_order import extreme
from tritonx.conversion.llvm_text import FAILURE_ORDERS, MEMORY_ORDERS, RMW_OPERATIONS
from tritonx.conversion.tile_to_loops.constants import literal
from tritonx.conversion.tile_to_loops.emitter import Position, unsupported
from tritonx.conversion.tile_to_loops.loops import walk
from tritonx.conversion.tile_to_loops.memory import guarded, scalar_address
from tritonx.conversion.tile_to_loops.regions import read_nanoseconds
from tritonx.conversion.tile_to_loops.tables import EffectRule, StatementRule
from tritonx.conversion.tile_to_loops.types import integer_bits, is_float, is_narrow_float, memory_type, type_bytes
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import RMWOp
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import element_type, f16, f32, is_tensor, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def _perform(e: Emitter, op: Operation, address: str, operands: list[str], element: Attribute) -> str:
    """The atomic instruction on one element; what was there before, in register form."""
    if isinstance(op, tile.AtomicCASOp):
        return _compare_and_swap(e, op, address, operands, element)
    assert isinstance(op, tile.AtomicRMWOp)
    kind, order = op.atomic_rmw_op.value.data, MEMORY_ORDERS[op.sem.value.data]
    scalar = memory_type(element)
    if is_narrow_float(element):
        return _narrow(e, address, operands[0], element, order, RMWOp(kind))
    if is_float(element) and kind not in (RMWOp.FADD, RMWOp.XCHG):
        raise unsupported(op, f"{RMW_OPERATIONS[kind]} of {element} is not an operation on bits")
    if integer_bits(element) == 1:
        raise unsupported(op, "atomics on i1 do not exist")
    align = type_bytes(scalar)
    return e.writer.inst(
        f"atomicrmw {RMW_OPERATIONS[kind]} ptr {address}, {scalar} {operands[0]} {order}, align {align}"
    )


def _bits_type(element: Attribute) -> str:
    return f"i{8 * type_bytes(memory_type(element))}"


def _narrow(e: Emitter, address: str, value: str, element: Attribute, order: str, kind: RMWOp) -> str:
    """Add, exchange or order on the bits of a narrow float."""
    w = e.writer
    bits, scalar = _bits_type(element), memory_type(element)
    align = type_bytes(scalar)
    if kind is RMWOp.XCHG:
        new = w.inst(f"bitcast {scalar} {value} to {bits}") if scalar != bits else value
        old = w.inst(f"atomicrmw xchg ptr {address}, {bits} {new} {order}, align {align}")
        return w.inst(f"bitcast {bits} {old} to {scalar}") if scalar != bits else old
    combine = _narrow_sum(e, value, element) if kind is RMWOp.FADD else _narrow_extreme(e, value, element, kind)
    first = w.inst(f"load atomic {bits}, ptr {address} monotonic, align {align}")
    before, again, after = w.block, w.new_label("again"), w.new_label("added")
    w.enter(again)
    seen = w.inst(f"phi {bits}")
    line = len(w.lines) - 1
    old = w.inst(f"bitcast {bits} {seen} to {scalar}") if scalar != bits else seen
    new = combine(seen)
    failure = FAILURE_ORDERS[order]
    pair = w.inst(f"cmpxchg weak ptr {address}, {bits} {seen}, {bits} {new} {order} {failure}, align {align}")
    found = w.inst(f"extractvalue {{ {bits}, i1 }} {pair}, 0")
    done = w.inst(f"extractvalue {{ {bits}, i1 }} {pair}, 1")
    w.lines[line] = f"  {seen} = phi {bits} [ {first}, %{before} ], [ {found}, %{w.block} ]"
    w.branch_if(done, after, again)
    w.label(after)
    return old


def _narrow_sum(e: Emitter, value: str, element: Attribute) -> Callable[[str], str]:
    """Of the bits that are there: those of the sum with ``value``."""
    bits, scalar = _bits_type(element), memory_type(element)
    addend = e.convert(Lanes(value, 0), element, f32).text

    def combine(seen: str) -> str:
        w = e.writer
        old = w.inst(f"bitcast {bits} {seen} to {scalar}") if scalar != bits else seen
        total = w.inst(f"fadd float {e.convert(Lanes(old, 0), element, f32).text}, {addend}")
        rounded = e.convert(Lanes(total, 0), f32, element).text
        return w.inst(f"bitcast {scalar} {rounded} to {bits}") if scalar != bits else rounded

    return combine


def _narrow_extreme(e: Emitter, value: str, element: Attribute, kind: RMWOp) -> Callable[[str], str]:
    """Of the bits that are there: they, or those of ``value``."""
    w, scalar = e.writer, memory_type(element)
    pattern = w.inst(f"bitcast {scalar} {value} to i16") if scalar != "i16" else value
    elem = "half" if element == f16 else "bfloat"
    return lambda seen: extreme(w.inst, kind, elem, seen, pattern)


def _compare_and_swap(e: Emitter, op: tile.AtomicCASOp, address: str, operands: list[str], element: Attribute) -> str:
    w = e.writer
    order = MEMORY_ORDERS[op.sem.value.data]
    bits, scalar = _bits_type(element), memory_type(element)

    def as_bits(text: str) -> str:
        if scalar == bits:
            return text
        return w.inst(f"{'ptrtoint' if scalar == 'ptr' else 'bitcast'} {scalar} {text} to {bits}")

    expected, new = (as_bits(x) for x in operands)
    failure, align = FAILURE_ORDERS[order], type_bytes(scalar)
    pair = w.inst(f"cmpxchg ptr {address}, {bits} {expected}, {bits} {new} {order} {failure}, align {align}")
    old = w.inst(f"extractvalue {{ {bits}, i1 }} {pair}, 0")
    if scalar == bits:
        return old
    return w.inst(f"{'inttoptr' if scalar == 'ptr' else 'bitcast'} {bits} {old} to {scalar}")


def _guarded(e: Emitter, op: Operation, mask: str | None, address: str, operands: list[str], element: Attribute) -> str:
    if mask is None:
        return _perform(e, op, address, operands, element)
    w = e.writer
    then, after, before = w.new_label("if"), w.new_label("endif"), w.block
    w.branch_if(mask, then, after)
    w.label(then)
    old = _perform(e, op, address, operands, element)
    end = w.block
    w.enter(after)
    return w.inst(f"phi {memory_type(element)} [ {old}, %{end} ], [ {literal(0, element)}, %{before} ]")


def _values(op: Operation) -> int:
    """How many operands after the pointer are values; a mask may follow."""
    return 2 if isinstance(op, tile.AtomicCASOp) else 1


def _effect(e: Emitter, op: Operation, position: Position) -> None:
    result = op.results[0]
    element = element_type(result.type)
    address = scalar_address(e, op.operands[0], position)
    count = _values(op)
    operands = [e.evaluate(v, position).text for v in op.operands[1 : 1 + count]]
    mask = e.evaluate(op.operands[1 + count], position).text if len(op.operands) > 1 + count else None
    old = _guarded(e, op, mask, address, operands, element)
    if result.first_use is not None:
        e.store_view(e.buffer_of(result), position, Lanes(old, 0))


def _statement(e: Emitter, op: Operation) -> None:
    count = _values(op)
    operands = [e.scalar(v) for v in op.operands[1 : 1 + count]]
    mask = e.scalar(op.operands[1 + count]) if len(op.operands) > 1 + count else None
    element = element_type(op.results[0].type)
    e.values[op.results[0]] = (_guarded(e, op, mask, e.scalar(op.operands[0]), operands, element),)


def _read(e: Emitter, address: str, element: Attribute, order: str) -> str:
    """One element, read atomically."""
    w, bits, scalar = e.writer, _bits_type(element), memory_type(element)
    text = w.inst(f"load atomic {bits}, ptr {address} {order}, align {type_bytes(scalar)}")
    return text if scalar == bits else w.inst(f"bitcast {bits} {text} to {scalar}")


def _load(e: Emitter, op: tile.AtomicLoadOp, mask: str | None, address: str) -> str:
    """One element where ``mask`` is true, otherwise 0."""
    element, order = element_type(op.result.type), MEMORY_ORDERS[op.sem.value.data]
    if mask is None:
        return _read(e, address, element, order)
    w = e.writer
    then, after, before = w.new_label("if"), w.new_label("endif"), w.block
    w.branch_if(mask, then, after)
    w.label(then)
    text = _read(e, address, element, order)
    w.enter(after)
    return w.inst(f"phi {memory_type(element)} [ {text}, %{then} ], [ {literal(0, element)}, %{before} ]")


def _load_effect(e: Emitter, op: tile.AtomicLoadOp, position: Position) -> None:
    mask = None if op.mask is None else e.evaluate(op.mask, position).text
    text = _load(e, op, mask, scalar_address(e, op.ptr, position))
    if op.result.first_use is not None:
        e.store_view(e.buffer_of(op.result), position, Lanes(text, 0))


def _load_statement(e: Emitter, op: tile.AtomicLoadOp) -> None:
    mask = None if op.mask is None else e.scalar(op.mask)
    e.values[op.result] = (_load(e, op, mask, e.scalar(op.ptr)),)


def _store(e: Emitter, op: tile.AtomicStoreOp, mask: str | None, address: str, value: str) -> None:
    element = element_type(op.val.type)
    bits, scalar = _bits_type(element), memory_type(element)
    text = value if scalar == bits else e.writer.inst(f"bitcast {scalar} {value} to {bits}")
    order = MEMORY_ORDERS[op.sem.value.data]
    store = f"store atomic {bits} {text}, ptr {address} {order}, align {type_bytes(scalar)}"
    guarded(e, mask, lambda: e.writer.line(store))


def _store_effect(e: Emitter, op: tile.AtomicStoreOp, position: Position) -> None:
    mask = None if op.mask is None else e.evaluate(op.mask, position).text
    _store(e, op, mask, scalar_address(e, op.ptr, position), e.evaluate(op.val, position).text)


def _store_statement(e: Emitter, op: tile.AtomicStoreOp) -> None:
    mask = None if op.mask is None else e.scalar(op.mask)
    _store(e, op, mask, e.scalar(op.ptr), e.scalar(op.val))


def _poll(e: Emitter, op: tile.AtomicPollOp) -> None:
    """Element by element, in one loop; all of them share the time."""
    w = e.writer
    slot = w.alloca("[2 x i64], align 8") if op.timeout is not None else ""
    start = read_nanoseconds(e, slot) if op.timeout is not None else ""

    def is_over() -> str:
        assert op.timeout is not None
        passed = w.inst(f"sub i64 {read_nanoseconds(e, slot)}, {start}")
        return w.inst(f"icmp uge i64 {passed}, {e.scalar(op.timeout)}")

    limit = is_over if op.timeout is not None else None
    if not is_tensor(op.ptr.type):
        e.values[op.result] = (_polled(e, op, e.scalar(op.ptr), e.scalar(op.expected), limit),)
        return
    for position in walk(e, shape_of(op.ptr.type), -1, 0):
        address, expected = scalar_address(e, op.ptr, position), e.evaluate(op.expected, position).text
        equal = _polled(e, op, address, expected, limit)
        if op.result.first_use is not None:
            e.store_view(e.buffer_of(op.result), position, Lanes(equal, 0))


def _polled(e: Emitter, op: tile.AtomicPollOp, address: str, expected: str, is_over: Callable[[], str] | None) -> str:
    """Read an element until it is what is expected, or the time is over; i1: whether it is."""
    w, element = e.writer, element_type(op.expected.type)
    again, wait, yield_, done = (w.new_label(name) for name in ("poll", "wait", "yield", "polled"))
    w.enter(again)
    found = _read(e, address, element, MEMORY_ORDERS[op.sem.value.data])
    equal = w.inst(f"icmp eq {memory_type(element)} {found}, {expected}")
    w.branch_if(equal, done, wait if is_over is not None else yield_)
    if is_over is not None:
        w.label(wait)
        w.branch_if(is_over(), done, yield_)
    w.label(yield_)
    w.call("i32", "@sched_yield")
    w.branch(again)
    w.label(done)
    return equal


EFFECTS: dict[type[Operation], EffectRule] = {
    tile.AtomicRMWOp: _effect,
    tile.AtomicCASOp: _effect,
    **case_in(tile.AtomicLoadOp, _load_effect),
    **case_in(tile.AtomicStoreOp, _store_effect),
}
STATEMENTS: dict[type[Operation], StatementRule] = {
    tile.AtomicRMWOp: _statement,
    tile.AtomicCASOp: _statement,
    **case_in(tile.AtomicLoadOp, _load_statement),
    **case_in(tile.AtomicStoreOp, _store_statement),
    **case_in(tile.AtomicPollOp, _poll),
}
