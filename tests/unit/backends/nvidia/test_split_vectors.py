"""Loads and stores under a mask with one edge, of which nothing is known: vectors, and elements behind one branch."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Case
from tritonx_testing.conformance.device import check
from tritonx_testing.conformance.families.memory import EDGES, edges, edges_kernel
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])
FULL, SINGLE = "ld.global.v4.b32", "ld.global.b16"


@tritonx.jit
def gated(x_ptr, y_ptr, z_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == "below":
        mask = i < n
    elif KIND == "outside":
        mask = (i < n) | (i > n + 9)
    elif KIND == "inside":
        mask = (i >= n) & (i < n + 9)
    elif KIND == "all-but":
        mask = i != n
    else:
        mask = i + n < 100
    x = tl.load(x_ptr + i, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + i, mask=mask, other=0.0).to(tl.float32)
    tl.store(z_ptr + i, (x * tl.sigmoid(y)).to(z_ptr.dtype.element_ty), mask=mask)


@tritonx.jit
def summed(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, 4096, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(z_ptr + tl.arange(0, BLOCK), total)


def made(compiler: Any, element: str = "bf16", kind: str = "below", block: int = 1024) -> Any:
    """`n` is not known to be divisible by anything."""
    signature = dict.fromkeys(("x_ptr", "y_ptr", "z_ptr"), f"*{element}") | {"n": "i64"}
    return compiler(gated, "90", signature, {"KIND": kind, "BLOCK": block}, until="ptx", num_warps=4)


def test_vectors_are_whole_and_elements_stand_behind_a_branch(compiler: Any) -> None:
    """Eight halves a thread, of two loads: two vectors, behind which one branch leads past sixteen elements."""
    kernel = made(compiler)
    assert (kernel.count(FULL), kernel.count(SINGLE)) == (2, 16)
    assert (kernel.count("st.global.v4.b32"), kernel.count("st.global.b16")) == (1, 8)
    assert kernel.count("bra") == 2
    text = kernel.ptx
    assert text.rindex(FULL) < text.index("bra") < text.index(SINGLE)


@pytest.mark.parametrize(
    ("element", "vector", "single", "width"),
    [("fp32", "v4.b32", "b32", 4), ("i8", "v2.b32", "b8", 8), ("fp16", "v4.b32", "b16", 8)],
)
def test_the_elements_of_a_thread(compiler: Any, element: str, vector: str, single: str, width: int) -> None:
    kernel = made(compiler, element, block=128 * width)
    assert (kernel.count(f"ld.global.{vector}"), kernel.count(f"ld.global.{single}")) == (2, 2 * width)


def test_two_words_are_whole_as_they_are(compiler: Any) -> None:
    """Of doubles one is as wide as it gets to be worth a branch."""
    kernel = made(compiler, "fp64", block=256)
    assert (kernel.count("ld.global.b64"), kernel.count("ld.global.v2"), kernel.count("bra")) == (4, 0, 0)


@pytest.mark.parametrize("kind", ["outside", "inside", "all-but", "shifted"])
def test_masks_of_other_forms_are_taken_element_by_element(compiler: Any, kind: str) -> None:
    kernel = made(compiler, kind=kind)
    assert (kernel.count(FULL), kernel.count(SINGLE), kernel.count("bra")) == (0, 16, 0)


def test_in_a_loop(compiler: Any) -> None:
    signature = {"x_ptr": "*fp32", "z_ptr": "*fp32", "n": "i64"}
    kernel = compiler(summed, "90", signature, {"BLOCK": 512}, until="ptx", num_warps=4)
    assert kernel.count("ld.global.v4.b32") * 4 == kernel.count("ld.global.b32") > 0


@tritonx.jit
def stated(x_ptr, z_ptr, n, row, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    if WHAT == "argument":
        row = tl.multiple_of(row, 16)
    start = tl.program_id(0) * row
    if WHAT == "offset":
        start = tl.multiple_of(start, 16)
    i = tl.arange(0, BLOCK)
    pointers = x_ptr + start + i
    if WHAT == "pointers":
        pointers = tl.multiple_of(pointers, 16)
    for _ in range(2):
        tl.store(z_ptr + i, tl.load(pointers, mask=i < n, other=0.0), mask=i < n)
        pointers += BLOCK


@pytest.mark.parametrize("what", ["argument", "offset", "pointers"])
def test_what_is_only_stated_makes_no_vectors_wider_than_masks(compiler: Any, what: str) -> None:
    """A row of 7,186 halves is no multiple of 16 bytes, though its author says so; Triton does not notice."""
    signature = {"x_ptr": "*fp16", "z_ptr": "*fp16", "n": "i64", "row": "i64"}
    kernel = compiler(stated, "90", signature, {"WHAT": what, "BLOCK": 1024}, until="ptx", num_warps=4)
    assert (kernel.count(FULL), kernel.count("st.global.v4.b32")) == (0, kernel.count(SINGLE) // 8)


@tritonx.jit(noinline=True)
def copied(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(z_ptr + i, tl.load(x_ptr + i, mask=i < n, other=0.0), mask=i < n)


@tritonx.jit
def calls(x_ptr, z_ptr, n, row, BLOCK: tl.constexpr):
    copied(tl.multiple_of(x_ptr + row, 16), z_ptr, n, BLOCK)


def test_what_callers_may_have_stated(compiler: Any) -> None:
    signature = {"x_ptr": "*fp16", "z_ptr": "*fp16", "n": "i64", "row": "i64"}
    kernel = compiler(calls, "90", signature, {"BLOCK": 1024}, until="ptx", num_warps=4)
    assert (kernel.count(FULL), kernel.count(SINGLE)) == (0, 8)


@pytest.mark.parametrize("draw", range(12))
def test_what_is_loaded_and_stored(draw: int) -> None:
    """The PTX executed: masks of every form, with edges anywhere."""
    random = Random(1000 * SEED + draw)
    kind, dtype = random.choice(EDGES), random.choice(("int8", "fp16", "bf16", "fp32", "int32", "fp64"))
    rows, columns = random.choice(((1, 256), (2, 128), (4, 64), (8, 32), (16, 64), (1, 1024)))
    options = {"num_warps": random.choice((1, 2, 4))}
    case = Case(f"drawn-{kind}-{dtype}-{rows}x{columns}", edges_kernel, edges(dtype, kind, rows, columns), options)
    check(case, PtxDevice(random.choice(("75", "80", "90", "100")), SEED), 1000 * SEED + draw)
