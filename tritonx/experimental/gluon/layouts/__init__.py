"""Layouts of Gluon: which thread holds which element of a tensor, and where a buffer's elements lie.

They are values, made on the host or in a kernel, with Triton's names and parameters. `layout.encoding()` is what a type
of the IR says of one, `layout_of(encoding)` the way back. `tritonx.layouts` computes with encodings.
"""

from tritonx.experimental.gluon.layouts.amd import AMDMFMALayout, AMDWMMALayout
from tritonx.experimental.gluon.layouts.base import DistributedLayout, GluonLayoutError, LayoutValue, SharedLayout
from tritonx.experimental.gluon.layouts.conversion import layout_of, to_linear_layout
from tritonx.experimental.gluon.layouts.distributed import (
    AutoLayout,
    BlockedLayout,
    CoalescedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    SliceLayout,
)
from tritonx.experimental.gluon.layouts.shared import (
    NVMMASharedLayout,
    PaddedSharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)
from tritonx.experimental.gluon.layouts.tensor_memory import TensorMemoryLayout, TensorMemoryScalesLayout

__all__ = [
    "AMDMFMALayout",
    "AMDWMMALayout",
    "AutoLayout",
    "BlockedLayout",
    "CoalescedLayout",
    "DistributedLayout",
    "DistributedLinearLayout",
    "DotOperandLayout",
    "GluonLayoutError",
    "LayoutValue",
    "NVMMADistributedLayout",
    "NVMMASharedLayout",
    "PaddedSharedLayout",
    "SharedLayout",
    "SharedLinearLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
    "TensorMemoryLayout",
    "TensorMemoryScalesLayout",
    "layout_of",
    "to_linear_layout",
]
