"""Host memory by address: what loads and stores of the emitted programs do."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes  # noqa: F401  # the names of the short floats
import numpy as np


def _window(addresses: Any, dtype: Any) -> tuple[Any, Any]:
    """A view of the memory from the lowest to the highest address, and each address's place in it."""
    low = int(addresses.min())
    nbytes = int(addresses.max()) - low + dtype.itemsize
    view = np.frombuffer((ctypes.c_char * nbytes).from_address(low), dtype=np.uint8).view(dtype)
    return view, (addresses - low) // dtype.itemsize


def load(pointer: Any, dtype: str, mask: Any = None, other: Any = None) -> Any:
    kind = np.dtype(dtype)
    addresses = np.asarray(pointer)
    active = np.broadcast_to(True if mask is None else mask, addresses.shape)
    result = np.zeros(addresses.shape, kind)
    if other is not None:
        result[...] = other
    if active.any():
        view, places = _window(addresses[active], kind)
        result[active] = view[places]
    return result if result.shape else result[()]


def store(pointer: Any, value: Any, mask: Any = None) -> None:
    addresses = np.asarray(pointer)
    values = np.broadcast_to(value, addresses.shape)
    active = np.broadcast_to(True if mask is None else mask, addresses.shape)
    if active.any():
        view, places = _window(addresses[active], values.dtype)
        view[places] = values[active]
