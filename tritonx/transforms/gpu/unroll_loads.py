"""Small loops that load and only compute in a thread are unrolled, so that more bytes are under way at once.

The loads of one iteration wait for those before it to arrive: a thread that loads 64 bytes, adds them up and begins
again keeps too little of the memory's latency busy. With four iterations in one body the code generator puts their
loads first, as far as the registers go that it allows itself: so a limit is set at which they all do (``ttg.maxnreg``,
which the assembly drops again where the rest of the kernel needs more). 16384² f16 column sum on an H200, GB/s as it
is, unrolled by four, and with the limit: 128×64 tiles in 8 warps 3840, 3974, 4039; 32×64 tiles in 4 warps 1849, 2263,
3704.

That pays while it costs few registers a byte. A load of fewer bytes than its address takes waits with the address in
registers: more such loads a thread are fewer threads on a multiprocessor, and no more bytes under way. A loop of a
softmax of dynamic shapes (12 loads of 2 and 4 bytes, PyTorch's Inductor) took 176 registers unrolled by four, for which
ptxas was asked three times, and takes 56 as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.access_width import pointer_accesses
from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.buffers import scratch_size, tensor_layout
from tritonx.analysis.registers import RegisterFile, words
from tritonx.dialects import arith, scf, tile
from tritonx.ir.contract import Contract
from tritonx.ir.edit import only_block
from tritonx.ir.effects import may_write
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, encoding_of, is_tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts import axis_bits
from tritonx.layouts.dims import REGISTER
from tritonx.transforms.tile.simplify_control_flow import trip_count
from tritonx.transforms.tile.unroll import unroll

ADDRESS = 2
"""Registers."""

LONG_DIVISION = 64
"""Instructions of a 64-bit integer division, about; GPUs have none."""


@dataclass(frozen=True)
class Loaded:
    """Registers of a thread: of the ``values`` that it loads, and those ``waiting`` for them, which addresses of narrow
    loads are among."""

    values: int
    waiting: int


@dataclass(frozen=True)
class UnrollLoads(ModulePass):
    """Unrolls innermost ``scf.for`` loops that only load, so that more loads are under way.

    They are unrolled by ``factor``, or less where a thread then has ``bytes`` of registers waiting for loads; and only
    loops of at most ``work`` simple ops a thread, that write nothing, exchange nothing between threads,
    multiply no matrices, and whose addresses do not come out of what they load. Sets ``ttg.maxnreg`` to what lets the
    loads of a body be under way together with ``limit``, for a chip that gives a thread as many registers as are asked
    for, unless the carried tiles have no room beside them. With ``factor`` 1 it does nothing.
    """

    name = "unroll-loads"
    contract = Contract(
        ("ttg",),
        on=("scf.for",),
        creates=("arith",),
        writes=("ttg.maxnreg", "tt.num_stages"),
        needs=("assign-layouts",),
    )

    factor: int = 4
    """By how much to unroll at most; 1 for not at all."""
    bytes: int = 256
    """Bytes of a thread's registers that may wait for loads."""
    work: int = 256
    """Simple ops that a thread may have in the body."""
    beside: int = RegisterFile.streaming
    """Registers of a thread beside what it loads: for addresses, and sums."""
    addresses: int = RegisterFile.addresses
    """Of these at least for addresses and counters: where the carried tiles leave fewer, there is no limit."""
    widening: int = RegisterFile.widening
    """Registers more where narrow numbers are summed as pairs of words."""
    limit: bool = False
    """Whether to set the registers of a thread."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        @cache
        def facts() -> AxisFacts:
            return analyze_axes(op)

        most = needed = widening = 0
        for loop in [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp)]:
            loads = self._loads(loop)
            if loads and (factor := self._factor(loop, loaded := _loaded(loads, facts()))) > 1:
                most = max(most, factor * loaded.values)
                needed = max(needed, factor * loaded.values + sum(map(words, _sums(loop))) + self.addresses)
                widening = max(widening, self.widening * _widens(loop, loads))
                unroll(loop, factor)
        limit = -(-(most + self.beside + widening) // 8) * 8
        if most and self.limit and "ttg.maxnreg" not in op.attributes and needed <= limit:
            op.attributes["ttg.maxnreg"] = IntegerAttr(limit, 32)

    def _loads(self, loop: scf.ForOp) -> list[tile.LoadOp]:
        """Those of a loop that may be unrolled."""
        body = only_block(loop.body)
        if body is None or may_write(loop) or not all(_is_simple(op) for op in body.ops):
            return []
        loads = [op for op in body.ops if isinstance(op, tile.LoadOp) and is_tensor(op.results[0].type)]
        if not loads or sum(_elements(op) * _weight(op) for op in body.ops) > self.work or _chases(body, loads):
            return []
        return loads

    def _factor(self, loop: scf.ForOp, loaded: Loaded) -> int:
        """By how much to unroll."""
        count = trip_count(loop)
        factor, most = 1, self.bytes // 4
        while factor < self.factor and 2 * factor * loaded.waiting <= most and (count is None or 2 * factor <= count):
            factor *= 2
        return factor


def _sums(loop: scf.ForOp) -> list[TensorType[Attribute]]:
    """The tiles that a loop carries, addresses not counted."""
    types = (type_of(value) for value in loop.iter_args)
    return [t for t in types if is_tensor(t) and not isinstance(element_type(t), tile.PointerType)]


def _widens(loop: scf.ForOp, loads: Sequence[tile.LoadOp]) -> bool:
    """Whether a load brings less than a word an element, and a carried sum has more than one."""
    narrow = any(bit_width(element_type(type_of(load.result))) < 32 for load in loads)
    return narrow and any(bit_width(element_type(t)) > 32 for t in _sums(loop))


def _loaded(loads: list[tile.LoadOp], facts: AxisFacts) -> Loaded:
    """Of one iteration."""
    values = waiting = 0
    for load in loads:
        layout, bits = tensor_layout(type_of(load.ptr)), bit_width(element_type(type_of(load.results[0])))
        width = pointer_accesses(facts, layout, load.ptr, load.mask, bits, may_split=True).width
        accesses, taken = layout.in_size(REGISTER) // width, -(-width * bits // 32)
        values += accesses * taken
        waiting += accesses * (taken + (ADDRESS if taken < ADDRESS else 0))
    return Loaded(values, waiting)


def _is_simple(op: Operation) -> bool:
    """Whether each thread does the op by itself, and does little."""
    if isinstance(op, tile.DotOp | tile.DotScaledOp | tile.CallOp):
        return False
    if op.regions and not isinstance(op, tile.ReduceOp | tile.MapElementwiseOp):
        return False
    return not scratch_size(op) and not (isinstance(op, tile.ReduceOp) and _crosses_lanes(op))


def _crosses_lanes(op: tile.ReduceOp) -> bool:
    bits = axis_bits(tensor_layout(type_of(op.operands[0])), op.axis.value.data)
    return bits is None or bool(bits.lanes)


def _elements(op: Operation) -> int:
    """Elements that a thread holds of an op's results."""
    return sum(
        tensor_layout(type_of(result)).in_size(REGISTER)
        for result in op.results
        if is_tensor(result.type) and encoding_of(result.type) is not None
    )


def _weight(op: Operation) -> int:
    """How many simple ops an element costs."""
    if isinstance(op, arith.DivSIOp | arith.DivUIOp | arith.RemSIOp | arith.RemUIOp):
        if bit_width(element_type(type_of(op.results[0]))) == 64 and constant_of(op.operands[1]) is None:
            return LONG_DIVISION
    return 1


def _chases(body: Block, loads: Sequence[Operation]) -> bool:
    """Whether an address or mask comes out of a load, of this iteration or an earlier one."""
    needed: list[SSAValue] = [operand for load in loads for operand in load.operands]
    seen: set[SSAValue] = set()
    end = body.last_op
    while needed:
        value = needed.pop()
        if value in seen:
            continue
        seen.add(value)
        made = value.owner
        if isinstance(made, Block):
            index = body.args.index(value) if made is body else 0
            if index and end is not None:
                needed.append(end.operands[index - 1])
        elif made.parent is body:
            if isinstance(made, tile.LoadOp):
                return True
            needed.extend(made.operands)
    return False
