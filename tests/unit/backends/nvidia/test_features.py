"""Every op of `ttng` is emitted, or refused with its name and the chip's, on every chip: no assembler refuses it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from xdsl.utils.exceptions import VerifyException

from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.nvidia import BACKEND
from tritonx.backends.nvidia.emit import (
    mbarrier,
    packed,
    row_copy,
    tensor_copy,
    tensor_memory,
    tensor_product,
    warp_group,
)
from tritonx.backends.nvidia.emit.features import FEATURES, ROWS_BY_INDEX, TENSOR_MEMORY
from tritonx.backends.nvidia.emit.table import TABLE
from tritonx.backends.nvidia.tensor_maps import tensor_map_at_launch, tensor_map_in_kernel
from tritonx.dialects.nvidia import Nvidia, TCGen5MMAScaledOp, TMEMCopyOp
from tritonx.ir.failure import PassFailure
from tritonx.ir.pipeline import run_emit_stage, run_pass_stage
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify

HEAD = """
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#slices = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tensor = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%d: !tt.tensordesc<tensor<64x16xELEMENT, #wide>>, %r: !tt.tensordesc<tensor<1x16xf16, #wide>>) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %x = arith.constant dense<1> : tensor<64xi32, #slices>
    %z = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x16xELEMENT, #wide, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<16x16xELEMENT, #wide, #smem, mutable>
    BODY
    tt.return
  }
}
"""  # noqa: E501
BAR = "!ttg.memdesc<1xi64, #bars, #smem, mutable>"
TILE = "!ttg.memdesc<64x16xf16, #wide, #smem, mutable>"
RIGHT = "!ttg.memdesc<16x16xf16, #wide, #smem, mutable>"
DESC = "!tt.tensordesc<tensor<64x16xELEMENT, #wide>>"
ROWS = "!tt.tensordesc<tensor<1x16xf16, #wide>>"
OFFSETS = "tensor<64xi32, #slices>"

BODIES = {
    "barrier": f"ttng.init_barrier %b, 1 : {BAR}",
    "copies": f"ttng.async_copy_mbarrier_arrive %b : {BAR}",
    "fence": "ttng.fence_async_shared {bCluster = false}",
    "cluster": "ttng.cluster_wait",
    "block": f"ttng.async_tma_copy_local_to_global %d[%c0, %c0] %m : {DESC}, {TILE}",
    "product": f"%p = ttng.warp_group_dot %m, %n, %z : {TILE} * {RIGHT} -> tensor<64x16xf32, #mma>",
    "gather": f"ttng.async_tma_gather %r[%x, %c0] %m, %b, %true : {ROWS}, {OFFSETS}, i32, {BAR}, {TILE}, i1",
    "scatter": f"ttng.async_tma_scatter %r[%x, %c0] %m : {ROWS}, {OFFSETS}, i32, {TILE}",
    "tensor memory": "%t = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tensor, #ttng.tensor_memory, mutable>",
}
HAS = {
    "75": set[str](), "80": set[str](), "89": set[str](),
    "90": {"barrier", "copies", "fence", "cluster", "block", "product"},
    "100": {"barrier", "copies", "fence", "cluster", "block", "gather", "scatter", "tensor memory"},
    "120": {"barrier", "copies", "fence", "cluster", "block"},
}  # fmt: skip


def llvm(arch: str, body: str, element: str = "f16") -> str:
    target = BACKEND.parse_target(arch)
    compilation = Compilation(target, BACKEND.parse_options(target, {}))
    module: Any = parse_module(HEAD.replace("BODY", body).replace("ELEMENT", element))
    verify(module)
    for stage in BACKEND.stages(target, compilation.options)[:3]:
        if isinstance(stage, PassStage):
            run_pass_stage(module, stage.remaining(module), compilation)
        else:
            module = run_emit_stage(stage, module, compilation)
    return module


def test_every_op_of_the_dialect_says_what_it_needs() -> None:
    ops = set(Nvidia.operations)
    assert set(FEATURES) == ops
    assert ops <= set(TABLE)
    on_hopper_too = mbarrier, packed, row_copy, tensor_copy, tensor_map_at_launch, tensor_map_in_kernel, warp_group
    files = *on_hopper_too, tensor_memory, tensor_product
    emitted = {op for each in files for op in each.TABLE} & ops
    on_hopper = {op for op, feature in FEATURES.items() if feature.on(90)}
    later = {op for op, feature in FEATURES.items() if feature in (ROWS_BY_INDEX, TENSOR_MEMORY)}
    assert emitted == (on_hopper | later) - NOT_WRITTEN, "what chips up to 10.0 have but launch control"


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("arch", HAS)
def test_emitted_or_refused(arch: str, name: str) -> None:
    if name in HAS[arch]:
        assert "define ptx_kernel" in llvm(arch, BODIES[name])
        return
    with pytest.raises(PassFailure) as caught:
        llvm(arch, BODIES[name])
    text = str(caught.value)
    op = re.search(r"ttng\.\w+", BODIES[name])
    assert op is not None
    chip = f"{arch[:-1]}.{arch[-1]}"
    assert re.search(rf"{op[0]} needs .*, which compute capability {chip} does not have", text), text


NOT_WRITTEN = {TMEMCopyOp, TCGen5MMAScaledOp}
"""Ops of 10.0 that are refused by name: no code is generated for them."""

REDUCED = {
    "add": {"i32", "f16", "bf16", "f32"},
    **{key: {"i32", "f16", "bf16"} for key in ("min", "max")},
    **{key: {"i32"} for key in ("and", "or", "xor")},
}


@pytest.mark.parametrize("kind", REDUCED)
@pytest.mark.parametrize("element", ["i8", "i16", "i32", "f16", "bf16", "f32", "f8E4M3FN"])
def test_reductions_of_every_type(kind: str, element: str) -> None:
    tile = TILE.replace("f16", element)
    body = f"ttng.async_tma_reduce {kind}, %d[%c0, %c0] %m : {DESC}, {tile}"
    if element in REDUCED[kind]:
        text = llvm("90", body, element)
        assert f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{kind}.bulk_group" in text
        return
    with pytest.raises(VerifyException, match=rf"{kind} does not work on {element}"):
        llvm("90", body, element)
