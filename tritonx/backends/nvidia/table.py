"""The emitters of NVIDIA's kernels: those that all vendors share, and those of `ttng`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.nvidia import mbarrier, tensor_copy, warp_group
from tritonx.conversion.gpu_to_llvm import partitions, table

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import Emit

TABLE: dict[type[Operation], Emit] = {
    **table.TABLE,
    **partitions.TABLE,
    **mbarrier.TABLE,
    **tensor_copy.TABLE,
    **warp_group.TABLE,
}
