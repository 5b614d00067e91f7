"""Loads through regular pointers become loads of a descriptor's blocks, for a target whose copy engine takes these.

    a_ptrs = a + rows[:, None] * stride + offs_k[None, :]       a = make_tensor_descriptor(a, [M, K], [stride, 1])
    for k in range(0, cdiv(K, 64)):                        →    for k in range(0, cdiv(K, 64)):
        load(a_ptrs, offs_k[None, :] < K - k * 64, 0.0)             a.load([row, k * 64])
        a_ptrs += 64

Which loads read such blocks is `analysis/described_loads`. Threads that load by pointers issue a copy for every 16
bytes, and compute an address and a mask for it; the copy engine takes one instruction a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.axis_info import analyze_axes, assumed_at_least
from tritonx.analysis.blocks_together import STAGES, barriers_cost_a_block
from tritonx.analysis.described_loads import PIECE, BlockLoad, NotABlock, block_load
from tritonx.analysis.launch_bounds import ASKED, LaunchBounds, ask
from tritonx.analysis.polynomials import Polynomial, number
from tritonx.analysis.tile_indices import Indices, varies
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import is_per_element, loop_around, repeats
from tritonx.dialects.effects import Kind, Resource, effects_of
from tritonx.dialects.tile import TensorDescType
from tritonx.dialects.tile.descriptor import OF_POINTERS
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.ir.edit import ValueMap, clone, insert_before, is_defined_inside, replace
from tritonx.ir.explain import explain
from tritonx.ir.types import bit_width, element_type, i1, i32, i64, is_tensor, shape_of, tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.written_polynomials import Writer

TOPIC = "pipeline"

WHOLE = (1 << 31) - 1
"""The extent of a dimension of which nothing is known to be outside."""


@dataclass(frozen=True)
class DescribeLoads(ModulePass):
    """Turns loads for products through regular pointers into loads of descriptors' blocks.

    In a loop with a `tt.dot`, whose operands are loaded there, all of these loads become `tt.descriptor_load`s, or
    none. The descriptors are made in front of the outermost loop. What they need and is not known when compiling, that
    strides and extents are above 0 and blocks begin at 0 or above, is asked in front of it: the loop is then there
    twice, with descriptors and as it was.

    Indices are taken to stay in their types, as the axis analysis takes them, and what pointers that move add in a loop
    to stay below 2^31 elements; where a block begins at an index of 64 bits it is asked whether that is. Loads stay
    where something in front of them may have written to global memory, or waited for it, for a copy engine need not see
    that.
    `TRITONX_EXPLAIN=pipeline` says of each load what became of it, and why."""

    name = "describe-loads"
    contract = Contract(
        ("tt",),
        on=("tt.dot",),
        creates=("arith", "scf", "tt.addptr", "tt.descriptor_load", "tt.make_tensor_descriptor", "tt.trans"),
        reads=("tt.divisibility", STAGES),
        writes=(OF_POINTERS, ASKED),
    )

    block_bytes: int | None = None
    """Bytes of the largest block that the target copies; None for any."""

    at_launch: bool = False
    """Only loads whose descriptors are made of the kernel's arguments and constants, which a launch makes the maps of:
    it asks, and the kernel does not. Where blocks begin must be known, or a launch must be able to bound it: it asks
    for its arguments and its grid (`analysis/launch_bounds`). Loads of elements of 64 bits stay, for threads read such
    blocks slower than what they copied themselves."""

    stages: int = 3
    """Slots of what a loop loads ahead, where it says nothing itself."""

    warps: int = 4
    """Of a block."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [inner for inner in op.ops if isinstance(inner, tile.FuncOp) and _is_kernel(inner)]
        if not functions or not any(_products(loop) for function in functions for loop in _outermost(function)):
            return
        indices = Indices(analyze_axes(op))
        for function in functions:
            entry = function.body.blocks[0]
            positive = frozenset(assumed_at_least(1, entry))
            loops = _outermost(function)
            writer = Writer(function, indices)
            launched = LaunchBounds(function, indices, writer.ordered) if self.at_launch else None
            found = [self._found(function, loop, indices, positive, launched) for loop in loops]
            if launched is not None:
                _ask_launch(function, [load for loads in found for load in loads], launched)
            for loop, loads in reversed([*zip(loops, found, strict=True)]):
                if loads:
                    if not self.at_launch:
                        _ask(loop, loads, writer, positive)
                    for load in loads:
                        _describe(load, loop, writer, at_launch=self.at_launch)

    def _found(
        self,
        function: tile.FuncOp,
        around: Operation,
        indices: Indices,
        positive: frozenset[SSAValue],
        launched: LaunchBounds | None,
    ) -> list[BlockLoad]:
        """The loads in an outermost loop that become a descriptor's."""
        found: list[BlockLoad] = []
        written = _written_before(function, around)
        for loads in _products(around):
            blocks: list[BlockLoad] = []
            refused: dict[tile.LoadOp, str] = {} if written is None else dict.fromkeys(loads, written)
            for load in loads if written is None else ():
                try:
                    blocks.append(block_load(load, around, indices, positive, self.block_bytes, launched))
                except NotABlock as reason:
                    refused[load] = str(reason)
            if self.at_launch and blocks and not refused and self._costs_a_block(loads):
                refused = dict.fromkeys(loads, "with barriers for its slots a multiprocessor holds a block less")
            for load in loads:
                why = refused.get(load, "another operand of the loop's products is")
                explain(TOPIC, load, f"loaded through {f'pointers: {why}' if refused else 'a descriptor'}")
            found += [] if refused else blocks
        return found

    def _costs_a_block(self, loads: Sequence[tile.LoadOp]) -> bool:
        room = self.block_bytes
        return room is not None and barriers_cost_a_block(loads, self.stages, room, self.warps)


def _is_kernel(function: tile.FuncOp) -> bool:
    return function.is_kernel and len(function.body.blocks) == 1


def _outermost(function: tile.FuncOp) -> list[Operation]:
    """Loops that are in no other one."""
    return [op for op in ops_in(function) if _is_loop(op) and loop_around(op) is None]


def _is_loop(op: Operation) -> bool:
    return repeats(op) and not is_per_element(op)


def _products(around: Operation) -> list[list[tile.LoadOp]]:
    """Of each innermost loop around products, in a loop or it itself, the loads there that give tiles to these."""
    found: dict[Operation, dict[tile.LoadOp, None]] = {}
    for op in around.walk():
        loop = loop_around(op) if isinstance(op, tile.DotOp) else None
        if isinstance(op, tile.DotOp) and loop is not None:
            rank = len(shape_of(type_of(op.d)))
            found.setdefault(loop, {}).update(dict.fromkeys(_operand_loads((op.a, op.b), loop, rank)))
    return [[*loads] for loads in found.values() if loads]


def _operand_loads(operands: Sequence[SSAValue], loop: Operation, rank: int) -> Iterator[tile.LoadOp]:
    pending, seen = list(operands), set[SSAValue]()
    while pending:
        value = pending.pop(0)
        op = value.owner
        if value in seen or not isinstance(op, Operation) or not is_defined_inside(value, loop):
            continue
        seen.add(value)
        if isinstance(op, tile.LoadOp):
            if is_tensor(type_of(op.ptr)) and len(shape_of(type_of(op.ptr))) == rank:
                yield op
        elif not op.regions and not isinstance(op, tile.DotOp):
            pending += op.operands


def _written_before(function: tile.FuncOp, around: Operation) -> str | None:
    """What may write to global memory, or wait for others to, before a loop is over, if anything does: a copy engine
    need not see that."""
    inside = False
    for op in function.walk():
        if inside and not _is_in(op, around):
            return None
        inside = inside or op is around
        if not op.regions and _may_write(op):
            return f"{op.name} in front of it, or in the loop, may write what it reads"
        if isinstance(op, tile.LoadOp) and op.isVolatile.value.data:
            return f"a volatile {op.name} in front of it, or in the loop, may wait for what it reads"
    return None


def _is_in(op: Operation, around: Operation) -> bool:
    above = op.parent_op()
    while above is not None and above is not around:
        above = above.parent_op()
    return above is around


def _may_write(op: Operation) -> bool:
    effects = effects_of(op)
    if effects is None:
        return True
    return any(each.kind is Kind.WRITE and each.resource is Resource.GLOBAL for each in effects)


# --- rewriting


def _ask_launch(function: tile.FuncOp, loads: Sequence[BlockLoad], launched: LaunchBounds) -> None:
    """Whether blocks begin at 0 or above, where that is not known."""
    wanted = {each for load in loads for each in load.non_negative}
    question = launched.question(wanted) if wanted else None
    if question is not None:
        ask(function, question)


def _ask(around: Operation, loads: Sequence[BlockLoad], writer: Writer, positive: frozenset[SSAValue]) -> None:
    """What the descriptors of a loop's loads need and is not known, in front of it."""
    above = {each for load in loads for each in load.positive}
    above |= {extent for load in loads for extent in _unknown_extents(load, positive)}
    from_zero = {each for load in loads for each in load.non_negative}
    if above or from_zero:
        _twice(around, above, from_zero, writer)


def _unknown_extents(load: BlockLoad, positive: frozenset[SSAValue]) -> Iterator[Polynomial]:
    """Extents that may be 0 or below: no map has them, and memory without elements may be at no address at all."""
    for dim in load.dims:
        if dim.extent is not None and not _is_above(dim.extent, positive):
            yield dim.extent


def _is_above(value: Polynomial, positive: frozenset[SSAValue]) -> bool:
    """Whether a number is known to be above 0."""
    return bool(value.terms) and all(
        factor > 0 and all(each in positive for each, _ in monomial) for monomial, factor in value.terms
    )


def _twice(around: Operation, above: set[Polynomial], from_zero: set[Polynomial], writer: Writer) -> None:
    """Puts a loop into a conditional, with a copy of it in the other branch, which is for where a number is not as it
    must be."""
    front = Builder.before(around)
    conditions = [_compare(front, writer.write(front, each, i64), 1) for each in writer.ordered(above)]
    conditions += [_compare(front, writer.write(front, each, i64), 0) for each in writer.ordered(from_zero)]
    condition = conditions[0]
    for each in conditions[1:]:
        condition = front.emit(arith.AndIOp, (condition, each), (i1,))
    used = [n for n, result in enumerate(around.results) if result.first_use is not None]
    then, otherwise = Block(), Block()
    values: ValueMap = {}
    with front.at(otherwise, nested=True):
        copy = front.insert(clone(around, values))
        front.create(scf.YieldOp, [copy.results[n] for n in used])
    types = [around.results[n].type for n in used]
    made = front.create(scf.IfOp, (condition,), types, regions=(Region(then), Region(otherwise)))
    for n, new in zip(used, made.results, strict=True):
        around.results[n].replace_all_uses_with(new)
        new.name_hint = around.results[n].name_hint
    with front.at(then, nested=True):
        end = front.create(scf.YieldOp, [around.results[n] for n in used])
    around.detach()
    insert_before(around, end)


def _compare(builder: Builder, value: SSAValue, least: int) -> SSAValue:
    """Whether a number is that or more."""
    how = {"predicate": IntegerAttr(CmpiPredicate.SGE, i64)}
    return builder.emit(arith.CmpiOp, (value, builder.constant(least, value.type)), (i1,), how)


def _describe(block: BlockLoad, around: Operation, writer: Writer, *, at_launch: bool) -> None:
    """Replaces a load."""
    front, here, load = Builder.before(around), Builder.before(block.load), block.load
    order = [dim for dim in range(len(block.dims)) if dim != block.contiguous] + [block.contiguous]
    dims = [*block.leading, *(block.dims[dim] for dim in order)]
    shape, element = [shape_of(type_of(load.result))[dim] for dim in order], element_type(type_of(load.result))
    type_, whole_type = tensor(element, shape), tensor(element, [*(1 for _ in block.leading), *shape])
    base = block.base
    if block.offset.terms:
        base = front.emit(tile.AddPtrOp, (base, writer.write(front, block.offset, i64)), (base.type,))
    piece = 8 * PIECE // bit_width(element_type(type_))
    whole = number(WHOLE)
    extents = [writer.write(front, whole if dim.extent is None else dim.extent, i32) for dim in dims]
    asked: frozenset[Polynomial] = frozenset() if at_launch else block.positive
    strides = [_stride(dim.stride, front, writer, piece if dim.stride in asked else 0) for dim in dims]
    sizes: dict[str, Attribute] = {SEGMENTS: sizes_of_segments((1, len(dims), len(dims)))}
    made = front.create(
        tile.MakeTensorDescOp, (base, *extents, *strides), (TensorDescType(whole_type),), sizes
    )  # fmt: skip
    if at_launch:
        made.attributes[OF_POINTERS] = UnitAttr()
    starts = [writer.write(here if varies(dim.start, around) else front, dim.start, i32) for dim in dims]
    modifiers = {name: load.properties[name] for name in ("cache", "evict") if name in load.properties}
    loaded = here.create(tile.DescriptorLoadOp, (made.result, *starts), (type_,), modifiers).result
    if order != sorted(order):
        turned = DenseArrayBase.from_list(i32, [order.index(dim) for dim in range(len(order))])
        loaded = here.create(tile.TransOp, (loaded,), (type_of(load.result),), {"order": turned}).result
    replace(load, (loaded,))


def _stride(stride: Polynomial, front: Builder, writer: Writer, least: int) -> SSAValue:
    """With ``least`` elements wherever a launch may make its map, also where the descriptor is not used."""
    made = writer.write(front, stride, i64)
    return front.emit(arith.MaxSIOp, (made, front.constant(least, i64)), (i64,)) if least else made
