"""When local memory or registers in compiled code are a fault, and what excuses it."""

from __future__ import annotations

from typing import Any

import pytest

from tritonx.backends.api import Compilation, Target
from tritonx.backends.nvidia.options import NvidiaOptions
from tritonx.ir.text import parse_module
from tritonx_testing.conformance.structure import fault

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"
MMA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>"


def product(layout: str, size: int = 16, loads: int = 0) -> str:
    """A product of ``size`` × ``size`` × 16 behind so many loads of as many f32 as its result has."""
    shapes = [f"{size}x16", f"16x{size}"]
    a, b = (f"tensor<{shapes[i]}xf16, #ttg.dot_op<{{opIdx = {i}, parent = #l, kWidth = 2}}>>" for i in (0, 1))
    a, b = (text.replace(", kWidth = 2", "") if layout is BLOCKED else text for text in (a, b))
    c, pointers = (f"tensor<{size}x{size}x{element}, #l>" for element in ("f32", "!tt.ptr<f32>"))
    before = "".join(f"%l{i} = tt.load %p : {pointers} " for i in range(loads))
    dot = f"%d = tt.dot %a, %b, %c : {a} * {b} -> {c}"
    return f"#l = {layout}\ntt.func public @f(%a: {a}, %b: {b}, %c: {c}, %p: {pointers}) {{ {before}{dot} tt.return }}"


def tile(count: int, element: str) -> str:
    return f"tt.func public @f(%a: {element}) {{ %t = tt.splat %a : {element} -> tensor<{count}x{element}> tt.return }}"


def found(text: str, local: int | None, spills: int = 0, **metadata: int | str) -> str | None:
    compilation = Compilation(Target("cuda", 90, 32), NvidiaOptions(num_warps=1))
    if local is not None:
        compilation.metadata.update(local=local, spills=spills, thread_registers=256)
    compilation.metadata.update(metadata)
    made: dict[str, Any] = {"ttgir": parse_module(text), "ptx": ""}
    return fault(made, compilation)


def test_local_memory_is_a_fault() -> None:
    said = found(tile(128, "f32"), 72, 16)
    assert said == "a thread uses 72 bytes of its own memory and 16 bytes of spills; its values must stay in registers"
    assert found(product(MMA), 8) is not None
    assert found(product(BLOCKED), 8) is not None


@pytest.mark.parametrize(("traded", "good"), [(8, True), (4, False)])
def test_memory_given_for_another_block_is_no_fault(traded: int, good: bool) -> None:
    assert (found(tile(128, "f32"), 8, 16, traded=traded) is None) == good


def test_who_does_not_say_how_many_registers_there_are_is_not_blamed() -> None:
    assert found(tile(128, "f32"), 72, 16, thread_registers=0) is None


@pytest.mark.parametrize(("named", "fits"), [(128, True), (64, False)])
def test_tiles_are_held_against_the_registers_that_there_are(named: int, fits: bool) -> None:
    assert (found(tile(2048, "f32"), 80, thread_registers=named) is not None) == fits


def test_more_registers_than_a_block_has_are_a_fault() -> None:
    said = "a thread uses 91 registers, and there are 64 for each; the block cannot be launched"
    assert found(tile(128, "f32"), 0, registers=91, max_registers=64) == said
    assert found(tile(128, "f32"), 0, registers=64, max_registers=64) is None
    assert found(tile(128, "f32"), 0, registers=91) is None


def test_more_shared_memory_than_a_block_may_have_is_a_fault() -> None:
    said = "the block needs 262144 bytes of shared memory, and cannot be launched. The largest buffers are a and b."
    assert found(tile(128, "f32"), 0, shared=262144, shared_hint="The largest buffers are a and b.") == said
    assert found(tile(128, "f32"), 0, shared=262144) is None


@pytest.mark.parametrize("local", [None, 0])
def test_none_is_none(local: int | None) -> None:
    assert found(tile(128, "f32"), local) is None


@pytest.mark.parametrize(
    "text",
    [
        "tt.func public @f(%x: f32) { %s = math.sin %x : f32 tt.return }",
        "tt.func public @f(%x: f64) { %s = math.cos %x : f64 tt.return }",
        'tt.func public @f(%x: i32) { tt.print " x" {hex = false, isSigned = array<i32: 1>} : %x : i32 tt.return }',
        product(BLOCKED, 64, loads=2),
    ],
)
def test_ops_that_need_memory(text: str) -> None:
    assert found(text, 80) is None


@pytest.mark.parametrize(
    ("count", "element", "fits"), [(4096, "f32", True), (8192, "f32", False), (4096, "i64", False), (8192, "i8", False)]
)
def test_tiles_that_do_not_fit(count: int, element: str, fits: bool) -> None:
    """256 registers of 32 threads hold 8192 words; elements of fewer bits take a word each."""
    assert (found(tile(count, element), 80) is not None) == fits


def test_products_that_a_threads_registers_do_not_hold() -> None:
    """Of 16 × 16 elements a thread of each warp has 8: in 4 registers as f16, in 8 as f32."""
    fits = 4 + 4 + 8
    assert found(product(MMA), 8, registers=fits, max_registers=fits) is not None
    assert found(product(MMA), 8, registers=fits - 1, max_registers=fits - 1) is None
