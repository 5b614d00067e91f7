"""Arguments of the kernels of `kernels_hopper.py` that make descriptors themselves, and what must come out: for the GPU
and for the machine of `interpreter/asynchronous`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray

DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "i8": np.int8, "i32": np.int32,
    "u32": np.uint32, "fp8e4nv": ml_dtypes.float8_e4m3fn, "fp8e5": ml_dtypes.float8_e5m2,
}  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """The arguments in the order of the source, of which the second is the output, and what that must hold."""

    args: tuple[Any, ...]
    expected: Array
    grid: int


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    kind = np.dtype(DTYPES[dtype])
    if kind.kind in "iu":
        return rng.integers(0 if kind.kind == "u" else -100, 100, shape).astype(kind)
    return rng.standard_normal(shape, dtype=np.float32).astype(kind)


def combined(kind: str, old: Array, new: Array) -> Array:
    match kind:
        case "add":
            return old + new
        case "min":
            return np.minimum(old, new)
        case "max":
            return np.maximum(old, new)
        case "and":
            return old & new
        case "or":
            return old | new
        case "xor":
            return old ^ new
        case _:
            return new


@dataclass(frozen=True)
class Described:
    """What a kernel was compiled with, as `hopper_oracle.py` writes it down."""

    kernel: str
    signature: dict[str, str]
    constants: dict[str, Any]


def rows_of_described_blocks(case: Described, rng: np.random.Generator) -> Launch:
    """Extents beyond the block and within it; the last block of the last program ends behind the tensor."""
    rank, kind = case.constants["RANK"], case.constants["KIND"]
    dtype = case.signature["source"].removeprefix("*")
    block = [case.constants[f"B{i}"] for i in range(rank)]
    steps, programs = int(rng.integers(0, 6)), 3
    step = 16 // np.dtype(DTYPES[dtype]).itemsize  # strides are multiples of 16 bytes
    extents = [int(n + rng.integers(-(n // 2), n)) for n in block]
    extents[0] = max(1, programs * steps * block[0] - int(rng.integers(0, block[0])))
    extents[-1] = max(1, extents[-1] // step) * step if rank > 1 else extents[-1]
    source, target = (drawn(rng, tuple(extents), dtype) for _ in range(2))
    expected = target.copy()
    for start in range(0, programs * steps * block[0], block[0]):
        where = (slice(start, start + block[0]), *(slice(0, n) for n in block[1:]))
        expected[where] = combined(kind, expected[where], source[where])
    sizes = [*extents, 1, 1, 1, 1][:5]
    return Launch((source, target, *sizes, steps), expected, programs)


def groups_of_rows(case: Described, rng: np.random.Generator) -> Launch:
    """Groups of one to twenty rows, of which a block holds sixteen; rows shorter and longer than a block."""
    kind, dtype = case.constants["KIND"], case.signature["source"].removeprefix("*")
    groups, n = int(rng.integers(1, 12)), int(rng.choice((32, 48, 64, 80)))
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 21, groups))]).astype(np.int32)
    source, target = (drawn(rng, (int(starts[-1]), n), dtype) for _ in range(2))
    expected = target.copy()
    for first, end in pairwise(starts):
        where = slice(first, min(end, first + case.constants["B0"])), slice(0, case.constants["B1"])
        expected[where] = combined(kind, expected[where], source[where])
    return Launch((source, target, starts, n, groups), expected, 3)


LAUNCHES = {"rows_of_described_blocks": rows_of_described_blocks, "groups_of_rows": groups_of_rows}


def launches(described: Path, seeds: Iterable[Any]) -> Iterator[Launch]:
    """Of the kernel that a file describes, one for each seed; none of a kernel that is not among these."""
    case = Described(**json.loads(described.read_text()))
    if case.kernel in LAUNCHES:
        yield from (LAUNCHES[case.kernel](case, np.random.default_rng(seed)) for seed in seeds)


def same(got: Array, expected: Array, where: str) -> None:
    """Bit by bit."""
    np.testing.assert_array_equal(got.view(np.uint8), expected.view(np.uint8), err_msg=where)
