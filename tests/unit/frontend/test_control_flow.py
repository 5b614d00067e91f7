"""Control flow means what Python means: each function runs compiled (by the interpreter, on many inputs at once) and
as Python."""

# ruff: noqa: B007  # loop variables that only count

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.frontend.codegen.call_stack import FRAMES, room_for_calls
from tritonx.runtime.jit import jit


@jit
def run_one(out, a_in, b_in, n_in, FUNCTION: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(out + pid, FUNCTION(tl.load(a_in + pid), tl.load(b_in + pid), tl.load(n_in + pid)))


@jit
def branch(a, b, n):
    if a > b:
        c = a - b
    else:
        c = b - a
    return c


@jit
def branch_without_else(a, b, n):
    c = a
    if a > b:
        c = b + 7
    return c


@jit
def elif_chain(a, b, n):
    if a > 5:
        c = 1
    elif a > 2:
        c = 2
    elif b > 3:
        c = 3
    else:
        c = 4
    return c


@jit
def nested(a, b, n):
    c = 0
    d = n
    if a > 0:
        if b > 0:
            c = a
            d = b
        else:
            c = c - 1
    else:
        d = d + 3
        if n > 2:
            c = 9
    return c * 100 + d


@jit
def swap(a, b, n):
    if n > 2:
        a, b = b, a
    return a * 10 + b


@jit
def early_return(a, b, n):
    if a > b:
        return a
    c = b * 2
    return c


@jit
def early_return_else(a, b, n):
    c = 1
    if a > b:
        c = 2
    else:
        return b
    c = c + a
    return c


@jit
def return_in_both(a, b, n):
    if a > b:
        return a
    else:
        return b


@jit
def nested_early_return(a, b, n):
    if a > 0:
        if b > 0:
            return a + b
        a = a + 5
        if n > 3:
            return a
    b = b * 3
    return a * b


@jit
def deep_early_return(a, b, n):
    c = n
    if a > 0:
        c = c + 1
        if b > 0:
            c = c + 2
            if n > 0:
                return 77
            c = c + 4
        else:
            if n < 0:
                return 78
        c = c + 8
    else:
        c = c + 16
        if n == 1:
            return 79
    c = c + 32
    if b == 2:
        return c
    c = c + 64
    return c


@jit
def count_up(a, b, n):
    c = a
    for i in range(n):
        c += i * b
    return c


@jit
def count_from_to_step(a, b, n):
    c = 0
    for i in range(a, b, 2):
        c = c * 3 + i
    return c


@jit
def count_down(a, b, n):
    c = 0
    for i in range(n, a, -1):
        c = c * 3 + i
    return c


@jit
def count_down_by_three(a, b, n):
    c = 1
    for i in range(n + 4, a, -3):
        c = c * 3 + i
    return c


@jit
def loop_variable_after(a, b, n):
    i = 100
    for i in range(a, b, 3):
        a = a + 0
    return i


@jit
def loop_variable_after_down(a, b, n):
    i = 100
    for i in range(b, a, -2):
        n = n + 0
    return i


@jit
def loop_variable_assigned(a, b, n):
    c = 0
    i = 50
    for i in range(n):
        c += i
        i = i + 5
        c += i
    return c + i * 1000


@jit
def nested_loops(a, b, n):
    c = 0
    for i in range(n):
        for j in range(i):
            c += i * j
        for j in range(a):
            c = c - j
    return c


@jit
def loop_with_branch(a, b, n):
    c = a
    d = b
    for i in range(n):
        if c > d:
            c = c - 1
        else:
            d = d - i
            if d < 2:
                c = c + d
    return c * 31 + d


@jit
def fibonacci(a, b, n):
    for _ in range(n):
        a, b = b, a + b
    return a


@jit
def rotate_three(a, b, n):
    c = n
    for _ in range(n):
        a, b, c = b, c, a
    return a * 100 + b * 10 + c


@jit
def unchanged_source(a, b, n):
    c = a
    for _ in range(n):
        c = b
        if n > 100:
            b = b + 1
    return c


@jit
def while_loop(a, b, n):
    i = 0
    c = a
    while i < n:
        c = c + i
        i = i + 1
    return c


@jit
def while_condition_and(a, b, n):
    c = 0
    while (a > 0) & (n > 0):
        a = a - 1
        n = n - 2
        c = c + n
    return c + a * 100


@jit
def while_with_nested_for(a, b, n):
    c = 0
    while n > 0:
        for j in range(n):
            if j > 2:
                c += j
        n = n - 2
    return c


@jit
def ternary(a, b, n):
    c = a if a > b else b
    return c * 2 if n > 2 else (c - 1 if n > 1 else 5)


@jit
def boolean_operators(a, b, n):
    c = 0
    if a > 0 and b > 0 and n > 0:
        c = 1
    if a > 3 or b > 3 or n > 4:
        c = c + 2
    if not a > b:
        c = c + 4
    return c


@jit
def pruned(a, b, n):
    USE: tl.constexpr = 3
    if USE == 3 and a > 1:
        c = a
    else:
        c = b
    if USE == 2:
        c = undefined_name  # noqa: F821  # never looked at
    if USE == 3 or undefined_name:  # noqa: F821
        c = c + 1
    return c


@jit
def pruned_loop_store(a, b, n):
    SIZE: tl.constexpr = 4
    c = a
    for i in range(n):
        if SIZE == 3:
            n = n + 1
        c = c + SIZE
    return c + n


@jit
def static_range_loop(a, b, n):
    c = a
    for i in tl.static_range(3):
        TWICE: tl.constexpr = i * 2
        if TWICE == 2:
            c = c * b
        else:
            c = c + TWICE
    return c


@jit
def static_range_again_inside_loop(a, b, n):
    c = 0
    for k in tl.static_range(2):
        c += a * k
    for i in range(n):
        for k in tl.static_range(3):
            c = c + k * b + i
    for k in tl.static_range(2):
        c = c * 2 + k
    return c


@jit
def loop_variable_read_after_branch(a, b, n):
    i = 40
    if a > b:
        for i in range(n):
            a += i
    return a * 100 + i


@jit
def early_return_in_static_range(a, b, n):
    c = 0
    for i in tl.static_range(4):
        if a == i:
            return c
        c = c + b
    return c + 1000


@jit
def helper_returns_early(a, b):
    if a > b:
        return a - b
    if a == b:
        return 0
    return b - a


@jit
def early_return_inside_loop(a, b, n):
    c = 0
    for i in range(n):
        c += helper_returns_early(i + a, b)
    return c


@jit
def power(a, N: tl.constexpr):
    if N == 0:
        return 1
    return a * power(a, N - 1)


@jit
def bounded_recursion(a, b, n):
    return power(a, 3) + power(b, 2)


@jit
def pair(a, b):
    if a > b:
        return a, b + 1
    return b, a + 2


@jit
def tuples(a, b, n):
    x, y = pair(a, b)
    t = (x, (y, n))
    for _ in range(n):
        t = (t[0] + 1, (t[1][1], t[1][0]))
    u = pair(*t[1])
    first, rest = u[0], (u[1], t[0])
    return first * 100 + rest[0] * 10 + rest[1]


@jit
def keyword_and_default(a, b=3, *, c=5):
    return a * 100 + b * 10 + c


@jit
def calls(a, b, n):
    return keyword_and_default(a) + keyword_and_default(b, c=n) + keyword_and_default(b=n, a=1)


@jit
def variadic(first, *rest):
    c = first
    for x in rest:
        c = c * 10 + x
    return c


@jit
def star_arguments(a, b, n):
    t = (a, b)
    return variadic(n, *t) + variadic(a)


@jit
def chained_assignment(a, b, n):
    c = d = a + 1
    d += n
    c -= b
    return c * 100 + d


FUNCTIONS = [value for value in list(globals().values()) if getattr(value, "arg_names", None) == ["a", "b", "n"]]


class AsPython:
    """Calls jit functions as Python: their own calls of other jit functions included."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import types

        scope = dict(self.function.fn.__globals__)
        for name, value in scope.items():
            if hasattr(value, "arg_names"):
                scope[name] = AsPython(value)
        scope["tl"] = types.SimpleNamespace(static_range=range, constexpr=int)
        plain = types.FunctionType(self.function.fn.__code__, scope, argdefs=self.function.fn.__defaults__)
        plain.__kwdefaults__ = self.function.fn.__kwdefaults__
        return plain(*args, **kwargs)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_like_python(function: Any, build: Callable[..., Any]) -> None:
    from tritonx.interpreter.function import interpreted
    from tritonx.interpreter.machine import interpret

    random = np.random.default_rng(len(function.src))
    inputs = random.integers(-4, 9, size=(64, 3)).astype(np.int32)
    inputs[:8] = [[0, 0, 0], [1, 2, 3], [3, 2, 1], [5, 5, 5], [-1, 4, 0], [2, 2, 1], [4, 1, 6], [1, 1, -1]]
    expected = [AsPython(function)(*map(int, row)) for row in inputs]
    module = build(run_one, {"out": "*i32", "a_in": "*i32", "b_in": "*i32", "n_in": "*i32"}, FUNCTION=function)
    out = np.full(len(inputs), -12345, np.int32)
    columns = [np.ascontiguousarray(inputs[:, i]) for i in range(3)]
    interpret(module, (len(inputs),), [out, *columns])
    by_lines = np.full(len(inputs), -12345, np.int32)
    interpreted(run_one)[(len(inputs),)](by_lines, *columns, FUNCTION=function)
    np.testing.assert_array_equal(by_lines, out)
    np.testing.assert_array_equal(out, np.array(expected, np.int64).astype(np.int32))


def test_functions_are_found() -> None:
    assert len(FUNCTIONS) > 35


def test_the_stack_has_room_for_calls_and_is_put_back() -> None:
    """However many threads want room at one time, and however they leave."""
    before = sys.getrecursionlimit()
    inside: list[int] = []
    try:
        sys.setrecursionlimit(2000)
        for _ in range(2):
            with room_for_calls():
                with contextlib.suppress(KeyError), room_for_calls():
                    inside.append(sys.getrecursionlimit())
                    raise KeyError
                inside.append(sys.getrecursionlimit())
            assert sys.getrecursionlimit() == 2000
        assert inside == [FRAMES] * 4
        sys.setrecursionlimit(FRAMES + 1)
        with room_for_calls():
            assert sys.getrecursionlimit() == FRAMES + 1
    finally:
        sys.setrecursionlimit(before)
