"""What a code object says of its kernel, and what the assembly of every target is made of."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tritonx as triton
import tritonx.language as tl
from tests.unit.backends.amd.shared_kernels import attention, flip, matmul
from tritonx.backends.amd.targets import PROCESSORS
from tritonx.runtime.errors import OutOfResources

TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
Compile = Callable[..., Any]


@triton.jit
def row_sums(x_ptr, out_ptr, n_cols, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0) + tl.num_programs(1)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0) * scale)


@triton.jit
def clocked(x_ptr):
    tl.store(x_ptr, tl.extra.hip.memrealtime())


@triton.jit
def assembled(x_ptr, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    tl.store(x_ptr + cols, tl.inline_asm_elementwise("v_not_b32 $0, $1", "=v,v", [x], tl.int32, True, 1))


@triton.jit
def talk(x_ptr):
    tl.device_print("x", tl.load(x_ptr))


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("target", TARGETS)
def test_metadata(compiled: Compile, target: str, num_warps: int) -> None:
    made = compiled(target, row_sums, [np.zeros(4096, np.float32), np.zeros(4, np.float32), 999, 0.5], {"BLOCK": 1024},
                    num_warps=num_warps)  # fmt: skip
    wave = PROCESSORS[target].wave
    code = made.code_object
    kernel = code.kernel
    assert code.metadata["amdhsa.target"].removeprefix("amdgcn-amd-amdhsa--").split(":")[0].endswith(target)
    assert kernel[".name"] == "row_sums"
    assert kernel[".wavefront_size"] == wave
    assert kernel[".max_flat_workgroup_size"] == num_warps * wave
    explicit = [a for a in kernel[".args"] if not a[".value_kind"].startswith("hidden")]
    assert [(a[".offset"], a[".size"]) for a in explicit] == [(0, 8), (8, 8), (16, 4), (20, 4)]
    hidden = {a[".value_kind"]: a[".offset"] for a in kernel[".args"]}
    assert hidden["hidden_block_count_y"] == hidden["hidden_block_count_x"] + 4 == 28
    assert kernel[".kernarg_segment_size"] >= 36
    assert kernel[".private_segment_fixed_size"] == 0
    # Only waves that must meet use the LDS, one f32 each.
    assert kernel[".group_segment_fixed_size"] == made.metadata["shared"]
    assert (made.metadata["shared"] > 0) == (num_warps > 1)
    descriptor = next(
        offset + code.descriptor - address
        for offset, address, size, _ in code.segments
        if address <= code.descriptor < address + size
    )
    lds, private, kernarg, _ = struct.unpack_from("<IIII", code.binary, descriptor)
    properties = struct.unpack_from("<H", code.binary, descriptor + 56)[0]
    assert (lds, private, kernarg) == (made.metadata["shared"], 0, kernel[".kernarg_segment_size"])
    assert bool(properties & 1 << 10) == (wave == 32), "ENABLE_WAVEFRONT_SIZE32"


@pytest.mark.parametrize("target", TARGETS)
def test_a_reduction_permutes_lanes_without_memory(compiled: Compile, target: str) -> None:
    made = compiled(target, row_sums, [np.zeros(4096, np.float32), np.zeros(4, np.float32), 1024, 0.5],
                    {"BLOCK": 1024}, num_warps=1)  # fmt: skip
    text = made.stages["amdgcn"]
    assert "_dpp" in text and "quad_perm" in text
    assert not re.search(r"\b(s_barrier|scratch_load|scratch_store|ds_write|ds_store)", text)
    # CDNA's rows of 16 lanes are joined by DPP in the last lane, RDNA's by v_permlanex16.
    assert "ds_" not in text
    assert ("row_bcast:31" in text) == (PROCESSORS[target].wave == 64)
    assert ("v_permlanex16_b32" in text) == (PROCESSORS[target].wave == 32)
    assert re.search(r"(buffer|global)_load_(dwordx4|b128)", text)


@pytest.mark.parametrize("target", ["gfx1100", "gfx1101", "gfx1200", "gfx1201"])
def test_registers_are_not_allocated_by_halves(compiled: Compile, target: str) -> None:
    """LLVM 22 loses uses of a permuted lane's half in its DPP combiner; see ``codegen.features``."""
    made = compiled(target, flip, [np.zeros(256, np.int16), np.zeros(256, np.int16)], {"N": 256}, num_warps=1)
    assert not re.search(r"\bv\d+\.[lh]\b", made.stages["amdgcn"])


MATRIX = [
    ("gfx90a", np.float16, 64, "v_mfma_f32_32x32x8f16"),
    ("gfx90a", np.int8, 64, "v_mfma_i32_32x32x8i8"),
    ("gfx90a", np.float32, 64, "v_mfma_f32_32x32x2f32"),
    ("gfx90a", np.float64, 16, "v_mfma_f64_16x16x4f64"),
    ("gfx942", np.float16, 64, "v_mfma_f32_32x32x8_f16"),
    ("gfx942", np.float16, 16, "v_mfma_f32_16x16x16_f16"),
    ("gfx942", np.int8, 64, "v_mfma_i32_32x32x16_i8"),
    ("gfx950", np.float16, 64, "v_mfma_f32_32x32x16_f16"),
    ("gfx950", np.float16, 16, "v_mfma_f32_16x16x32_f16"),
    ("gfx1100", np.float16, 64, "v_wmma_f32_16x16x16_f16"),
    ("gfx1100", np.int8, 64, "v_wmma_i32_16x16x16_iu8"),
    ("gfx1201", np.float16, 64, "v_wmma_f32_16x16x16_f16"),
    ("gfx1201", np.int8, 64, "v_wmma_i32_16x16x16_iu8"),
]


@pytest.mark.parametrize("target, dtype, size, instruction", MATRIX)
def test_matrix_instructions(compiled: Compile, target: str, dtype: Any, size: int, instruction: str) -> None:
    result = {np.int8: np.int32, np.float64: np.float64}.get(dtype, np.float32)
    arrays = [np.zeros((size, 64), dtype), np.zeros((64, size), dtype), np.zeros((size, size), result)]
    made = compiled(target, matmul, arrays, {"M": size, "N": size, "K": 64}, num_warps=4 if size > 16 else 1)
    text = made.stages["amdgcn"]
    assert instruction in text
    assert "v_fma_f32" not in text and "v_fma_f64" not in text
    assert made.metadata["spills"] == 0


@pytest.mark.parametrize("m, n, k, num_warps", [(64, 64, 32, 4), (128, 64, 64, 8)])
def test_a_product_by_multiply_adds_holds_a_slice(compiled: Compile, m: int, n: int, k: int, num_warps: int) -> None:
    """All of K would be 192 registers of operands and more; the loads must not move in front of the first product."""
    arrays = [np.zeros(shape, np.float32) for shape in ((m, k), (k, n), (m, n))]
    made = compiled("gfx1100", matmul, arrays, {"M": m, "N": n, "K": k}, num_warps=num_warps)
    assert "v_wmma" not in made.stages["amdgcn"]
    assert made.metadata["spills"] == 0


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize("m, n, k, num_warps", [(64, 64, 128, 4), (128, 128, 64, 8)])
def test_a_long_product_by_multiply_adds_is_a_loop(
    compiled: Compile, target: str, m: int, n: int, k: int, num_warps: int
) -> None:
    arrays = [np.zeros(shape, np.float32) for shape in ((m, k), (k, n), (m, n))]
    made = compiled(target, matmul, arrays, {"M": m, "N": n, "K": k}, num_warps=num_warps)
    assert made.metadata["spills"] == 0
    text = made.stages["amdgcn"]
    products = len(re.findall(r"\bv_(?:dual_)?fmac?_f32", text))
    assert products == 1024
    assert text.count("s_cbranch_scc") == 1


def test_a_product_of_more_than_all_registers_is_a_loop(compiled: Compile) -> None:
    """256 elements of 64 bits in each thread: the results alone are twice the registers. Straight code would be 16384
    multiply-adds, over which LLVM's register allocation sits for minutes."""
    arrays = [np.zeros(shape, np.float64) for shape in ((128, 64), (64, 64), (128, 64))]
    made = compiled("gfx1200", matmul, arrays, {"M": 128, "N": 64, "K": 64}, num_warps=1)
    assert 0 < made.stages["llir"].count("call double @llvm.fma.f64") <= 2048


@pytest.mark.parametrize("head", [64, 128])
@pytest.mark.parametrize("target", TARGETS)
def test_attention_stays_in_registers(compiled: Compile, target: str, head: int) -> None:
    """Operands are read from the LDS a step of K at a time, at few addresses: all of K of both products would take all
    registers of an RDNA 3 wave, each of whose half-waves holds every operand."""
    arrays = [np.zeros((64, head), np.float16) for _ in range(4)]
    made = compiled(target, attention, [*arrays, 64], {"D": head, "BLOCK_M": 64, "BLOCK_N": 64}, num_warps=4)
    assert made.metadata["spills"] == 0
    assert made.metadata["registers"] <= 256
    assert "ds_bpermute" not in made.stages["amdgcn"] or PROCESSORS[target].wave == 64


@pytest.mark.parametrize("m, n, k, num_warps", [(128, 128, 32, 4), (128, 128, 64, 8), (128, 256, 32, 8)])
@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
def test_large_products_stay_in_registers(
    compiled: Compile, target: str, m: int, n: int, k: int, num_warps: int
) -> None:
    """B is stored by threads that have every eighth row of it, so that a load brings elements of K from afar: a step
    takes what its loads bring, and loads are narrowed where that would be too much."""
    arrays = [np.zeros(shape, np.float16) for shape in ((m, k), (k, n))]
    made = compiled(target, matmul, [*arrays, np.zeros((m, n), np.float32)], {"M": m, "N": n, "K": k},
                    num_warps=num_warps)  # fmt: skip
    assert made.metadata["spills"] == 0


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_what_cannot_be_compiled_says_where(compiled: Compile, target: str) -> None:
    with pytest.raises(Exception, match=r"test_code_object\.py:\d+:\d+: .*no assembler for AMDGCN"):
        compiled(target, assembled, [np.zeros(64, np.int32)], {"BLOCK": 64})


@triton.jit
def look_up(x_ptr, index_ptr, out_ptr, N: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out_ptr + i, tl.gather(tl.load(x_ptr + tl.arange(0, N)), tl.load(index_ptr + i), 0))


@pytest.mark.parametrize("target", TARGETS)
def test_a_table_that_a_block_may_not_have_is_named(compiled: Compile, target: str) -> None:
    arrays = [np.zeros(65536, np.float32), np.zeros(64, np.int32), np.zeros(64, np.float32)]
    with pytest.raises(OutOfResources, match=r"262144 bytes for tt.gather \(.*test_code_object\.py:\d+:\d+\)"):
        compiled(target, look_up, arrays, {"N": 65536, "COUNT": 64}, num_warps=16)


@pytest.mark.parametrize("target", TARGETS)
def test_printing_asks_the_runtime_for_its_service(compiled: Compile, target: str) -> None:
    quiet = compiled(target, clocked, [np.zeros(1, np.int64)], {}).code_object.kernel
    loud = compiled(target, talk, [np.zeros(1, np.float32)], {}).code_object.kernel
    kinds = [{a[".value_kind"] for a in kernel[".args"]} for kernel in (quiet, loud)]
    assert [("hidden_hostcall_buffer" in found) for found in kinds] == [False, True]


@pytest.mark.parametrize("target", TARGETS)
def test_the_constant_rate_counter(compiled: Compile, target: str) -> None:
    text = compiled(target, clocked, [np.zeros(1, np.int64)], {}).stages["amdgcn"]
    assert ("s_memrealtime" in text) == (PROCESSORS[target].wave == 64)
    assert ("MSG_RTN_GET_REALTIME" in text) == (PROCESSORS[target].wave == 32)
