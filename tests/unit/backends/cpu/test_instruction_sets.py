"""A share of the conformance suite with instructions of this machine left unused, which narrows vectors.

`TRITONX_CONFORMANCE=full` runs all of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tritonx.backends.cpu.host import NAMED, host_isa
from tritonx_testing.conformance import cases

SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
COUNT = 30

_CHILD = """
import sys
from tritonx_testing.conformance import cases, check, find
seed, *names = sys.argv[1:]
device = find("cpu")
for case in cases():
    if case.name in names and device.unsupported(case) is None:
        try:
            check(case, device, int(seed))
        except Exception as error:
            print("FAILED", case.name, type(error).__name__, str(error)[:300])
        else:
            print("passed", case.name)
"""


@pytest.mark.parametrize("name", NAMED)
def test_narrower_vectors_compute_the_same(name: str, tmp_path: Path) -> None:
    here = host_isa()
    if "x86_64" not in here.triple or here.vector_bytes <= NAMED[name].vector_bytes:
        pytest.skip(f"the vectors of {name} are not narrower than this machine's")
    every = [case.name for case in cases()]
    drawn = every if FULL else Random(f"{SEED} {name}").sample(every, COUNT)
    environment = {**os.environ, "TRITONX_CPU_ISA": name, "TRITONX_CACHE_DIR": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", _CHILD, str(SEED), *drawn], env=environment, text=True, capture_output=True, check=False
    )
    assert said.returncode == 0, said.stderr[-2000:]
    lines = said.stdout.splitlines()
    assert [line for line in lines if line.startswith("FAILED")] == [], f"seed {SEED}"
    assert sum(line.startswith("passed") for line in lines) > len(drawn) // 2
