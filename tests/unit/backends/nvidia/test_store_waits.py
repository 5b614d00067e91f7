"""What stores of the copy engine are waited for: the reads of shared memory, or the block in global memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx_testing.emulators.ptx.backend import active, emulated


@tritonx.jit
def read_afterwards(d_ptr, x_ptr, o_ptr, B: tl.constexpr):
    """The block that was stored is loaded through the descriptor again."""
    d = tl.make_tensor_descriptor(d_ptr, [B, B], [B, 1], [B, B])
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    d.store([0, 0], tl.load(x_ptr + i) + 1.0)
    tl.store(o_ptr + i, d.load([0, 0]) * 2.0)


@tritonx.jit
def written_again(d_ptr, x_ptr, n, B: tl.constexpr):
    """The buffer alone is wanted again."""
    d = tl.make_tensor_descriptor(d_ptr, [n * B, B], [B, 1], [B, B])
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    for k in range(n):
        d.store([k * B, 0], tl.load(x_ptr + i) + k)


def waits(kernel: Any) -> list[str]:
    text: str = kernel.asm["ptx"]
    return [line.strip() for line in text.splitlines() if "cp.async.bulk.wait_group" in line]


def test_a_block_that_is_read_afterwards() -> None:
    x = np.arange(16 * 16, dtype=np.float32).reshape(16, 16)
    d, o = np.zeros_like(x), np.zeros_like(x)
    with active(emulated("90")):
        kernel = read_afterwards[(1,)](d, x, o, B=16)
    assert waits(kernel) == ["cp.async.bulk.wait_group 0;"]
    assert (d == x + 1).all() and (o == (x + 1) * 2).all()


def test_a_buffer_that_is_written_again() -> None:
    x = np.arange(16 * 16, dtype=np.float32).reshape(16, 16)
    d = np.zeros((48, 16), np.float32)
    with active(emulated("90")):
        kernel = written_again[(1,)](d, x, 3, B=16)
    assert set(waits(kernel)) == {"cp.async.bulk.wait_group.read 0;"}
    assert (d == np.concatenate([x, x + 1, x + 2])).all()


@pytest.mark.parametrize("text", ["{pendings = 0 : i32}", "{pendings = 1 : i32, read_only}"])
def test_the_wheel_reads_what_is_printed(text: str) -> None:
    triton: Any = pytest.importorskip("triton._C.libtriton")
    module = "module {\n  tt.func @f() {\n    ttng.async_tma_store_wait TEXT\n    tt.return\n  }\n}\n".replace(
        "TEXT", text
    )
    from tritonx.backends.tile import parse_module

    printed = str(parse_module(module))
    assert text in printed
    context = triton.ir.context()
    triton.ir.load_dialects(context)
    triton.nvidia.load_dialects(context)
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.ttgir"
        path.write_text(printed)
        assert "async_tma_store_wait" in str(triton.ir.parse_mlir_module(str(path), context))
