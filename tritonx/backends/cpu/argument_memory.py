"""Where the memory of an argument is."""

from __future__ import annotations

from typing import Any


def address_of(value: Any) -> int:
    """The address of an array's first element: an integer, torch's ``data_ptr``, the array interfaces, or DLPack."""
    if isinstance(value, int):
        return value
    data_ptr = getattr(value, "data_ptr", None)
    if data_ptr is not None:
        return int(data_ptr())
    interface = getattr(value, "__array_interface__", None)
    if interface is not None:
        return int(interface["data"][0])
    if hasattr(value, "__dlpack__"):
        import numpy as np

        return int(np.from_dlpack(value).ctypes.data)
    raise TypeError(f"expected an array or an address, got {type(value).__name__}")
