"""Kernels that print, for Triton and for tritonx: the first line of the file that is executed says which it is."""

# pyright: reportUndefinedVariable=false
# ruff: noqa: F821


@triton.jit
def line(x, N: tl.constexpr, M: tl.constexpr, HEX: tl.constexpr):
    tl.device_print("v", tl.load(x + tl.arange(0, N)), hex=HEX)


@triton.jit
def square(x, N: tl.constexpr, M: tl.constexpr, HEX: tl.constexpr):
    i = tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]
    tl.device_print("two: ", tl.load(x + i), tl.program_id(0), hex=HEX)


@triton.jit
def scalar(x, N: tl.constexpr, M: tl.constexpr, HEX: tl.constexpr):
    tl.device_print("scalar ", tl.load(x), hex=HEX)
    tl.device_print("nothing")
    tl.device_print("")


@triton.jit
def pointers(x, N: tl.constexpr, M: tl.constexpr, HEX: tl.constexpr):
    tl.device_print("many", x + tl.arange(0, N), hex=HEX)
    tl.device_print(" one:", x, hex=HEX)


@triton.jit
def truths(x, N: tl.constexpr, M: tl.constexpr, HEX: tl.constexpr):
    tl.device_print("truth", tl.load(x + tl.arange(0, N)) > 0, tl.load(x) > 0, hex=HEX)
