"""Kernels of Gluon on the emulator of AMD's instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.unit.experimental.gluon.executed import compiled, type_of
from tritonx.compiler import CompiledKernel
from tritonx.interpreter.arguments import normalise_grid
from tritonx_testing.emulators.amd.emulator import CodeObject, Emulator


def emulate(
    emulator: Emulator,
    kernel: Any,
    grid: int | Sequence[int],
    options: Mapping[str, object] | None = None,
    **arguments: object,
) -> CompiledKernel:
    """Execute a launch; arrays are read and written in place."""
    made = compiled(kernel, arguments, f"hip:{emulator.arch}", **(options or {}))
    given = [value for p, value in zip(kernel.params, arguments.values(), strict=True) if not p.is_constexpr]
    values = [value.ctypes.data if isinstance(value, np.ndarray) else value for value in given]
    types = ["*i8" if isinstance(value, np.ndarray) else type_of(value) for value in given]
    threads = made.metadata.num_warps * made.metadata.warp_size
    code = CodeObject(made.asm["hsaco"], made.metadata.name)
    emulator.run(code, types, values, normalise_grid(grid), threads)
    return made
