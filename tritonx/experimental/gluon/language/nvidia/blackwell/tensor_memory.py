"""Tensor memory: the memory of the tensor cores, which they accumulate in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, cast

from tritonx.experimental.gluon.errors import NoGluon
from tritonx.experimental.gluon.layouts import DistributedLinearLayout, TensorMemoryLayout, TensorMemoryScalesLayout
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.types.dtypes import dtype
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.constexpr_function import constexpr_function
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.experimental.gluon.semantics import GluonSemantics


def extents(shape: object) -> list[int]:
    """Extents that are known at compile time. Raises ValueError for others."""
    found = [unwrap(extent) for extent in unwrap(shape)]
    if not all(isinstance(extent, int) for extent in found):
        raise ValueError(f"all elements of 'shape' must be integers but got {found}")
    return found


class tensor_memory_descriptor_type(base_type):
    """A tile of ``shape`` in tensor memory, which lies there by ``layout``; ``alloc_shape`` is the shape of the
    allocation that it is a part of. Raises AssertionError for another layout.

    >>> from tritonx.experimental.gluon import language as ttgl
    >>> tensor_memory_descriptor_type(ttgl.float32, [128, 64], TensorMemoryLayout((128, 64), 1), [128, 64]).mangle()
    'MDfp32S128_64SLTL128x64_1__F_FTLLAS128_64ASMD'
    """

    def __init__(self, element_ty: object, shape: object, layout: object, alloc_shape: object) -> None:
        self.element_ty = cast(dtype, unwrap(element_ty))
        self.shape, self.alloc_shape = extents(shape), extents(alloc_shape)
        layout = unwrap(layout)
        if not isinstance(layout, TensorMemoryLayout | TensorMemoryScalesLayout):
            raise AssertionError(f"expected 'layout' to be a layout of tensor memory but got {layout}")
        self.layout = layout

    def _key(self) -> tuple[object, ...]:
        return (self.element_ty, tuple(self.shape), self.layout, tuple(self.alloc_shape))

    def __eq__(self, other: object) -> bool:
        other = unwrap(other)
        return isinstance(other, tensor_memory_descriptor_type) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return f"tensor_memory_descriptor<{self.element_ty}, {self.shape}, {self.layout}>"

    def leaves(self) -> Sequence[base_type]:
        return [self]

    def rebuild(self, handles: Iterator[SSAValue]) -> base_value:
        return tensor_memory_descriptor(next(handles), self.element_ty, self.shape, self.layout, self.alloc_shape)

    def mangle(self) -> str:
        shape, whole = ("_".join(map(str, sizes)) for sizes in (self.shape, self.alloc_shape))
        return f"MD{self.element_ty.mangle()}S{shape}SL{self.layout.mangle()}LAS{whole}ASMD"

    @constexpr_function
    def get_reg_layout(self, num_warps: object = None, instr_variant: object = "32x32b") -> DistributedLinearLayout:
        """The layout in registers of ``num_warps`` warps by which the tile is loaded and stored, with the instruction's
        shape ``instr_variant``. Raises ValueError where that does not move it."""
        from tritonx.experimental.gluon.semantics.nvidia.tensor_memory_tiles import registers_in

        warps = unwrap(num_warps)
        if warps is None:
            raise ValueError("num_warps could not be inferred; pass a positive power of two")
        return registers_in(unwrap(self), warps, unwrap(instr_variant))


class tensor_memory_descriptor(base_value):
    """A tile in tensor memory, or a part of one.

    >>> issubclass(tensor_memory_descriptor, base_value)
    True
    """

    def __init__(self, handle: SSAValue, element_ty: object, shape: object, layout: object, alloc_shape: object):
        self.handle = handle
        self.type = tensor_memory_descriptor_type(element_ty, shape, layout, alloc_shape)

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
    def layout(self) -> TensorMemoryLayout | TensorMemoryScalesLayout:
        return self.type.layout

    def __str__(self) -> str:
        return str(self.type)

    @builtin
    def get_reg_layout(
        self, num_warps: object = None, instr_variant: object = "32x32b", _semantic: GluonSemantics = INJECTED
    ) -> constexpr:
        """The layout in registers by which the tile is loaded and stored by ``num_warps`` warps, those that run what is
        written here for None."""
        warps = unwrap(num_warps)
        return constexpr(_semantic.memory_registers(self.type, warps, unwrap(instr_variant)))

    @builtin
    def load(self, layout: object = None, _semantic: GluonSemantics = INJECTED) -> tensor:
        """The tile as a block of ``layout``; that of `get_reg_layout` for None."""
        return _semantic.tensor_memory_load(self, unwrap(layout))

    @builtin
    def load_min(
        self,
        layout: object = None,
        abs: object = False,
        propagate_nan: object = None,
        _semantic: GluonSemantics = INJECTED,
    ) -> None:
        """The tile and the least number of each row. Raises NoGluon: compute capability 10.0 has no such load."""
        raise NoGluon("tritonx does not have load_min of tensor memory: load the tile and reduce it")

    @builtin
    def load_max(
        self,
        layout: object = None,
        abs: object = False,
        propagate_nan: object = None,
        _semantic: GluonSemantics = INJECTED,
    ) -> None:
        """The tile and the greatest number of each row. Raises NoGluon, as `load_min`."""
        raise NoGluon("tritonx does not have load_max of tensor memory: load the tile and reduce it")

    @builtin
    def store(self, value: tensor, pred: object = True, _semantic: GluonSemantics = INJECTED) -> None:
        """Write a block of the tile's shape and dtype, if ``pred`` is true. Raises ValueError for another."""
        _semantic.tensor_memory_store(self, value, pred)

    @builtin
    def slice(
        self, start: object, length: object, dim: object = 1, _semantic: GluonSemantics = INJECTED
    ) -> tensor_memory_descriptor:
        """``length`` columns from ``start`` on, both known at compile time."""
        return _semantic.tensor_memory_slice(self, unwrap(start), unwrap(length), unwrap(dim))

    @builtin
    def index(self, index: object, _semantic: GluonSemantics = INJECTED) -> tensor_memory_descriptor:
        """Entry ``index``, an int32, of the first of three dimensions."""
        return _semantic.tensor_memory_index(self, index)

    @builtin
    def reinterpret(
        self,
        dtype: object = None,
        shape: object = None,
        layout: object = None,
        _semantic: GluonSemantics = INJECTED,
    ) -> tensor_memory_descriptor:
        """The same memory as a tile of another dtype, shape or layout; what is left out stays."""
        type_, sizes, lies = unwrap(dtype), self.shape if unwrap(shape) is None else extents(shape), unwrap(layout)
        return _semantic.tensor_memory_reinterpreted(self, type_ or self.dtype, sizes, lies or self.layout)


@builtin
def allocate_tensor_memory(
    element_ty: object, shape: object, layout: object, value: object = None, _semantic: GluonSemantics = INJECTED
) -> tensor_memory_descriptor:
    """Tensor memory for a tile of ``shape``, or for several with a first dimension of their number; it holds ``value``
    if there is one. It is there as long as something uses it."""
    return _semantic.allocate_tensor_memory(unwrap(element_ty), extents(shape), unwrap(layout), unwrap(value))


@builtin
def tcgen05_copy(src: object, dst: object, _semantic: GluonSemantics = INJECTED) -> None:
    """Begin to copy shared memory to tensor memory; `tcgen05_commit` tells when it is done."""
    _semantic.copy_to_tensor_memory(src, dst)
