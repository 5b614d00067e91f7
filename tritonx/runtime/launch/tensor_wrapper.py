"""A tensor seen with another element type of the language."""

from __future__ import annotations

from typing import Any


class TensorWrapper:
    """``base`` with the language's ``dtype`` in place of its own: how a uint8 tensor is passed as fp8.

    >>> isinstance(tritonx.reinterpret(np.zeros(4, np.uint8), tl.float8e5), tritonx.TensorWrapper)
    True
    """

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base = base
        self.dtype = dtype
        self.data = getattr(base, "data", base)
        self.device = getattr(base, "device", None)
        self.shape = base.shape

    def data_ptr(self) -> int:
        if hasattr(self.base, "data_ptr"):
            return self.base.data_ptr()
        from tritonx.runtime.launch.specialize import specializer

        return specializer()(self.base)[1]

    def stride(self, *args: Any) -> Any:
        return self.base.stride(*args)

    def element_size(self) -> int:
        return self.base.element_size() if hasattr(self.base, "element_size") else self.base.dtype.itemsize

    def cpu(self) -> TensorWrapper:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def clone(self) -> TensorWrapper:
        return TensorWrapper(self.base.clone() if hasattr(self.base, "clone") else self.base.copy(), self.dtype)

    def new_empty(self, sizes: object) -> TensorWrapper:
        """An array of these extents beside this one, with nothing in it yet."""
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        if hasattr(self.base, "copy_"):
            self.base.copy_(other.base)
        else:
            self.base[...] = other.base

    def to(self, device: Any) -> TensorWrapper:
        return TensorWrapper(self.base.to(device), self.dtype)

    def __repr__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: object, dtype: object) -> Any:
    """``tensor`` as elements of ``dtype``; the original tensor where that is its own type already.

    Raises TypeError for what is not a tensor.

    >>> bits = np.full(4, 0x3C00, np.uint16)
    >>> compiled = double[(1,)](tritonx.reinterpret(bits, tl.float16), BLOCK=4)
    >>> bits.view(np.float16).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    base: Any = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    from tritonx.runtime.launch.arguments import array_source

    if array_source(base.__class__) is None:
        raise TypeError(f"Cannot reinterpret a {type(tensor)}.")
    from tritonx.runtime.devices.dtype_names import type_name

    if isinstance(tensor, TensorWrapper) and type_name(base.dtype) == type_name(dtype):
        return base
    return TensorWrapper(base, dtype)
