"""Arguments with which the programs of `tests/peer/kernels_hopper.py` fill a GPU, and what they compute, in f64."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

DTYPES = {
    "fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp8e4nv": torch.float8_e4m3fn,
    "fp8e5": torch.float8_e5m2, "i8": torch.int8, "i32": torch.int32,
}  # fmt: skip

TOLERANCES = {"fp16": 2e-3, "bf16": 1e-2, "fp32": 4e-3, "fp8e4nv": 3e-2, "fp8e5": 3e-2, "i8": 0.0}
"""Of a product's result, relative in the norm, by what it multiplies. Matrix units read f32 as tf32, and add products
of 8 bits with about 14."""

POISON = {torch.int32: 0x7F7F7F7F}
SIDE = 8192
"""Rows, columns and depth of products."""

TOKENS = 132 * 256
"""Of an attention: 264 blocks of 128 queries, or 528 of 64."""


@dataclass(frozen=True)
class Problem:
    """``given`` has the kernel's arguments by name, arrays and numbers. One launch over ``grid`` turns each array of
    ``before`` into ``expected``, to within ``tolerance`` of its norm, exactly for a tolerance of 0."""

    grid: tuple[int, int, int]
    given: dict[str, Any]
    expected: dict[str, torch.Tensor]
    tolerance: float
    before: dict[str, torch.Tensor] = field(default_factory=dict)

    def poison(self) -> None:
        """Results hold what they held before the launch, or what no kernel may leave there."""
        for name in self.expected:
            array = self.given[name]
            if name in self.before:
                array.copy_(self.before[name])
            else:
                array.fill_(POISON.get(array.dtype, math.nan))

    def errors(self) -> tuple[float, float]:
        """The largest over the results, relative to the expected: in the norm, and of an element to the mean square."""
        norm = worst = 0.0
        for name, expected in self.expected.items():
            difference = exact(self.given[name]).sub_(expected)
            size = float(expected.norm())
            norm = larger(norm, float(difference.norm()) / size)
            worst = larger(worst, float(difference.abs().max()) * math.sqrt(expected.numel()) / size)
        return norm, worst

    def right(self, norm: float, worst: float) -> bool:
        return norm <= self.tolerance and worst <= 20 * self.tolerance


def larger(a: float, b: float) -> float:
    """NaN where one is."""
    return a if a >= b or math.isnan(a) else b


def exact(x: torch.Tensor) -> torch.Tensor:
    return x.double() if x.dtype == torch.int32 else x.float().double()


def element(type_: str) -> str:
    return type_.removeprefix("tensordesc<").removeprefix("*").split("[")[0]


@dataclass(frozen=True)
class Maker:
    """Makes the problem of a case on a device; a ``small`` one has a few blocks."""

    case: Any
    device: str
    small: bool

    def drawn(self, name: str, *shape: int) -> torch.Tensor:
        """Random values of the type that a parameter has."""
        dtype = DTYPES[element(self.case.signature[name])]
        if not dtype.is_floating_point:
            return torch.randint(-128, 128, shape, device=self.device, dtype=dtype)
        return torch.randn(*shape, device=self.device).to(dtype)

    def empty(self, name: str, *shape: int) -> torch.Tensor:
        return torch.empty(shape, device=self.device, dtype=DTYPES[element(self.case.signature[name])])

    def problem(self) -> Problem:
        match self.case.fn.__name__:
            case "two_products":
                return self.two_products()
            case "attention_of_blocks":
                return self.attention()
            case "attention_keys" | "attention_queries":
                return self.gradients()
            case "copy_blocks":
                return self.copy()
            case _:
                return self.product()

    def product(self) -> Problem:
        """A product of two matrices; B is turned where the kernel reads it so."""
        tile = {key: self.case.constants[key] for key in "MNK"}
        m, n, k = (2 * tile["M"], 3 * tile["N"], 4 * tile["K"]) if self.small else (SIDE, SIDE, SIDE)
        kernel = self.case.fn.__name__
        turned = self.case.constants.get("TURNED", kernel not in ("matmul", "gathered_product"))
        a, b = self.drawn("a", m, k), self.drawn("b", *((n, k) if turned else (k, n)))
        given = {"a": a, "b": b, "c": self.empty("c", m, n), "m": m, "n": n, "k": k}
        given |= {"sa": a.stride(0), "sb": b.stride(0), "sc": n}
        rows = exact(a)
        if kernel == "gathered_product":
            given["rows"] = torch.randint(0, m, (m,), device=self.device, dtype=torch.int32)
            rows = rows[given["rows"].long()]
        expected = rows @ (exact(b).T if turned else exact(b))
        grid = (m // tile["M"], n // tile["N"], 1)
        if (blocks := self.case.constants.get("BLOCKS")) is not None:
            grid = (blocks, 1, 1)
        return Problem(grid, given, {"c": expected}, TOLERANCES[element(self.case.signature["a"])])

    def two_products(self) -> Problem:
        """The sum over blocks of A·B, each rounded to f16, times C."""
        m, n, k = (256, 256, 320) if self.small else (SIDE, SIDE, SIDE)
        a, b, c = self.drawn("a", m, k), self.drawn("b", k, 64) / 8, self.drawn("c", 64, n)
        total = torch.zeros(m, 64, device=self.device, dtype=torch.float64)
        for start in range(0, k, 64):
            total += exact((exact(a[:, start : start + 64]) @ exact(b[start : start + 64])).half())
        given = {"a": a, "b": b, "c": c, "d": self.empty("d", m, n), "k": k}
        return Problem((m // 128, n // 128, 1), given, {"d": total @ exact(c)}, 5e-3)

    def tokens(self) -> int:
        return 512 if self.small else TOKENS

    def attention(self) -> Problem:
        block, d = self.case.constants["M"], self.case.constants["D"]
        n, scale = self.tokens(), 1 / d**0.5
        q, k, v = (self.drawn(name, n, d) for name in "qkv")
        out = torch.empty(n, d, device=self.device, dtype=torch.float64)
        keys, values = exact(k), exact(v)
        for rows in chunks(n):
            scores = exact(q[rows]) @ keys.T * scale
            if self.case.constants["CAUSAL"]:
                seen = torch.arange(rows.start, rows.stop, device=self.device)[:, None]
                scores = torch.where(torch.arange(n, device=self.device)[None, :] <= seen, scores, -math.inf)
            p = torch.exp2(scores - scores.amax(1, keepdim=True))
            out[rows] = p / p.sum(1, keepdim=True) @ values
        given = {"q": q, "k": k, "v": v, "o": self.empty("o", n, d), "n": n, "scale": scale}
        tolerance = 2e-2 if q.dtype == torch.bfloat16 else 5e-3
        return Problem((n // block, 1, 1), given, {"o": out}, tolerance)

    def gradients(self) -> Problem:
        n, d, scale = self.tokens(), 64, 0.125
        q, k, v, go = (self.drawn(name, n, d) for name in ("q", "k", "v", "go"))
        lse, delta = (torch.empty(n, device=self.device, dtype=torch.float32) for _ in range(2))
        found = {name: torch.zeros(n, d, device=self.device, dtype=torch.float64) for name in ("gq", "gk", "gv")}
        keys, values = exact(k), exact(v)
        for rows in chunks(n):
            queries, given = exact(q[rows]), exact(go[rows])
            scores = queries @ keys.T * scale
            largest = scores.amax(1, keepdim=True)
            logarithm = largest + torch.log2(torch.exp2(scores - largest).sum(1, keepdim=True))
            p = torch.exp2(scores - logarithm)
            correction = (given * (p @ values)).sum(1, keepdim=True)
            ds = p * (given @ values.T - correction)
            lse[rows], delta[rows] = logarithm[:, 0].float(), correction[:, 0].float()
            found["gq"][rows] = ds @ keys * scale
            found["gk"] += ds.T @ queries * scale
            found["gv"] += p.T @ given
        expected = {name: value for name, value in found.items() if name in self.case.signature}
        outputs = {name: self.empty(name, n, d) for name in expected}
        inputs = {"q": q, "k": k, "v": v, "go": go, "lse": lse, "delta": delta, "n": n, "scale": scale}
        return Problem((n // 64, 1, 1), inputs | outputs, expected, 1e-2)

    def copy(self) -> Problem:
        """Blocks copied, or combined with what was there, at the places that the kernel's source says."""
        rank, kind = self.case.constants["RANK"], self.case.constants["KIND"]
        x, y = (16, 32) if self.small else EXTENTS[rank]
        grid, shape, where = {
            1: ((x, 1, 1), (x * 256,), (...,)),
            2: ((x, y, 1), (x * 32, y * 64), (...,)),
            3: ((x, y, 1), (x * 4, 24, y * 32), (slice(None), slice(8, 16))),
            4: ((x, y, 1), (x, 6, y * 4, 64), (slice(None), slice(2, 4))),
            5: ((x, y, 1), (x, 2, y * 2, 12, 32), (slice(None), slice(None), slice(None), slice(4, 8))),
        }[rank]
        source, target = self.drawn("source", *shape), self.drawn("target", *shape)
        expected = target.clone()
        new, old = source[where], target[where]
        match kind:
            case "add":
                expected[where] = old + new
            case "max":
                expected[where] = torch.maximum(old, new)
            case "xor":
                expected[where] = old ^ new
            case _:
                expected[where] = new
        given = {"source": source, "target": target}
        return Problem(grid, given, {"target": exact(expected)}, 0.0, {"target": target.clone()})


EXTENTS = {1: (1 << 19, 1), 2: (512, 256), 3: (1024, 128), 4: (2048, 128), 5: (1024, 256)}
"""Blocks of a copy along both dimensions of its grid."""


def chunks(n: int, rows: int = 2048) -> Iterator[slice]:
    return (slice(start, min(start + rows, n)) for start in range(0, n, rows))
