"""The emitters of NVIDIA's kernels: those that all vendors share, and those of `ttng`, where a chip has what they
need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit import (
    grid,
    mbarrier,
    packed,
    row_copy,
    tensor_copy,
    tensor_memory,
    tensor_product,
    warp_group,
)
from tritonx.backends.nvidia.emit.features import where_there_is
from tritonx.backends.nvidia.tensor_maps import tensor_map_at_launch, tensor_map_in_kernel
from tritonx.conversion.gpu_to_llvm import partitions, table

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import Emit

_OWN: dict[type[Operation], Emit] = {
    **grid.TABLE,
    **mbarrier.TABLE,
    **packed.TABLE,
    **row_copy.TABLE,
    **tensor_copy.TABLE,
    **tensor_map_at_launch.TABLE,
    **tensor_map_in_kernel.TABLE,
    **tensor_memory.TABLE,
    **tensor_product.TABLE,
    **warp_group.TABLE,
}

TABLE: dict[type[Operation], Emit] = {**table.TABLE, **partitions.TABLE, **_OWN, **where_there_is(_OWN)}
