"""Thirty kernels, and what a program says of their launches, as the text of a module."""

from __future__ import annotations

HEAD = """
import tritonx, tritonx.language as tl

SEALED = []

def sealed(arguments, **fields):
    def add(kernel):
        SEALED.append({"kernel": kernel.__name__, "arguments": arguments, "targets": ["cpu"], **fields})
        return kernel
    return add
"""

ELEMENTWISE = """
@sealed({{"x": {array!r}, "y": {array!r}, "n": {n}, "B": {blocks}}})
@tritonx.jit
def {name}(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=1)
    tl.store(y + at, {expression}, mask=at < n)
"""

ROWS = """
@sealed({{"x": "*fp32", "y": "*fp32:16", "x_stride": {stride}, "n": {n}, "scale": "float", "B": [64]}})
@tritonx.jit
def {name}(x, y, x_stride, n, scale, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * x_stride + at, mask=at < n, other=0)
    tl.store(y + row, tl.{reduction}(v) * scale)
"""

SPECIAL = """
@sealed({"x": ["*fp32:16", "*i32:16"], "n": {"range": [-2**40, 2**40], "multiple_of": 4}})
@tritonx.jit
def wide_range(x, n):
    tl.store(x, n.to(tl.float32))

@sealed({"x": "*i64:16", "n": {"range": [0, 2**64 - 1]}})
@tritonx.jit
def whole_range(x, n):
    tl.store(x, n)

@sealed({"x": "*fp32:16", "n": {"range": [1, 64]}, "flag": "bool", "nothing": [None, 1]})
@tritonx.jit
def flags(x, n, flag, nothing):
    if flag:
        tl.store(x, n)

@sealed({"x": "*fp32:16", "n": {"range": [1, 10**6]}})
@tritonx.jit(do_not_specialize=["n"])
def not_specialised(x, n):
    tl.store(x, n)

@sealed({"x": "*fp32:16", "n": {"range": [1, 10**6]}})
@tritonx.jit
def annotated(x, n: tl.int64):
    tl.store(x, n)

@sealed({"x": "*fp32:16", "n": {"range": [1, 10**6]}, "B": [16, 32], "EVEN": [True, False]})
@tritonx.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
@tritonx.jit
def even(x, n, B: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, 1, mask=None if EVEN else at < n)

@sealed({"x": "*fp32:16", "n": {"range": [1, 10**6]}})
@tritonx.autotune([tritonx.Config({"B": b}) for b in (16, 32, 64)], key=[])
@tritonx.jit
def tuned(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1, mask=at < n)

@sealed({"x": "*fp32:16", "mode": ["add", "set"], "by": [0.5, 2]})
@tritonx.jit
def modes(x, mode: tl.constexpr, by: tl.constexpr):
    tl.store(x, tl.load(x) + by if mode == "add" else by)

@sealed({"x": "*fp32:16", "n": {"range": [2, 64]}}, options={"num_warps": [1, 2]})
@tritonx.jit
def options(x, n, by=2.5):
    tl.store(x, n * by)

@sealed({"a": "*fp16:16", "b": "*fp16:16", "c": "*fp32:16", "k": {"range": [16, 4096], "multiple_of": 16}})
@tritonx.jit
def product(a, b, c, k):
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    acc = tl.zeros((16, 16), tl.float32)
    for s in range(0, k, 16):
        acc += tl.dot(tl.load(a + i * k + s + j), tl.load(b + (s + i) * 16 + j))
    tl.store(c + i * 16 + j, acc)
"""

RANGES = ('{"range": [1, 100000]}', '{"range": [2, 4096], "multiple_of": 8}', "[1, 100, 128]")
EXPRESSIONS = ("v + 1", "v * v", "-v", "tl.exp(v)", "tl.abs(v)", "tl.where(v > 0, v, 0)", "v / 3", "v * n",
               "tl.maximum(v, 0)", "tl.sigmoid(v)", "tl.cos(v)", "v - tl.program_id(0)")  # fmt: skip
REDUCTIONS = ("sum", "max", "min", "sum", "max", "min", "sum", "max")


def kernels() -> list[str]:
    """The text of each."""
    made: list[str] = []
    for number, expression in enumerate(EXPRESSIONS):
        made.append(ELEMENTWISE.format(
            array="*fp32:16" if number % 2 else "*fp32", n=RANGES[number % 3], name=f"each_{number}",
            blocks=("[64]", "[32, 64]")[number % 2], expression=expression,
        ))  # fmt: skip
    for number, reduction in enumerate(REDUCTIONS):
        stride = '{"range": [16, 8192], "multiple_of": 4}' if number % 2 else '{"range": [16, 8192], "multiple_of": 16}'
        made.append(ROWS.format(name=f"rows_{number}", reduction=reduction, stride=stride, n=RANGES[number % 3]))
    return [*made, *(f"\n@sealed{each}" for each in SPECIAL.split("\n@sealed")[1:])]
