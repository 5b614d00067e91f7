"""Arrays as tests of libraries make them, hand them to kernels and read them back: the part of
``triton._internal_testing`` that needs PyTorch, which is imported when an array is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

import tritonx.language as tl
from tritonx.runtime import driver
from tritonx.runtime.devices.torch_interface import pytorch
from tritonx.runtime.jit import TensorWrapper, reinterpret, type_canonicalisation_dict

Array = np.ndarray[Any, np.dtype[Any]]
Tensor = Any
"""PyTorch's, or a ``TensorWrapper`` of one, or a device of PyTorch's."""

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes_with_bfloat16]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


def numpy_random(
    shape: int | Sequence[int],
    dtype_str: str,
    rs: np.random.RandomState | None = None,
    low: int | None = None,
    high: int | None = None,
) -> Array:
    """Random numbers of ``shape``; the same ones in every call without ``rs``.

    Integers lie in [``low``, ``high``), cut to the type's range, and none is 0. bf16 are the f32 that it holds, 8-bit
    floats are their codes, of normal numbers. Raises RuntimeError for a type of another name.
    """
    rs = np.random.RandomState(17) if rs is None else rs
    if dtype_str in integral_dtypes:
        limits = np.iinfo(dtype_str)
        least = limits.min if low is None else max(low, int(limits.min))
        most = limits.max if high is None else min(high, int(limits.max))
        draw = cast("Callable[..., Array]", rs.randint)
        whole = np.asarray(draw(least, most, shape, dtype=dtype_str))
        whole[whole == 0] = 1
        return whole
    if "float8" in dtype_str:
        return np.asarray(rs.randint(20, 40, shape, dtype=np.int8))
    normal = np.asarray(rs.normal(0, 1, shape))
    if dtype_str in float_dtypes:
        return normal.astype(dtype_str)
    if dtype_str == "bfloat16":
        return (normal.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    if dtype_str in ("bool", "int1", "bool_"):
        return normal > 0.0
    raise RuntimeError(f"Unknown dtype {dtype_str}")


def to_triton(x: Array, device: Tensor, dst_type: str | None = None) -> Tensor:
    """A tensor on the device with the numbers of ``x``: a PyTorch tensor, or a ``TensorWrapper`` for unsigned integers
    and, where ``dst_type`` says so, codes of 8-bit floats. f32 are rounded to bf16 where it is ``"bfloat16"``.
    """
    torch = pytorch()
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.astype(name.removeprefix("u")), device=device), getattr(tl, name))
    tensor = torch.tensor(x, device=device)
    if dst_type and "float8" in dst_type:
        return reinterpret(tensor, getattr(tl, dst_type))
    return tensor.bfloat16() if (name, dst_type) == ("float32", "bfloat16") else tensor


def to_numpy(x: Tensor) -> Array:
    """The numbers of a tensor or ``TensorWrapper``, bf16 as f32. Raises ValueError for anything else."""
    torch = pytorch()
    if isinstance(x, TensorWrapper):
        numbers: Array = x.base.cpu().numpy()
        return numbers.astype(torch_dtype_name(x.dtype))
    if not isinstance(x, torch.Tensor):
        raise ValueError(f"Not a triton-compatible tensor: {x}")
    x = x.cpu()
    return (x.float() if x.dtype is torch.bfloat16 else x).numpy()


def unwrap_tensor(t: Tensor) -> Tensor:
    """The tensor within a ``TensorWrapper``, or ``t``."""
    return t.base if isinstance(t, TensorWrapper) else t


def str_to_triton_dtype(x: str) -> tl.dtype:
    """``"float32"`` as ``tl.float32``."""
    names = cast("Mapping[str, str]", type_canonicalisation_dict)
    type_: tl.dtype = tl.str_to_ty(names[x], None)
    return type_


def torch_dtype_name(dtype: object) -> str:
    """``"int64"`` for ``torch.int64`` and for ``tl.int64``, whose name is its short one there. Raises TypeError."""
    torch = pytorch()
    if isinstance(dtype, tl.dtype):
        return dtype.name
    if isinstance(dtype, torch.dtype):
        return str(dtype).removeprefix("torch.")
    raise TypeError(f"not a triton or torch dtype: {type(dtype)}")


def default_alloc_fn(size: int, align: int, stream: int | None) -> Tensor:
    """Memory for `tritonx.set_allocator`: PyTorch's, ``size`` bytes on the current device."""
    torch = pytorch()
    return torch.empty(size, dtype=torch.int8, device=driver.get_active().get_active_torch_device())
