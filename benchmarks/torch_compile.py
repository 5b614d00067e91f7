"""Kernels that ``torch.compile`` makes, compiled by tritonx and by Triton: times on the device from the same programs.

    python benchmarks/torch_compile.py [--json FILE] [--rounds N] [--each] [names]

Two processes of `torch_programs.py --serve`, one with tritonx in Triton's place, each with caches of its own. One
prepares its programs after the other, so that what PyTorch tunes is tuned alone; then they time each program by turns,
and the best of the rounds counts. ``kernels`` are those that the compiler made, ``all`` the libraries' too (cuBLAS,
cuDNN). The ratio is our time over Triton's. ``--each`` lists the kernels that are slower here."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COMPAT = {"tritonx": ["-m", "tritonx.compat"], "triton": []}


class Server:
    """A process that has prepared its programs, with what it said of each."""

    def __init__(self, compiler: str, names: list[str], folder: str) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/{compiler}/inductor",
            "TRITONX_CACHE_DIR": f"{folder}/{compiler}/cache",
            "TRITON_CACHE_DIR": f"{folder}/{compiler}/cache",
        }
        script = str(ROOT / "benchmarks" / "torch_programs.py")
        command = [sys.executable, "-W", "ignore", *COMPAT[compiler], script, "--device", "cuda", "--serve", *names]
        self.log = open(f"{folder}/{compiler}.log", "w+")
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        self.prepared: dict[str, dict[str, Any]] = {}
        for said in self.lines():
            if said["program"] == "ready":
                break
            self.prepared[said["program"]] = said
            print(f"{compiler}: {said['program']}, {said.get('seconds', 0):.1f} s", file=sys.stderr, flush=True)
        used = self.prepared.pop("compiler")["triton"]
        assert used == compiler, f"{compiler} was asked for, {used} is in use"

    def lines(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
        self.log.seek(0)
        raise SystemExit(f"a process ended:\n{self.log.read()[-3000:]}")

    def time(self, name: str) -> dict[str, float]:
        """Microseconds by kind, and by kernel."""
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        said = next(self.lines())
        return {"kernels": said["kernels"], "all": said["all"], **said["each"]}

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.log.close()


def race(servers: dict[str, Server], name: str, rounds: int) -> dict[str, dict[str, float]]:
    """The best of each, by turns."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for compiler, server in servers.items():
            now = server.time(name)
            before = best.get(compiler, now)
            best[compiler] = {kind: min(before.get(kind, now[kind]), now[kind]) for kind in now}
    return best


def slower(best: dict[str, dict[str, float]]) -> Iterator[str]:
    """A line for each kernel that is 5 % slower here, or that the other compiler's program does not have."""
    for name, ours in best["tritonx"].items():
        theirs = best["triton"].get(name)
        if name not in ("kernels", "all") and (theirs is None or ours > 1.05 * theirs):
            yield f"    {name} {ours:.1f} {'none' if theirs is None else f'{theirs:.1f}'} µs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--each", action="store_true", help="list the kernels that are slower here")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="torch-compile-") as folder:
        servers = {compiler: Server(compiler, given.names, folder) for compiler in COMPAT}
        for name in servers["tritonx"].prepared:
            said = {compiler: server.prepared[name] for compiler, server in servers.items()}
            failed = [f"{c}: {s['error'].strip().splitlines()[-1]}" for c, s in said.items() if not s["ok"]]
            if failed:
                print(f"{name:26} " + "; ".join(failed), flush=True)
                rows.append({"program": name, "failed": failed})
                continue
            best = race(servers, name, given.rounds)
            ratios = {
                kind: best["tritonx"][kind] / best["triton"][kind] if best["triton"][kind] else float("nan")
                for kind in ("kernels", "all")
            }
            compiling = {compiler: s["seconds"] for compiler, s in said.items()}
            rows.append({"program": name, **best, "ratios": ratios, "compile seconds": compiling})
            print(
                f"{name:26} kernels {best['tritonx']['kernels']:9.1f} {best['triton']['kernels']:9.1f} µs "
                f"ratio {ratios['kernels']:5.2f}   all ratio {ratios['all']:5.2f}   "
                f"ready after {compiling['tritonx']:5.1f} {compiling['triton']:5.1f} s",
                flush=True,
            )
            if given.each:
                print(*slower(best), sep="\n", flush=True)
        for server in servers.values():
            server.close()
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
