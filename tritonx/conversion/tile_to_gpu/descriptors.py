"""Layouts of tiles that a unit copies to shared memory, from where the threads take them. What they put there is stored
from the layout that it has; what has none, as constants, from that of what they take."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation

from tritonx.conversion.tile_to_gpu.blocked import blocked
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.ir.types import bit_width, element_type, shape_of, type_of
from tritonx.layouts.encodings import DistributedEncoding

LOADS = tile.DescriptorLoadOp, tile.DescriptorGatherOp
STORES = tile.DescriptorStoreOp, tile.DescriptorReduceOp, tile.DescriptorScatterOp
BYTES_PER_THREAD = 16


def descriptor_key(op: Operation, target: GpuTarget) -> DistributedEncoding | None:
    """Sixteen bytes of a row for each thread: what it takes from shared memory at once. None for other ops than loads
    through a descriptor.
    """
    return _of_rows(type_of(op.result), target) if isinstance(op, LOADS) else None


def stored_key(op: Operation, target: GpuTarget) -> DistributedEncoding | None:
    """The same of a store through a descriptor, for what has no layout by nature; None for other ops."""
    return _of_rows(type_of(op.src), target) if isinstance(op, STORES) else None


def _of_rows(moved: Attribute, target: GpuTarget) -> DistributedEncoding:
    shape = shape_of(moved)
    per_thread = [1] * len(shape)
    per_thread[-1] = max(1, min(shape[-1], BYTES_PER_THREAD * 8 // max(8, bit_width(element_type(moved)))))
    order = tuple(reversed(range(len(shape))))
    return blocked(shape, tuple(per_thread), order, target.num_warps, target.warp_size, target.num_ctas)
