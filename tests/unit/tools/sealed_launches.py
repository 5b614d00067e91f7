"""Launch what a sealed module lists with drawn arguments: `python sealed_launches.py MODULE COUNT SEED`.

Prints how many launches there were, how many compiles, and which modules of the compiler were imported.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import ml_dtypes
import numpy as np

DTYPES = {"fp16": np.float16, "fp32": np.float32, "i32": np.int32, "i64": np.int64, "bf16": ml_dtypes.bfloat16}
ELEMENTS = 1 << 17


def array(type_: str, aligned: bool) -> np.ndarray:
    dtype = np.dtype(DTYPES[type_])
    raw = np.zeros(ELEMENTS * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 16 + (0 if aligned else dtype.itemsize)
    return raw[start : start + ELEMENTS * dtype.itemsize].view(dtype)


def draw(given: Any, rng: random.Random, arrays: dict[tuple[str, bool], np.ndarray]) -> object:
    """A value of a domain as the package writes it, apart from `tritonx.tools.sealing`."""
    if isinstance(given, dict):
        low, high = given["range"]
        step = given.get("multiple_of", 1)
        count = (high - -(-low // step) * step) // step + 1
        return -(-low // step) * step + step * rng.randrange(min(count, rng.choice([32, count])))
    if isinstance(given, list):
        return draw(rng.choice(given), rng, arrays)
    if given in ("float", "bool"):
        return rng.random() if given == "float" else rng.random() < 0.5
    if isinstance(given, str) and given.startswith("*"):
        type_, _, hint = given.removeprefix("*").partition(":")
        aligned = bool(hint) or rng.random() < 0.5
        key = (type_, aligned)
        if key not in arrays:
            arrays[key] = array(*key)
        return arrays[key]
    return given


def main(path: str, count: int, seed: int) -> None:
    from tritonx.runtime import knobs
    from tritonx.runtime.tuning.case import module

    compiles: list[object] = []
    knobs.compilation.listener = lambda **told: None if told["cache_hit"] else compiles.append(told["src"])
    found = module(path)
    rng = random.Random(seed)
    arrays: dict[tuple[str, bool], np.ndarray] = {}
    for _ in range(count):
        entry = rng.choice(found.SEALED)
        kernel = getattr(found, entry["kernel"])
        computed = getattr(kernel, "values", {})
        given = {n: draw(d, rng, arrays) for n, d in entry["arguments"].items() if n not in computed}
        options = {n: rng.choice(v) for n, v in entry.get("options", {}).items()}
        kernel[(1,)](**given, **options)
    compiler = sorted({name.partition(".")[0] for name in sys.modules} & {"xdsl", "llvmlite"})
    print(f"{count} launches, {len(compiles)} compiles, imported: {', '.join(compiler) or 'nothing'}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
