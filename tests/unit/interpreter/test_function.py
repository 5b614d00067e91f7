"""Kernels as the Python functions they are: control flow, names, places in errors, debugging."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.frontend.codegen.call_stack import CALLS_NESTED
from tritonx.frontend.errors import LanguageError, RecursionUnsupported
from tritonx.interpreter.errors import (
    DeviceAssertion,
    OutOfBoundsAccess,
    UninitialisedRead,
    UnsupportedInInterpreter,
)
from tritonx.interpreter.function import interpreted
from tritonx.interpreter.host import UninitialisedArray
from tritonx.runtime.errors import InterpreterError
from tritonx.runtime.jit import jit, reinterpret

GLOBAL = tl.constexpr(3)
Pair = namedtuple("Pair", ["left", "right"])


@jit
def control_flow(o, n, flag, F: tl.constexpr, LIMIT: tl.constexpr = 4):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            total += i
        else:
            total -= 1
    tl.store(o, total)
    steps = 0
    v = n
    while v != 1:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        steps += 1
    tl.store(o + 1, steps)
    unrolled: tl.constexpr = 2
    for j in tl.static_range(LIMIT):
        if j == unrolled:
            tl.store(o + 2 + j, j * 10)
    if F is not None and flag:
        tl.store(o + 6, 1)
    if not flag or n > 100:
        tl.store(o + 7, 1)
    for k in tl.range(0, n, 3):
        tl.store(o + 8, k)
    tl.store(o + 9, i)


def test_control_flow(run: Any) -> None:
    o = np.full(10, -1, np.int32)
    run(control_flow, (1,), o, 7, True, F=None)
    assert o.tolist() == [0 + 2 + 4 + 6 - 3, 16, -1, -1, 20, -1, -1, -1, 6, 6]
    o = np.full(10, -1, np.int32)
    run(control_flow, (1,), o, 7, True, F=1)
    assert o[6] == 1 and o[7] == -1


@jit
def helper(x, scale: tl.constexpr, bias=2):
    y = x * scale
    if scale > 2:
        return y + bias
    return y - bias


@jit
def calls(o, n):
    tl.store(o, helper(n, 3))
    tl.store(o + 1, helper(n, 2, bias=5))
    tl.store(o + 2, helper(n, GLOBAL, 0))


def test_calls_globals_and_early_returns(run: Any) -> None:
    o = np.zeros(3, np.int32)
    run(calls, (1,), o, 5)
    assert o.tolist() == [17, 5, 15]


@jit
def swap(p):
    return p[1], p[0]


@jit
def tuples(o, p, N: tl.constexpr):
    a, b = swap((p[0] + 1, p[1]))
    both = (a, b) + (N,)  # noqa: RUF005  # concatenation is what is tested
    tl.store(o, both[0])
    tl.store(o + 1, both[1])
    tl.store(o + 2, both[2])
    tl.store(o + 3, len(both))


def test_tuples(run: Any) -> None:
    o = np.zeros(4, np.int32)
    run(tuples, (1,), o, (10, 20), N=7)
    assert o.tolist() == [20, 11, 7, 3]


@jit
def named(o, p):
    tl.store(o, p.left - p.right)


def test_named_tuples(run: Any) -> None:
    o = np.zeros(1, np.int32)
    run(named, (1,), o, Pair(10, 4))
    assert o[0] == 6


def make_kernel(factor: tl.constexpr) -> Any:
    @jit
    def kernel(o):
        tl.store(o, 2 * factor)

    return kernel


def test_closures(run: Any) -> None:
    o = np.zeros(1, np.int32)
    run(make_kernel(tl.constexpr(21)), (1,), o)
    assert o[0] == 42


@jit
def to_the_power(a, n: tl.constexpr):
    if n > 0:
        return to_the_power(a, n - 1) * a
    else:
        return a


@jit
def recursion(o, a):
    tl.store(o, to_the_power(a, 3))
    tl.store(o + 1, to_the_power(2.0, 0))


def test_recursion_that_a_constexpr_ends(run: Any) -> None:
    o = np.zeros(2, np.float32)
    run(recursion, (1,), o, 3)
    assert o.tolist() == [81, 2]


@jit
def count_down(a, n: tl.constexpr):
    if n > 0:
        if n > 0 and a >= 0:
            a = count_down(a, n - 1) + 1
    return a


@jit
def deep_recursion(o, n, N: tl.constexpr):
    tl.store(o, count_down(n, N))


def test_recursion_as_deep_as_is_allowed(run: Any) -> None:
    o = np.zeros(1, np.int32)
    run(deep_recursion, (1,), o, 3, N=CALLS_NESTED - 1)
    assert o[0] == 3 + CALLS_NESTED - 1
    with pytest.raises(RecursionUnsupported, match=f"calls are nested more than {CALLS_NESTED} deep"):
        run(deep_recursion, (1,), o, 3, N=CALLS_NESTED)


@jit
def shifted_by_its_sum(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, v + tl.sum(v, 0) + tl.max(v, 0))


def test_threads() -> None:
    """Each thread has a launch of its own: no state of the library's functions is shared."""
    kernel, wrong = interpreted(shifted_by_its_sum), []
    before = sys.getswitchinterval()

    def work(number: int) -> None:
        try:
            for _ in range(20):
                x, o = np.full(64, number, np.float32), np.zeros(64, np.float32)
                kernel[(1,)](x, o, N=64)
                assert (o == 66 * number).all()
        except BaseException as error:
            wrong.append(error)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


@jit
def overflow(o, big):
    a = 2147483647
    tl.store(o, a + 1)
    tl.store(o + 1, (big * 4) // 3)
    tl.store(o + 2, -5 // 2)
    b = -5
    tl.store(o + 3, b // 2)
    tl.store(o + 4, b % 3)


def test_integers_are_those_of_the_kernel_language(run: Any) -> None:
    o = np.zeros(5, np.int32)
    run(overflow, (1,), o, 2**30)
    assert o.tolist() == [-(2**31), 0, -3, -2, -2]


@jit
def out_of_bounds(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, v)


def line_of(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


def test_faults_name_the_line_of_the_kernel() -> None:
    room = np.zeros(256, np.float32)
    x, o = room[:8], room[128:144]  # what lies behind x is never o's
    line = line_of("def out_of_bounds") + 2
    with pytest.raises(OutOfBoundsAccess) as caught:
        interpreted(out_of_bounds)[(1,)](x, o, N=16)
    assert re.sub(r"0x\w+", "0x0", str(caught.value)) == (
        "at 3:8:\n"
        "def out_of_bounds(x, o, N: tl.constexpr):\n"
        "    i = tl.arange(0, N)\n"
        "    v = tl.load(x + i)\n"
        "        ^~~~~~~~~~~~~~\n"
        "lane 8 (and 7 more) reads 4 bytes at address 0x0, element 8 of x (32 bytes, 8 elements of float32) "
        "[program (0, 0, 0)]\n"
        f"  --> {__file__}:{line}:8 in out_of_bounds"
    )
    assert isinstance(caught.value, InterpreterError)


@jit
def faulty_helper(x):
    return tl.load(x + 100)


@jit
def calls_faulty(x):
    v = faulty_helper(x)
    tl.store(x, v)


def test_a_fault_in_a_called_function_names_its_line() -> None:
    with pytest.raises(OutOfBoundsAccess) as caught:
        interpreted(calls_faulty)[(1,)](np.zeros(4, np.float32))
    text = str(caught.value)
    assert f"  --> {__file__}:{line_of('def faulty_helper') + 1}:11 in faulty_helper\n" in text
    assert text.endswith(f"  called from {__file__}:{line_of('def calls_faulty') + 1}:8 in calls_faulty")


@jit
def faulty_condition(x, n):
    if n > 2 and tl.load(x + n) > 0:
        tl.store(x, 1)


def test_a_fault_in_an_operand_of_and_shows_the_operand() -> None:
    with pytest.raises(OutOfBoundsAccess) as caught:
        interpreted(faulty_condition)[(1,)](np.zeros(4, np.float32), 9)
    place = f"{__file__}:{line_of('def faulty_condition') + 1}:17 in faulty_condition"
    assert str(caught.value).endswith(place)
    assert "if n > 2 and tl.load(x + n) > 0:\n" + " " * 17 + "^~~~~~~~~~~~~~" in str(caught.value)


@jit
def gathers(x, o, N: tl.constexpr):
    i, j = tl.arange(0, 2)[:, None], tl.arange(0, N)[None, :]
    places = tl.where((i == 1) & (j >= 3), j + N, j)
    tl.store(o + i * N + j, tl.gather(tl.load(x + i * N + j), places, 1))


def test_an_index_outside_a_tile_is_named_with_the_first_lane_that_has_it() -> None:
    with pytest.raises(OutOfBoundsAccess, match=r"lane \(1, 3\) gathers element 11 along axis 1 of a tile with 8"):
        interpreted(gathers)[(1,)](np.zeros((2, 8), np.float32), np.zeros((2, 8), np.float32), N=8)


@jit
def wrong_types(x):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    tl.store(x + i, i + j)


def test_a_mistake_in_the_code_names_its_line() -> None:
    with pytest.raises(LanguageError, match="Cannot make_shape_compatible") as caught:
        interpreted(wrong_types)[(1,)](np.zeros(8, np.int32))
    assert f"test_function.py:{line_of('def wrong_types') + 3}:" in str(caught.value)


@jit
def asserting(x):
    v = tl.load(x + tl.arange(0, 4))
    tl.device_assert(v > 0, "must be positive")
    assert tl.sum(v, 0) > 0, "sum"


def test_assertions() -> None:
    interpreted(asserting)[(1,)](np.ones(4, np.float32))
    with pytest.raises(DeviceAssertion, match=r"must be positive \(lane \(2,\), 1 in all\)"):
        interpreted(asserting)[(1,)](np.array([1, 1, -1, 1], np.float32))


@jit
def printing(x):
    v = tl.load(x + tl.arange(0, 2))
    print("values", v)
    tl.device_print("v", v)


def test_printing(capsys: Any) -> None:
    interpreted(printing)[(1,)](np.array([1.5, 2], np.float32))
    assert capsys.readouterr().out.splitlines() == [
        "values [1.5 2. ]",
        "pid (0, 0, 0) idx (0) v: 1.500000",
        "pid (0, 0, 0) idx (1) v: 2.000000",
    ]


@jit
def assembly(x):
    v = tl.load(x)
    tl.store(x, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [v], tl.int32, True, 1))


def test_inline_assembly_is_refused_with_the_line() -> None:
    with pytest.raises(UnsupportedInInterpreter) as caught:
        interpreted(assembly)[(1,)](np.zeros(1, np.int32))
    assert f"test_function.py:{line_of('def assembly') + 2}:" in str(caught.value)


def test_debuggers_see_every_line() -> None:
    seen: list[int] = []

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != __file__ or frame.f_code.co_name != "out_of_bounds":
            return trace if event == "call" else None
        if event == "line":
            seen.append(frame.f_lineno)
            if "v" in frame.f_locals:
                assert "fp32" in repr(frame.f_locals["v"]) and "0." in repr(frame.f_locals["v"])
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        interpreted(out_of_bounds)[(1,)](np.zeros(8, np.float32), np.zeros(8, np.float32), N=8)
    finally:
        sys.settrace(before)
    first = line_of("def out_of_bounds")
    assert seen == [first + 1, first + 2, first + 3]


def test_launch_interface() -> None:
    x, o = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    kernel = interpreted(out_of_bounds)
    assert kernel.arg_names == ["x", "o", "N"]
    assert kernel.warmup(x, o, N=8, grid=(1,)) is None and not o.any()
    kernel[lambda meta: (meta["N"] // 8,)](x, o, N=8, num_warps=4, num_stages=2)
    np.testing.assert_array_equal(o, x)
    kernel.run(x, o, grid=(1,), warmup=False, N=8)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'o'"):
        kernel[(1,)](x, N=8)
    with pytest.raises(KeyError, match="num_warp"):
        kernel[(1,)](x, o, N=8, num_warp=8)
    with pytest.raises(ValueError, match="num_warps must be a power of 2, got 3"):
        kernel[(1,)](x, o, N=8, num_warps=3)
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        kernel(x, o, 8)


def test_uninitialised_lanes_can_be_made_to_show() -> None:
    @jit
    def masked(x, o, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(o + i, tl.load(x + i, mask=i < 2))

    kernel = interpreted(masked)
    x, o = np.ones(4, np.float32), np.full(4, 7, np.float32)
    kernel[(1,)](x, o, N=4)
    assert o.tolist() == [1, 1, 0, 0]
    kernel.poison = True
    kernel[(1,)](x, o, N=4)
    assert [math.isnan(v) for v in o] == [False, False, True, True]


class Wrapped:
    """An array of another library."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.dtype = array.dtype

    @property
    def __array_interface__(self) -> Any:
        return self._array.__array_interface__


def test_arrays_of_other_libraries() -> None:
    x, o = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    interpreted(out_of_bounds)[(1,)](Wrapped(x), Wrapped(o), N=8)
    np.testing.assert_array_equal(o, x)


@jit
def copy_half(x, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i), mask=i < n)


def test_memory_that_was_never_written() -> None:
    x, middle, o = np.arange(8, dtype=np.float32), UninitialisedArray(8), np.zeros(8, np.float32)
    kernel = interpreted(copy_half)
    kernel[(1,)](x, middle, 6, N=8)
    with pytest.raises(UninitialisedRead, match="lane 6 reads element 6 of x, which was never written"):
        kernel[(1,)](middle, o, 8, N=8)
    kernel[(1,)](x, middle, 8, N=8)
    kernel[(1,)](middle, o, 8, N=8)
    np.testing.assert_array_equal(o, x)


SCRIPT = """
import numpy as np, tritonx, tritonx.language as tl

@tritonx.jit
def kernel(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, tl.exp(v), mask=i < n)

x = np.random.default_rng(0).random(100, np.float32)
o = np.zeros_like(x)
kernel[lambda meta: (tritonx.cdiv(100, meta["B"]),)](x, o, 100, B=32)
assert type(kernel).__name__ == "InterpretedFunction"
np.testing.assert_allclose(o, np.exp(x), rtol=1e-6)
"""


@pytest.mark.parametrize("variable", ["TRITONX_INTERPRET", "TRITON_INTERPRET"])
def test_the_environment_chooses_the_interpreter(variable: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TRITON")}
    subprocess.run([sys.executable, str(script)], check=True, env={**environment, variable: "1"}, timeout=100)


def test_reinterpreted_arrays() -> None:
    x, o = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    wrapped = reinterpret(x.view(np.int32), tl.float32)
    interpreted(copy_half)[(1,)](wrapped, reinterpret(o.view(np.uint32), tl.float32), 8, N=8)
    np.testing.assert_array_equal(o, x)


WITHOUT_TEXT = """
import numpy as np, tritonx, tritonx.language as tl

text = '''
@tritonx.jit
def doubled(v):
    return v + v

@tritonx.jit
def kernel(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    for k in range(3):
        v += k
    tl.store(o + i, doubled(tl.exp(v)), mask=i < n)
'''
exec(text)
x, o = np.random.default_rng(0).random(100, np.float32), np.zeros(100, np.float32)
kernel[(4,)](x, o, 100, B=32)
np.testing.assert_allclose(o, 2 * np.exp(x + 3), rtol=1e-6)
try:
    kernel[(4,)](x, o, 101, B=32)
except tritonx.InterpreterError as error:
    print(error)
"""


def test_functions_whose_text_was_not_kept(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(WITHOUT_TEXT)
    environment = {**os.environ, "TRITONX_INTERPRET": "1"}
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert "element 100 of x" in ran.stdout
