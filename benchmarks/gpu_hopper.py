"""Asynchronous programs of compute capability 9.0 beside Triton: the `ttgir` that Triton's passes wrote, once as the
cubin that Triton made of it and once as ours.

    python benchmarks/gpu_hopper.py [--json FILE] [--workers N] [--rounds N] [--dry] [program ...]

The programs are those of `tests/peer/kernels_hopper.py`, on random arguments that fill the GPU (`hopper_problems.py`).
What both compute is held against f64 first, results poisoned; then blocks of 0.08 s of each run by turns. The times
are those of the best blocks; the ratio is Triton's time over ours (goal: 0.98), the median of the turns. ``*`` marks a
result that is not right.

Each program has a process of its own, so that one that hangs or faults takes no other along: ``--workers`` of them
compile at a time, one at a time uses the GPU. ``--dry`` needs none: it compiles, makes the arguments of a small problem
and counts them."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
GOAL = 0.98
BLOCK_MS = 80.0
COMPILE_SECONDS, MEASURE_SECONDS = 150, 60
"""After which a program's process is killed."""


NO_PROBLEM = {"rows_of_described_blocks", "groups_of_rows"}
"""Kernels whose cases are about being right: nothing that fills a GPU is made of them."""

NO_DTYPE = {"copy_max_u32"}
"""Cases whose elements PyTorch has no random numbers for."""


def cases() -> dict[str, Any]:
    peer = str(ROOT / "tests" / "peer")
    sys.path.insert(0, peer)
    try:
        import kernels_hopper
    finally:
        sys.path.remove(peer)
    measured = (case for case in kernels_hopper.CASES if case.fn.__name__ not in NO_PROBLEM)
    return {case.name: case for case in measured if case.name not in NO_DTYPE}


# One program, in its own process ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compiled:
    """One text as both compilers' kernels."""

    case: Any
    theirs: Any
    ours: Any

    def arguments(self, given: dict[str, Any]) -> dict[str, list[Any]]:
        """By compiler: Triton takes the parameters of the source, constants among them; in the text a descriptor is
        followed by its extents and strides, and constants are gone."""
        from triton.tools.tensor_descriptor import TensorDescriptor as TheirDescriptor

        from tritonx.tools.tensor_descriptor import TensorDescriptor

        theirs: list[Any] = []
        ours: list[Any] = []
        for name in self.case.fn.arg_names:
            type_ = self.case.signature.get(name)
            if type_ is None:
                theirs.append(self.case.constants[name])
                continue
            value = given[name]
            if not type_.startswith("tensordesc"):
                theirs.append(value)
                ours.append(value)
                continue
            block = [int(n) for n in type_.split("[")[1].rstrip("]>").split(",")]
            shape, strides = list(value.shape), list(value.stride())
            theirs.append(TheirDescriptor(value, shape, strides, block))
            ours += [TensorDescriptor(value, shape, strides, block), *shape, *strides]
        return {"triton": theirs, "tritonx": ours}

    def launches(self, problem: Any) -> dict[str, Callable[[], None]]:
        arguments = self.arguments(problem.given)
        kernels = {"triton": self.theirs[problem.grid], "tritonx": self.ours[problem.grid]}
        return {name: lambda k=kernel, a=arguments[name]: k(*a) for name, kernel in kernels.items()}


class PeerFails(Exception):
    """Triton does not compile the program."""


def compiled(case: Any, folder: Path) -> Compiled:
    import triton

    import tritonx

    sys.path.insert(0, str(ROOT / "tests" / "peer"))
    from text_oracle import source_of, target_of

    try:
        theirs = triton.compile(source_of(case), target=target_of("cuda:90"), options=case.options)
    except Exception as problem:
        raise PeerFails(f"{type(problem).__name__}: {str(problem)[-200:]}") from problem
    path = folder / f"{case.name}.ttgir"
    path.write_text(theirs.asm["ttgir"])
    with contextlib.suppress(Exception):  # builds the launcher's C now, while others measure
        driver = (
            triton.runtime.driver.active
        )  # first: a launcher takes the type of tensor maps from the driver's module
        driver.launcher_cls(theirs.src, theirs.metadata)
    return Compiled(case, theirs, tritonx.compile(str(path), "cuda:90"))


def dry(made: Compiled) -> dict[str, Any]:
    """Everything but the launch."""
    from hopper_problems import Maker

    problem = Maker(made.case, "cpu", small=True).problem()
    problem.poison()
    norm, worst = problem.errors()
    assert problem.before or not problem.right(norm, worst), "poison passes for a result"
    for name, expected in problem.expected.items():
        assert expected.shape == problem.given[name].shape and bool(expected.isfinite().all()), name
        problem.given[name].copy_(expected)
    assert problem.right(*problem.errors()), f"the reference, rounded, is {problem.errors()} from itself"
    arguments = made.arguments(problem.given)
    counts = {"triton": len(made.theirs.src.signature), "tritonx": len(made.ours.parameters)}
    assert {name: len(given) for name, given in arguments.items()} == counts, counts
    return {"grid": problem.grid, "parameters": counts["tritonx"]}


def blocks(launches: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of a launch in each of ``rounds`` blocks, the compilers by turns and the order turned round each
    time. The turn before is not counted: products take all the power there is, and a cool device's clock is higher."""
    import torch

    def block(launch: Callable[[], None], count: int) -> float:
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(count):
            launch()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / count

    counts: dict[str, int] = {}
    for name, launch in launches.items():
        block(launch, 1)
        counts[name] = max(1, round(BLOCK_MS / max(block(launch, 3), 1e-2)))
    found: dict[str, list[float]] = {name: [] for name in launches}
    for turn in range(rounds + 1):
        for name in list(launches)[:: -1 if turn % 2 else 1]:
            ms = block(launches[name], counts[name])
            if turn:
                found[name].append(ms)
    return found


def measured(made: Compiled, rounds: int) -> dict[str, Any]:
    import torch
    import triton
    from hopper_problems import Maker

    import tritonx

    for package in (triton, tritonx):
        package.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    problem = Maker(made.case, "cuda", small=False).problem()
    launches = made.launches(problem)
    row: dict[str, Any] = {}
    for name, launch in launches.items():
        said(f"{name} is launched")
        problem.poison()
        launch()
        torch.cuda.synchronize()
        norm, worst = problem.errors()
        row[name] = {"error": norm, "worst": worst, "right": problem.right(norm, worst)}
    said("both are timed")
    times = blocks(launches, rounds)
    for name, ms in times.items():
        kernel = made.theirs if name == "triton" else made.ours
        numbers = {"registers": kernel.n_regs, "spills": kernel.n_spills, "shared": kernel.metadata.shared}
        row[name] |= {"ms": min(ms), "blocks": ms, **numbers}
    row["ratio"] = statistics.median(t / o for t, o in zip(times["triton"], times["tritonx"], strict=True))
    return row


def said(text: str) -> None:
    """For the log, which tells where a process stood when it was killed."""
    print(text, file=sys.stderr, flush=True)


def child(given: argparse.Namespace) -> None:
    """Compiles, says so, measures when it is told to, and prints a row."""
    name, folder = given.programs[0], Path(given.child)
    try:
        made = compiled(cases()[name], folder)
        import torch  # noqa: F401  (its time belongs in front of the measurement)

        print("ready", flush=True)
        sys.stdin.readline()
        row = dry(made) if given.dry else measured(made, given.rounds)
    except PeerFails as problem:
        row = {"peer fails": str(problem)}
    except Exception:
        row = {"failed": traceback.format_exc()[-3000:]}
    print(json.dumps({"program": name, **row}), flush=True)


# All programs -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def killed_after(process: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def row_of(name: str, given: argparse.Namespace, folder: Path, device: threading.Lock) -> dict[str, Any]:
    """Of a program's own process, which has the device to itself while it measures."""
    command = [sys.executable, __file__, "--child", str(folder), "--rounds", str(given.rounds)]
    command += ["--dry"] * given.dry + [name]
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "TRITONX_CACHE_DIR": str(folder / "tritonx"),
    }
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        with killed_after(process, COMPILE_SECONDS):
            lines = until_ready(process.stdout)
        if lines and lines[-1] == "ready":
            with device, killed_after(process, MEASURE_SECONDS):
                process.stdin.write("go\n")
                process.stdin.flush()
                lines = process.stdout.read().splitlines()
                process.wait()
        rows = [line for line in lines if line.startswith("{")]
        if rows:
            return json.loads(rows[-1])
        code = process.wait()
        log.seek(0)
        return {"program": name, "failed": f"its process ended with {code}\n{log.read()[-3000:]}"}


def until_ready(lines: IO[str]) -> list[str]:
    """What a process says until it is ready or ends."""
    out: list[str] = []
    for line in lines:
        out.append(line.strip())
        if out[-1] == "ready":
            break
    return out


def shown(row: dict[str, Any]) -> str:
    name = f"{row['program']:24s}"
    if "failed" in row:
        return f"{name} failed: {row['failed'].strip()}"
    if "peer fails" in row:
        return f"{name} Triton fails: {' '.join(row['peer fails'].split())}"
    if "ratio" not in row:
        return f"{name} compiles; {row['parameters']} parameters, grid {row['grid']}"
    ours, theirs = row["tritonx"], row["triton"]
    both = (f"{k} {ours[k]}/{theirs[k]}" for k in ("registers", "shared", "spills"))
    errors = "/".join(f"{r['error']:.1e}{'' if r['right'] else '*'}" for r in (ours, theirs))
    return (
        f"{name} {ours['ms'] * 1e3:9.1f} µs, triton {theirs['ms'] * 1e3:9.1f} µs, ratio {row['ratio']:.3f}, "
        f"{', '.join(both)}, error {errors}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="all by default")
    parser.add_argument("--json")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) * 3 // 4))
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--dry", action="store_true", help="all but the launches; needs no GPU")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given)
        return 0
    known = list(cases())
    if unknown := set(given.programs) - set(known):
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    rows: list[dict[str, Any]] = []
    device = threading.Lock()
    with tempfile.TemporaryDirectory(prefix="gpu-hopper-") as folder, ThreadPoolExecutor(given.workers) as pool:
        for row in pool.map(lambda name: row_of(name, given, Path(folder), device), given.programs or known):
            rows.append(row)
            print(shown(row), flush=True)
            if given.json:
                Path(given.json).write_text(json.dumps(rows, indent=1))
    return verdict(rows)


def verdict(rows: list[dict[str, Any]]) -> int:
    """Prints what is slow, wrong or failed; whether anything is wrong or failed."""
    timed = [row for row in rows if "ratio" in row]
    slow = sorted((row for row in timed if row["ratio"] < GOAL), key=lambda row: row["ratio"])
    print(f"\nunder {GOAL} of Triton's speed: {len(slow)} of {len(timed)}")
    for row in slow:
        print(f"  {row['program']:24s} {row['ratio']:.3f}")
    wrong = [f"{row['program']} ({who})" for row in timed for who in ("tritonx", "triton") if not row[who]["right"]]
    failed = [row["program"] for row in rows if "failed" in row]
    print(f"wrong: {', '.join(wrong) or 'none'}; failed: {', '.join(failed) or 'none'}")
    return 1 if failed or any(not row["tritonx"]["right"] for row in timed) else 0


if __name__ == "__main__":
    sys.exit(main())
