"""Programs that Triton's front end refuses: a case for each refusal that a user can reach.

A case is the body of a kernel whose parameters and first values are those of `PRELUDE`, or a program of its own. The
files ``refusals_*.py`` hold them by subject."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

HEADER = """import triton
import triton as T
import triton.language as tl
"""

PRELUDE = """
@triton.jit
def kernel(p, h, k, b, c, n, u, s, w, q, N: tl.constexpr):
    i = tl.arange(0, 8)
    x = i.to(tl.float32)
    v = i[:, None] + tl.arange(0, 4)[None, :]
    a = tl.full((16, 16), 1.0, tl.float16)
"""
"""Pointers to f32, f16, i32, i1 and constant f32, an i32, a u32, an f32, an i64 and a pointer to bf16; a row of 8
numbers, the same as f32, a block of 8 by 4 numbers, and a matrix of f16."""

SIGNATURE: dict[str, Any] = {
    "p": "*fp32",
    "h": "*fp16",
    "k": "*i32",
    "b": "*i1",
    "c": "*kfp32",
    "n": "i32",
    "u": "u32",
    "s": "fp32",
    "w": "i64",
    "q": "*bf16",
    "N": "constexpr",
}


@dataclass(frozen=True)
class Case:
    """``body`` is what the kernel does behind `PRELUDE`, ``head`` what stands in front of the kernel. ``source`` is a
    program of its own, which defines ``kernel``, or ``host`` to be called."""

    body: str = ""
    head: str = ""
    source: str = ""
    signature: dict[str, Any] = field(default_factory=lambda: dict(SIGNATURE))
    constants: dict[Any, Any] = field(default_factory=lambda: {"N": 8})
    target: tuple[str, Any, int] = ("cuda", 90, 32)
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def program(self) -> str:
        if self.source:
            return HEADER + self.source
        body = "".join(f"    {line}\n" for line in self.body.strip("\n").split("\n"))
        return HEADER + self.head + PRELUDE + body


def bodies(table: dict[str, str]) -> dict[str, Case]:
    return {name: Case(body) for name, body in table.items()}


def host(table: dict[str, str]) -> dict[str, Case]:
    """What a host program does, as the body of a function."""
    return {
        name: Case(source="\ndef host():\n" + "".join(f"    {line}\n" for line in body.strip("\n").split("\n")))
        for name, body in table.items()
    }
