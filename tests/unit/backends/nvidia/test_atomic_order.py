"""Threads of a program that meet at atomics which release or acquire, from level 3.9 on."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx import level
from tritonx.ir.failure import PassFailure
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def updates(flag, data, out, SEM: tl.constexpr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(data + at, at)
    if KIND == "scalar":
        tl.atomic_add(flag, 1, sem=SEM)
    elif KIND == "block":
        tl.atomic_add(flag + at, at, sem=SEM)
    else:
        tl.atomic_cas(flag, 0, 1, sem=SEM)
    tl.store(out + at, tl.load(data + at))


def order(ptx: str) -> str:
    """The accesses and the meetings of a program, a letter for each: s, l, a(tomic), b(arrier)."""
    letters = {"st.global": "s", "ld.global": "l", "atom.": "a", "red.": "a", "bar.sync": "b"}
    words = (line.split() for line in ptx.splitlines())
    named = (next((w for w in line if not w.startswith("@")), "") for line in words)
    return "".join(letter for name in named for start, letter in letters.items() if name.startswith(start))


@pytest.mark.parametrize("kind", ["scalar", "block", "exchange"])
@pytest.mark.parametrize("name", ["3.8", "3.9"])
@pytest.mark.parametrize(
    ("sem", "met"), [("relaxed", "sasl"), ("acquire", "sabl"), ("release", "sbal"), ("acq_rel", "sbabl")]
)
def test_where_threads_meet(compiler: Any, kind: str, name: str, sem: str, met: str) -> None:
    constants = {"SEM": sem, "KIND": kind, "BLOCK": 128}
    with level.at(name):
        made = compiler(updates, "90", dict.fromkeys(("flag", "data", "out"), "*i32"), constants, until="ptx")
    wanted = "sal" if name == "3.8" or sem == "relaxed" else met
    assert order(made.ptx).rstrip("s") == wanted


@tritonx.jit
def last_sums(parts, done, out, programs, BLOCK: tl.constexpr):
    """The program that is last sums what all have stored, as kernels with a counter do."""
    pid = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(parts + pid * BLOCK + at, at + pid)
    if tl.atomic_add(done, 1) == programs - 1:
        total = tl.zeros((BLOCK,), tl.int32)
        for other in range(programs):
            total += tl.load(parts + other * BLOCK + (BLOCK - 1 - at), volatile=True)
        tl.store(out + at, total)


@pytest.mark.parametrize("arch", ["75", "90"])
def test_a_branch_on_what_an_atomic_gives(arch: str) -> None:
    """No thread is missing where the others meet. (The emulator's warps keep together: it would not see a race.)"""
    programs, block = int(np.random.default_rng(SEED).integers(2, 7)), 128
    parts, done = np.full(programs * block, -1, np.int32), np.zeros(1, np.int32)
    out = np.full(block, -1, np.int32)
    device = PtxDevice(arch, SEED)
    device.launch(last_sums, [parts, done, out, programs], {"BLOCK": block}, programs, {})
    expected = sum(np.arange(block)[::-1] + pid for pid in range(programs))
    np.testing.assert_array_equal(out, expected)


@tritonx.jit
def count(pointer, value):
    return tl.atomic_add(pointer, value)


@tritonx.jit
def counted(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + BLOCK + at, tl.map_elementwise(count, x + at, tl.load(x + at)))


def test_an_element_has_no_atomic_of_its_own(compiler: Any) -> None:
    with pytest.raises(PassFailure, match="one thread does a scalar's atomic for all of them") as caught:
        compiler(counted, "90", {"x": "*i32"}, {"BLOCK": 128}, until="ptx")
    assert "tl.atomic_add(pointer, value)" in str(caught.value)
