"""Random expressions over three types and Python's numbers, one inside the other: promotion of what was promoted."""

from __future__ import annotations

import re
from random import Random

from both_case import FLOATS, HEADER, HELPERS, INTEGERS, Case

TYPES = ("i1", *INTEGERS, *FLOATS, "fp16", "bf16", "fp8e5", "fp8e4nv")
NUMBERS = ("0", "1", "-1", "3", "7", "0.1", "0.5", "-2.5", "100", "True", "127", "300", "70000", "float('inf')", "1e39")
OPERATORS = "+ - * / // % < <= == != > & | ^ >> <<".split()
FORMS = (
    *(f"(E {operator} B)" for operator in OPERATORS),
    *(f"(B {operator} E)" for operator in OPERATORS),
    "tl.maximum(B, E)", "tl.minimum(E, B)", "tl.where(B < E, B, E)", "tl.where(B == E, N, B)", "tl.clamp(B, N, N)",
    "tl.clamp(B, B, E)", "tl.fma(B, E, N)", "tl.fma(B, B, B)", "tl.fdiv(B, E)", "(-B)", "(not B)", "(B and E)",
    "tl.cumsum(B, 0)", "tl.cumprod(B, 0)", "tl.associative_scan(B, 0, larger)", "tl.sum(B, 0)", "tl.max(B, 0)",
    "tl.min(B, 0, return_indices=True)[0]", "tl.argmax(B, 0)", "tl.abs(B)", "tl.exp(B)", "tl.sigmoid(B)",
    "tl.cdiv(B, N)", "tl.histogram(B, 32)", "tl.full((32,), N, B.dtype)", "B.to(tl.int1)", "(B if t > 0 else E)",
    "tl.dot(X, Y)", "tl.dot(X, Y, Z)", "tl.dot(X, X, acc=Z.to(tl.float16))", "tl.dot(X, Y, out_dtype=tl.float16)",
)  # fmt: skip
"""Where ``E`` is anything, ``B`` a block or scalar, ``N`` a number or a name."""

KERNEL = """@triton.jit
def kernel(out, a, b, c):
    i = tl.arange(0, 32)
    square = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x, y, w = tl.load(a + i), tl.load(b + i), tl.load(c + i)
    X, Y, Z = tl.load(a + square), tl.load(b + square), tl.load(c + square)
    s, t = tl.load(a + 5), tl.load(b + 7)
    z = {}
    if len(z.shape) == 0:
        show_scalar(out, z)
    else:
        show(out, z, z.numel)
"""


def case(seed: int) -> Case:
    random = Random(seed)
    first, second, third = (random.choice(TYPES) for _ in range(3))
    if random.random() < 0.4:  # products need it
        second = first
    text = expression(random, random.randint(1, 3))
    name = f"nested {seed}: {text} of {first}, {second}, {third}"
    return Case(name, HEADER + HELPERS + KERNEL.format(text), {"out": "i8", "a": first, "b": second, "c": third})


def expression(random: Random, depth: int) -> str:
    return re.sub(r"\b[EBN]\b", lambda found: operand(random, found[0], depth - 1), random.choice(FORMS))


def operand(random: Random, kind: str, depth: int) -> str:
    if depth > 0 and kind != "N" and random.random() < 0.5:
        return expression(random, depth)
    return random.choice(NUMBERS if kind != "B" and random.random() < 0.6 else ("x", "y", "w", "s", "t"))
