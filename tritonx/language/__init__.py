"""``tl``: what a kernel author writes.

Types (``types``), values (``values``), builtins by op family (``builtins``), and the library that is itself written in
the language (``standard``, ``sort``, ``random``); ``core``, ``math`` and ``target_info`` are Triton's modules.
Importing this package imports no IR: builtins pass their arguments to the ``Semantics`` that the compiler or the
interpreter hands them. Each family of builtins says in its ``__all__`` what it exports here. What a docstring says is
raised is the cause of the CompilationError that shows the kernel's line.
"""

# ruff: noqa: F403

from tritonx.language import core, extra, math, random, standard, target_info
from tritonx.language.builtins.atomic import *
from tritonx.language.builtins.atomic import __all__ as _atomic
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
from tritonx.language.builtins.memory import *
from tritonx.language.builtins.memory import __all__ as _memory
from tritonx.language.builtins.reduce import *
from tritonx.language.builtins.reduce import __all__ as _reduce
from tritonx.language.builtins.shape import *
from tritonx.language.builtins.shape import __all__ as _shape
from tritonx.language.core import (
    TRITON_MAX_TENSOR_NUMEL,
    bfloat16,
    block_type,
    const,
    constexpr,
    constexpr_type,
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
    slice,
    str_to_ty,
    tensor,
    tensor_descriptor,
    tensor_descriptor_type,
    tuple,
    tuple_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from tritonx.language.math import *
from tritonx.language.math import __all__ as _math
from tritonx.language.random import (
    pair_uniform_to_normal,
    philox,
    philox_impl,
    rand,
    rand4x,
    randint,
    randint4x,
    randn,
    randn4x,
    uint_to_uniform_float,
)
from tritonx.language.sort import (
    bitonic_merge,
    flip,
    sort,
    topk,
)
from tritonx.language.standard import (
    argmax,
    argmin,
    cdiv,
    cumprod,
    cumsum,
    interleave,
    max,
    min,
    ravel,
    reduce_or,
    sigmoid,
    softmax,
    squeeze,
    sum,
    swizzle2d,
    unsqueeze,
    xor_sum,
)
from tritonx.language.values.aggregate import aggregate_replace

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]  # what a family exports it says itself
    "TRITON_MAX_TENSOR_NUMEL",
    "aggregate_replace",
    "argmax",
    "argmin",
    "bfloat16",
    "bitonic_merge",
    "block_type",
    "cdiv",
    "const",
    "constexpr",
    "constexpr_type",
    "core",
    "cumprod",
    "cumsum",
    "dtype",
    "extra",
    "flip",
    "float8e4b8",
    "float8e4b15",
    "float8e4nv",
    "float8e5",
    "float8e5b16",
    "float16",
    "float32",
    "float64",
    "int1",
    "int8",
    "int16",
    "int32",
    "int64",
    "interleave",
    "math",
    "max",
    "min",
    "pair_uniform_to_normal",
    "philox",
    "philox_impl",
    "pi32_t",
    "pointer_type",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "random",
    "ravel",
    "reduce_or",
    "sigmoid",
    "slice",
    "softmax",
    "sort",
    "squeeze",
    "standard",
    "str_to_ty",
    "sum",
    "swizzle2d",
    "target_info",
    "tensor",
    "tensor_descriptor",
    "tensor_descriptor_type",
    "to_tensor",
    "topk",
    "tuple",
    "tuple_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint_to_uniform_float",
    "unsqueeze",
    "void",
    "xor_sum",
    *_atomic,
    *_control,
    *_creation,
    *_debug,
    *_descriptor,
    *_dot,
    *_elementwise,
    *_math,
    *_memory,
    *_reduce,
    *_shape,
]
