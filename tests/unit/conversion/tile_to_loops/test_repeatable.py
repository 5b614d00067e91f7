"""A compile writes the same text in every process, although sets of values have another order in each."""

from __future__ import annotations

import os
import subprocess
import sys

_CHILD = """
import hashlib
from tritonx_testing.conformance import cases, find
device = find("cpu:x86-64-v3")
for case in cases():
    if case.name.startswith(("memory/matrix", "blocks/pointer")):
        made, _ = device.compile(case, case.trial(0))
        print(case.name, hashlib.sha256(made["llir"].encode()).hexdigest())
"""


def test_text_does_not_depend_on_where_values_lie() -> None:
    def compiled(seed: int) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        return subprocess.run(
            [sys.executable, "-c", _CHILD], env=environment, text=True, stdout=subprocess.PIPE, check=True
        ).stdout

    first, second = compiled(1), compiled(2)
    assert first.count("\n") >= 8
    assert first == second
