"""A kernel compiled for a compute capability and executed from its PTX, on the host's arrays."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tests.unit.backends.nvidia.ptx.memory import Segment
from tests.unit.backends.nvidia.ptx.run import execute, window
from tritonx.backends.api import Backend, Compilation, Options, Target, run_stages
from tritonx.backends.nvidia.options import NvidiaOptions
from tritonx.backends.registry import parse_target
from tritonx.interpreter.ir_launch import bind
from tritonx.testing.conformance.case import Array, Case, Output, Trial
from tritonx.testing.conformance.device import host_arguments, options_for, unsupported

COPY_ENGINE = "cp.async.bulk.tensor"


class PtxDevice:
    """For the conformance suite: up to PTX and no further, which is executed."""

    def __init__(self, arch: str, seed: int, extra: Mapping[str, Any] | None = None) -> None:
        """``extra`` are more instructions than all capabilities have."""
        self.name = f"ptx:{arch}"
        self.seed, self.extra = seed, extra or {}
        self.backend: Backend
        self.target: Target
        self.backend, self.target = parse_target(f"cuda:{arch}")

    def run(self, case: Case, trial: Trial) -> list[Array]:
        args = host_arguments(trial)
        self.launch(case.kernel, args, dict(trial.constants), trial.grid, options_for(case, self.backend, self.target))
        return [a for a, given in zip(args, trial.args, strict=True) if isinstance(given, Output)]

    def launch(self, kernel: Any, args: Sequence[Any], constants: dict[str, Any], grid: Any, options: Options) -> str:
        """Returns the PTX. The copy engine is not executed: a kernel whose blocks it would move has them moved by its
        threads, without pipelines."""
        bound = bind(kernel, args, constants, options, self.target)
        compilation = Compilation(self.target, options)
        stages = [s for s in self.backend.stages(self.target, options) if s.name != "cubin"]
        text = str(run_stages(bound.module, stages, compilation)["ptx"])
        if COPY_ENGINE in text and isinstance(options, NvidiaOptions) and options.pipeline:
            return self.launch(kernel, args, constants, grid, replace(options, pipeline=False))
        segments = [window(*extent(a)) for a in args if isinstance(a, np.ndarray) and a.size]
        values = packed(parameters(bound.module), bound.arguments)
        shared = int(compilation.metadata["shared"])
        execute(text, grid_of(grid), values, merged(segments), shared, self.seed, self.extra)
        return text

    def unsupported(self, case: Case) -> str | None:
        return unsupported(case, self.backend, self.target)

    def usable(self) -> bool:
        return True


def grid_of(grid: Any) -> tuple[int, int, int]:
    x, y, z = (*([grid] if isinstance(grid, int) else grid), 1, 1)[:3]
    return int(x), int(y), int(z)


def extent(array: Any) -> tuple[int, int, str]:
    low, high = np.lib.array_utils.byte_bounds(array)
    return low, high - low, "an array"


def merged(segments: list[Segment]) -> list[Segment]:
    """Views of one array are one memory."""
    found: list[Segment] = []
    for segment in sorted(segments, key=lambda s: s.start):
        if found and segment.start < found[-1].end:
            last = found.pop()
            found.append(window(last.start, max(last.end, segment.end) - last.start, "arrays"))
        else:
            found.append(segment)
    return found


def parameters(module: Any) -> list[str]:
    """The types of the kernel's parameters, in the IR's names."""
    function = next(op for op in module.walk() if op.name in ("tt.func", "llvm.func"))
    return [str(t) for t in function.properties["function_type"].inputs.data]


_FORMATS: Mapping[str, str] = {"f32": "f", "f64": "d", "f16": "e"}


def packed(types: Sequence[str], values: Sequence[Any]) -> list[bytes]:
    out: list[bytes] = []
    for type_, value in zip(types, values, strict=True):
        if type_ in _FORMATS:
            out.append(struct.pack("<" + _FORMATS[type_], value))
        elif type_ == "bf16":
            out.append(struct.pack("<f", value)[2:])
        else:
            nbytes = 8 if type_.startswith("!tt.ptr") else max(1, int(type_[1:]) // 8)
            out.append((int(value) % (1 << 8 * nbytes)).to_bytes(nbytes, "little"))
    return out
