"""``tl.core``: types, values and builtins under the names they have in Triton."""

# ruff: noqa: F403
# The families of builtins say what they export.
# pyright: reportPrivateUsage=false
# Some of those names begin with an underscore, and code generators use them all the same.

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritonx.kernel.source import JITCallable
from tritonx.language.builtins.atomic import *
from tritonx.language.builtins.atomic import __all__ as _atomic
from tritonx.language.builtins.builtin import TRITON_BUILTIN, builtin, extern, is_builtin, must_use_result
from tritonx.language.builtins.control import *
from tritonx.language.builtins.control import __all__ as _control
from tritonx.language.builtins.creation import *
from tritonx.language.builtins.creation import __all__ as _creation
from tritonx.language.builtins.creation import to_tensor
from tritonx.language.builtins.debug import *
from tritonx.language.builtins.debug import __all__ as _debug
from tritonx.language.builtins.descriptor import *
from tritonx.language.builtins.descriptor import __all__ as _descriptor
from tritonx.language.builtins.dot import *
from tritonx.language.builtins.dot import __all__ as _dot
from tritonx.language.builtins.elementwise import *
from tritonx.language.builtins.elementwise import __all__ as _elementwise
from tritonx.language.builtins.elementwise import extern_elementwise
from tritonx.language.builtins.extremes import builtin_max, builtin_min, is_negative_zero
from tritonx.language.builtins.memory import *
from tritonx.language.builtins.memory import __all__ as _memory
from tritonx.language.builtins.reduce import *
from tritonx.language.builtins.reduce import __all__ as _reduce
from tritonx.language.builtins.reduce import _reduce_with_indices
from tritonx.language.builtins.shape import *
from tritonx.language.builtins.shape import __all__ as _shape
from tritonx.language.builtins.shape import _cropped, _filled, item
from tritonx.language.types.block_shapes import TRITON_MAX_TENSOR_NUMEL, validate_block_shape
from tritonx.language.types.dtypes import (
    KIND,
    SIGNEDNESS,
    bfloat16,
    block_type,
    const,
    dtype,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    pi32_t,
    pointer_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from tritonx.language.types.signatures import str_to_ty
from tritonx.language.types.type_names import get_int_dtype
from tritonx.language.values.aggregate import _aggregate, aggregate_replace
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr_type
from tritonx.language.values.constexpr import unwrap as _unwrap_if_constexpr
from tritonx.language.values.descriptors import (
    tensor_descriptor,
    tensor_descriptor_base,
    tensor_descriptor_base_type,
    tensor_descriptor_type,
)
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import slice, slice_type, tuple, tuple_type
from tritonx.runtime.devices.dtype_names import get_primitive_bitwidth
from tritonx.runtime.refusals import refusing

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.types.static_types import constexpr
else:
    from tritonx.language.values.constexpr import constexpr

CONSTEXPR_0 = constexpr(0)


def _unwrap_shape(shape: Sequence[object]) -> list[int]:
    """The extents of a shape as Python's numbers.

    >>> _unwrap_shape((tl.constexpr(2), 4))
    [2, 4]
    """
    return [_unwrap_if_constexpr(extent) for extent in _unwrap_if_constexpr(shape)]


def binary_op_type_legalization(lhs: object, rhs: object, semantic: Semantics) -> object:
    """Two operands in their common type and shape; raises TypeError or ValueError where they have none.

    >>> @tl.core.builtin
    ... def common(x, y, _semantic=None):
    ...     return tl.core.binary_op_type_legalization(x, y, _semantic)[1]
    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     tl.static_assert(common(tl.load(x), 1).dtype == tl.float32)
    >>> compiled = kernel.warmup(np.zeros(1, np.float32), np.zeros(1), grid=(1,))
    """
    return semantic.binary_operands(lhs, rhs)


_REFUSED = {
    "check_bit_width": "a shift checks its own operands",
    "dispatch": "``extern_elementwise`` calls the symbol of a library",
}

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = refusing(__name__, _REFUSED)

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]  # what a family exports it says itself
    "CONSTEXPR_0",
    "JITCallable",
    "KIND",
    "SIGNEDNESS",
    "TRITON_BUILTIN",
    "TRITON_MAX_TENSOR_NUMEL",
    "_aggregate",
    "_cropped",
    "_filled",
    "_reduce_with_indices",
    "_unwrap_if_constexpr",
    "_unwrap_shape",
    "aggregate_replace",
    "base_type",
    "base_value",
    "bfloat16",
    "block_type",
    "binary_op_type_legalization",
    "builtin",
    "builtin_max",
    "builtin_min",
    "const",
    "constexpr",
    "constexpr_type",
    "dtype",
    "extern",
    "extern_elementwise",
    "float8e4b8",
    "float8e4b15",
    "float8e4nv",
    "float8e5",
    "float8e5b16",
    "float16",
    "float32",
    "float64",
    "get_int_dtype",
    "get_primitive_bitwidth",
    "int1",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_builtin",
    "is_negative_zero",
    "item",
    "must_use_result",
    "pi32_t",
    "pointer_type",
    "slice",
    "slice_type",
    "str_to_ty",
    "tensor",
    "tensor_descriptor",
    "tensor_descriptor_base",
    "tensor_descriptor_base_type",
    "tensor_descriptor_type",
    "to_tensor",
    "tuple",
    "tuple_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "validate_block_shape",
    "void",
    *_atomic,
    *_control,
    *_creation,
    *_debug,
    *_descriptor,
    *_dot,
    *_elementwise,
    *_memory,
    *_reduce,
    *_shape,
]
