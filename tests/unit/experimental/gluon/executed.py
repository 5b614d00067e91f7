"""Kernels of Gluon executed without a device: compiled for a GPU, their `ttg` run by the machine that checks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tritonx
from tritonx.experimental import gluon
from tritonx.interpreter.asynchronous import execute
from tritonx.ir.text import parse_module

NAMES = {"float32": "fp32", "float16": "fp16", "float64": "fp64"}
NAMES |= {f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def type_of(value: object) -> str:
    """What a signature calls the type of an argument."""
    if isinstance(value, np.ndarray):
        return f"*{NAMES[str(value.dtype)]}"
    return "fp32" if isinstance(value, float) else "i32"


def compiled(
    kernel: Any, arguments: Mapping[str, object], target: str = "cuda:90", **options: object
) -> tritonx.compiler.CompiledKernel:
    """The kernel for arguments by name, of which those annotated so are constants."""
    constants = {p.name: arguments[p.name] for p in kernel.params if p.is_constexpr}
    signature = {name: "constexpr" if name in constants else type_of(value) for name, value in arguments.items()}
    facts = [["tt.divisibility", 16]]
    attrs = {(i,): facts for i, value in enumerate(arguments.values()) if isinstance(value, np.ndarray)}
    return tritonx.compile(gluon.GluonASTSource(kernel, signature, constants, attrs), target=target, options=options)


def run(
    kernel: Any, grid: int | Sequence[int], target: str = "cuda:90", options: Any = None, **arguments: object
) -> tritonx.compiler.CompiledKernel:
    """Execute a launch; arrays are read and written in place. Fails with the reports of what is wrong with it."""
    made = compiled(kernel, arguments, target, **(options or {}))
    values = [value for p, value in zip(kernel.params, arguments.values(), strict=True) if not p.is_constexpr]
    reports = execute(parse_module(made.asm["ttgir"]), grid, values)
    assert not reports, "\n".join(map(str, reports))
    return made
