"""Composite memory values: tensor descriptors, and block pointers.

A descriptor has the handle of the hardware object, and beside it the shape (int32) and the strides (int64) that the
kernel can ask for. A block pointer has no object of its own: it is a base pointer, a shape, strides and offsets, and
a static block shape; loads and stores make the pointers and the bounds mask from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tritonx.kernel import active
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.builtins.memory import store
from tritonx.language.types.block_shapes import validate_block_shape
from tritonx.language.types.dtypes import block_type, dtype, int32, int64
from tritonx.language.types.type_names import element_type_named
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tuples import tuple, tuple_type

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.tensor import tensor


class tensor_descriptor_base_type(base_type):
    """The type of a descriptor's own handle.

    >>> tensor_descriptor_base_type(tl.block_type(tl.float16, [64])).block_type.shape
    (64,)
    """

    def __init__(self, block_type: block_type):
        validate_block_shape(block_type.shape)
        self.block_type = block_type

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, tensor_descriptor_base_type)
            and type(other) is type(self)
            and other.block_type == self.block_type
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.block_type))

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"

    __repr__ = __str__

    def leaves(self) -> list[base_type]:
        return [self]

    def rebuild(self, handles: Iterator[SSAValue]) -> Any:
        return tensor_descriptor_base(next(handles), self.block_type)

    def mangle(self) -> str:
        return f"TD{self.block_type.mangle()}"

    @property
    def cache_key_part(self) -> str:
        return str(self)


class tensor_descriptor_base(base_value):
    """A descriptor without its shape and strides: what loads and stores through it need.

    >>> issubclass(tl.tensor_descriptor, tensor_descriptor_base)
    True
    """

    def __init__(self, handle: SSAValue, block_type: block_type):
        self.handle = handle
        self.type: Any = tensor_descriptor_base_type(block_type)

    def handles(self) -> list[SSAValue]:
        return [self.handle]

    @property
    def block_type(self) -> block_type:
        return self.type.block_type

    @property
    def block_shape(self) -> Any:
        return self.type.block_type.shape

    @property
    def dtype(self) -> dtype:
        return self.type.block_type.element_ty

    def __str__(self) -> str:
        return str(self.type)

    def load(self, offsets: Any, _semantic: Semantics | None = None) -> tensor:
        """The block at ``offsets`` (int32, one an axis); elements outside the tensor are zero (or NaN, by its
        padding).
        """
        return (_semantic or active.current("load")).descriptor_load(self, offsets, "", "")

    def store(self, offsets: Any, value: Any, _semantic: Semantics | None = None) -> None:
        """Store a block at ``offsets``; elements outside the tensor are dropped."""
        return (_semantic or active.current("store")).descriptor_store(self, value, offsets)

    def atomic_add(self, offsets: Any, value: Any, _semantic: Semantics | None = None) -> None:
        return (_semantic or active.current("atomic_add")).descriptor_reduce("add", self, value, offsets)

    def atomic_min(self, offsets: Any, value: Any, _semantic: Semantics | None = None) -> None:
        """The smaller of memory and a block; see ``atomic_max``."""
        return (_semantic or active.current("atomic_min")).descriptor_reduce("min", self, value, offsets)

    def atomic_max(self, offsets: Any, value: Any, _semantic: Semantics | None = None) -> None:
        """The larger of memory and a block, for integers of 32 or 64 bits, fp16 and bf16, of which -0.0 is below +0.0.
        A number wins over a NaN, but for where the chip has instructions for it (NVIDIA's from 9.0 on): of these PTX
        does not say what a NaN gives.
        """
        return (_semantic or active.current("atomic_max")).descriptor_reduce("max", self, value, offsets)

    def atomic_and(self, offsets: Any, value: Any, _semantic: Semantics | None = None) -> None:
        return (_semantic or active.current("atomic_and")).descriptor_reduce("and", self, value, offsets)

    def atomic_or(self, offsets: Any, value: Any, _semantic: Semantics | None = None) -> None:
        return (_semantic or active.current("atomic_or")).descriptor_reduce("or", self, value, offsets)

    def atomic_xor(self, offsets: Any, value: Any, _semantic: Semantics | None = None) -> None:
        return (_semantic or active.current("atomic_xor")).descriptor_reduce("xor", self, value, offsets)

    def gather(self, *args: Any, _semantic: Semantics | None = None) -> tensor:
        """Rows ``x_offsets`` (a 1-D int32 block) from column ``y_offset`` on."""
        if len(args) != 2:
            raise TypeError(f"descriptor gather only supports 2D indexing, but got {len(args)}")
        return (_semantic or active.current("gather")).descriptor_gather(self, args[0], args[1])

    def scatter(self, value: Any, *args: Any, _semantic: Semantics | None = None) -> None:
        """Store the rows of ``value`` at rows ``x_offsets`` from column ``y_offset`` on."""
        if len(args) != 2:
            raise TypeError(f"descriptor scatter only supports 2D indexing, but got {len(args)}")
        return (_semantic or active.current("scatter")).descriptor_scatter(self, value, args[0], args[1])


class tensor_descriptor_type(tensor_descriptor_base_type):
    """The type of a descriptor with its shape and strides.

    >>> block, shape, strides = tl.block_type(tl.float16, [64]), tl.tuple_type([tl.int32]), tl.tuple_type([tl.int64])
    >>> tl.tensor_descriptor_type(block, shape, strides).block_type.shape
    (64,)
    """

    def __init__(
        self, block_type: block_type, shape_type: tuple_type | None = None, strides_type: tuple_type | None = None
    ):
        super().__init__(block_type)
        rank = len(block_type.shape)
        self.shape_type = shape_type or tuple_type([int32] * rank)
        self.strides_type = strides_type or tuple_type([int64] * rank)

    @staticmethod
    def parse(text: str) -> tensor_descriptor_type:
        """From a signature's ``tensordesc<fp16[128, 64]>``, or with ``,layout`` behind the shape (ignored here)."""
        match = re.match(r"tensordesc<([^\[>]*)\[([^\]]*)\]", text)
        if match is None:
            raise ValueError(f"malformed descriptor type {text!r}; expected tensordesc<dtype[rows, columns]>")
        return tensor_descriptor_type(block_type(element_type_named(match[1]), [int(s) for s in match[2].split(",")]))

    def __eq__(self, other: object) -> bool:
        return (
            super().__eq__(other)
            and isinstance(other, tensor_descriptor_type)
            and self.shape_type == other.shape_type
            and self.strides_type == other.strides_type
        )

    __hash__ = tensor_descriptor_base_type.__hash__

    def leaves(self) -> list[base_type]:
        return [tensor_descriptor_base_type(self.block_type), *self.shape_type.leaves(), *self.strides_type.leaves()]

    def rebuild(self, handles: Iterator[SSAValue]) -> tensor_descriptor:
        handle = next(handles)
        shape, strides = self.shape_type.rebuild(handles), self.strides_type.rebuild(handles)
        return tensor_descriptor(handle, shape.values, strides.values, self.block_type)


class tensor_descriptor(tensor_descriptor_base):
    """A descriptor. Annotating a parameter with this class takes a host ``TensorDescriptor``.

    >>> from tritonx.tools.tensor_descriptor import TensorDescriptor
    >>> @tritonx.jit
    ... def first(x: tl.tensor_descriptor, out):
    ...     tl.store(out + tl.arange(0, 4), x.load([4]))
    >>> out = np.zeros(4, np.float32)
    >>> compiled = first[(1,)](TensorDescriptor.from_tensor(np.arange(16, dtype=np.float32), [4]), out)
    >>> out.tolist()
    [4.0, 5.0, 6.0, 7.0]
    """

    def __init__(self, handle: SSAValue, shape: Sequence[Any], strides: Sequence[Any], block_type: block_type):
        super().__init__(handle, block_type)
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.type = tensor_descriptor_type(block_type, self.shape.type, self.strides.type)

    def handles(self) -> list[SSAValue]:
        return [self.handle, *self.shape.handles(), *self.strides.handles()]


class block_pointer_type(base_type):
    """The type of a block pointer: its base's pointer type and the types of its shape, strides and offsets."""

    def __init__(
        self, base: Any, shape: tuple_type, strides: tuple_type, offsets: tuple_type, block: block_type, order: Any
    ):
        self.base, self.shape, self.strides, self.offsets = base, shape, strides, offsets
        self.block_type = block
        self.order = order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, block_pointer_type) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Any:
        return (self.base, self.shape, self.strides, self.offsets, self.block_type, self.order)

    def __str__(self) -> str:
        return f"pointer<{self.block_type}>"

    __repr__ = __str__

    @property
    def element_ty(self) -> block_type:
        return self.block_type

    @staticmethod
    def is_ptr() -> bool:
        return True

    @staticmethod
    def is_block() -> bool:
        return False

    @property
    def scalar(self) -> block_pointer_type:
        return self

    def leaves(self) -> list[base_type]:
        return [self.base, *self.shape.leaves(), *self.strides.leaves(), *self.offsets.leaves()]

    def rebuild(self, handles: Iterator[SSAValue]) -> block_pointer:
        return block_pointer(
            self.base.rebuild(handles),
            self.shape.rebuild(handles),
            self.strides.rebuild(handles),
            self.offsets.rebuild(handles),
            self.block_type.shape,
            self.order,
        )

    def mangle(self) -> str:
        return f"BP{self.base.mangle()}_{self.block_type.mangle()}"

    @property
    def cache_key_part(self) -> str:
        return str(self)


class block_pointer(base_value):
    """``tl.make_block_ptr``'s value: a window of ``block_shape`` at ``offsets`` in a strided tensor.

    ``base`` a scalar pointer, ``shape`` and ``strides`` int64 scalars, ``offsets`` int32 scalars; ``order`` is a hint
    only.
    """

    def __init__(
        self, base: Any, shape: tuple, strides: tuple, offsets: tuple, block_shape: Sequence[int], order: Sequence[int]
    ):
        self.base, self.shape_, self.strides_, self.offsets_ = base, shape, strides, offsets
        element = base.type.element_ty
        block = block_type(element, [unwrap(s) for s in block_shape])
        self.order = (*order,)
        self.type: Any = block_pointer_type(base.type, shape.type, strides.type, offsets.type, block, self.order)

    @property
    def dtype(self) -> Any:
        return self.type

    @property
    def shape(self) -> Any:
        return ()

    def handles(self) -> list[SSAValue]:
        return [*self.base.handles(), *self.shape_.handles(), *self.strides_.handles(), *self.offsets_.handles()]

    def advance(self, offsets: object, _semantic: Semantics | None = None) -> block_pointer:
        """The window moved by ``offsets``; see ``tl.advance``."""
        return (_semantic or active.current("advance")).advance(self, offsets)

    def store(
        self,
        value: object,
        mask: object = None,
        boundary_check: object = (),
        cache_modifier: str = "",
        eviction_policy: str = "",
        _semantic: Semantics = INJECTED,
    ) -> None:
        """See ``tl.store``."""
        return store(self, value, mask, boundary_check, cache_modifier, eviction_policy, _semantic=_semantic)
