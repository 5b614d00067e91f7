"""Random loops in which products add to sums that branches read, scale and begin anew. Sums are exact."""

from __future__ import annotations

import linecache
from itertools import count
from random import Random
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.kernels import Draw

M, N, K, ROUNDS = 64, 32, 16, 6
_NUMBERS = count()

HEAD = f"""
def kernel(a, b, o, seen, steps, every):
    r, c, k = tl.arange(0, {M}), tl.arange(0, {N}), tl.arange(0, {K})
    places = r[:, None] * {N} + c[None, :]
    kept = tl.zeros(({M},), tl.float32)
"""


def sums_in_branches(random: Random) -> Draw:
    """A kernel with one to three sums; `o` has each of them in the end, and what is stored on the way."""
    sums = [f"s{number}" for number in range(random.choice((1, 2, 2, 3)))]
    lines = [f"    {name} = tl.zeros(({M}, {N}), tl.float32)" for name in sums]
    loop = "tl.range(0, steps, disallow_acc_multi_buffer=True)" if random.random() < 0.2 else "range(steps)"
    lines += [
        f"    for step in {loop}:",
        f"        x = tl.load(a + r[:, None] * {K * ROUNDS} + (step * {K} + k)[None, :])",
        f"        y = tl.load(b + (step * {K} + k)[:, None] * {N} + c[None, :])",
    ]
    todo = [f"{name} = tl.dot(x, y, {name})" for name in sums]
    todo += [_branch(random, sums) for _ in range(random.choice((1, 1, 2, 3)))]
    if random.random() < 0.3:
        todo.append(f"kept += tl.sum({random.choice(sums)}, 1)")
    if random.random() < 0.2:
        todo.append(f"{random.choice(sums)} *= 0.5")
    random.shuffle(todo)
    lines += [f"        {line}" for text in todo for line in text.split("\n")]
    lines += [f"    tl.store(o + {n * M * N} + places, {name})" for n, name in enumerate(sums) if random.random() < 0.7]
    source = HEAD + "\n".join([*lines, "    tl.store(seen + r, kept)"]) + "\n"
    name = f"<sums in branches {next(_NUMBERS)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"tl": tl}
    exec(compile(source, name, "exec"), names)
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((M, K * ROUNDS), (K * ROUNDS, N)))
    o, seen = (np.zeros(extent, np.float32) for extent in ((6, M, N), M))
    args = (a, b, o, seen, random.choice((0, 1, 2, 3, 5, ROUNDS)), random.choice((2, 3)))
    return Draw(tritonx.jit(names["kernel"]), args, {}, 4)


def _branch(random: Random, sums: list[str]) -> str:
    def does() -> list[str]:
        found: list[str] = []
        for _ in range(random.choice((1, 1, 2))):
            one, two = random.choice(sums), random.choice(sums)
            place = random.randrange(3, 6) * M * N
            found.append(
                random.choice(
                    (
                        f"tl.store(o + {place} + places, {one})",
                        f"tl.store(o + {place} + places, {one} + {two})",
                        f"{one} = tl.zeros(({M}, {N}), tl.float32)",
                        f"{one} = {one} * 0.5",
                        f"kept += tl.sum({one}, 1)",
                    )
                )
            )
        return found

    condition = random.choice(("step % every == 0", "step == every", "step < every", "step + 1 == steps"))
    lines = [f"if {condition}:", *(f"    {line}" for line in does())]
    if random.random() < 0.3:
        lines += ["else:", *(f"    {line}" for line in does())]
    return "\n".join(lines)
