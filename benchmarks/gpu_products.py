"""Products on a GPU from tutorial-style source, beside Triton and PyTorch's libraries in the same run: TFLOP/s, and
ratios of the best configurations.

    python benchmarks/gpu_products.py [--json out.json] [--every] [--seconds 0.5] [--quick] [case ...]

Inputs are fresh random numbers, outputs are filled with NaN first, results are compared with float64. Both compilers
are given the same list of configurations, of which the best two of each then run by turns in blocks of half a second,
in random order: a GPU at its power limit is as fast as the last half second was, so the ratio has a standard error.
"alone" is the ratio of launches by themselves, which no power limit touches. `--quick` takes the first two
configurations of a case and three blocks of 0.2 s. What is needed is compiled before, by as many processes as there are
processors. tritonx pipelines unless TRITONX_PIPELINE=0 is set."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from products.case import Bench
from products.launches import compile_all, provide_scratch
from products.race import QUICK, Effort, measure, shown
from products.table import CASES

COMPILING = "--only-compile"


def compile_before(names: Sequence[str], quick: bool) -> None:
    """Fill both compilers' caches, in as many processes as there are processors, each with its share of the cases."""
    start, shares = time.perf_counter(), min(len(names), os.cpu_count() or 1)
    options = [COMPILING, *(["--quick"] if quick else [])]
    workers = [subprocess.Popen([sys.executable, __file__, *options, *names[share::shares]]) for share in range(shares)]
    for worker in workers:
        worker.wait()
    print(f"compiled in {time.perf_counter() - start:.0f} s by {shares} processes", flush=True)


def measured(names: Sequence[str], effort: Effort, every: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in names:
        try:
            rows.append(measure(CASES[name](Bench()), effort, every))
        except Exception as problem:
            print(f"{name}: {type(problem).__name__}: {problem}", flush=True)
            continue
        print(shown(rows[-1]), flush=True)
        torch.cuda.empty_cache()
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help="all by default")
    parser.add_argument("--json")
    parser.add_argument("--every", action="store_true", help="also print each configuration")
    parser.add_argument("--seconds", type=float, help="of a block")
    parser.add_argument("--rounds", type=int, help="of blocks")
    parser.add_argument("--quick", action="store_true", help="two configurations a case, three blocks of 0.2 s")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument(COMPILING, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names: list[str] = given.cases or list(CASES)
    effort = QUICK if given.quick else Effort()
    if given.only_compile:
        for name in names:
            case = CASES[name](Bench(small=True))  # sizes are no part of a kernel
            compile_all(case, case.configurations[: effort.configurations])
        return 0
    compile_before(names, given.quick)
    provide_scratch()
    print(f"seed {given.seed}", flush=True)
    torch.manual_seed(given.seed)
    rows = measured(
        names,
        replace(effort, seconds=given.seconds or effort.seconds, rounds=given.rounds or effort.rounds),
        given.every,
    )
    if given.json:
        with open(given.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if all(row["tritonx"]["right"] for row in rows if "tritonx" in row) else 1


if __name__ == "__main__":
    sys.exit(main())
