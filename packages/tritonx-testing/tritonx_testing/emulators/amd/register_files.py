"""The emulator's register files, as arrays."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

SCALARS, VECTORS, ACCUMULATORS = 0, 1, 5
"""Places of the register files among an instruction's buffers."""


def file_of(buffer: Any, lanes: int) -> Any:
    """A register file as an array ``[register][lane]``."""
    return np.ctypeslib.as_array((ctypes.c_uint32 * (256 * lanes)).from_address(buffer.value)).reshape(256, lanes)


def step(buffer: Any, nbytes: int) -> None:
    """Move the program counter on."""
    (ctypes.c_uint64).from_address(buffer.value + 4 * 256).value += nbytes


def active(scalars: Any, lanes: int) -> Any:
    """Which lanes the execution mask has on."""
    mask = (ctypes.c_uint64).from_address(scalars.value + 4 * 126).value  # EXEC_LO, EXEC_HI
    return np.array([mask >> lane & 1 for lane in range(lanes)], bool)
