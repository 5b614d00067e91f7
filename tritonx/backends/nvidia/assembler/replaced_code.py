"""What code takes that a user put in the compiler's place (``ir_override``, ``TRITON_KERNEL_OVERRIDE``).

The driver reads as many arguments as the code has parameters, however many a launch has: too few would be a read of
memory that is none. So the code's parameters are looked at when it is loaded. Triton's code ends with the addresses of
two scratch memories, whether it has any or not; they are null in a launch of tritonx."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

from tritonx.backends.nvidia.tensor_maps.tensor_map import NBYTES
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.launch.descriptor_parameters import MAP
from tritonx.runtime.launch.parameter_values import letter

SCRATCH_MEMORIES = 2
"""The most parameters that code of Triton's has behind the kernel's."""

ADDRESS_BYTES = 8


def null_parameters(cuda: ctypes.CDLL, function: int, types: Sequence[str], scratch_bytes: int) -> int:
    """How many parameters the code has behind those that the launch fills, of ``types`` and an address where there are
    ``scratch_bytes``. Raises `UnsupportedArgument` where its parameters are others."""
    wanted = [parameter_bytes(t) for t in types] + [ADDRESS_BYTES] * (scratch_bytes > 0)
    found = code_parameters(cuda, function)
    if found is None:
        return 0
    surplus = len(found) - len(wanted)
    if surplus < 0 or surplus > SCRATCH_MEMORIES or found != wanted + [ADDRESS_BYTES] * surplus:
        raise UnsupportedArgument(
            f"the code that replaces the kernel's takes parameters of {listed(found)} bytes, and a launch has "
            f"{listed(wanted)}: it was written for other arguments"
        )
    return surplus


def parameter_bytes(type_: str) -> int:
    """The size of a parameter of a Triton type, or of a tensor map.

    >>> parameter_bytes("*fp16"), parameter_bytes("fp16"), parameter_bytes("u1")
    (8, 2, 1)
    """
    return NBYTES if type_.startswith(MAP) else struct.calcsize("=" + letter(type_))


def code_parameters(cuda: ctypes.CDLL, function: int) -> list[int] | None:
    """The size of each parameter of a loaded function; None with a driver that does not tell (before CUDA 12.4)."""
    try:
        ask = cuda.cuFuncGetParamInfo
    except AttributeError:
        return None
    sizes: list[int] = []
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    while not ask(ctypes.c_void_p(function), ctypes.c_size_t(len(sizes)), ctypes.byref(offset), ctypes.byref(size)):
        sizes.append(size.value)
    return sizes


def listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes)) or "no"
