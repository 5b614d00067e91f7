"""A kernel that goes through both front ends, and what its arrays hold: the edges of its types, each with each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
NARROW = ("fp8e5", "fp8e4nv", "fp8e4b15")
TYPES = ("i1", *INTEGERS, *FLOATS, *NARROW)

NAMES = {
    "i1": "int1", **{f"{k}{n}": f"{w}{n}" for k, w in (("i", "int"), ("u", "uint")) for n in (8, 16, 32, 64)},
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e5": "float8e5", "fp8e4nv": "float8e4nv", "fp8e4b15": "float8e4b15",
}  # fmt: skip
"""The language's names of the types that signatures name shortly."""

DTYPES: dict[str, np.dtype] = {
    "i1": np.dtype(np.bool_),
    **{t: np.dtype(NAMES[t]) for t in (*INTEGERS, "fp16", "fp32", "fp64")},
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp8e5": np.dtype(ml_dtypes.float8_e5m2),
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8e4b15": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
}

COUNT = 512
"""Elements of a case's arrays: the edges of two types, each with each."""

HEADER = """import triton
import triton.language as tl


@triton.jit
def show(out, z, N: tl.constexpr):
    i = tl.arange(0, N)
    z = tl.reshape(z, (N,))
    tl.store(out.to(tl.pointer_type(z.dtype), bitcast=True) + i, z)
    if z.dtype.is_int():  # whether it is signed shows in the bits that it is extended with
        tl.store(out.to(tl.pointer_type(tl.int64), bitcast=True) + N + i, z.to(tl.int64))


@triton.jit
def show_scalar(out, z):
    tl.store(out.to(tl.pointer_type(z.dtype), bitcast=True), z)
    if z.dtype.is_int():
        tl.store(out.to(tl.pointer_type(tl.int64), bitcast=True) + 1, z.to(tl.int64))


"""

HELPERS = """@triton.jit
def larger(p, q):
    return tl.maximum(p, q)


@triton.jit
def twice(p):
    return p + p


"""


@dataclass(frozen=True)
class Case:
    """``kernel`` of ``source`` takes the arrays of ``arrays`` (short type names, by parameter) and ``constants``."""

    name: str
    source: str
    arrays: Mapping[str, str]
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
    grid: int = 1

    @property
    def signature(self) -> dict[str, str]:
        return {name: f"*{type_}" for name, type_ in self.arrays.items()}

    def inputs(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Poisoned ``out``, and edges: of the first array each with each of the second."""
        found: list[np.ndarray] = []
        for position, (name, type_) in enumerate(self.arrays.items()):
            if name == "out":
                found.append(np.full(COUNT * 16, 0x5A, np.int8))
                continue
            every = edges(type_)
            rest = random_values(type_, COUNT, rng)
            repeated = np.repeat(every, 24) if position == 1 else np.tile(every, 24)
            count = min(len(repeated), COUNT)
            rest[:count] = repeated[:count]
            found.append(rest)
        return found


def edges(type_: str) -> np.ndarray:
    """At most 21 values of a type at which something changes."""
    dtype = DTYPES[type_]
    if type_ == "i1":
        return np.array([False, True])
    if type_ in INTEGERS:
        info = np.iinfo(dtype)
        wanted = (0, 1, -1, 2, 3, -3, 7, 31, 32, 63, 100, info.min, info.max, info.min + 1, 2**31, 2**32 + 1, 2**31 - 1,
                  -(2**31), 255, 128)  # fmt: skip
        return np.array([w & (2 ** (8 * dtype.itemsize) - 1) for w in wanted], f"u{dtype.itemsize}").view(dtype)
    info = ml_dtypes.finfo(dtype)
    wanted = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -3.5, 100.0, float("inf"), float("-inf"), float("nan"), info.max,
              info.min, info.smallest_normal, info.smallest_subnormal, -float(info.smallest_subnormal), 2.0**31,
              2.0**32 + 1, -(2.0**63), 65504.0)  # fmt: skip
    with np.errstate(all="ignore"):
        return np.array([float(w) for w in wanted]).astype(dtype)


def random_values(type_: str, count: int, rng: np.random.Generator) -> np.ndarray:
    dtype = DTYPES[type_]
    if type_ == "i1":
        return rng.integers(0, 2, count).astype(np.bool_)
    if type_ in INTEGERS:
        return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).copy()
    return (rng.standard_normal(count) * rng.choice([0.1, 1, 10], count)).astype(dtype)


def loaded(*parameters: str) -> str:
    return "".join(f"    {value} = tl.load({name} + i)\n" for value, name in zip("xyw", parameters, strict=False))
