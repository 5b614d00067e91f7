"""Products of what is computed of loads, and sums that are scaled by loads: how their loops are made."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from typing import Any

import pytest
from xdsl.ir import Operation

import tritonx
import tritonx.language as tl
from tests.unit.backends.nvidia.test_structure import in_registers, needs_assembler
from tritonx.analysis.buffers import tensor_layout
from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import (
    AsyncCopyGlobalToLocalOp,
    LocalAllocOp,
    LocalLoadOp,
    LocalStoreOp,
    MemDescType,
    shared_encoding,
)
from tritonx.dialects.nvidia import WarpGroupDotOp, WarpGroupDotWaitOp
from tritonx.ir.text import parse_module
from tritonx.ir.types import type_as, type_of
from tritonx.layouts.access import placement, shared_access
from tritonx.layouts.dims import REGISTER
from tritonx.layouts.lookup import linear_layout


@tritonx.jit
def of_weights(
    a_ptr, b_ptr, c_ptr, K, stride_a, stride_b, stride_c, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr,
    OTHER: tl.constexpr = 0,
):  # fmt: skip
    m, n = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, KB):
        k = start + tl.arange(0, KB)
        a = tl.load(a_ptr + m[:, None] * stride_a + k[None, :], mask=k[None, :] < K, other=0)
        b = tl.load(b_ptr + k[:, None] * stride_b + n[None, :], mask=k[:, None] < K, other=OTHER)
        total = tl.dot(a, b.to(a.dtype), total)
    tl.store(c_ptr + m[:, None] * stride_c + n[None, :], total.to(tl.bfloat16))


@tritonx.jit
def of_scaled(
    a_ptr, b_ptr, c_ptr, left_ptr, right_ptr, K, stride_a, stride_b, stride_c, M: tl.constexpr, N: tl.constexpr,
    KB: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, KB)
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(K // KB):
        a = tl.load(a_ptr + m[:, None] * stride_a + step * KB + k[None, :])
        b = tl.load(b_ptr + n[None, :] * stride_b + step * KB + k[:, None])
        scale = tl.load(left_ptr + m * stride_a + step)[:, None] * tl.load(right_ptr + n * stride_b + step)[None, :]
        total += tl.dot(a, b) * scale
    tl.store(c_ptr + m[:, None] * stride_c + n[None, :], total.to(tl.bfloat16))


SIZES = dict.fromkeys(("K", "stride_a", "stride_b", "stride_c"), "i32")
WEIGHTS = {"a_ptr": "*bf16", "b_ptr": "*i8", "c_ptr": "*bf16", **SIZES}
SCALED = {"a_ptr": "*fp8e4nv", "b_ptr": "*fp8e4nv", "c_ptr": "*bf16", **SIZES}
SCALED |= dict.fromkeys(("left_ptr", "right_ptr"), "*fp32")


def loop_of(made: Any) -> list[Operation]:
    """The ops of the loop's body."""
    module = parse_module(str(made.stages["ttgir"]), "made.ttgir")
    (loop,) = (op for op in module.walk() if isinstance(op, scf.ForOp))
    return list(loop.body.block.ops)


def count(ops: list[Operation], kind: type[Operation]) -> int:
    return sum(isinstance(op, kind) for op in ops)


TILES = [(128, 128, 64, 8, 3), (128, 256, 64, 8, 3), (128, 128, 64, 4, 3), (64, 128, 64, 4, 4), (128, 128, 128, 8, 3)]


@needs_assembler
@pytest.mark.parametrize("tile_", TILES)
@pytest.mark.parametrize("arch", ["80", "90"])
def test_weights_are_copied_as_they_are(compiler: Any, arch: str, tile_: tuple[int, ...]) -> None:
    """And converted behind: nothing waits in registers, and no instruction converts an integer."""
    m, n, k, warps, stages = tile_
    constants = {"M": m, "N": n, "KB": k}
    made = compiler(of_weights, arch, WEIGHTS, constants, num_warps=warps, num_stages=stages)
    if arch == "90" or m * n < 128 * 256:
        in_registers(made, 255)
    ops = loop_of(made)
    assert (count(ops, tile.LoadOp), count(ops, AsyncCopyGlobalToLocalOp)) == (0, 2)
    assert count(ops, LocalLoadOp) >= 1
    assert ".s8" not in made.ptx and "cvt.rn.bf16.s" not in made.ptx


@pytest.mark.parametrize("tile_", [(128, 128, 64, 8, 3), (64, 128, 64, 4, 4)])
def test_weights_are_converted_while_the_last_product_runs(compiler: Any, tile_: tuple[int, ...]) -> None:
    """They are stored to another slot than it reads; there is one wait a round, and not for it."""
    m, n, k, warps, stages = tile_
    constants = {"M": m, "N": n, "KB": k}
    ops = loop_of(compiler(of_weights, "90", WEIGHTS, constants, until="ttgir", num_warps=warps, num_stages=stages))
    assert (count(ops, LocalStoreOp), count(ops, LocalAllocOp)) == (1, 0)
    (wait,) = (op for op in ops if isinstance(op, WarpGroupDotWaitOp))
    assert wait.pendings.value.data == 1
    (product,) = (op for op in ops if isinstance(op, WarpGroupDotOp))
    (store,) = (op for op in ops if isinstance(op, LocalStoreOp))
    assert ops.index(store) < ops.index(product) < ops.index(wait)


def test_without_room_they_are_stored_where_the_last_ones_were(compiler: Any) -> None:
    constants = {"M": 128, "N": 256, "KB": 128}
    ops = loop_of(compiler(of_weights, "90", WEIGHTS, constants, until="ttgir", num_warps=8, num_stages=3))
    assert (count(ops, LocalStoreOp), count(ops, LocalAllocOp)) == (0, 1)
    assert count(ops, AsyncCopyGlobalToLocalOp) == 2


@pytest.mark.parametrize(("n", "k", "warps", "other"), [(16, 16, 8, 0), (128, 64, 8, 3)], ids=["narrow", "other"])
def test_what_cannot_be_copied_waits_in_registers(compiler: Any, n: int, k: int, warps: int, other: int) -> None:
    """A byte a thread, and something else than zero where the mask is false."""
    constants = {"M": 128, "N": n, "KB": k, "OTHER": other}
    ops = loop_of(compiler(of_weights, "90", WEIGHTS, constants, until="ttgir", num_warps=warps, num_stages=3))
    assert (count(ops, tile.LoadOp), count(ops, AsyncCopyGlobalToLocalOp)) == (1, 1)


@needs_assembler
@pytest.mark.parametrize(("m", "warps"), [(64, 4), (128, 8)])
def test_scales_are_loaded_a_round_before(compiler: Any, m: int, warps: int) -> None:
    """So that no wait is needed; and the tiles are copied 16 bytes at a time, though as many elements are stored
    of a result of the same shape as have 8."""
    constants = {"M": m, "N": 128, "KB": 128}
    made = compiler(of_scaled, "90", SCALED, constants, num_warps=warps, num_stages=3)
    in_registers(made, 255)
    ops = loop_of(made)
    loads = [op for op in ops if isinstance(op, tile.LoadOp)]
    assert len(loads) == 2
    assert all(use.operation is ops[-1] for load in loads for use in load.result.uses)
    assert "cp.async.cg.shared.global" in made.ptx and "cp.async.ca" not in made.ptx


@tritonx.jit
def of_rows(a_ptr, b_ptr, c_ptr, K, stride_a, stride_b, stride_c, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr):
    """B lies in rows, though it is multiplied in columns."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), dtype=c_ptr.dtype.element_ty)
    for start in range(0, K, KB):
        k = start + tl.arange(0, KB)
        a = tl.load(a_ptr + m[:, None] * stride_a + k[None, :])
        b = tl.load(b_ptr + k[:, None] * stride_b + n[None, :])
        total = tl.dot(a, b, total, out_dtype=c_ptr.dtype.element_ty)
    tl.store(c_ptr + m[:, None] * stride_c + n[None, :], total)


@needs_assembler
@pytest.mark.parametrize("stages", [3, 4])
@pytest.mark.parametrize(("element", "result", "k"), [("i8", "i32", 64), ("fp8e4nv", "fp32", 64)])
def test_what_lies_the_other_way_is_copied_as_wide_as_it_lies(
    compiler: Any, element: str, result: str, k: int, stages: int
) -> None:
    """And turned by the threads while the last product runs."""
    signature = {"a_ptr": f"*{element}", "b_ptr": f"*{element}", "c_ptr": f"*{result}", **SIZES}
    constants = {"M": 128, "N": 128, "KB": k}
    made = compiler(of_rows, "90", signature, constants, num_warps=8, num_stages=stages)
    in_registers(made, 255)
    ops = loop_of(made)
    assert (count(ops, tile.LoadOp), count(ops, AsyncCopyGlobalToLocalOp)) == (0, 2)
    assert (count(ops, LocalLoadOp), count(ops, LocalStoreOp)) == (1, 1)
    assert "cp.async.ca" not in made.ptx
    (wait,) = (op for op in ops if isinstance(op, WarpGroupDotWaitOp))
    assert wait.pendings.value.data == 1


WORDS = [(128, 128, 32, 8, 3), (256, 128, 32, 8, 4), (128, 256, 32, 8, 3), (64, 256, 32, 4, 4), (128, 128, 64, 8, 3)]


@needs_assembler
@pytest.mark.parametrize("tile_", WORDS)
def test_words_that_lie_the_other_way_are_loaded_by_the_threads(compiler: Any, tile_: tuple[int, ...]) -> None:
    """In parts, each of which has its registers to itself until it has been multiplied; nothing is stored again, and
    lanes find their words in different banks."""
    m, n, k, warps, stages = tile_
    signature = {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32", **SIZES}
    made = compiler(of_rows, "90", signature, {"M": m, "N": n, "KB": k}, num_warps=warps, num_stages=stages)
    in_registers(made, 255)
    ops = loop_of(made)
    assert (count(ops, tile.LoadOp), count(ops, AsyncCopyGlobalToLocalOp), count(ops, LocalStoreOp)) == (0, 2, 0)
    products = [op for op in ops if isinstance(op, WarpGroupDotOp)]
    assert len(products) >= 2
    for product in products:
        load = product.a.owner
        assert isinstance(load, LocalLoadOp)
        assert is_over_before(ops, product, load)
        layout, memory = tensor_layout(type_of(load.result)), type_as(load.src, MemDescType)
        assert layout.in_size(REGISTER) <= 16
        where = placement(layout, linear_layout(shared_encoding(memory), memory.alloc_shape))
        assert shared_access(where, 32).wavefronts == 1


def is_over_before(ops: list[Operation], product: Operation, at: Operation) -> bool:
    """Whether a wait has a product done before an op of the next round, of those under way at most the later ones."""
    later = 0
    for op in (*ops[ops.index(product) + 1 :], *ops[: ops.index(at)]):
        if isinstance(op, WarpGroupDotWaitOp) and op.pendings.value.data <= later:
            return True
        later += isinstance(op, WarpGroupDotOp)
    return False
