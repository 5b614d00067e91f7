"""Each access of a kernel to memory: how wide, how many sectors of global memory, how many cycles of shared memory.

The layout says where the lanes of a warp are in the tile, the axis analysis which of these elements are neighbours in
memory. Runs whose distance is not known are taken to be apart, so that the sectors are those of the worst case, except
for what an unknown alignment adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis.access_width import pointer_accesses
from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.axis_value import AxisInfo
from tritonx.analysis.buffers import conversion_plan, is_shared_memory, stored_bytes, tensor_layout
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.effects import Kind, Proxy, Resource, declared_by
from tritonx.dialects.gpu_layout import MemDescType, encoding_value
from tritonx.explain.facts import AccessFacts
from tritonx.explain.places import Places
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import (
    bit_width,
    element_type,
    encoding_of,
    is_tensor,
    pointee_of,
    shape_of,
    type_as,
    type_of,
)
from tritonx.layouts import LayoutError, LinearLayout, access_vectors, linear_layout, matrix_transfers
from tritonx.layouts.access import BANK_BITS, BANKS, SharedAccess, placement, shared_access, wavefronts
from tritonx.layouts.convert import SharedMemoryPlan
from tritonx.layouts.dims import LANE, REGISTER
from tritonx.layouts.encodings import PaddedSharedEncoding
from tritonx.layouts.index_math import all_xors

SECTOR = 32
"""Bytes that global memory moves at least."""

WARP = 32
"""Lanes that shared memory serves at once, by the model of `layouts.access`."""


class AccessTable:
    """The accesses of a module whose ops begin at `lines`."""

    def __init__(self, facts: AxisFacts, target: GpuTarget, lines: Mapping[Operation, int], places: Places) -> None:
        self.facts = facts
        self.target = target
        self.lines = lines
        self.places = places

    def of(self, op: Operation) -> Iterator[AccessFacts]:
        """What an op accesses; nothing for one that accesses no memory."""
        rule = _RULES.get(type(op))
        if rule is not None:
            yield from rule(self, op)
        elif (effects := declared_by(type(op))) is not None:
            own = effects.own(op)
            engine = [e for e in own if e.proxy is Proxy.ASYNC and e.kind in (Kind.READ, Kind.WRITE)]
            outside = [e for e in engine if e.resource is Resource.GLOBAL]
            if outside:
                yield self._block_copy(op, stores=any(e.kind is Kind.WRITE for e in outside))

    # --- global memory

    def through_pointers(
        self,
        op: Operation,
        kind: str,
        pointer: SSAValue,
        mask: SSAValue | None,
        *,
        may_split: bool,
        space: str = "global",
    ) -> AccessFacts:
        """A load, store or the like through a tile of pointers, or a scalar one."""
        bits = max(8, bit_width(element_type(pointee_of(type_of(pointer)))))
        if not is_tensor(type_of(pointer)) or encoding_of(type_of(pointer)) is None:
            return self._facts(op, space, kind, bits, 1, 1, bits // 8, sectors=1, sectors_least=1)
        layout = tensor_layout(type_of(pointer))
        found = pointer_accesses(self.facts, layout, pointer, mask, bits, may_split=may_split)
        vectors = access_vectors(layout, found.dim, found.width)
        size = prod(shape_of(type_of(pointer))) * bits // 8
        touched, least = sectors(layout, vectors.groups[0], self.facts.of(pointer), bits)
        split = found.split and vectors.width > 1
        note = "element by element in the one vector that the mask cuts" if split else ""
        count = len(vectors.groups)
        return self._facts(
            op, space, kind, bits, vectors.width, count, size, note=note, sectors=touched, sectors_least=least
        )

    def _block_copy(self, op: Operation, *, stores: bool) -> AccessFacts:
        """A block that an engine copies: no thread's access."""
        types = (type_of(value) for value in (*op.operands, *op.results) if is_shared_memory(value))
        memory = [type_ for type_ in types if isinstance(type_, MemDescType)]
        size = max((prod(m.shape) * bit_width(m.element_type) // 8 for m in memory), default=0)
        bits = next((bit_width(m.element_type) for m in memory), 8)
        kind = "store" if stores else "load"
        return self._facts(op, "both", kind, bits, size * 8 // bits, 0, size, note="a block, by the copy engine")

    # --- shared memory

    def in_shared(self, op: Operation, kind: str, tensor: Attribute, memory: MemDescType) -> Iterator[AccessFacts]:
        """A tile between registers and a buffer."""
        encoding = encoding_value(memory.encoding)
        bits = max(8, bit_width(element_type(tensor)))
        size = prod(shape_of(tensor)) * bits // 8
        shape = tuple(memory.alloc_shape[-len(memory.shape) :])
        try:
            places = placement(tensor_layout(tensor), linear_layout(encoding, shape))
        except LayoutError:
            return
        matrices = None
        if not isinstance(encoding, PaddedSharedEncoding) and self._has_matrices(kind):
            matrices = matrix_transfers(places, bits)
        if matrices is not None:
            rows = list(matrices.rows.columns(LANE))[:3]
            waves = wavefronts(rows, 128, bits)
            of = matrices.matrices
            note = f"by matrices of 8 rows, {of} at once{', transposed' if matrices.transposed else ''}"
            least = wavefronts([128 // bits << i for i in range(3)], 128, bits)
            yield self._facts(
                op, "shared", kind, bits, of * 32 // bits, len(matrices.transfers), size,
                note=note, waves=waves * of, waves_least=least * of,
            )  # fmt: skip
            return
        note = "padding is not counted" if isinstance(encoding, PaddedSharedEncoding) else ""
        yield self._shared(op, kind, bits, size, shared_access(places, bits), note)

    def _has_matrices(self, kind: str) -> bool:
        return self.target.matrix_loads if kind == "load" else self.target.matrix_stores

    def conversion(self, op: gpu_layout.ConvertLayoutOp) -> Iterator[AccessFacts]:
        """The writes and reads of a conversion that goes through shared memory."""
        plan = conversion_plan(op)
        if isinstance(plan, SharedMemoryPlan):
            bits = 8 * stored_bytes(type_of(op.src))
            size = prod(shape_of(type_of(op.src))) * bits // 8
            part = plan.parts[0]
            parts = f"in {len(plan.parts)} parts" if len(plan.parts) > 1 else ""
            yield self._shared(op, "store", bits, size, part.write, parts, len(plan.parts))
            yield self._shared(op, "load", bits, size, part.read, parts, len(plan.parts))

    def _shared(
        self, op: Operation, kind: str, bits: int, size: int, access: SharedAccess, note: str = "", parts: int = 1
    ) -> AccessFacts:
        least = max(1, access.vec * bits * WARP // (BANKS * BANK_BITS))
        waves = access.wavefronts
        return self._facts(
            op, "shared", kind, bits, access.vec, len(access.accesses) * parts, size,
            note=note, waves=waves, waves_least=min(waves, least),
        )  # fmt: skip

    def _facts(
        self,
        op: Operation,
        space: str,
        kind: str,
        bits: int,
        width: int,
        instructions: int,
        size: int,
        *,
        note: str = "",
        sectors: int | None = None,
        sectors_least: int | None = None,
        waves: int | None = None,
        waves_least: int | None = None,
    ) -> AccessFacts:
        line, place = self.lines.get(op, -1), self.places.of(op)
        return AccessFacts(
            line, place, op.name, space, kind, bits, width, instructions, size,
            sectors, sectors_least, waves, waves_least, note,
        )  # fmt: skip


def sectors(layout: LinearLayout, group: tuple[int, ...], info: AxisInfo, bits: int) -> tuple[int, int]:
    """Sectors that the lanes of a warp touch when each accesses the registers of `group`, and as few as hold the bytes
    of their different elements."""
    offsets = [layout.offset_of(dim) for dim, _ in layout.outs]
    fast = max(range(info.rank), key=lambda d: (info.contiguity[d], d))
    run = info.contiguity[fast]
    registers = all_xors(layout.columns(REGISTER))
    touched: set[tuple[object, ...]] = set()
    elements: set[tuple[object, ...]] = set()
    for lane in all_xors(layout.columns(LANE)):
        for register in group:
            packed = lane ^ registers[register]
            at = [
                (packed >> offset) & ((1 << size) - 1) for offset, (_, size) in zip(offsets, layout.outs, strict=True)
            ]
            key = [c // info.constancy[d] if d != fast else c // run for d, c in enumerate(at)]
            inside = at[fast] % run if info.contiguity[fast] > 1 else 0
            if run == 1:
                key[fast] = at[fast] // info.constancy[fast]
            byte = inside * bits // 8
            touched |= {(*key, each // SECTOR) for each in (byte, byte + bits // 8 - 1)}
            elements.add((*key, inside))
    return len(touched), max(1, -(-len(elements) * bits // 8 // SECTOR))


def _load(table: AccessTable, op: tile.LoadOp) -> Iterator[AccessFacts]:
    yield table.through_pointers(op, "load", op.ptr, op.mask, may_split=True)


def _store(table: AccessTable, op: tile.StoreOp) -> Iterator[AccessFacts]:
    yield table.through_pointers(op, "store", op.ptr, op.mask, may_split=True)


def _atomic(table: AccessTable, op: tile.AtomicRMWOp) -> Iterator[AccessFacts]:
    yield table.through_pointers(op, "atomic", op.ptr, op.mask, may_split=False)


def _exchange(table: AccessTable, op: tile.AtomicCASOp) -> Iterator[AccessFacts]:
    yield table.through_pointers(op, "atomic", op.ptr, None, may_split=False)


def _copy(table: AccessTable, op: gpu_layout.AsyncCopyGlobalToLocalOp) -> Iterator[AccessFacts]:
    yield table.through_pointers(op, "copy", op.src, op.mask, may_split=False, space="both")


def _local_load(table: AccessTable, op: gpu_layout.LocalLoadOp) -> Iterator[AccessFacts]:
    return table.in_shared(op, "load", type_of(op.results[0]), type_as(op.src, MemDescType))


def _local_store(table: AccessTable, op: gpu_layout.LocalStoreOp) -> Iterator[AccessFacts]:
    return table.in_shared(op, "store", type_of(op.src), type_as(op.dst, MemDescType))


def _alloc(table: AccessTable, op: gpu_layout.LocalAllocOp) -> Iterator[AccessFacts]:
    if op.src is not None:
        yield from table.in_shared(op, "store", type_of(op.src), type_as(op.results[0], MemDescType))


def _convert(table: AccessTable, op: gpu_layout.ConvertLayoutOp) -> Iterator[AccessFacts]:
    return table.conversion(op)


_RULES: dict[type[Operation], Callable[[AccessTable, Operation], Iterator[AccessFacts]]] = {
    **case_in(tile.LoadOp, _load),
    **case_in(tile.StoreOp, _store),
    **case_in(tile.AtomicRMWOp, _atomic),
    **case_in(tile.AtomicCASOp, _exchange),
    **case_in(gpu_layout.AsyncCopyGlobalToLocalOp, _copy),
    **case_in(gpu_layout.LocalLoadOp, _local_load),
    **case_in(gpu_layout.LocalStoreOp, _local_store),
    **case_in(gpu_layout.LocalAllocOp, _alloc),
    **case_in(gpu_layout.ConvertLayoutOp, _convert),
}
