"""Operands of matrix products go through shared memory in the form that the matrix loads, or a thread's vector loads,
read fastest.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as replace_fields

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.registers import carried_words, for_tiles, words
from tritonx.analysis.shared_budget import SharedBudget
from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalLoadOp,
    attribute_of,
    distributed_encoding,
    memdesc,
)
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase, replace
from tritonx.ir.types import bit_width, element_type, is_float, is_tensor, shape_of, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts import LayoutError, LinearLayout, linear_layout, storage_shape
from tritonx.layouts.access import VECTOR_BITS
from tritonx.layouts.convert import conversion_layout, goes_through_memory, operand_layout
from tritonx.layouts.dims import BLOCK, OFFSET, REGISTER
from tritonx.layouts.distributed import cga_of, layout_order
from tritonx.layouts.encodings import (
    BlockedEncoding,
    DistributedEncoding,
    DotOperandEncoding,
    Ints,
    LinearEncoding,
    SharedLinearEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.matrix_units import by_multiply_adds, loads_matrices, reads_slices
from tritonx.layouts.tiling import k_dim
from tritonx.layouts.transposed_access import stored_for_transposed_reads
from tritonx.transforms.gpu.conversions_in_memory import first_load_before

Dot = tile.DotOp | tile.DotScaledOp

ROW_BYTES = 128
"""Bytes that all banks serve at once: rows shorter than this share one phase of the swizzle."""
GROUP_BYTES = 16
"""Bytes of a row that a matrix load, or four lanes side by side, take together: 32 where elements have 64 bits. The
groups of as many rows as fill ``ROW_BYTES`` must lie in different banks.
"""


@dataclass(frozen=True)
class StageDotOperands(ModulePass):
    """Stages operands of products in shared memory where they would have to change warps.

    Replaces a `convert_layout` to a `dot_op` layout that would exchange data between warps by a store to shared
    memory and a load from it. Conversions inside a warp stay. `fuse-operand-loads` has products read the memory
    themselves, a step of K at a time, instead of keeping all of K in registers.

    For products that load whole matrices the memory is swizzled for that. The load is placed in front of the first
    user; one that was converted outside the loop of its products stays there, unless it takes more than three quarters
    of the `registers` that a thread may have, with what the loop carries and the product's result: then it is read
    again for each product. Where their number is unknown it stays.

    For a product by multiply-adds the memory lies as a conversion would put it; for the matrix units that have no such
    load, as it takes least to store it and to load it to registers (`layouts/operand_memory`), or in rows where reads
    of the memory transpose them (`layouts/transposed_access`). An operand of such a
    unit that was converted outside the loop stays in registers as well, if `SLICES` of others have room beside it, what
    else stays there and the floats that the loop carries: an iteration of attention forward (head 64, f16, gfx942)
    reads 8 vectors less of the LDS, of which it takes 16 KiB instead of 32. Others are staged as long as a function's
    buffers fit the `shared_memory` that a block may have: those of multiply-adds first, then those made beside their
    product; stored where they were converted, or only in front of the product if memory is free by then. Other
    conversions stay, which are cut into parts."""

    name = "stage-dot-operands"
    contract = Contract(
        ("ttg",),
        on=("ttg.convert_layout",),
        creates=("ttg.local_alloc", "ttg.local_load"),
        needs=("assign-layouts",),
    )

    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have."""
    registers: int | None = None
    """Registers that a thread may have; None where that is unknown."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tile.FuncOp):
                self._stage_function(function)

    def _stage_function(self, function: tile.FuncOp) -> None:
        products: list[list[Operand]] = []
        inside: list[list[Operand]] = []
        outside: list[list[Operand]] = []
        held = None if self.registers is None else for_tiles(self.registers)
        kept: dict[Operation | None, int] = {}
        for inner in ops_in(function):
            if isinstance(inner, ConvertLayoutOp):
                _stage_for_matrix_loads(inner, held)
            if not isinstance(inner, Dot):
                continue
            operands = _operands(inner)
            if operands and _is_blocked(inner):
                products.append(operands)
            else:
                for operand in operands:
                    if operand.convert.parent is inner.parent:
                        inside.append([operand])
                        continue
                    loop = inner.parent_op()
                    beside = SLICES + kept.get(loop, 0)
                    if held is None or _thread_words(inner, operand.convert, indices=False) + beside > held:
                        outside.append([operand])
                    else:
                        kept[loop] = kept.get(loop, 0) + words(type_of(operand.convert.result))
        wanted = [*products, *inside, *outside]
        if not wanted:
            return
        budget = SharedBudget(self.shared_memory)
        plenty = budget.holds(sum(_bytes_of(o) for group in wanted for o in group), beside=function)
        for group in wanted if plenty else wanted[:FITTED]:
            staged = _stage_slices(group, late=False)
            for late in (True, False):
                if plenty or budget.fits(function):
                    break
                group = [_take_back(each) for each in staged]
                if late:
                    staged = _stage_slices(group, late=True)


SLICES = 64
"""Registers for slices of operands that a product reads from shared memory as it goes: as many as a step of AMD's
matrix units may take (`emit/steps`)."""
FITTED = 16
"""The groups of operands, the first ones, that are tried where not all fit: each trial plans the memory of the whole
function. Later ones stay as they are."""


@dataclass(frozen=True)
class Operand:
    """Operand ``number`` of a product that reads slices of it, made by ``convert``, and how it would lie in memory."""

    dot: Dot
    number: int
    convert: ConvertLayoutOp
    memory: LinearLayout


def _is_blocked(dot: Dot) -> bool:
    """Whether a product is computed by multiply-adds."""
    type_ = type_of(dot.d)
    return is_tensor(type_) and by_multiply_adds(distributed_encoding(type_))


def _operands(dot: Dot) -> list[Operand]:
    """The operands of ``dot`` that could be staged for reading by slices, and their scales."""
    found: list[Operand] = []
    for number, value in enumerate(dot.operands):
        made, type_ = value.owner, type_of(value)
        if value is dot.c or not isinstance(made, ConvertLayoutOp) or not is_tensor(type_):
            continue
        encoding = distributed_encoding(type_)
        unit = encoding.parent if isinstance(encoding, DotOperandEncoding) else _result_encoding(dot)
        if reads_slices(unit):
            memory = _conversion_memory(made, encoding)
            if memory is not None:
                found.append(Operand(dot, number, made, memory))
    return found


def _result_encoding(dot: Dot) -> DistributedEncoding | None:
    type_ = type_of(dot.d)
    return distributed_encoding(type_) if is_tensor(type_) else None


def _bytes_of(operand: Operand) -> int:
    type_ = type_of(operand.convert.result)
    assert is_tensor(type_)
    return linear_size(shape_of(type_)) * max(8, bit_width(element_type(type_))) // 8


@dataclass(frozen=True)
class Staged:
    """An operand whose conversion has become a buffer and its load."""

    operand: Operand
    alloc: LocalAllocOp
    load: LocalLoadOp


def _stage_slices(group: list[Operand], *, late: bool) -> list[Staged]:
    """For operands of one product: buffers at the conversions, or in front of the product and its loads if
    that is `late`, and their loads, which are the results, in front of the product."""
    allocs: list[LocalAllocOp] = []
    for operand in group:
        convert, target = operand.convert, type_of(operand.convert.result)
        shared = SharedLinearEncoding(operand.memory.bases(OFFSET))
        descriptor = memdesc(shape_of(target), element_type(target), attribute_of(shared))
        alloc = LocalAllocOp.create(operands=(convert.src,), result_types=(descriptor,), location=convert.location)
        allocs.append(alloc)
        _before(first_load_before(operand.dot) if late and convert.parent is operand.dot.parent else convert, alloc)
    staged: list[Staged] = []
    for operand, alloc in zip(group, allocs, strict=True):
        convert, dot = operand.convert, operand.dot
        load = LocalLoadOp.create(
            operands=alloc.results, result_types=(type_of(convert.result),), location=convert.location
        )
        dot.operands[operand.number] = _before(dot, load).results[0]
        if convert.result.first_use is None:
            erase(convert)
        staged.append(Staged(operand, alloc, load))
    return staged


def _take_back(staged: Staged) -> Operand:
    """The product takes a conversion again."""
    operand, alloc, load = staged.operand, staged.alloc, staged.load
    convert = ConvertLayoutOp.create(
        operands=alloc.operands, result_types=(type_of(load.result),), location=alloc.location
    )
    operand.dot.operands[operand.number] = _before(alloc, convert).results[0]
    erase(load)
    erase(alloc)
    return replace_fields(operand, convert=convert)


def _conversion_memory(convert: ConvertLayoutOp, operand: DistributedEncoding) -> LinearLayout | None:
    """How the operand would lie in memory; None where the conversion needs none, or blocks would have to share it."""
    type_ = type_of(convert.src)
    if not is_tensor(type_) or (operand.block if isinstance(operand, LinearEncoding) else cga_of(operand)):
        return None
    shape, bits = shape_of(type_), max(8, bit_width(element_type(type_)))
    source, target = linear_layout(distributed_encoding(type_), shape), linear_layout(operand, shape)
    try:
        if not goes_through_memory(source, target, bits):
            return None
        if isinstance(operand, DotOperandEncoding) and not by_multiply_adds(operand.parent):
            own = operand_layout(source, target, bits)
            return stored_for_transposed_reads(source, target, operand, bits, own)
        return conversion_layout(source, _read_at_once(target, operand, bits), bits)
    except LayoutError:
        return None


def _read_at_once(layout: LinearLayout, operand: DistributedEncoding, bits: int) -> LinearLayout:
    """What of an operand's layout a product by multiply-adds reads at a time: what lies further along K than an access
    is wide would be read long before its turn, if it lay beside."""
    if not isinstance(operand, DotOperandEncoding):
        return layout
    name, size = layout.outs[k_dim(operand.op_idx, len(layout.outs))]
    offset, near = layout.offset_of(name), VECTOR_BITS // bits
    columns = layout.columns(REGISTER)
    kept = [bit for bit, column in enumerate(columns) if (column >> offset) % (1 << size) < near]
    return layout.select_bits(REGISTER, kept)


def linear_size(shape: Ints) -> int:
    """Elements of a tile in memory."""
    count = 1
    for size in storage_shape(shape):
        count *= size
    return count


def _first_of(users: set[Operation], op: Operation) -> Operation:
    """The first of some ops that follow ``op`` in its block."""
    current = op.next_op
    while current is not None and current not in users:
        current = current.next_op
    assert current is not None
    return current


def _stage_for_matrix_loads(op: ConvertLayoutOp, held: int | None) -> None:
    source, target = type_of(op.src), type_of(op.result)
    if not is_tensor(source) or not is_tensor(target):
        return
    operand = distributed_encoding(target)
    given = distributed_encoding(source)
    if not isinstance(operand, DotOperandEncoding) or not loads_matrices(operand.parent):
        return
    shape, bits = shape_of(source), max(8, bit_width(element_type(source)))
    before, after = linear_layout(given, shape), linear_layout(operand, shape)
    if before.columns(BLOCK) != after.columns(BLOCK):
        return  # a block would store more than its part of the buffer holds
    try:
        if not goes_through_memory(before, after, bits):
            return
    except LayoutError:
        return
    order = memory_order(given, shape)
    shared = swizzled(operand, shape, order, bits)
    descriptor = memdesc(shape, element_type(source), attribute_of(shared))
    memory = _before(op, LocalAllocOp.create(operands=(op.src,), result_types=(descriptor,), location=op.location))

    def load(place: Operation) -> SSAValue:
        made = LocalLoadOp.create(operands=memory.results, result_types=(target,), location=op.location)
        return _before(place, made).results[0]

    users = {use.operation for use in op.result.uses}
    block = op.parent
    assert block is not None
    if all(user.parent is block for user in users) and users:
        # Late, so that both operands are stored before either is read and one barrier serves both.
        replace(op, (load(_first_of(users, op)),))
    elif held is not None and all(isinstance(user, Dot) and _thread_words(user, op) > held for user in users):
        for user in users:
            made = load(user)
            for number, value in enumerate(user.operands):
                if value is op.result:
                    user.operands[number] = made
        erase(op)
    else:
        replace(op, (load(op),))


def _thread_words(dot: Dot, convert: ConvertLayoutOp, *, indices: bool = True) -> int:
    """Registers of a thread that are taken while the product is computed: by the operand, by the tiles that the loop
    around it carries, without ``indices`` those of floats, and by the result where it is none of these."""
    loop, carried, result = dot.parent_op(), 0, words(type_of(dot.d))
    if isinstance(loop, scf.ForOp):
        carried = carried_words(loop, indices=indices)
        if dot.c in loop.body.block.args and (indices or is_float(type_of(dot.d))):
            result = 0
    return words(type_of(convert.result)) + carried + result


def _before(op: Operation, new: Operation) -> Operation:
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    return new


def memory_order(encoding: DistributedEncoding, shape: Ints) -> Ints:
    """The order of dims in which a thread's elements are neighbours."""
    if isinstance(encoding, BlockedEncoding):
        return encoding.order
    return layout_order(linear_layout(encoding, shape))


def swizzled(operand: DotOperandEncoding, shape: Ints, order: Ints, bits: int) -> SwizzledSharedEncoding:
    """The shared layout of an operand that is written in `order`: groups of 16 or 32 bytes, a phase for as many rows
    as fill all banks, eight or four phases (fewer where a row has fewer groups)."""
    lanes_apart = bits == 32 and operand.k_width == 1 and order[0] != k_dim(operand.op_idx, len(shape))
    group = 2 * GROUP_BYTES if lanes_apart else GROUP_BYTES * max(1, bits // 32)
    phases = ROW_BYTES // group
    row = shape[order[0]] * bits // 8
    vec = max(1, min(group * 8 // bits, shape[order[0]]))
    per_phase = max(1, ROW_BYTES // max(1, row))
    groups = max(1, shape[order[0]] // vec)
    max_phase = max(1, min(phases // per_phase, groups))
    cga = () if isinstance(operand.parent, LinearEncoding) else cga_of(operand)
    return SwizzledSharedEncoding(vec, min(per_phase, phases), max_phase, order, cga)
