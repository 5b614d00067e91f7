"""Compiled kernels under ``debug`` check their accesses: what is outside the memory of the arguments is reported as the
interpreter reports it, and is not touched; what is inside computes what it computes without."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx_testing.conformance import check, find
from tritonx_testing.conformance.suite import cases

SEED = int(os.environ["TRITONX_SEED"])
DEBUG = {"debug": True, "sanitize_overflow": False}
MARGIN = 1 << 12
"""Elements around the arrays: what a kernel would touch without checks is the test's own."""


def result(run: Callable[[], object]) -> str:
    """What a launch says: nothing, or the class and the text of its error."""
    try:
        run()
    except tritonx.TritonError as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def both(kernel: Any, grid: tuple[int, ...], *args: object, **constants: object) -> str:
    """What a launch says, compiled and interpreted, which is the same."""
    compiled = result(lambda: kernel[grid](*args, **constants, **DEBUG))
    expected = result(lambda: interpreted(kernel)[grid](*args, **constants))
    assert compiled == expected
    return compiled


# ---- what the programs of the issue do


@tritonx.jit
def tail(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + 1)


UNMASKED_TAIL = """
import numpy as np, tritonx, tritonx.language as tl
@tritonx.jit
def k(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))
x = np.zeros(1000, np.float32); y = np.zeros(1000, np.float32)
for _ in range(3):
    try:
        k[(4,)](x, y, 1000, BLOCK=256{debug})
        print("no error")
    except tritonx.InterpreterError as error:
        print(type(error).__name__, "element 1000 of" in str(error), "program (3, 0, 0)" in str(error))
"""


@pytest.mark.parametrize(("debug", "environment"), [(", debug=True", {}), ("", {"TRITONX_DEBUG": "1"})])
def test_a_process_survives_an_unmasked_tail(debug: str, environment: dict[str, str], tmp_path: Any) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(UNMASKED_TAIL.format(debug=debug))
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, env={**os.environ, **environment})
    assert ran.stdout.splitlines() == ["OutOfBoundsAccess True True"] * 3
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_error_names_line_caret_program_lane_array_and_extent() -> None:
    memory = np.zeros(2048, np.float32)
    text = both(tail, (4,), memory[:1024], memory[:1000], BLOCK=256)
    assert text == "nothing", "an access to any argument's memory is allowed, as in the interpreter"
    memory[:] = 0
    with pytest.raises(OutOfBoundsAccess) as error:
        tail[(4,)](memory[:1000], memory[1024:2024], BLOCK=256, debug=True)
    lines = str(error.value).splitlines()
    assert lines[-4] == "    tl.store(y + at, tl.load(x + at) + 1)"
    assert lines[-3] == "                     ^~~~~~~~~~~~~~~"
    assert lines[-2].startswith("lane 232 (and 23 more) reads 4 bytes at address 0x")
    assert lines[-2].endswith("element 1000 of x (4000 bytes, 1000 elements of float32) [program (3, 0, 0)]")
    assert lines[-1].startswith("  --> ") and "test_check_bounds.py:" in lines[-1] and lines[-1].endswith(" in tail")
    assert error.value.program == (3, 0, 0)
    assert not memory[1024 + 768 :].any(), "no lane of the access has done it"


PROTECTED = """
import ctypes, mmap, sys
import numpy as np, tritonx
sys.path.insert(0, {folder!r})
from test_check_bounds import KINDS, drawn
page = mmap.PAGESIZE
memory = mmap.mmap(-1, 2 * page)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.mprotect(ctypes.c_void_p(start + page), page, 0) == 0
x = np.frombuffer(memory, np.int32, page // 4)
y = np.zeros(1 << 14, np.int32)
for kind in KINDS:
    for masked in (False, True):
        try:
            drawn[(page // 1024 + 1, 1)](x, y, page // 64 + 8, 16, 16, 0, kind, masked, 16, 16, debug=True)
            print("nothing")
        except tritonx.InterpreterError as error:
            print(type(error).__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="protects memory as Linux does")
def test_memory_outside_is_not_even_read() -> None:
    """An array ends where the next page allows no access: one read behind it would end the process."""
    program = PROTECTED.format(folder=os.path.dirname(__file__))
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ))
    assert ran.returncode == 0, ran.stderr
    expected = ["nothing" if kind == "row" else "OutOfBoundsAccess" for kind in KINDS]
    assert ran.stdout.split() == [each for each in expected for _ in range(2)]


# ---- which memory


@tritonx.jit
def touched(x, FIRST: tl.constexpr, LAST: tl.constexpr):
    """The elements FIRST and LAST of an array."""
    tl.store(x + FIRST, 1)
    tl.store(x + LAST, 1)


VIEWS: dict[str, tuple[Callable[[Any], Any], int, int]] = {
    "slice": (lambda x: x[100:200], 0, 99),
    "strided": (lambda x: x[100:200:3], 0, 99),
    "reversed": (lambda x: x[200:100:-1], -99, 0),
    "transposed": (lambda x: x[:512].reshape(16, 32).T, 0, 511),
    "column": (lambda x: x[:512].reshape(16, 32)[:, 5], 0, 480),
    "broadcast": (lambda x: np.broadcast_to(x[7:8], (4, 4)), 0, 0),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("beyond", [(0, 0), (-1, 0), (0, 1)])
def test_a_view_of_numpy_reaches_its_own_elements(name: str, beyond: tuple[int, int]) -> None:
    make, first, last = VIEWS[name]
    memory = np.zeros(MARGIN, np.float32)
    view = make(memory[64:])
    view.flags.writeable = True
    text = both(touched, (1,), view, FIRST=first + beyond[0], LAST=last + beyond[1])
    assert text.startswith("OutOfBoundsAccess" if any(beyond) else "nothing")


def test_a_view_of_torch_reaches_its_storage() -> None:
    torch = pytest.importorskip("torch")
    part = torch.zeros(1000)[400:500:2]
    assert both(touched, (1,), part, FIRST=-400, LAST=599) == "nothing"
    assert "element 1000 of x" in both(touched, (1,), part, FIRST=-400, LAST=600)
    assert "4 bytes before x" in both(touched, (1,), part, FIRST=-401, LAST=0)


def test_an_empty_array_reaches_nothing() -> None:
    assert "no arrays" in both(touched, (1,), np.zeros(0, np.float32), FIRST=0, LAST=0)


@tritonx.jit
def chosen(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    pointers = tl.where(at % 2 == 0, x + at, y + at)
    for step in range(n):
        tl.store(pointers, at + step)
        pointers += B


def test_pointers_chosen_and_carried_reach_every_argument() -> None:
    memory = np.zeros(MARGIN, np.int32)
    x, y = memory[:64], memory[1000:1064]
    assert both(chosen, (1,), x, y, 4, B=16) == "nothing"
    assert "lane 0 (and 15 more) writes" in both(chosen, (1,), x, y, 5, B=16)
    assert "lane 1 (and 7 more) writes" in both(chosen, (1,), x, y[:48], 4, B=16)


@tritonx.jit
def by_table(table, sizes, out, B: tl.constexpr):
    group = tl.program_id(0)
    there = tl.load(table + group).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, B)
    tl.store(out + group, tl.sum(tl.load(there + at, mask=at < tl.load(sizes + group), other=0.0)))


def test_memory_that_no_argument_tells_of_is_not_checked() -> None:
    arrays = [np.arange(n, dtype=np.float32) for n in (3, 10, 1)]
    table, sizes = np.array([a.ctypes.data for a in arrays]), np.array([a.size for a in arrays], np.int32)
    out = np.zeros(3, np.float32)
    by_table[(3,)](table, sizes, out, B=16, debug=True)
    assert out.tolist() == [a.sum() for a in arrays]
    with pytest.raises(OutOfBoundsAccess, match="element 3 of table"):
        by_table[(4,)](table, sizes, out, B=16, debug=True)


def test_an_address_in_the_place_of_an_array_allows_everything() -> None:
    memory = np.zeros(64, np.float32)
    compiled = touched.warmup(memory, FIRST=0, LAST=63, grid=(1,), debug=True)
    compiled[(1, 1, 1)](memory[:8].ctypes.data)
    assert memory[63] == 1
    with pytest.raises(OutOfBoundsAccess, match="element 63 of x"):
        compiled[(1, 1, 1)](memory[:8])


# ---- programs


@tritonx.jit
def some_fail(x, n, B: tl.constexpr):
    program = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    at = tl.arange(0, B)
    if program % 7 == 6:
        tl.store(x + n + at, at)
    if program % 11 == 3:
        return
    tl.store(x + at, at, mask=at < n)


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_program_is_reported_whatever_ran_before_it(threads: int) -> None:
    memory = np.zeros(MARGIN, np.int32)
    for _ in range(5):
        with pytest.raises(OutOfBoundsAccess) as error:
            some_fail[(3, 50, 20)](memory[:100], 90, B=16, num_threads=threads, **DEBUG)
        assert error.value.program == (0, 2, 0)
        assert "lane 10 (and 5 more) writes" in str(error.value)
    assert not memory[100:].any()


@tritonx.jit
def two_faults(x, n):
    tl.store(x + n, 1)
    for i in range(n, 2 * n):
        tl.store(x + i, 2)


def test_the_first_access_of_a_program_is_reported() -> None:
    memory = np.zeros(MARGIN, np.int32)
    assert "tl.store(x + n, 1)" in both(two_faults, (2,), memory[:10], 10)


# ---- what it costs without


def test_without_debug_no_pass_runs_and_nothing_is_added() -> None:
    from tritonx.backends.api import PassStage
    from tritonx.backends.registry import parse_target

    x = np.zeros(1024, np.float32)
    plain, unchecked, checked = (
        tail.warmup(x, x, BLOCK=256, grid=(4,), **options) for options in ({}, {**DEBUG, "check_bounds": False}, DEBUG)
    )
    assert plain.asm["llir"] == unchecked.asm["llir"] and plain.asm["obj"] == unchecked.asm["obj"]
    assert not plain.checks_bounds and not hasattr(plain.metadata, "accesses")
    assert checked.checks_bounds and "access_table" in checked.asm["ttir"] and "access_table" not in plain.asm["ttir"]
    for name in ("cpu", "cuda:90", "cuda:75", "hip:gfx942"):
        backend, target = parse_target(name)
        for wanted in (False, True):
            options = backend.parse_options(target, {"debug": True, "check_bounds": wanted})
            stages = [s for s in backend.stages(target, options) if isinstance(s, PassStage)]
            assert wanted == any(one.name == "check-bounds" for s in stages for one in s.passes)


@pytest.mark.parametrize("num_ctas", [1, 2])
@pytest.mark.parametrize("target", ["cuda:75", "cuda:90", "hip:gfx942", "hip:gfx1100"])
def test_a_checked_kernel_compiles_for(target: str, num_ctas: int) -> None:
    """Clusters are not checked, and compile as ever."""
    if num_ctas > 1 and target != "cuda:90":
        pytest.skip("has no clusters")
    from tritonx_testing.conformance.case import Case, Trial

    def make(rng: np.random.Generator) -> Trial:
        return Trial((np.zeros(64, np.float32), np.zeros(64, np.float32)), {"BLOCK": 64})

    check(Case("mine/checked", tail, make, {**DEBUG, "check_bounds": True, "num_ctas": num_ctas}), find(target), SEED)


# ---- drawn


@tritonx.jit
def plus_one(x):
    return x + 1


@tritonx.jit
def drawn(
    x, y, rows, columns, stride, shift, HOW: tl.constexpr, MASKED: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    at = i[:, None] * stride + j[None, :] + shift
    mask = (i < rows)[:, None] & (j < columns)[None, :] if MASKED else None
    if HOW == "plain":
        tl.store(y + at, plus_one(tl.load(x + at, mask=mask)), mask=mask)
    elif HOW == "loop":
        pointers = x + at
        total = tl.zeros((M, N), tl.int32)
        for _ in range(3):
            total += tl.load(pointers, mask=mask)
            pointers += stride
        tl.store(y + at, total, mask=mask)
    elif HOW == "atomic":
        tl.atomic_max(y + at, tl.load(x + at, mask=mask), mask=mask)
    elif HOW == "atomic access":
        tl.atomic_store(y + at, tl.atomic_load(x + at, mask=mask), mask=mask)
    elif HOW == "poll":
        tl.store(y + at, tl.atomic_poll(x + at, at, timeout_ns=0).to(tl.int32), mask=mask)
    elif HOW == "row":
        if tl.program_id(1) > 0:
            return
        for step in range(M):
            row = tl.program_id(0) * M + step
            if row < rows:
                tl.store(y + row * stride + tl.arange(0, N) + shift, tl.load(x + row))
    elif HOW == "block pointer":
        block = tl.make_block_ptr(x + shift, (rows, columns), (stride, 1), (0, 0), (M, N), (1, 0))
        block = tl.advance(block, (tl.program_id(0) * M, tl.program_id(1) * N))
        value = tl.load(block, boundary_check=(0, 1)) if MASKED else tl.load(block, boundary_check=(0,))
        tl.store(y + at, value, mask=mask)
    else:
        block = tl.make_tensor_descriptor(x, [rows, columns], [stride, 1], [M, N])
        value = block.load([tl.program_id(0) * M, tl.program_id(1) * N + shift])
        tl.store(y + at, value, mask=mask)


KINDS = ("plain", "loop", "atomic", "atomic access", "poll", "row", "block pointer", "descriptor")


def drawn_launch(rng: random.Random) -> str:
    """A launch with drawn sizes, of which about half reach beyond their arrays; what it says."""
    memory = np.arange(4 * MARGIN, dtype=np.int32)
    rows, columns = rng.randint(1, 40), 4 * rng.randint(1, 10)
    m, n = rng.choice((4, 8, 16)), rng.choice((4, 8, 16))
    stride, kind = columns + rng.choice((0, 0, 0, 4, -4 if columns > 4 else 0)), rng.choice(KINDS)
    grid = (tritonx.cdiv(rows, m) + rng.choice((0, 0, 1)), tritonx.cdiv(columns, n))
    shift = 0 if kind == "descriptor" else rng.choice((0, 0, 0, -1, 3))
    sizes = [max(rows * columns + rng.choice((0, 0, 40, 200, -1, -7)), 1) for _ in range(2)]
    x, y = (memory[start : start + size] for start, size in zip((MARGIN, 3 * MARGIN), sizes, strict=True))
    said: list[str] = []
    left: list[Any] = []
    masked = rng.random() < 0.7
    claimed = rows + rng.choice((0, 0, 1))
    for run in (drawn, interpreted(drawn)):
        memory[:] = np.arange(memory.size)
        arguments = (x, y, claimed, columns, stride, shift, kind, masked, m, n)
        options = DEBUG if run is drawn else {}
        said.append(result(lambda run=run, arguments=arguments, options=options: run[grid](*arguments, **options)))
        left.append(memory.copy())
    assert said[0] == said[1], (rows, columns, stride, kind, grid, shift, sizes, masked, m, n)
    outside = np.ones(memory.size, np.bool_)
    outside[3 * MARGIN : 3 * MARGIN + y.size] = False
    assert np.array_equal(left[0][outside], np.arange(memory.size)[outside])
    if said[0] == "nothing":
        assert np.array_equal(*left)
        memory[:] = np.arange(memory.size)
        drawn[grid](x, y, claimed, columns, stride, shift, kind, masked, m, n)
        assert np.array_equal(memory, left[0])
    return said[0].partition(":")[0]


def test_drawn_launches_say_what_the_interpreter_says() -> None:
    rng = random.Random(SEED)
    count = int(os.environ.get("TRITONX_BOUNDS_DRAWS", "20"))
    found = [drawn_launch(rng) for _ in range(count)]
    assert set(found) <= {"nothing", "OutOfBoundsAccess"}
    assert count < 20 or len(set(found)) == 2, "both happen"


def cut_short(name: str, rng: random.Random) -> str:
    """A case of the conformance suite with one of its arrays cut short; what both say."""
    case = next(each for each in cases() if each.name == name)
    trial = case.trial(SEED)
    given = [a.buffer() if hasattr(a, "buffer") else a for a in trial.args]
    places = [i for i, a in enumerate(given) if isinstance(a, np.ndarray) and a.size > 1]
    if not places:
        return "nothing"
    place = rng.choice(places)
    keep = rng.randrange(given[place].size)
    said: list[str] = []
    memories = [np.empty_like(a) if isinstance(a, np.ndarray) else a for a in given]
    for run, options in ((case.kernel, {**case.options, **DEBUG}), (interpreted(case.kernel), {})):
        for memory, content in zip(memories, given, strict=True):
            if isinstance(memory, np.ndarray):
                memory[...] = content
        arguments = [m.reshape(-1)[:keep] if i == place else m for i, m in enumerate(memories)]
        said.append(result(lambda: run[trial.grid](*arguments, **trial.constants, **options)))  # noqa: B023
    if not said[1].startswith(("OutOfBounds", "nothing")):
        return "another fault"
    # The interpreter shows no lines of tritonx's own modules, of which the suite's kernels are.
    assert re.sub(r" \S+:\d+:\d+:", "", said[0], count=1) == said[1], (name, place, keep)
    return said[1].partition(":")[0]


def test_cases_of_the_suite_with_an_array_cut_short() -> None:
    rng = random.Random(SEED)
    names = [case.name for case in cases() if case.family != "debug"]
    count = int(os.environ.get("TRITONX_BOUNDS_CUT", "6"))
    for name in rng.sample(names, min(count, len(names))):
        cut_short(name, rng)


def test_cases_of_the_suite_raise_no_alarm() -> None:
    rng = random.Random(SEED + 1)
    device = find("cpu")
    known = [case for case in cases() if device.unsupported(case) is None]
    count = int(os.environ.get("TRITONX_BOUNDS_CASES", "6"))
    for case in rng.sample(known, min(count, len(known))):
        check(replace(case, options={**case.options, **DEBUG}), device, SEED)
