"""Run with the plug-in on the path: loads that become copies, among stores to the same memory, with queues of several
lengths; and what the chip's model says of a program that waits too little."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tritonx_toy.core import ToyFault

import tritonx
import tritonx.language as tl

SEED = int(os.environ["TRITONX_SEED"])
N, STEPS = 16, 5


@tritonx.jit
def mixed(p, q, out, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    for s in range(steps):
        b = tl.load(q + (i + s) % N)
        a = tl.load(p + i)
        tl.store(p + i, b + 1)  # `a` may be under way
        c = tl.load(p + (i ^ 1))
        d = tl.load(q + i, mask=i < s, other=-1)
        if s % 2 == 1:
            tl.store(q + i, a)
        e = tl.load(q + i)
        total += a * 3 + b * 5 + c * 7 + d * 11 + e * 13
    tl.store(out + i, total)


def expected(p: Any, q: Any) -> Any:
    p, q, i, total = p.copy(), q.copy(), np.arange(N), np.zeros(N, np.int32)
    for s in range(STEPS):
        a, b = p.copy(), q[(i + s) % N]
        p = b + 1
        c, d = p[i ^ 1], np.where(i < s, q, -1)
        if s % 2 == 1:
            q = a
        total += a * 3 + b * 5 + c * 7 + d * 11 + q * 13
    return total


def run(**options: Any) -> tuple[Any, Any, str]:
    """What it gives, what it should, and its module."""
    p, q = np.random.default_rng(SEED).integers(-99, 99, (2, N), np.int32)
    out, right = np.full(N, 77, np.int32), expected(p, q)
    kernel = mixed[(1,)](p, q, out, STEPS, N=N, **options)
    return out, right, kernel.asm["ttir"]


def most_under_way(text: str) -> int:
    """Of the copies, in the order of the lines."""
    count = most = 0
    for line in text.splitlines():
        if "toy.copy_async" in line:
            count += 1
        elif wait := re.search(r"toy\.wait (\d+)", line):
            count = min(count, int(wait[1]))
        most = max(most, count)
    return most


def check_every_queue() -> None:
    for copies in (0, 1, 2, 4, 16):
        out, right, text = run(copies=copies)
        assert (out == right).all(), f"{copies} copies, seed {SEED}\n{text}"
        assert most_under_way(text) <= copies and ("tt.load" in text) == (copies == 0), text
        assert copies < 2 or most_under_way(text) > 1, text


def check_what_waits_too_little(folder: Path) -> None:
    """Each wait of the program erased, and each that leaves one copy more under way."""
    _, _, text = run(copies=4)
    waits = [*re.finditer(r"toy\.wait (\d+) : i32.*\n", text)]
    assert len(waits) >= 3, text
    for number, wait in enumerate(waits):
        for kind, line in (("erased", "\n"), ("weaker", wait[0].replace(wait[1], str(int(wait[1]) + 1), 1))):
            path = folder / f"{kind}{number}.ttir"
            path.write_text(text[: wait.start()] + line + text[wait.end() :])
            try:
                run(copies=4, ir_override=str(path))
            except ToyFault as fault:
                assert re.match(r".*copies\.py:\d+: ", str(fault)), fault
            else:
                raise AssertionError(f"no report although this wait was {kind}: {wait[0]}{text}")


def check_the_end() -> None:
    from tritonx_toy.core import Core

    core = Core((0, 0, 0), (1, 1, 1))
    core.copy("here", np.array([0]), "int32", False)
    try:
        core.end()
    except ToyFault as fault:
        assert "here: the program ends before" in str(fault)
    else:
        raise AssertionError("a program may not end with copies under way")


if __name__ == "__main__":
    check_every_queue()
    check_what_waits_too_little(Path(sys.argv[1]))
    check_the_end()
    print("all right")
