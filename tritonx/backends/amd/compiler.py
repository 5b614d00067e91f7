"""Triton's module ``triton.backends.amd.compiler``: the compile side of this backend under Triton's names."""

from __future__ import annotations

from collections.abc import Callable

from tritonx.backends.amd import BACKEND
from tritonx.backends.amd.knobs import knobs
from tritonx.backends.amd.options import AmdOptions
from tritonx.backends.api import Target
from tritonx.backends.compiler import BaseBackend, GPUTarget, Language, TargetBackend

__all__ = [
    "BaseBackend",
    "GPUTarget",
    "HIPBackend",
    "HIPOptions",
    "Language",
    "get_min_dot_size",
    "is_in_thread_transpose_enabled",
    "is_pingpong_schedule_enabled",
]

HIPOptions = AmdOptions


class HIPBackend(TargetBackend):
    """This backend for one target.

    >>> from tritonx.backends.api import Target
    >>> HIPBackend(Target("hip", "gfx942", 64)).parse_options({"num_warps": 8}).num_warps
    8
    """

    supports_native_tensor_specialization = False

    def __init__(self, target: Target) -> None:
        super().__init__(BACKEND, target)

    @staticmethod
    def parse_attr(desc: str) -> list[list[object]]:
        """Marks → attributes of the function's argument; ``S`` says that 32-bit offsets reach all of it."""
        return [*BaseBackend.parse_attr(desc.replace("S", "")), *([["tt.pointer_range", 32]] if "S" in desc else [])]


def get_min_dot_size(target: Target) -> Callable[[object, object], tuple[int, int, int]]:
    """(type of one operand, of the other) → the least M, N and K of ``tl.dot``: what is too small for the matrix cores
    is computed without them.

    >>> from tritonx.backends.api import Target
    >>> get_min_dot_size(Target("hip", "gfx942", 64))(tl.float16, tl.float16)
    (1, 1, 1)
    """
    return lambda lhs_type, rhs_type: (1, 1, 1)


def is_pingpong_schedule_enabled(arch: str, use_async_copy: bool) -> bool:
    """What Triton does by default, or the setting. Here gfx950 has it without such copies as well, for what threads
    store.

    >>> is_pingpong_schedule_enabled("gfx942", use_async_copy=False)
    True
    """
    default = arch == "gfx942" or (arch == "gfx950" and use_async_copy)
    return default if knobs.use_block_pingpong is None else knobs.use_block_pingpong


def is_in_thread_transpose_enabled(arch: str) -> bool:
    """What Triton would do by default, or the setting; without effect here.

    >>> is_in_thread_transpose_enabled("gfx942"), is_in_thread_transpose_enabled("gfx950")
    (True, False)
    """
    return arch == "gfx942" if knobs.use_in_thread_transpose is None else knobs.use_in_thread_transpose
