"""Tensor memory: the accesses to it move what they should, allocations do not overlap, and what no instruction does is
refused.

What an access moves is taken from the figures of the PTX ISA here, register by register."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.nvidia import BACKEND
from tritonx.backends.nvidia.tensor_memory.messages import Transfer, transfer
from tritonx.backends.nvidia.tensor_memory.plan import Request, allocated, places
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia import TMEMAllocOp, TMEMLoadOp, TMEMStoreOp
from tritonx.dialects.nvidia.tensor_memory import COLUMN, ROW, Extent, extent_of, tensor_memory_layout
from tritonx.ir.failure import PassFailure
from tritonx.ir.pipeline import run_emit_stage, run_pass_stage
from tritonx.ir.text import parse_module
from tritonx.ir.types import bit_width, type_as, type_of
from tritonx.ir.verify import verify
from tritonx.ir.walk import ops_in
from tritonx.layouts import LayoutError, LinearLayout
from tritonx.layouts.dims import LANE, REGISTER, WARP

sys.path.insert(0, str(Path(__file__).parents[3]))

from tensor_memory_programs import AS_ROWS, PASSAGES, PRODUCTS, Passage, Product, linear

SEED = int(os.environ["TRITONX_SEED"])


def made(text: str, arch: str = "100", upto: int = 4) -> str:
    """What the stages make of a text: LLVM's after three, PTX after four."""
    target = BACKEND.parse_target(arch)
    module = parse_module(text)
    verify(module)
    warps = re.search(r'"ttg.num-warps" = (\d+)', text)
    assert warps is not None
    compilation = Compilation(target, BACKEND.parse_options(target, {"num_warps": int(warps[1])}))
    value = module
    for stage in BACKEND.stages(target, compilation.options)[:upto]:
        if isinstance(stage, PassStage):
            run_pass_stage(value, stage.remaining(value), compilation)
        else:
            value = run_emit_stage(stage, value, compilation)
    return str(value)


# ---- accesses


def moved(shape: str, repeat: int, second: int, lane: int, register: int) -> tuple[int, int]:
    """The row of a warp's 32 and the 32-bit column that a register of a lane has (PTX ISA 9.0, section 9.7.16.2.3,
    "Matrix fragments")."""
    assert register < 128
    if shape == "32x32b":
        return lane, register
    if shape == "16x64b":
        return lane // 4 + 8 * (lane % 2), 2 * register + lane % 4 // 2
    if shape == "16x128b":
        return lane // 4 + 8 * (register % 2), 4 * (register // 2) + lane % 4
    if shape == "16x256b":
        return lane // 4 + 8 * (register // 2 % 2), 8 * (register // 4) + 2 * (lane % 4) + register % 2
    assert shape == "16x32bx2"
    return (lane % 16) + (second >> 16 if lane >= 16 else 0), register + (second & 0xFFFF if lane >= 16 else 0)


def elements(plan: Transfer, tile: LinearLayout, memory: LinearLayout, bits: int, warps: int) -> int:
    """Checks each element of a tile that instructions move; how many there are."""
    inside = tile.sublayout((REGISTER, LANE, WARP), tile.out_dims)
    count = 0
    for warp in range(warps):
        base = sum(step for bit, step in enumerate(plan.warps) if bit > 1 and warp >> bit & 1)
        for number, registers in enumerate(plan.words):
            which, register = divmod(number, plan.registers)
            start = base + plan.offsets[which]
            for lane in range(32):
                if plan.packs:
                    row, first = moved(plan.shape, plan.repeat, plan.second or 0, lane, register)
                    assert plan.shape == "32x32b"
                    columns = [(first * 2 + i) * 2 for i in range(2)]
                else:
                    row, word = moved(plan.shape, plan.repeat, plan.second or 0, lane, register)
                    columns = [word * (32 // bits) + i for i in range(len(registers))]
                for each, column in zip(registers, columns, strict=True):
                    place = {
                        ROW: (warp % 4) * 32 + row + (start >> 16),
                        COLUMN: column + (start & 0xFFFF) * (32 // bits),
                    }
                    held = memory.apply_packed(place)
                    assert held == inside.apply_packed({REGISTER: each, LANE: lane, WARP: warp}), (warp, lane, each)
                    count += 1
    return count


def accesses(text: str) -> list[tuple[LinearLayout, MemDescType]]:
    from tritonx.analysis.buffers import tensor_layout

    found: list[tuple[LinearLayout, MemDescType]] = []
    for op in ops_in(parse_module(text)):
        match op:
            case TMEMLoadOp():
                found.append((tensor_layout(type_of(op.result)), type_as(op.src, MemDescType)))
            case TMEMStoreOp():
                found.append((tensor_layout(type_of(op.src)), type_as(op.dst, MemDescType)))
            case _:
                pass
    return found


@pytest.mark.parametrize("passage", PASSAGES, ids=lambda one: one.name)
def test_what_an_access_moves(passage: Passage) -> None:
    found = accesses(passage.text())
    assert len(found) == 2
    for tile, type_ in found:
        bits = bit_width(type_.element_type)
        memory = tensor_memory_layout(type_)
        plan = transfer(tile, memory, bits)
        assert elements(plan, tile, memory, bits, passage.warps) == passage.rows * passage.columns


def test_registers_in_any_order() -> None:
    """The order of a layout's registers decides nothing, and a limit of registers makes smaller instructions."""
    random = Random(SEED)
    columns = [(0, 1 << bit) for bit in range(7)]
    lanes, warps = [(1 << bit, 0) for bit in range(5)], [(32, 0), (64, 0)]
    for limit in (256, 168, 88, 24):
        random.shuffle(columns)
        text = Passage("drawn", "f32", 128, linear(columns, lanes, warps), linear(columns, lanes, warps)).text()
        tile, type_ = accesses(text)[0]
        memory = tensor_memory_layout(type_)
        plan = transfer(tile, memory, 32, limit)
        assert elements(plan, tile, memory, 32, 4) == 128 * 128
        assert plan.registers == {256: 128, 168: 64, 88: 32, 24: 8}[limit]


def test_copies_in_registers() -> None:
    """A layout that holds each element twice stores it once, and loads it once."""
    twice = linear([(0, 1), (0, 0), (0, 2), (0, 4)], [(1 << b, 0) for b in range(5)], [(32, 0), (64, 0)])
    tile, type_ = accesses(Passage("twice", "f32", 8, twice, twice).text())[0]
    plan = transfer(tile, tensor_memory_layout(type_), 32)
    assert len(plan.words) == 8
    assert plan.spare == tuple(r & ~2 for r in range(16))


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        (linear([(0, 1 << b) for b in range(6)], [(1 << b, 0) for b in (1, 0, 2, 3, 4)], [(32, 0), (64, 0)]), "lanes"),
        (linear([(0, 1 << b) for b in range(6)], [(1 << b, 0) for b in range(5)], [(64, 0), (32, 0)]), "four warps"),
    ],
)
def test_layouts_that_no_instruction_has(layout: str, reason: str) -> None:
    with pytest.raises(PassFailure, match=reason):
        made(Passage("other", "f32", 64, layout, AS_ROWS).text(), upto=3)


# ---- allocation


def test_allocations_do_not_overlap() -> None:
    random = Random(SEED)
    for _ in range(50):
        requests: list[Request] = []
        for number in range(random.randint(1, 8)):
            first = random.randint(0, 20)
            extent = Extent(random.choice((64, 128)), 1 << random.randint(0, 6))
            requests.append(Request(extent, first, first + random.randint(0, 10), number))
        found = places(requests)
        used: dict[tuple[int, int, int], int] = {}
        for number, (request, place) in enumerate(zip(requests, found, strict=True)):
            assert place.column % 4 == 0
            halves = (0, 1) if request.extent.rows == 128 else (place.half,)
            for time in range(request.first, request.last + 1):
                for column in range(place.column, place.column + request.extent.columns):
                    for half in halves:
                        assert used.setdefault((time, column, half), number) == number


def test_what_shares_a_half() -> None:
    """Two tiles of 64 rows share columns; an operand of a product lies in the half of its result."""
    small, both = Extent(64, 32), Extent(128, 32)
    assert [(p.column, p.half) for p in places([Request(small, 0, 9, 0), Request(small, 0, 9, 1)])] == [(0, 0), (0, 1)]
    together = places([Request(small, 0, 9, 0), Request(small, 0, 9, 0), Request(both, 0, 9, 2)])
    assert [(p.column, p.half, p.row) for p in together] == [(0, 0, 0), (32, 0, 0), (64, 0, 0)]
    assert [allocated(n) for n in (0, 1, 32, 33, 500, 512, 513)] == [0, 32, 32, 64, 512, 512, None]


def test_what_memory_takes() -> None:
    for product, rows, columns in (
        (Product("f16", 128, 128, 64), 128, 128),
        (Product("f16", 256, 128, 64, block_n=64), 128, 256),
        (Product("f16", 64, 64, 64, block_m=64), 64, 64),
        (Product("f16", 64, 128, 64, block_m=64, block_n=64), 128, 64),
        (Product("f16", 128, 64, 32, result="f16"), 128, 64),
    ):
        (alloc,) = (op for op in ops_in(parse_module(product.text())) if isinstance(op, TMEMAllocOp))
        assert extent_of(type_as(alloc.result, MemDescType)) == Extent(rows, columns)


def test_too_many_columns() -> None:
    product = Product("f16", 128, 256, 64)
    text = product.text()
    assert "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$1], 256;" in made(text, upto=3)
    alloc = next(line for line in text.splitlines() if "ttng.tmem_alloc" in line)
    load = next(line for line in text.splitlines() if "ttng.tmem_load" in line)
    for count in (1, 2):
        more = "\n".join(alloc.replace("%d", f"%more{i}") for i in range(count))
        read = "\n".join(load.replace("%d", f"%more{i}").replace("%out", f"%x{i}") for i in range(count))
        grown = text.replace(alloc, f"{alloc}\n{more}").replace(load, f"{load}\n{read}")
        if count == 1:
            assert "[$1], 512;" in made(grown, upto=3)
        else:
            with pytest.raises(
                PassFailure, match="768 columns of tensor memory are in use at a time, and a block has 512"
            ):
                made(grown, upto=3)


# ---- products


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda one: one.name)
def test_instructions_of_a_product(product: Product) -> None:
    """How many there are, their kind, and that the fields of the instruction descriptor (PTX ISA 9.0, section
    9.7.16.4.2) say the product's types and sizes."""
    ptx = made(product.text())
    issued = re.findall(r"tcgen05\.mma\.cta_group::1\.kind::(\w+)\S* \[", ptx)
    kind = {"f16": "f16", "bf16": "f16", "f32": "tf32", "i8": "i8"}.get(product.element, "f8f6f4")
    columns = product.block_n or product.n
    depth = {"f16": 16, "tf32": 8}.get(kind, 32)
    expected = product.m // product.block_m * (product.n // columns) * (product.k // depth)
    assert issued == [kind] * expected
    assert len(re.findall(r"tcgen05\.commit", ptx)) == 1
    constants = {int(n) for n in re.findall(r"mov\.b32\s+%r\d+, (\d+);", ptx)}
    fields = [each for each in constants if each >> 24 == product.block_m // 16]
    assert len(fields) == 1
    (descriptor,) = fields
    assert descriptor >> 17 & 0x3F == columns // 8
    assert (descriptor >> 15 & 1, descriptor >> 16 & 1) == product.along
    assert descriptor >> 4 & 3 == {"f16": 0, "f32": 1, "i32": 2}[product.result]
    numbers = {"f16": 0, "bf16": 1, "f32": 2, "i8": 1, "f8E4M3FN": 0, "f8E5M2": 1}
    assert descriptor >> 7 & 7 == numbers[product.element]
    assert descriptor >> 10 & 7 == numbers[product.other or product.element]
    assert descriptor & 0b1001_1110_0000_0000_1110_0000_0100_1111 & ~(0x1F << 24) & ~(0x3F << 17) & ~(3 << 15) == 0


def test_the_frame_of_a_kernel() -> None:
    """The first warp allocates before anything and frees behind everything; there is a barrier on each side."""
    ptx = made(Product("f16", 128, 64, 64).text())
    order = re.findall(r"tcgen05\.(alloc|relinquish\w+|dealloc|mma|ld|commit)\b|\b(bar\.sync|ret);?", ptx)
    words = ["".join(found) for found in order]
    assert words[:4] == ["alloc", "bar.sync", "bar.sync", "relinquish_alloc_permit"]
    assert words[-3:] == ["bar.sync", "dealloc", "ret"]


BASE = Product("f16", 128, 64, 64)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BASE.text().replace("{is_async}", "{is_async, two_ctas}"), "by two CTAs is not supported"),
        (BASE.text().replace("colStride = 1>", "colStride = 2>"), "takes 32 bits, which is not colStride = 2"),
        (replace(BASE, element="f32", along=(True, False)).text(), "tf32 must lie in shared memory with K contiguous"),
        (replace(BASE, other="bf16").text(), "no instruction multiplies f16 by bf16 into f32"),
        (replace(BASE, element="bf16", result="f16").text(), "no instruction multiplies bf16 by bf16 into f16"),
        (replace(BASE, element="i8").text(), "no instruction multiplies i8 by i8 into f32"),
    ],
)
def test_products_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(PassFailure, match=reason):
        made(text, upto=3)


@pytest.mark.parametrize("arch", ["90", "120"])
def test_chips_without_tensor_memory(arch: str) -> None:
    chip = f"{arch[:-1]}.{arch[-1]}"
    with pytest.raises(PassFailure, match=rf"needs tensor memory, which compute capability {chip} does not have"):
        made(BASE.text(), arch, upto=3)


def test_layouts_of_scales() -> None:
    """32 rows by 4 columns, in each of the four groups of rows; further rows lie in further columns (PTX ISA 9.0,
    section 9.7.16.10.7)."""
    text = "!ttg.memdesc<128x8xi8, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory, mutable>"
    module = parse_module(f"tt.func @f(%x: {text}) {{ tt.return }}")
    function = next(op for op in ops_in(module) if op.name == "tt.func")
    layout = tensor_memory_layout(type_as(function.regions[0].block.args[0], MemDescType))
    rows = np.array([layout.unpack(layout.apply_packed({ROW: r, COLUMN: 0})) for r in range(128)])
    np.testing.assert_array_equal(rows[:, 0], np.arange(128) % 32)
    found = [layout.unpack(layout.apply_packed({ROW: 0, COLUMN: c})) for c in range(32)]
    assert found == [(c // 4 % 4 * 32, c % 4 + c // 16 * 4) for c in range(32)]


def test_what_encodings_cannot_lay_out() -> None:
    text = Product("f16", 64, 64, 64).text()
    alloc = next(op for op in ops_in(parse_module(text)) if isinstance(op, TMEMAllocOp))
    with pytest.raises(LayoutError, match="blocks of 128 rows hold no tile of 64"):
        tensor_memory_layout(type_as(alloc.result, MemDescType))
