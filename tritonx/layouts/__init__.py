"""Linear layouts: where the elements of a tile are, and what it takes to move them. Pure values; no IR.

Start with the essay in `tritonx.layouts.linear`. The rest by question:

- What does an encoding of a type say? `encodings` has the values, `text` how they are written in a `.ttgir`.
- The layout of an encoding on a shape: `linear_layout(encoding, shape)`, from (register, lane, warp, block) or
  (offset, block) to (dim0, dim1, ...).
- The encoding of a layout: `linear_encoding`, `simplest_encoding` (blocked where possible).
- Layouts through trans, reshape, join, reduce, ...: `infer`.
- convert_layout: `plan_conversion(source, target, bits)` is a `NoMove`, `RegisterMove`, `ShufflePlan` or
  `SharedMemoryPlan`; `scratch_bytes(plan, bits)`; `simulate.run` executes any plan on NumPy.
- Indices of a thread's elements: `index_plan(layout, "dim0")` for lane, warp, block; `register_indices(layout, "dim0")`
  for the constants.
- Loads and stores of global memory: `memory_width` (dim, width), `access_vectors` (groups of registers).
- Which thread stores a copy: `redundancy(layout)`, masks that must be zero.
- Loads and stores of shared memory: `placement(registers, memory)`, then `shared_access(places, bits)`, or
  `matrix_access(places, bits, transposed=...)` for ldmatrix and stmatrix.
- Padding of `padded_shared`: `padded_offset`, `padded_size`, applied to the linear offset.
- wgmma operands: `matrix_descriptor(memory, "dim0", "dim1", rows, bits)`.
- Reductions and scans along a dim: `axis_bits(layout, axis)`, which register, lane and warp bits.
- Drawing: `draw`.

Register r of a thread is element r of the thread's vector. Everything is memoised: ask again rather than keep.
"""

from tritonx.layouts.access import SharedAccess, VectorAccess, placement, shared_access
from tritonx.layouts.axis import AxisBits, axis_bits
from tritonx.layouts.convert import (
    ConversionPlan,
    NoMove,
    RegisterMove,
    SharedMemoryPart,
    SharedMemoryPlan,
    is_free,
    plan_conversion,
    scratch_bytes,
)
from tritonx.layouts.descriptor import MatrixDescriptor, matrix_descriptor
from tritonx.layouts.division import divide_left, divide_right
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.index_math import (
    ChoiceTerm,
    IndexPlan,
    RegisterIndices,
    ShiftTerm,
    index_plan,
    register_indices,
)
from tritonx.layouts.infer import equivalent, linear_encoding, simplest_encoding
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.lookup import is_distributed, is_shared, linear_layout
from tritonx.layouts.matrix_access import MatrixAccess, MatrixTransfer, matrix_access, matrix_transfers
from tritonx.layouts.redundancy import Redundancy, redundancy
from tritonx.layouts.shared import padded_offset, padded_size
from tritonx.layouts.shuffle import Round, SelectStage, ShufflePlan
from tritonx.layouts.tiling import storage_shape
from tritonx.layouts.vectorize import AccessVectors, access_vectors, contiguous_elements, memory_width

__all__ = [
    "AccessVectors",
    "AxisBits",
    "ChoiceTerm",
    "ConversionPlan",
    "IndexPlan",
    "LayoutError",
    "LinearLayout",
    "MatrixAccess",
    "MatrixDescriptor",
    "MatrixTransfer",
    "NoMove",
    "Redundancy",
    "RegisterIndices",
    "RegisterMove",
    "Round",
    "SelectStage",
    "SharedAccess",
    "SharedMemoryPart",
    "SharedMemoryPlan",
    "ShiftTerm",
    "ShufflePlan",
    "VectorAccess",
    "access_vectors",
    "axis_bits",
    "contiguous_elements",
    "divide_left",
    "divide_right",
    "equivalent",
    "index_plan",
    "is_distributed",
    "is_free",
    "is_shared",
    "linear_encoding",
    "linear_layout",
    "matrix_access",
    "matrix_descriptor",
    "matrix_transfers",
    "memory_width",
    "padded_offset",
    "padded_size",
    "placement",
    "plan_conversion",
    "redundancy",
    "register_indices",
    "scratch_bytes",
    "shared_access",
    "simplest_encoding",
    "storage_shape",
]
