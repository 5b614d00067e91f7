"""The cases of `gpu_products.py` without a GPU: every configuration computes a small problem on the host's processor,
and is compiled for a GPU with and without pipelines, and by Triton.

    python benchmarks/products_dry.py [--target cuda:90] [--run] [--compile] [--quick] [case ...]

A line for each compile: milliseconds of the processors up to the cubin, each compiler by itself with its caches off;
registers and bytes of spills as ptxas counts them; what became of each loop. What fails or is wrong is counted in the
exit status."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Sequence

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ["TRITONX_ALWAYS_COMPILE"] = "1"
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-bench-")
os.environ["TRITONX_CACHE_DIR"] = tempfile.mkdtemp(prefix="tritonx-bench-")
os.environ["TRITONX_EXPLAIN"] = "pipeline"

import torch
from products.case import Bench, Call, Case, Configuration
from products.compiling import Built, built, identity
from products.launches import bound
from products.table import CASES

FAILED = "FAILED"


class Dry:
    """What was run or compiled before is not again: sizes are no part of a kernel."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.run = set[str]()
        self.compiled = set[str]()

    def runs(self, name: str, case: Case, configurations: list[Configuration]) -> Iterator[str]:
        """What each configuration finds on the host."""
        exact = case.exact()
        for configuration in configurations:
            code = " ".join(identity(step) for step in case.steps(configuration) if isinstance(step, Call))
            if code in self.run:
                continue
            self.run.add(code)
            yield f"{name} {tuple(configuration.values())}: {computed(case, configuration, exact)}"

    def compiles(self, name: str, case: Case, configurations: list[Configuration]) -> Iterator[str]:
        for configuration in configurations:
            for step in case.steps(configuration):
                if isinstance(step, Call) and (code := identity(step)) not in self.compiled:
                    self.compiled.add(code)
                    yield from self._of_call(f"{name} {step.kernel} {tuple(configuration.values())}", step)

    def _of_call(self, name: str, call: Call) -> Iterator[str]:
        for compiler, pipeline in (("tritonx", True), ("tritonx", False), ("triton", False)):
            found = built(call, compiler, self.target, {"pipeline": pipeline})
            yield f"{name} {compiler}{' pipeline' if pipeline else ''}: {shown(found)}"


def computed(case: Case, configuration: Configuration, exact: Sequence[torch.Tensor]) -> str:
    case.poison()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            bound(case, configuration, "tritonx")()
    except Exception as problem:
        return f"{FAILED} {type(problem).__name__}: {problem}"
    error = case.error(case.outputs, exact)
    return f"error {error:.1e} of {case.tolerance:.0e}{'' if error <= case.tolerance else f' {FAILED}'}"


def shown(found: Built) -> str:
    if found.problem:
        return f"{FAILED} {found.problem}"
    loops = "; ".join(found.loops)
    return f"{found.ms:.0f} ms, {found.resources}{f', {loops}' if loops else ''}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help="all by default")
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--quick", action="store_true", help="two configurations a case")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    print(f"seed {given.seed}", flush=True)
    failed, dry = 0, Dry(given.target)
    for name in given.cases or CASES:
        case = CASES[name](Bench("cpu", small=True))
        configurations = list(case.configurations[: 2 if given.quick else None])
        lines = [
            *([dry.runs(name, case, configurations)] if given.run or not given.compile else []),
            *([dry.compiles(name, case, configurations)] if given.compile or not given.run else []),
        ]
        for line in (line for each in lines for line in each):
            print(line, flush=True)
            failed += FAILED in line
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main())
