"""The exact text of the error for each mistake that a kernel's author can make.

The texts stand in ``errors.expected``. Lines in ``-->`` and ``called from`` are shown relative to the ``def`` line of
the function they are in.
"""


# Kernels with mistakes:
# ruff: noqa: B007, B018, C416, E731, F821, F841, RUF059

from __future__ import annotations

import ast
import math
import os
import pickle
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.frontend import errors
from tritonx.interpreter.function import interpreted
from tritonx.runtime.jit import JITFunction, jit

NUMBER = 3
EXPECTED = Path(__file__).with_name("errors.expected")
Failure = Callable[..., errors.CompilationError]


def shown(error: errors.CompilationError) -> str:
    """The error's text, with file names shortened and line numbers counted from the function's ``def``."""

    def relative(match: re.Match[str]) -> str:
        name = match[4]
        function = globals().get(name) or getattr(tl, name)
        assert isinstance(function, JITFunction)
        first = function.def_line_number
        return f"{match[1]}:{int(match[2]) - first + 1}:{match[3]} in {name}"

    text = re.sub(r"\S*/(\w+\.py):(\d+):(\d+) in (\w+)", relative, str(error))
    return re.sub(r"on line \d+", "on line N", text)


@jit
def undefined_variable(n):
    count = n + 1
    return cuont


@jit
def undefined_after_branch(n):
    if n > 3:
        a = 1
    tl.device_assert(a > 0)


@jit
def undefined_after_loop(n):
    for i in range(n):
        last = i
    tl.device_assert(last > 0)


@jit
def reads_global(n):
    a = n + NUMBER


@jit
def static_assert_fails(N: tl.constexpr):
    tl.static_assert(N < 4, f"{N} is too large")


@jit
def static_assert_undecided(n):
    tl.static_assert(n < 4)


@jit
def ambiguous_condition(n):
    x = tl.arange(0, 16)
    if x > n:
        n = 3


@jit
def condition_of_string(S: tl.constexpr):
    if S:
        a = 1


@jit
def return_in_loop(n):
    for i in range(n):
        if i == 3:
            return
        n = n + 1


@jit
def break_that_is_pruned(n, N: tl.constexpr):
    while True:
        n = n + 1
        if N < 4:
            break


@jit
def break_with_another_type(n):
    for i in range(9):
        x = 1
        if i == n:
            x = 2.5
            break
        n = x + n


@jit
def loop_variable_behind_a_break(n):
    for i in tl.static_range(4):
        if i == n:
            break
    tl.device_assert(i > 0)


@jit
def assigned_behind_a_continue(n):
    for i in range(n):
        if i == 3:
            continue
        last = i
    tl.device_assert(last > 0)


@jit
def lambda_expression(n):
    f = lambda x: x


@jit
def list_comprehension(n):
    f = [x for x in n]


@jit
def raises(n):
    if n > 0:
        raise ValueError("no")


@jit
def loop_changes_type(n):
    a = 0
    for i in range(n):
        a = a + 1.5


@jit
def loop_changes_constexpr(n, K: tl.constexpr):
    a: tl.constexpr = K + 1
    for i in range(n):
        a = a + i


@jit
def loop_changes_none(n):
    a = None
    for i in range(n):
        a = i


@jit
def branches_differ(n):
    if n > 3:
        a = 1
    else:
        a = 1.5


@jit
def branch_changes_type(n):
    a = 1
    if n > 3:
        a = 2.5


@jit
def ternary_differs(n):
    a = 1 if n > 3 else 2.5


@jit
def return_types_differ(n):
    if n > 3:
        return 1
    return 1.5


@jit
def calls_return_types_differ(n):
    a = return_types_differ(n)


@jit
def loop_bounds(n):
    for i in range(0.5, n):
        n = n + 1


@jit
def loop_over_number(n):
    for i in n:
        n = n + 1


@jit
def endless(n):
    while True:
        n = n + 1


@jit
def unpack(n):
    a, b = (n, n, n)


@jit
def unpack_too_few(n):
    a, (b, c) = (n, (n,))


@jit
def unpack_scalar(n):
    a, b = n


@jit
def power_of_tensor(n):
    a = n**2


@jit
def not_of_tuple(n):
    not (0, 0)


@jit
def store_subscript(n):
    x = tl.arange(0, 16)
    x[0] = n


@jit
def store_attribute(n):
    n.value = 3


@jit
def constexpr_twice(n):
    a: tl.constexpr = 3
    a: tl.constexpr = 4


@jit
def adds_one(x):
    return x + 1


@jit
def missing_argument(n):
    a = adds_one()


@jit
def inner(x):
    y = x + 1
    return y + misisng


@jit
def middle(x, y):
    return inner(x) + y


@jit
def error_in_nested_call(n):
    b = n
    middle(b, y=n)


@jit
def recursion(n):
    return recursion(n) + 1


@jit
def calls_recursion(n):
    a = recursion(n)


@jit(noinline=True)
def not_inlined(x):
    return x + 1


@jit
def noinline_block(n):
    not_inlined(tl.arange(0, 16))


@jit
def operator_on_string(n):
    a = 0 + "a"


@jit
def unary_on_tuple(n):
    a = -(0, 0)


@jit
def shift_of_float(n):
    a = 1.0 << 1


@jit
def builtin_refuses(n):
    tl.expand_dims(None, -1)


@jit
def fstring_with_format(n):
    tl.static_print(f"{n:>5}")


@jit
def fstring_of_tensor(n):
    a = f"{n}"


@jit
def unknown_attribute(n):
    tl.laod(n)


@jit
def called_number(N: tl.constexpr):
    N(3)


@jit
def keyword_expansion(n):
    adds_one(**n)


@jit(do_not_specialize=["N"])
def both_constexpr_and_unspecialized(n, N: tl.constexpr):
    a = n


@jit
def kernel_returns(n):
    return n


@jit
def umlauts(n):
    größe = "größe" + größer


@jit
def long_function(n):
    a01 = 1
    a02 = 1
    a03 = 1
    a04 = 1
    a05 = 1
    a06 = 1
    a07 = 1
    a08 = 1
    a09 = 1
    a10 = 1
    a11 = 1
    a12 = 1
    a13 = wrong


@jit
def argmax_along_two_axes(n):
    tl.argmax(tl.zeros((4, 8), tl.int32), axis=(0, 1))


@jit
def axis_named_twice(n):
    tl.sum(tl.zeros((4, 8), tl.int32), axis=(1, -1))


@jit
def axis_at_run_time(n):
    tl.cumsum(tl.zeros((4, 8), tl.int32), axis=n)


@jit
def dot_of_16_by_8_bits(n):
    a = tl.zeros((32, 32), tl.float16)
    tl.dot(a, a.to(tl.float8e5))


@jit
def dot_of_unequal_batches(n):
    a = tl.zeros((2, 2, 32, 32), tl.float16)
    tl.dot(a, tl.zeros((4, 1, 32, 32), tl.float16))


@jit
def dot_in_8_bits(n):
    a = tl.zeros((32, 32), tl.float8e5)
    tl.dot(a, a, out_dtype=tl.float8e5)


@jit
def arithmetic_on_e4b15(n):
    a = tl.zeros((32,), tl.float8e4b15)
    a + 1.0


@jit
def noinline_fails(x):
    return not_inlined_inner(x)


@jit(noinline=True)
def not_inlined_inner(x):
    return x + misspelled


def plain(x):
    return x + 1


@jit
def calls_plain_function(n):
    a = plain(n)


@jit
def calls_function_of_module(n):
    a = os.path.join(n, n)


@jit
def calls_python_mathematics(n):
    a = math.sqrt(n + 1)


@jit
def calls_numpy(n):
    a = np.exp(n * 1.0)


@jit
def slice_of_none(n):
    x = tl.arange(0, 16)
    y = x[None, 9:8]


@jit
def slice_at_run_time(n):
    x = tl.arange(0, 16)
    y = x[n:]


@jit
def index_out_of_range(n):
    x = tl.zeros((4, 8), tl.float32)
    y = x[:, -9]


@jit
def index_of_a_block(n):
    x = tl.arange(0, 16)
    y = x[x + n]


@jit
def index_of_a_mask(n):
    x = tl.arange(0, 16)
    y = x[x > n]


@jit
def too_many_indices(n):
    x = tl.arange(0, 16)
    y = x[n, n]


@jit
def converts_to_unknown(n):
    a = n.to("flaot32")


@jit
def converts_to_no_dtype(n):
    a = n.to(np.float32)


@jit
def scaled(x, scale=2, bias=0):
    return x * scale + bias


@jit
def misspelt_argument(n):
    a = scaled(n, scael=3)


@jit
def extra_argument(n):
    a = scaled(n, 1, 2, 3)


@jit
def misspelt_argument_of_the_language(n):
    a = tl.arange(0, edn=16)


@jit
def missing_argument_of_the_language(n):
    a = tl.zeros([4])


@jit
def constexpr_parameter_twice(n, N: tl.constexpr):
    N: tl.constexpr = 4


@jit
def launches(n):
    adds_one[(1,)](n)


@jit
def longer(n, N: tl.constexpr):
    return longer(n, N + 1) + 1


@jit
def deep_recursion(n):
    a = n + 1
    b = longer(a, 0)


@jit
def there(n, N: tl.constexpr):
    a = n
    b = n
    c = n
    if N >= 0:
        return back(a, N)
    return n


@jit
def back(n, N: tl.constexpr):
    return there(n, N + 1)


@jit
def mutual_recursion(n):
    a = there(n, 0)


@jit
def first(n, N: tl.constexpr):
    if N >= 0:
        return second(n, N + 1)
    return n


@jit
def second(n, N: tl.constexpr):
    return third(n, N + 1)


@jit
def third(n, N: tl.constexpr):
    return fourth(n, N + 1)


@jit
def fourth(n, N: tl.constexpr):
    return first(n, N + 1)


@jit
def recursion_of_four(n):
    a = first(n, 0)


HELPERS = {
    "scaled",
    "first",
    "second",
    "third",
    "fourth",
    "longer",
    "there",
    "back",
    "adds_one",
    "inner",
    "middle",
    "not_inlined",
    "not_inlined_inner",
    "return_types_differ",
    "recursion",
}
KERNELS = {n: f for n, f in list(globals().items()) if isinstance(f, JITFunction) and n not in HELPERS}
VALUES = {"N": 8, "K": 2, "S": "text"}


def catch(kernel: Any, failure: Failure) -> errors.CompilationError:
    signature = {p.name: "i32" for p in kernel.params if not p.is_constexpr}
    return failure(kernel, signature, **{p.name: VALUES[p.name] for p in kernel.params if p.is_constexpr})


@pytest.mark.parametrize("name", KERNELS)
def test_text(name: str, failure: Failure) -> None:
    """The error is the one recorded in ``errors.expected``; ``TRITONX_ACCEPT=1`` records it."""
    error = catch(KERNELS[name], failure)
    text = f"{type(error).__name__}\n{shown(error)}"
    recorded = sections(EXPECTED.read_text() if EXPECTED.exists() else "")
    if os.environ.get("TRITONX_ACCEPT"):
        recorded[name] = text
        EXPECTED.write_text("".join(f"==== {n}\n{recorded[n]}\n" for n in KERNELS if n in recorded))
    assert text == recorded.get(name)


@pytest.mark.parametrize("name", KERNELS)
def test_the_interpreter_refuses_it_in_the_same_words(name: str, failure: Failure) -> None:
    """Line by line, where the arguments give the same types."""
    kernel = KERNELS[name]
    with pytest.raises(errors.CompilationError) as caught:
        interpreted(kernel)[(1,)](*(VALUES[p.name] if p.is_constexpr else 7 for p in kernel.params))
    compiled = catch(kernel, failure)
    assert (type(caught.value), str(caught.value)) == (type(compiled), str(compiled))


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^==== (\w+)\n", text, flags=re.MULTILINE)
    return {name: body.removesuffix("\n") for name, body in zip(parts[1::2], parts[2::2], strict=True)}


RECURSIONS = ["recursion", "calls_recursion", "deep_recursion", "mutual_recursion", "recursion_of_four"]


@pytest.mark.parametrize("name", RECURSIONS)
def test_a_recursion_is_told_in_ten_lines(name: str, failure: Failure) -> None:
    error = catch(globals()[name], failure)
    assert isinstance(error, errors.RecursionUnsupported)
    assert len(str(error).splitlines()) <= 10
    assert len("".join(traceback.format_exception(error)).splitlines()) <= 45  # with the frames of this test


def test_cause_is_the_error_in_the_callee(failure: Failure) -> None:
    outer = catch(error_in_nested_call, failure)
    middle_error = outer.__cause__
    assert isinstance(middle_error, errors.UndefinedName)
    assert isinstance(middle_error.__cause__, errors.UndefinedName)
    assert middle_error.__cause__.__cause__ is None
    assert shown(middle_error.__cause__) == (
        "at 3:15:\n"
        "def inner(x):\n"
        "    y = x + 1\n"
        "    return y + misisng\n"
        "               ^~~~~~~\n"
        "NameError('misisng is not defined')\n"
        "  --> test_errors.py:3:15 in inner\n"
        "  called from test_errors.py:2:11 in middle\n"
        "  called from test_errors.py:3:4 in error_in_nested_call"
    )


def test_builtin_error_has_the_python_exception_as_cause(failure: Failure) -> None:
    error = catch(builtin_refuses, failure)
    assert error.__cause__ is not None
    assert not isinstance(error.__cause__, errors.CompilationError)
    assert str(error.__cause__) in str(error)


@pytest.mark.parametrize("name", ["undefined_variable", "operator_on_string", "static_assert_fails", "unary_on_tuple"])
def test_front_end_errors_have_no_cause(name: str, failure: Failure) -> None:
    assert catch(KERNELS[name], failure).__cause__ is None


def test_traceback_shows_no_front_end_frames(failure: Failure) -> None:
    for kernel in (error_in_nested_call, undefined_variable):
        text = "".join(traceback.format_exception(catch(kernel, failure)))
        assert "/frontend/codegen/" not in text


@pytest.mark.parametrize("name", KERNELS)
def test_pickles(name: str, failure: Failure) -> None:
    error = catch(KERNELS[name], failure)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert str(again.__cause__) == str(error.__cause__)


def test_triton_constructor() -> None:
    node = ast.parse("x = 1\ny = foo").body[1]
    error = errors.CompilationError("x = 1\ny = foo", node, "wrong")
    assert str(error) == "at 2:0:\nx = 1\ny = foo\n^~~~~~~\nwrong"
    assert error.error_message == "wrong"
    assert str(errors.CompilationError(None, node, "wrong")) == "at 2:0:\n <source unavailable>\nwrong"
    assert issubclass(errors.CompileTimeAssertionFailure, errors.CompilationError)
    assert issubclass(errors.UnsupportedLanguageConstruct, errors.CompilationError)


def test_errors_import_no_ir() -> None:
    program = (
        "import sys, tritonx.frontend.errors; assert not {m for m in sys.modules if m.partition('.')[0] == 'xdsl'}"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
