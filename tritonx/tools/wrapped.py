"""Tuners and heuristics around a kernel, and the kernel that they wrap."""

from __future__ import annotations

from typing import TypeAlias, cast

from tritonx.runtime.autotuner import Autotuner
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.launch.computed_arguments import Heuristics

Wrapper: TypeAlias = Autotuner | Heuristics


def unwrapped(kernel: object) -> tuple[list[Wrapper], object]:
    """The tuners and heuristics around a kernel, the outermost first, and what they wrap."""
    wrappers: list[Wrapper] = []
    while isinstance(kernel, Autotuner | Heuristics):
        wrappers.append(kernel)
        kernel = cast("object", kernel.fn)
    return wrappers, kernel


def jit_function(value: object) -> JITFunction | None:
    """The kernel that a tuner and heuristics wrap; None of anything else."""
    _, inner = unwrapped(value)
    return cast("JITFunction", inner) if isinstance(inner, JITFunction) else None
