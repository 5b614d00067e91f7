"""Values and types of Gluon that `tritonx.language` lacks: blocks with a layout, and descriptors of shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from tritonx.experimental.gluon.layouts import (
    AutoLayout,
    CoalescedLayout,
    DistributedLayout,
    SharedLayout,
    SharedLinearLayout,
)
from tritonx.experimental.gluon.layouts.bases import block_share
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.types.dtypes import block_type, dtype
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.experimental.gluon.semantics import GluonSemantics


class distributed_type(block_type):
    """A block of ``element_ty`` that ``layout`` spreads over threads. Its extents are powers of two. Raises
    AssertionError for a layout of another rank, ValueError for other extents.

    >>> from tritonx.experimental.gluon import language as ttgl
    >>> ttgl.distributed_type(ttgl.float32, [64], ttgl.BlockedLayout([2], [32], [1], [0])).layout.size_per_thread
    [2]
    """

    layout: DistributedLayout

    def __init__(self, element_ty: dtype, shape: Sequence[Any], layout: Any):
        layout, shape = unwrap(layout), unwrap(shape)
        super().__init__(element_ty, shape)
        if self.padded:
            raise ValueError(f"a block of Gluon has extents that are powers of two, not {[*self.shape]}")
        if not isinstance(layout, DistributedLayout):
            raise AssertionError(f"tensor layout must be a DistributedLayout, got {layout!r}")
        if not isinstance(layout, AutoLayout | CoalescedLayout) and len(self.shape) != layout.rank:
            raise AssertionError(f"tensor shape and layout rank mismatch: shape={[*self.shape]}, layout={layout}")
        self.layout = layout
        self.name = f"<{[*self.shape]}, {element_ty.name}, {layout}>"
        self._hash = hash((element_ty, self._shape, layout))

    def __eq__(self, other: object) -> bool:
        other = unwrap(other)
        return self is other or (
            isinstance(other, distributed_type) and super().__eq__(other) and self.layout == other.layout
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return (distributed_type, (self.element_ty, self._shape, self.layout))

    def with_element_ty(self, element_ty: dtype) -> dtype:
        return distributed_type(element_ty, self._shape, self.layout)

    def mangle(self) -> str:
        shape = "_".join(map(str, self._shape))
        return f"{self.element_ty.mangle()}S{shape}SL{self.layout.mangle()}L"


def layout_of_block(value: tensor) -> DistributedLayout:
    """The layout of a block; TypeError for a scalar."""
    type_ = value.type
    if not isinstance(type_, distributed_type):
        raise TypeError(f"expected a distributed_type but got: {type_!r}")
    return type_.layout


class shared_memory_descriptor_type(base_type):
    """A tile of ``shape`` in shared memory, which lies there by ``layout``; ``alloc_shape`` is the shape of the
    allocation that it is a part of.

    >>> from tritonx.experimental.gluon import language as ttgl
    >>> layout = ttgl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    >>> ttgl.shared_memory_descriptor_type(ttgl.float16, [64, 32], layout, [64, 32]).nbytes_per_cta
    4096
    """

    def __init__(self, element_ty: dtype, shape: Sequence[Any], layout: Any, alloc_shape: Sequence[Any]):
        self.element_ty = element_ty
        self.shape = [unwrap(extent) for extent in unwrap(shape)]
        layout = unwrap(layout)
        self.alloc_shape = [unwrap(extent) for extent in unwrap(alloc_shape)]
        if not isinstance(layout, SharedLayout):
            raise AssertionError(f"expected 'layout' to be a SharedLayout but got {layout}")
        self.layout = layout

    @property
    def nbytes_per_cta(self) -> int:
        """Bytes of the tile in one block of a cluster."""
        layout: Any = self.layout
        steps: list[list[int]] = layout.block_bases if isinstance(layout, SharedLinearLayout) else layout.cga_layout
        share = block_share(self.shape, [[int(step != 0) for step in basis] for basis in steps])
        return prod(share) * self.element_ty.primitive_bitwidth // 8

    def _key(self) -> tuple[object, ...]:
        return (self.element_ty, tuple(self.shape), self.layout, tuple(self.alloc_shape))

    def __eq__(self, other: object) -> bool:
        other = unwrap(other)
        return isinstance(other, shared_memory_descriptor_type) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return f"shared_memory_descriptor<{self.element_ty}, {self.shape}, {self.layout}, {self.alloc_shape}>"

    def leaves(self) -> Sequence[base_type]:
        return [self]

    def rebuild(self, handles: Iterator[SSAValue]) -> base_value:
        return shared_memory_descriptor(next(handles), self.element_ty, self.shape, self.layout, self.alloc_shape)

    def mangle(self) -> str:
        shape, whole = ("_".join(map(str, extents)) for extents in (self.shape, self.alloc_shape))
        return f"MD{self.element_ty.mangle()}S{shape}SL{self.layout.mangle()}LAS{whole}ASMD"


class shared_memory_descriptor(base_value):
    """A tile in shared memory, or a part of one.

    >>> from tritonx.experimental.gluon import language as ttgl
    >>> issubclass(ttgl.shared_memory_descriptor, ttgl.base_value)
    True
    """

    def __init__(self, handle: SSAValue, element_ty: dtype, shape: Any, layout: Any, alloc_shape: Any):
        self.handle = handle
        self.type = shared_memory_descriptor_type(element_ty, shape, layout, alloc_shape)

    def handles(self) -> list[SSAValue]:
        return [self.handle]

    @property
    def dtype(self) -> dtype:
        """The type of an element."""
        return self.type.element_ty

    @property
    def shape(self) -> list[int]:
        return self.type.shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def nbytes_per_cta(self) -> int:
        return self.type.nbytes_per_cta

    @property
    def layout(self) -> SharedLayout:
        return self.type.layout

    def __str__(self) -> str:
        return str(self.type)

    @builtin
    def load(self, layout: Any, _semantic: GluonSemantics = INJECTED) -> tensor:
        """The tile as a block of ``layout``."""
        return _semantic.shared_load(self, unwrap(layout))

    @builtin
    def store(self, value: tensor, _semantic: GluonSemantics = INJECTED) -> None:
        """Write a block of the tile's shape and dtype. Raises ValueError for another."""
        _semantic.shared_store(self, value)

    @builtin
    def gather(self, indices: tensor, axis: Any, _semantic: GluonSemantics = INJECTED) -> tensor:
        """``result[i, j] = self[indices[i, j], j]`` along axis 0, and so on; the shape is that of ``indices``."""
        return _semantic.shared_gather(self, indices, unwrap(axis))

    @builtin
    def scatter(self, values: tensor, indices: tensor, axis: Any, _semantic: GluonSemantics = INJECTED) -> None:
        """``self[indices[i, j], j] = values[i, j]`` along axis 0, and so on, with both broadcast to one shape. Of
        several values for one element any stays."""
        _semantic.shared_scatter(self, values, indices, unwrap(axis))

    def slice(
        self, start: Any, length: Any, dim: Any = 0, _semantic: GluonSemantics = INJECTED
    ) -> shared_memory_descriptor:
        """``length`` elements of dimension ``dim`` from ``start`` on, both known at compile time."""
        return _semantic.memory_slice(self, unwrap(start), unwrap(length), unwrap(dim))

    @builtin
    def index(self, index: Any, _semantic: GluonSemantics = INJECTED) -> shared_memory_descriptor:
        """Entry ``index``, an int32, of the first dimension."""
        return _semantic.memory_index(self, index)

    @builtin
    def permute(self, order: Any, _semantic: GluonSemantics = INJECTED) -> shared_memory_descriptor:
        """Dimension i of the result is dimension ``order[i]``."""
        return _semantic.memory_permuted(self, [unwrap(axis) for axis in unwrap(order)])

    @builtin
    def reshape(self, shape: Any, _semantic: GluonSemantics = INJECTED) -> shared_memory_descriptor:
        """The same elements, in row-major order, under another shape."""
        return _semantic.memory_reshaped(self, [unwrap(extent) for extent in unwrap(shape)])

    @builtin
    def reinterpret(
        self, dtype: Any = None, shape: Any = None, layout: Any = None, _semantic: GluonSemantics = INJECTED
    ) -> shared_memory_descriptor:
        """The same bytes as a tile of another dtype, shape or layout; what is left out stays."""
        dtype, shape, layout = unwrap(dtype), unwrap(shape), unwrap(layout)
        extents = self.shape if shape is None else [unwrap(extent) for extent in shape]
        return _semantic.memory_reinterpreted(self, dtype or self.dtype, extents, layout or self.layout)

    @builtin
    def _keep_alive(self, _semantic: GluonSemantics = INJECTED) -> None:
        """Keep the memory for this tile at least until here."""
        _semantic.shared_release(self)
