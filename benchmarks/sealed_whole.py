"""Thirty sealed kernels, a million launches, no compile: the whole of what `tests/unit/tools/test_seal.py` samples.

    PYTHONPATH=. python benchmarks/sealed_whole.py [draws] [launches] [workers]

Seals the kernels of `tests/unit/tools/sealed_kernels.py` for the CPU, draws launches of them in equal shares, each of
which must have a member, then launches them in another process with an empty cache, with arguments that are drawn by
`tests/unit/tools/sealed_launches.py`. Prints the counts, and the processor time of a member: on a CPU it is compiled
twice, since arguments that overlap have code of their own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.unit.tools import sealed_launches
from tests.unit.tools.sealed_kernels import HEAD, kernels
from tritonx.tools import seal
from tritonx.tools.sealing.draws import closed
from tritonx.tools.sealing.package import entries

ROOT = Path(__file__).resolve().parents[1]


def core_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(draws: int, launches: int, workers: int) -> None:
    with tempfile.TemporaryDirectory(prefix="tritonx-sealed-") as folder:
        path = Path(folder, "kernels.py")
        path.write_text("".join([HEAD, *kernels()]))
        begun, cores = time.monotonic(), core_seconds()
        manifest = seal.seal(str(path), str(Path(folder, "sealed")), workers, draws=0)
        taken, cores = time.monotonic() - begun, core_seconds() - cores
        found = entries(str(path))
        members = sum(len(list(entry.sealed.members())) for entry in found)
        codes = sum(map(len, manifest["members"].values()))
        print(f"{len(found)} kernels, {members} members, {codes} codes: {taken:.1f} s with {workers} processes, "
              f"{cores:.1f} core seconds, {cores / members:.3f} for each member", flush=True)  # fmt: skip
        begun = time.monotonic()
        for number, entry in enumerate(found):
            closed(entry.sealed, draws // len(found) + (number < draws % len(found)), number)
        print(f"{draws} drawn launches have a member: {time.monotonic() - begun:.1f} s", flush=True)
        begun = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        environment |= {"TRITONX_SEALED": str(Path(folder, "sealed")), "TRITONX_CACHE_DIR": str(Path(folder, "empty"))}
        line = [sys.executable, sealed_launches.__file__, str(path), str(launches), "1"]
        done = subprocess.run(line, env=environment, check=True, capture_output=True, text=True)
        print(f"{done.stdout.strip()}: {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*[*given, *(1_000_000, 1_000_000, 2)[len(given) :]])
