"""A process that compiles jobs with whatever ``triton`` is, and measures what comes out.

    python -m structural.worker [--dump FOLDER] < jobs      (``python -m tritonx.compat -m structural.worker`` likewise)

For each line of JSON of standard input (`job.py`) one of standard output: a row, or what was in the way. There need be
no GPU. With ``--dump`` the texts of all stages are left there."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import sys
import time
import types
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from .job import Job, read
from .measure import measured

DEVICE = SimpleNamespace(
    name="NVIDIA H100 80GB HBM3", major=9, minor=0, multi_processor_count=132, shared_memory_per_block_optin=232448
)


class Sources:
    """Modules by file, imported once."""

    def __init__(self) -> None:
        self.modules: dict[str, Any] = {}

    def kernel(self, job: Job) -> Any:
        """The function without tuners and heuristics around it."""
        import triton

        if job.file not in self.modules:
            self.modules[job.file] = self._imported(job)
        found: Any = self.modules[job.file]
        for part in job.function.split("."):
            found = getattr(found, part)
        while not isinstance(found, triton.JITFunction):
            found = found.fn
        return found

    def _imported(self, job: Job) -> types.ModuleType:
        """As on a machine with a GPU, as far as modules ask when they are imported. A program that launches its kernels
        ends there."""
        for path in reversed(job.paths):
            if path not in sys.path:
                sys.path.insert(0, path)
        stem = Path(job.file).stem
        spec = importlib.util.spec_from_file_location(stem, job.file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[stem] = module
        with ExitStack() as stack:
            if importlib.util.find_spec("torch") is not None:
                import torch

                for query, answer in {"get_device_capability": (9, 0), "get_device_properties": DEVICE}.items():
                    stack.enter_context(mock.patch.object(torch.cuda, query, return_value=answer))
            try:
                spec.loader.exec_module(module)
            except Exception:
                if not hasattr(module, job.function.split(".")[0]):
                    raise
        return module


def target_of(name: str) -> Any:
    from triton.backends.compiler import GPUTarget

    backend, arch = name.split(":")
    if backend == "cuda":
        return GPUTarget("cuda", int(arch), 32)
    return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)


def options_of(job: Job) -> Any:
    """What a launch adds: tritonx compiles for its own launcher."""
    import triton

    if triton.__name__ != "tritonx":
        return dict(job.options)
    from tritonx.backends.registry import launch_options, parse_target

    backend, chip = parse_target(job.target)
    return launch_options(backend, chip, job.options)


def value_of(constant: Any) -> Any:
    """A constant of a job: dtypes and functions are by name."""
    if isinstance(constant, dict):
        import triton.language as tl

        return getattr(tl, constant["name"])
    return tuple(map(value_of, constant)) if isinstance(constant, list) else constant


def source_of(job: Job, sources: Sources) -> Any:
    """The ``ASTSource`` of a job."""
    from triton.compiler import ASTSource

    fn = sources.kernel(job)
    signature = {k: ast.literal_eval(v) if v.startswith("(") else v for k, v in job.signature.items()}
    constants = {(i,): value_of(v) for i, v in job.constants}
    attrs = {(i,): marks for i, marks in job.attrs}
    return ASTSource(fn, signature, constexprs=constants, attrs=attrs)


def compiled(job: Job, sources: Sources) -> Any:
    import triton

    return triton.compile(source_of(job, sources), target=target_of(job.target), options=options_of(job))


def reason(error: BaseException) -> str:
    """What was in the way, in a line."""
    said = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' | '.join(said[-3:])}"[:400]


def answer(job: Job, sources: Sources, dump: Path | None) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        kernel = compiled(job, sources)
        row = measured(kernel.asm, kernel.metadata.shared, kernel.metadata.num_warps * target_of(job.target).warp_size)
    except (Exception, SystemExit) as error:
        return {"error": reason(error)}
    if dump is not None:
        keep(kernel.asm, dump, f"{job.name}.{job.target}".replace("/", "_").replace(":", "_").replace(" ", "_"))
    return {"row": row, "seconds": round(time.perf_counter() - start, 2)}


def keep(asm: Mapping[str, Any], folder: Path, stem: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for stage in asm:
        text = asm[stage]
        path = folder / f"{stem}.{stage}"
        path.write_bytes(text) if isinstance(text, bytes) else path.write_text(str(text))


def serve(answer: Callable[[Job, Sources], Mapping[str, Any]]) -> None:
    """Answers each job of the standard input, a line of JSON each, with a line of the standard output."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what modules print
    sources = Sources()
    for line in sys.stdin:
        answers.write(json.dumps(answer(read(line), sources)) + "\n")


def main() -> None:
    dump = Path(sys.argv[sys.argv.index("--dump") + 1]) if "--dump" in sys.argv else None
    serve(lambda job, sources: answer(job, sources, dump))


if __name__ == "__main__":
    main()
