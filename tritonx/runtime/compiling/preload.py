"""Loading the compiler before there is anything to compile: a process that forks workers does it once for them all."""

from __future__ import annotations

import contextlib
from typing import Any

import tritonx.language as tl
from tritonx.backends.api import Backend, Compilation, PassStage
from tritonx.backends.registry import available
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.jit import jit


@jit
def _sum(x: Any, out: Any, n: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x + start + offsets, mask=start + offsets < n, other=0.0)
    tl.store(out, tl.sum(total, 0))


def load_compiler() -> None:
    """What the first compile of a process imports and builds, 0.6 s of CPU time, for every backend that may have a
    device here. Touches no driver, no cache and no assembler."""
    for backend in available().values():
        if backend.has_device() is not False:
            with contextlib.suppress(Exception):  # whatever it is, a compile will tell, with the kernel at hand
                loading_compile(backend)


def loading_compile(backend: Backend) -> None:
    """A small kernel through all stages but those of other programs."""
    from tritonx.ir.pipeline import run_emit_stage, run_pass_stage

    target = backend.parse_target("")
    options = backend.parse_options(target, {})
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    value: Any = ASTSource(_sum, signature, {(3,): 128}).make_module(target, options)
    compilation = Compilation(target, options, {"name": "_sum"})
    for stage in backend.stages(target, options):
        if isinstance(stage, PassStage):
            run_pass_stage(value, stage, compilation)
        elif stage.needs_tool:
            return
        else:
            value = run_emit_stage(stage, value, compilation)
