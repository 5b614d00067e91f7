"""A process that says which jobs there are, a line of JSON each, in an order that stays.

    python -m tritonx.compat -m structural.collect WORK [FOLDER | FILE ...]

WORK gets the texts that are written for it. A file is a module of variants; a folder with modules ``*_kernels_*.py`` is
a speed suite, another one holds programs that launch kernels. Without PyTorch there are fewer jobs."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from . import declared, programs
from .job import Job, distinct


def jobs(work: Path, outside: list[Path]) -> Iterator[Job]:
    yield from declared.of_tests(programs.BENCHMARKS.parent / "tests" / "peer")
    if importlib.util.find_spec("torch") is not None:
        yield from programs.examples(work / "examples")
        yield from programs.memory()
        yield from programs.classic()
        yield from programs.products()
    for path in outside:
        if path.is_file():
            yield from declared.of_styles(path, work / "styles")
        elif list(path.glob("*_kernels_*.py")):
            yield from programs.suite(path)
        else:
            yield from programs.collection(path)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for job in distinct(jobs(Path(sys.argv[1]), [Path(p) for p in sys.argv[2:]])):
        answers.write(job.line() + "\n")


if __name__ == "__main__":
    main()
