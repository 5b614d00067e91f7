"""LLVM text of ops that are easy to get wrong: branches in combine functions, conversions, what a target refuses."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends import registry
from tritonx.backends.api import Compilation, run_stages
from tritonx.frontend.errors import CompilationError
from tritonx.interpreter.ir_launch import bind
from tritonx.ir.failure import PassFailure
from tritonx.ir.source import excerpt
from tritonx.tools import opt

TARGETS = [
    str(target) for backend in registry.available().values() if backend.name != "cpu"
    for target in backend.known_targets()[::2]
]  # fmt: skip


def emit(kernel: Any, target_name: str, *args: Any, **kwargs: Any) -> str:
    """The LLVM text of the kernel, which LLVM has parsed and verified."""
    backend, target = registry.parse_target(target_name)
    given = {"num_warps": kwargs.pop("num_warps", 4), "num_ctas": kwargs.pop("num_ctas", 1)}
    options = backend.parse_options(target, given)
    module = bind(kernel, args, kwargs, options, target).module
    stages = backend.stages(target, options)
    last = [s.name for s in stages].index("llir") + 1
    text = run_stages(module, stages[:last], Compilation(target, options))["llir"]
    llvm.parse_assembly(text).verify()
    return text


@tritonx.jit
def with_branch(a, b):
    if a > b:
        r = a
    else:
        r = b * 2
    return r


@tritonx.jit
def reduce_with_branch(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    x = tl.load(x_ptr + m[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out_ptr + m, tl.reduce(x, 1, with_branch))


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_branches_of_a_combine_function_are_taken_for_each_element(dtype: Any) -> None:
    """One warp and 64 columns of 8 rows: 8·64/32 elements a thread are combined pair by pair."""
    x, out = np.zeros((8, 64), dtype), np.zeros(8, dtype)
    text = emit(reduce_with_branch, "cuda:80", x, out, M=8, N=64, num_warps=1)
    assert text.count("br i1") >= 8 * (64 // 32) - 8 + 5
    assert f"phi <{2}" not in text


@tritonx.jit
def widen(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("source", "result"), [(np.float32, np.float64), (np.float16, np.float64), (np.float64, np.float16)]
)
def test_floats_of_other_widths(target: str, source: Any, result: Any) -> None:
    emit(widen, target, np.zeros(256, source), np.zeros(256, result), N=256)


@tritonx.jit
def assembly(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + i, tl.inline_asm_elementwise("v_mov_b32 $0, $1", "=v,v", [x], tl.float32, True, 1))


def test_a_refused_op_names_the_line_and_a_way_out() -> None:
    with pytest.raises(PassFailure, match="inline assembly") as caught:
        emit(assembly, "hip:gfx942", np.zeros(256, np.float32), N=256)
    assert not caught.value.internal
    assert "test_emission.py" in str(caught.value)
    assert "tl.inline_asm_elementwise(" in str(caught.value)


@tritonx.jit
def truths(x_ptr, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr, RESULT: tl.constexpr, PACK: tl.constexpr):
    i = tl.arange(0, 256)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [x > 3 if RESULT is tl.int1 else x], RESULT, True, PACK)
    tl.store(x_ptr + i, y.to(tl.int32))


def test_truth_values_in_assembly_are_predicates() -> None:
    given = {"TEXT": "not.pred $0, $1;", "CONSTRAINTS": "=b,b", "RESULT": tl.int1}
    text = emit(truths, "cuda:90", np.zeros(256, np.int32), **given, PACK=1)
    assert re.search(r'call i1 asm "not.pred \$0, \$1;", "=b,b"\(i1 %', text)
    with pytest.raises(PassFailure, match="takes int1 one at a time, not 4"):
        emit(truths, "cuda:90", np.zeros(256, np.int32), **given, PACK=4)


@pytest.mark.parametrize(
    ("constraints", "pack", "reason"),
    [
        ("=r,r", 2, "'=r,r' are of 1 outputs and 1 inputs; assembly of 2 elements at a time has 2 and 2"),
        ("=r,r,r", 1, "'=r,r,r' are of 1 outputs and 2 inputs; assembly of 1 elements at a time has 1 and 1"),
        ("r", 1, "'r' are of 0 outputs and 1 inputs; assembly of 1 elements at a time has 1 and 1"),
    ],
)
def test_constraints_that_do_not_fit_the_operands_are_said(constraints: str, pack: int, reason: str) -> None:
    given = {"TEXT": "mov.b32 $0, $1;", "CONSTRAINTS": constraints, "RESULT": tl.int32, "PACK": pack}
    with pytest.raises(PassFailure, match=re.escape(reason)) as caught:
        emit(truths, "cuda:90", np.zeros(256, np.int32), **given)
    assert not caught.value.internal and "tl.inline_asm_elementwise(" in str(caught.value)


@pytest.mark.parametrize("pack", [0, 3, -2])
def test_elements_of_assembly_come_in_powers_of_two(pack: int) -> None:
    given = {"TEXT": "mov.b32 $0, $1;", "CONSTRAINTS": "=r,r", "RESULT": tl.int32, "PACK": pack}
    with pytest.raises(CompilationError, match=f"pack must be a power of two, got {pack}"):
        emit(truths, "cuda:90", np.zeros(256, np.int32), **given)


def test_early_clobbers_ties_and_what_is_overwritten_are_counted() -> None:
    given = {"TEXT": "mov.b32 $0, $1;", "RESULT": tl.int32, "PACK": 1}
    for constraints in ("=&r,r", "=r,0", "=r,r,~{memory}"):
        assert "asm" in emit(truths, "cuda:90", np.zeros(256, np.int32), CONSTRAINTS=constraints, **given)


@tritonx.jit
def print_values(x_ptr, N: tl.constexpr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, N)))


@pytest.mark.parametrize(
    ("target", "begun", "count"),
    [("cuda:90", "call i32 @vprintf(", 2), ("hip:gfx942", "@tx.hostcall(i64 33, i64 0,", 1)],
)
def test_printing(target: str, begun: str, count: int) -> None:
    text = emit(print_values, target, np.zeros(256, np.float32), N=256)
    assert text.count(begun) == count


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.int64, np.float64])
def test_what_is_printed_is_aligned_to_its_width(dtype: Any) -> None:
    """Nothing wider is promised: what follows in the arguments of the call lies at no more than that."""
    text = emit(print_values, "cuda:90", np.zeros(256, dtype), N=256)
    stores = re.findall(r"store (i\d+|float|double) .*, align (\d+)", text)
    widths = {"float": 4, "double": 8}
    assert stores and all(int(align) == (widths.get(t) or int(t[1:]) // 8) for t, align in stores), stores


@pytest.mark.parametrize("target", ["cuda:75", "cuda:90", "hip:gfx942"])
def test_small_floats_are_printed_as_bytes(target: str) -> None:
    """As Triton prints them: tests/peer/test_printed_text compares all formats with its own."""
    text = emit(print_values, target, np.zeros(256, ml_dtypes.float8_e5m2), N=256)
    assert re.search(r"idx \(%3u\) x: %u", text if target.startswith("cuda") else words_sent(text))


def words_sent(text: str) -> str:
    """The bytes of the constants that are handed to AMD's runtime."""
    words = re.findall(r"i64 (-?\d+)", " ".join(re.findall(r"call i64 @tx\.hostcall\(.*", text)))
    return b"".join((int(word) & (1 << 64) - 1).to_bytes(8, "little") for word in words).decode("latin1")


@tritonx.jit
def column_sums(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    total = tl.sum(x, axis=0)
    tl.store(out_ptr + tl.arange(0, N), total)


def test_clusters_are_refused_with_the_line() -> None:
    """Columns that are spread over two blocks cannot be summed: an error about the program, not a defect."""
    x, out = np.zeros((64, 64), np.float32), np.zeros(64, np.float32)
    with pytest.raises(PassFailure, match="spread over the blocks of a cluster") as caught:
        emit(column_sums, "cuda:90", x, out, M=64, N=64, num_ctas=2)
    assert not caught.value.internal
    assert "num_ctas=1" in caught.value.hint
    assert any("total = tl.sum(x, axis=0)" in excerpt(place) for place in caught.value.positions)


@tritonx.jit
def pairs(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    both = tl.join(tl.load(x_ptr + i), tl.load(y_ptr + i))
    left, right = tl.split(both * both)
    tl.store(out_ptr + i, left - right)


@pytest.mark.parametrize("target", TARGETS)
def test_pairs_stay_in_their_threads(target: str) -> None:
    """Joining and splitting only name registers."""
    x = np.zeros(1024, np.float32)
    text = emit(pairs, target, x, x.copy(), x.copy(), N=1024)
    assert "fsub" in text
    assert not re.search(r"addrspace\(3\)|barrier|bfly|permute", text)


ASYNCHRONOUS = """
#blocked = #ttg.blocked<{{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80",
                    "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @k(%p: !tt.ptr<f16> {{tt.divisibility = {aligned} : i32}}) {{
    %i = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32, #blocked>
    %b = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %q = tt.addptr %b, %i : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %d = ttg.local_alloc : () -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
    %0 = ttg.async_copy_global_to_local %q, %d : tensor<1024x!tt.ptr<f16>, #blocked> ->
      <1024xf16, #shared, #smem, mutable>
    %1 = ttg.async_commit_group tokens %0
    %2 = ttg.async_wait %1 {{num = 0 : i32}}
    %x = ttg.local_load %d token %2 : !ttg.memdesc<1024xf16, #shared, #smem, mutable> -> tensor<1024xf16, #blocked>
    tt.store %q, %x : tensor<1024x!tt.ptr<f16>, #blocked>
    tt.return
  }}
}}
"""


@pytest.mark.parametrize(("aligned", "copies"), [(16, 1), (8, 2), (4, 4), (2, 0)])
def test_asynchronous_copies_are_as_wide_as_the_alignment(aligned: int, copies: int, tmp_path: Path) -> None:
    """16 bytes for each of 128 threads; there is no instruction for 2 bytes, which go through a register."""
    (tmp_path / "k.ttgir").write_text(ASYNCHRONOUS.format(aligned=aligned))
    errors, made = io.StringIO(), tmp_path / "k.ll"
    code = opt.run([str(tmp_path / "k.ttgir"), "--target", "cuda:80", "-t", "llir", "-o", str(made)], stderr=errors)
    assert code == 0, errors.getvalue()
    widths = re.findall(r"call void @llvm\.nvvm\.cp\.async\.c[ag]\.shared\.global\.(\d+)", made.read_text())
    assert widths == [str(aligned)] * copies


@tritonx.jit
def strided(x_ptr, out_ptr, STRIDE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * STRIDE + tl.arange(0, N)[None, :]
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.load(x_ptr + at))


@pytest.mark.parametrize(("stride", "is_known"), [(96, True), (1 << 24, True), (1 << 26, False), (-8, False)])
def test_rows_that_are_constantly_apart_have_one_product(stride: int, is_known: bool) -> None:
    """Of 64 rows: one product and what is added to it, where that cannot be more than an i32 holds."""
    x, out = np.zeros(64, np.float32), np.zeros((64, 32), np.float32)
    text = emit(strided, "cuda:80", x, out, STRIDE=stride, M=64, N=32)
    products = re.findall(rf"mul (nuw nsw )?i32 %\w+, {stride}\b", text)
    assert products == ["nuw nsw "] if is_known else (len(products) > 1 and not any(products))
