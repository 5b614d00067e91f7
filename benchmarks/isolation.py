"""What a helper process costs: the first compile that needs one, and every further compile beside the same one here.

    python benchmarks/isolation.py [target...]

A kernel is compiled from its LLVM text to code by the function that the backend's stage calls, in this process and in a
helper, by turns. What counts is processor time, of this process and of the helper together, which a busy machine
changes little; of each the least of `ROUNDS`. The first helper's is that of a fresh pool: Python comes up, llvmlite is
loaded, the target machine is made, the text compiled. Linux only (`/proc`)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tritonx
import tritonx.language as tl
from tritonx.backends import registry
from tritonx.backends.api import Compilation, EmitStage, Stage, run_stages
from tritonx.runtime import knobs
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.isolation.pool import pool

ROUNDS = 30


@tritonx.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(z_ptr + i, x + tl.load(y_ptr + i, mask=i < n), mask=i < n)


@tritonx.jit
def product(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    rows, cols = tl.arange(0, 64), tl.arange(0, 64)
    total = tl.zeros((64, 64), tl.float32)
    for k in range(0, n, 32):
        inner = k + tl.arange(0, 32)
        x = tl.load(x_ptr + rows[:, None] * n + inner[None, :])
        total += tl.dot(x, tl.load(y_ptr + inner[:, None] * 64 + cols[None, :]))
    tl.store(z_ptr + rows[:, None] * 64 + cols[None, :], total)


def processor_time() -> float:
    """Milliseconds that this process and its helpers have computed so far."""
    total = time.process_time_ns()
    for helper in pool().pids():
        for task in Path(f"/proc/{helper}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e6


def cost(call: Callable[[], Any]) -> float:
    """Milliseconds of processor time, here and in helpers."""
    start = processor_time()
    call()
    return processor_time() - start


def stages_of(kernel: Any, name: str) -> tuple[str, Stage, Compilation]:
    """The LLVM text of the kernel, the stage that compiles it, and what it needs to know."""
    backend, target = registry.parse_target(name)
    options = backend.parse_options(target, {})
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "z_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    module = ASTSource(kernel, signature, {"BLOCK": 1024}).make_module(target, options)
    stages = backend.stages(target, options)
    at = [stage.name for stage in stages].index("llir")
    compilation = Compilation(target, options)
    return run_stages(module, stages[: at + 1], compilation)["llir"], stages[at + 1], compilation


def main() -> None:
    for name in sys.argv[1:] or ["cuda:90", "hip:gfx942", "cpu:x86-64-v3"]:
        for kernel in (add, product):
            text, stage, compilation = stages_of(kernel, name)
            assert isinstance(stage, EmitStage)

            def compiled(
                isolated: bool, stage: EmitStage = stage, text: str = text, of: Compilation = compilation
            ) -> None:
                with knobs.compilation.scope():
                    knobs.compilation.isolate = isolated
                    stage.emit(text, of)

            pool().close()
            first = cost(lambda: compiled(True))
            compiled(False)
            pairs = [(cost(lambda: compiled(False)), cost(lambda: compiled(True))) for _ in range(ROUNDS)]
            here, there = (min(side) for side in zip(*pairs, strict=True))
            print(
                f"{name:14} {kernel.__name__:8} {len(text) / 1e3:6.1f} kB of text: here {here:6.1f} ms, "
                f"helper {there:6.1f} ms ({there - here:+.1f}), first {first:6.0f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
