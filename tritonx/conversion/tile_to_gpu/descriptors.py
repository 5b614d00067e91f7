"""Layouts of tiles that a tensor-memory unit moves, and of other ops whose tensors have a layout by themselves."""

from __future__ import annotations

from typing import Any

from tritonx.conversion.tile_to_gpu.blocked import blocked
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.ir.types import bit_width, element_type, shape_of, type_of
from tritonx.layouts.encodings import DistributedEncoding

DESCRIPTOR_OPS = (
    tile.DescriptorLoadOp,
    tile.DescriptorStoreOp,
    tile.DescriptorReduceOp,
    tile.DescriptorGatherOp,
    tile.DescriptorScatterOp,
)
BYTES_PER_THREAD = 16


def descriptor_key(op: Any, target: GpuTarget) -> DistributedEncoding | None:
    """Sixteen bytes of a row for each thread: what it takes from or puts into shared memory at once. None for other
    ops.
    """
    if not isinstance(op, DESCRIPTOR_OPS):
        return None
    moved = _moved(op)
    shape = shape_of(moved)
    per_thread = [1] * len(shape)
    per_thread[-1] = max(1, min(shape[-1], BYTES_PER_THREAD * 8 // max(8, bit_width(element_type(moved)))))
    order = tuple(reversed(range(len(shape))))
    return blocked(shape, tuple(per_thread), order, target.num_warps, target.warp_size, target.num_ctas)


def _moved(op: Any) -> Any:
    """The type of the tile that is moved: what is loaded, or stored."""
    return type_of(op.results[0] if op.results else op.src)
