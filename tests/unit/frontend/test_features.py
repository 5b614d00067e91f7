"""Pieces of the language beyond control flow: what a kernel may name, call, pass and print at compile time."""

# Kernels are not quite Python:
# ruff: noqa: B905, C409, RUF005

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.analysis.axis_info import analyze_axes
from tritonx.dialects import tile
from tritonx.ir.types import i64
from tritonx.runtime.jit import constexpr_function, jit

Build = Callable[..., Any]
Text = Callable[..., str]

FOUR = tl.constexpr(4)
PLAIN_TYPE = tl.float16


def run(module: Any, *args: Any, grid: tuple[int, ...] = (1,)) -> None:
    from tritonx.interpreter.machine import interpret

    interpret(module, grid, list(args))


def result(build: Build, function: Any, *numbers: int, **constants: Any) -> int:
    """What a kernel ``f(out, a, b, ...)`` of int32 scalars stores, as IR and by lines."""
    from tritonx.interpreter.function import InterpretedFunction

    names = [n for n in function.arg_names if n not in constants]
    module = build(function, {names[0]: "*i32", **dict.fromkeys(names[1:], "i32")}, **constants)
    out = np.zeros(1, np.int32)
    run(module, out, *numbers)
    lines = InterpretedFunction(function.fn, do_not_specialize=names)
    by_lines = np.zeros(1, np.int32)
    lines[(1,)](by_lines, *numbers, **constants)
    assert by_lines[0] == out[0]
    return int(out[0])


@jit
def reads_globals(out, a):
    x = tl.zeros((FOUR,), PLAIN_TYPE)
    tl.store(out, a * FOUR + x.dtype.primitive_bitwidth)


def test_globals(build: Build) -> None:
    assert result(build, reads_globals, 3) == 28


@jit
def counts_to(out, a, WIDE: tl.constexpr):
    tl.store(out, tl.sum(tl.zeros((WIDE, 4), tl.int32) + tl.arange(0, WIDE)[:, None] + a))


def test_true_is_a_length_of_one(build: Build) -> None:
    """Triton takes it, and libraries pass a flag where a size is meant."""
    assert result(build, counts_to, 7, WIDE=True) == 28
    with pytest.raises(Exception, match="must be positive"):
        result(build, counts_to, 7, WIDE=False)


@constexpr_function
def half(n):
    return n // 2


@jit
def uses_constexpr_function(out, a, N: tl.constexpr):
    x = tl.arange(0, half(N))
    tl.store(out, a + x.shape[0])


def test_constexpr_function(build: Build) -> None:
    assert result(build, uses_constexpr_function, 1, N=32) == 17


@jit
def twice(x):
    return x * 2


@jit
def thrice(x):
    return x * 3


@jit
def applies(out, a, F: tl.constexpr, G: tl.constexpr):
    functions: tl.constexpr = (F, G)
    c = a
    for i in tl.static_range(2):
        c = functions[i](c)
    tl.store(out, c)


def test_functions_as_constants(build: Build) -> None:
    assert result(build, applies, 5, F=twice, G=thrice) == 30


def test_closure(build: Build) -> None:
    captured = tl.constexpr(11)
    function = thrice

    @jit
    def kernel(out, a):
        tl.store(out, function(a) + captured)

    assert result(build, kernel, 2) == 17


class Pair(NamedTuple):
    first: Any
    second: Any


@jit
def swap_pair(p):
    return Pair(p.second, p.first)


@jit
def named_tuples(out, a, b):
    p = Pair(a, b)
    for _ in range(3):
        p = swap_pair(p)
    tl.store(out, p.first * 100 + p.second)


def test_named_tuples(build: Build) -> None:
    assert result(build, named_tuples, 1, 2) == 201


@jit
def tuple_argument(out, t, u):
    tl.store(out, t[0] * 1000 + t[1][0] * 100 + t[1][1] * 10 + u.second)


def test_tuple_arguments(build: Build) -> None:
    signature = {"out": "*i32", "t": ("i32", ("constexpr", "i32")), "u": Pair("i32", "i32")}
    from tritonx.backends.api import Target
    from tritonx.frontend.compile import make_module
    from tritonx.interpreter.options import InterpreterOptions
    from tritonx.ir.text import print_module

    attrs = {(0,): [["tt.divisibility", 16]], (1, 1, 1): [["tt.divisibility", 16]]}
    module = make_module(tuple_argument, signature, {(1, 1, 0): 7}, attrs, InterpreterOptions(), Target("test"))
    header = print_module(module).splitlines()[1]
    assert header.count("i32") == 7  # out's pointee, four scalars, two attributes
    assert "%t_1: i32 {tt.divisibility = 16 : i32}" in header
    out = np.zeros(1, np.int32)
    run(module, out, 1, 16, 2, 5)
    assert out[0] == 1865


@tl.core._aggregate
class Counter:
    value: tl.tensor
    step: tl.constexpr

    @jit
    def __init__(self, value, step):
        self.value = value
        self.step = step

    @jit
    def advanced(self, times):
        return Counter(self.value + self.step * times, self.step)

    @jit
    def __add__(self, other):
        return Counter(self.value + other, self.step)


@jit
def uses_aggregate(out, a, b):
    c = Counter(a, 3)
    for i in range(b):
        c = c.advanced(i)
        if i > 2:
            c = c + 100
    tl.store(out, c.value)


def test_aggregate(build: Build) -> None:
    assert result(build, uses_aggregate, 1, 5) == 1 + 3 * 10 + 200


@jit
def python_builtins(out, a, b):
    c = min(a, b, 100) + max((a, b)) * 10 + abs(a - b) * 100
    d = max(3, 4) + min(FOUR, 9) + len((1, 2, 3)) + abs(-2) + int(2.5) + int(bool(5))
    for i, (x, y) in enumerate(zip((a, b), (b, 1))):
        c += i * x * y
    t = tuple([a, b]) + (a,)
    tl.store(out, c + d + len(t) if isinstance(FOUR, int) else 0)


def test_python_builtins(build: Build) -> None:
    a, b = 3, 7
    expected = 3 + 70 + 400 + (4 + 4 + 3 + 2 + 2 + 1) + 7 + 3
    assert result(build, python_builtins, a, b) == expected


@jit
def comprehension(out, a, b):
    t = (a, b, a + b)
    doubled = [x * 2 for x in t]
    big = [x for x in (1, 5, 9) if x > 2]
    tl.store(out, doubled[0] + doubled[1] * 10 + doubled[2] * 100 + big[1] * 10000 + len(big))


def test_comprehension(build: Build) -> None:
    assert result(build, comprehension, 1, 2) == 2 + 40 + 600 + 90000 + 2


@jit
def static_membership(out, a, MODE: tl.constexpr):
    c = a
    if MODE in ("fast", "faster"):
        c += 1
    if MODE not in ("fast",):
        c += 10
    if MODE is not None and len(MODE) == 6:
        c += 100
    tl.store(out, c)


def test_membership(build: Build) -> None:
    assert result(build, static_membership, 1, MODE="fast") == 2
    assert result(build, static_membership, 1, MODE="faster") == 112


@jit
def prints(out, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.static_print(f"i = {i:03d}", N, f"{'x'!r}")


def test_static_print(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    build(prints, {"out": "*i32"}, N=2)
    assert capsys.readouterr().out == "i = 000 2 'x'\ni = 001 2 'x'\n"


@jit
def prints_types(out, a, N: tl.constexpr):
    x = tl.full((N, 4), a, tl.float32)
    tl.static_print(f"{x} of {x.shape}, {x.dtype}; {a=}, {(a, N)}, {x.shape[0] * 2:>3}{N!r}")
    tl.static_assert(len(x.shape) < N, f"{x} has the rank {len(x.shape)}")
    tl.store(out, tl.max(x).to(tl.int32))


def test_f_strings_show_types_of_run_time_values(
    build: Build, failure: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = "fp32[constexpr[8], constexpr[4]] of (8, 4), fp32; a=int32[], (int32[], 8),  168\n"
    assert result(build, prints_types, 7, N=8) == 7
    assert capsys.readouterr().out == shown * 2  # compiled, and before the lines run
    error = failure(prints_types, {"out": "*i32", "a": "i32"}, N=2)
    assert "fp32[constexpr[2], constexpr[4]] has the rank 2" in str(error)


@jit
def device_side(out, a):
    print("a is", a)
    assert a > 0, "a must be positive"


def test_print_and_assert(text: Text) -> None:
    module = text(device_side, {"out": "*i32", "a": "i32"})
    assert 'tt.print " a is: "' in module
    assert "tt.assert" not in module
    assert "tt.assert" in text(device_side, {"out": "*i32", "a": "i32"}, options={"debug": True})


@jit(noinline=True)
def not_inlined(x, N: tl.constexpr, y):
    if x > y:
        return x - N
    return y + N


@jit
def calls_not_inlined(out, a, b):
    tl.store(out, not_inlined(a, 3, b) * 100 + not_inlined(b, 3, a) * 10 + not_inlined(a, 4, b))


def test_noinline(build: Build, text: Text) -> None:
    signature = {"out": "*i32", "a": "i32", "b": "i32"}
    printed = text(calls_not_inlined, signature)
    assert printed.count("tt.call @") == 3
    assert printed.count("tt.func private @") == 2
    assert printed.index("tt.func public") < printed.index("tt.func private")
    assert "noinline = true" in printed
    assert result(build, calls_not_inlined, 5, 2) == (5 - 3) * 100 + 8 * 10 + (5 - 4)


@jit
def combine(a1, b1, a2, b2):
    if a1 > a2:
        return a1, b1 + 1
    return a2, b2 + 1


@jit
def reduces_tuples(out, n):
    x = tl.arange(0, 16)
    top, count = tl.reduce((x, x * 0), 0, combine)
    tl.store(out, top * 100 + count + n)


def test_reduce_with_early_return(build: Build) -> None:
    value = result(build, reduces_tuples, 0)
    assert value // 100 == 15


@jit
def methods(out, a):
    x = (tl.arange(0, 16) + a).to(tl.float32)
    y = x[:, None].broadcast_to(16, 16).T
    tl.store(out, y.sum(axis=0).max(axis=0).to(tl.int32))


def test_methods(build: Build) -> None:
    assert result(build, methods, 1) == 16 * 16


@jit
def largest(dtype):
    if dtype.value.is_floating():
        return float("inf")
    tl.static_assert(dtype.is_int())
    return 7


@jit
def passes_dtype(out, a):
    tl.store(out, a + largest(a.dtype) + largest(out.dtype.element_ty))


def test_dtype_argument(build: Build) -> None:
    assert result(build, passes_dtype, 1) == 15


@jit
def default_is_none(out, a, b=None, SCALE: tl.constexpr = 2):
    if b is None:
        c = a * SCALE
    else:
        c = a + b
    tl.store(out, c)


def test_none_argument(build: Build) -> None:
    assert result(build, default_is_none, 4, b=None, SCALE=3) == 12
    module = build(default_is_none, {"out": "*i32", "a": "i32", "b": "i32"}, SCALE=3)
    out = np.zeros(1, np.int32)
    run(module, out, 4, 5)
    assert out[0] == 9


@jit
def specialised_to_one(out, n, stride):
    c = 0
    while n > 1:
        n = n // 2
        stride = stride * 2
        c += stride
    tl.store(out, c)


def test_constant_argument_carried_by_a_loop(build: Build) -> None:
    assert result(build, specialised_to_one, 9, stride=1) == 2 + 4 + 8


@jit
def constant_in_branch(out, n, stride):
    if n > 3:
        stride = stride + n
    tl.store(out, stride)


def test_constant_argument_changed_in_a_branch(build: Build) -> None:
    assert result(build, constant_in_branch, 2, stride=1) == 1
    assert result(build, constant_in_branch, 5, stride=1) == 6


@jit
def source_locations(out, n):
    value = n + 1
    tl.store(out, twice(value))


def test_locations(text: Text) -> None:
    printed = text(source_locations, {"out": "*i32", "n": "i32"}, debuginfo=True)
    line = source_locations.def_line_number + 1
    assert f'test_features.py":{line}:13)' in printed
    assert 'loc("value"(' in printed
    assert "callsite(" in printed


def test_kernel_name_from_repr(text: Text) -> None:
    @jit(repr=lambda proxy: f"kernel_{proxy.constants['N']}")
    def kernel(out, N: tl.constexpr):
        tl.store(out, N)

    assert "tt.func public @kernel_8(" in text(kernel, {"out": "*i32"}, N=8)


def test_compiling_twice_gives_the_same(text: Text) -> None:
    signature = {"out": "*i32", "a": "i32", "b": "i32"}
    assert text(uses_aggregate, signature) == text(uses_aggregate, signature)


ANY_NUMBER = 5


@jit
def reads_any_global(out, a):
    tl.store(out, a + ANY_NUMBER)


def test_switch_that_allows_any_global(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    assert result(build, reads_any_global, 3) == 8


def test_switch_that_shows_raw_exceptions(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    @jit
    def kernel(out):
        tl.full((0,), 0, tl.int32)

    monkeypatch.setenv("TRITON_FRONT_END_DEBUGGING", "1")
    with pytest.raises(ValueError, match="must be positive") as caught:
        build(kernel, {"out": "*i32"})
    assert type(caught.value) is ValueError


@jit
def hinted_in_loops(addresses, out, n):
    source = tl.load(addresses).to(tl.pointer_type(tl.float32)) + tl.arange(0, 16)
    total = tl.zeros((16,), tl.float32)
    for _ in range(n):
        for _ in range(n):
            total += tl.load(tl.multiple_of(source, 64))
            source += 16
    tl.store(out + tl.arange(0, 16), total)


def test_a_promise_in_a_loop_holds_from_its_first_iteration(build: Build) -> None:
    module = build(hinted_in_loops, {"addresses": "*i64", "out": "*fp32", "n": "i32"})
    facts = analyze_axes(module)
    loads = [op for op in module.walk() if isinstance(op, tile.LoadOp) and op.result.type != i64]
    assert [facts.of(op.ptr).divisibility for op in loads] == [(64,)]
