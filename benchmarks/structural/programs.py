"""Programs whose launches are jobs: this folder's benchmarks, the examples, and programs from outside the
repository."""

from __future__ import annotations

import ast
import importlib
import runpy
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from .job import Job
from .launches import Launches, own_path, recording

BENCHMARKS = Path(__file__).parents[1]
EXAMPLES = BENCHMARKS.parent / "examples"


def products() -> Iterator[Job]:
    """The cases of `products/table.py` with the two configurations to expect most of, of the sizes that a GPU is given:
    tensors without memory."""
    from products.case import Bench, Call
    from products.launches import kernel_of
    from products.table import CASES

    for name, builder in CASES.items():
        launches = Launches(f"products/{name}", [str(BENCHMARKS)])
        case = builder(Bench(device="meta"))
        for configuration in case.configurations[:2]:
            for step in case.steps(configuration):
                if isinstance(step, Call):
                    launches.launched(kernel_of(step, "tritonx"), *_arguments(step))
        yield from told(launches)


def _arguments(call: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    from products.launches import _argument

    return tuple(_argument(value, "tritonx") for value in call.arguments), dict(call.options)


def memory() -> Iterator[Job]:
    """The configurations of `gpu_memory.py`."""
    import gpu_memory

    launches = Launches("memory", [str(BENCHMARKS)])
    with recording(launches):
        gpu_memory.MOST_ROWS = 256
        for name, builder in gpu_memory.CASES.items():
            if name.startswith("add") and "odd" in name:
                continue
            case = builder()
            for configuration in case.configurations:
                case.launch(gpu_memory.KERNELS.ours, case.out, configuration)
    yield from told(launches)


def classic() -> Iterator[Job]:
    """The configurations of `gpu_classic.py`."""
    import gpu_classic
    import torch

    launches = Launches("classic", [str(BENCHMARKS)])
    with recording(launches):
        for size in (512, 500):
            for transposed in ((False, False), (True, False), (False, True)):
                a, b = (gpu_classic.random_halves(size, size, each) for each in transposed)
                for configuration in gpu_classic.CONFIGURATIONS:
                    gpu_classic.launch(gpu_classic.KERNELS.ours, a, b, torch.empty_like(a), configuration)
    yield from told(launches)


def examples(folder: Path) -> Iterator[Job]:
    """The kernels of `examples/`, alone in files of ``folder`` that import Triton."""
    import numpy as np

    own_path(EXAMPLES)
    harness = importlib.import_module("harness")
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(EXAMPLES.glob("*.py")):
        if "@tritonx.jit" not in path.read_text():
            continue
        launches = Launches(f"examples/{path.stem}", [])
        with recording(launches):
            importlib.import_module(path.stem).case(harness.Device(), np.random.default_rng(0)).launch()
        copy = folder / path.name
        copy.write_text(kernels_alone(path.read_text()))
        yield from (_moved(job, copy) for job in told(launches))


def _moved(job: Job, file: Path) -> Job:
    return replace(job, file=str(file), paths=())


def kernels_alone(text: str) -> str:
    """The kernels of a program that imports tritonx by its name, as a module that imports Triton."""
    kept = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.dump(d) for d in node.decorator_list)
    ]
    lines = text.splitlines()
    bodies = ("\n".join(lines[min(d.lineno for d in n.decorator_list) - 1 : n.end_lineno]) for n in kept)
    body = "\n\n\n".join(bodies).replace("tritonx", "triton")
    return f"import math\n\nimport triton\nimport triton.language as tl\n\n\n{body}\n"


def suite(folder: Path) -> Iterator[Job]:
    """Cases of a speed suite: modules ``*_kernels_*.py``, one of which has ``CASES`` and ``Env``. Of sizes that the
    host has room for."""
    own_path(folder)
    modules = [importlib.import_module(p.stem) for p in sorted(folder.glob("*_kernels_*.py"))]
    base = next(m for m in modules if hasattr(m, "Env"))
    for name, builder in base.CASES.items():
        launches = Launches(f"{folder.name}/{name}", [str(folder)])
        try:
            with recording(launches):
                environment = base.Env("cpu", True)
                environment.sms = 132
                spec = builder(environment)
                for configuration in spec.cfgs:
                    spec.run(configuration)
        except Exception as problem:
            print(f"{folder.name}/{name}: {type(problem).__name__}: {problem}", file=sys.stderr)
        yield from told(launches)


def collection(folder: Path) -> Iterator[Job]:
    """Every program of a folder, run as a script."""
    for path in sorted(folder.glob("*.py")):
        launches = Launches(f"{folder.name}/{path.stem}", [str(folder)])
        try:
            with recording(launches):
                runpy.run_path(str(path), run_name="__main__")
        except (Exception, SystemExit) as problem:
            said = str(problem).strip().splitlines()
            print(f"{path.name}: {type(problem).__name__}: {said[-1] if said else ''}"[:200], file=sys.stderr)
        yield from told(launches)


def told(launches: Launches) -> list[Job]:
    for refused in launches.refused:
        print(refused, file=sys.stderr)
    return launches.jobs
