"""What the device code of well-known kernels looks like: registers, spills, widths, shuffles, barriers."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler import assemble
from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx.backends.nvidia.assembler.disassemble import disassemble, find_nvdisasm
from tritonx.backends.nvidia.targets import CAPABILITIES
from tritonx.ir.text import print_module

needs_assembler = pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")


@tritonx.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(z_ptr + i, tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask), mask=mask)


@tritonx.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    start = tl.program_id(0) * columns
    x = tl.load(x_ptr + start + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + start + i, e / tl.sum(e, axis=0), mask=i < columns)


@tritonx.jit
def transpose(x_ptr, y_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * columns + n[None, :], mask=(m[:, None] < rows) & (n[None, :] < columns))
    mask = (n[:, None] < columns) & (m[None, :] < rows)
    tl.store(y_ptr + n[:, None] * rows + m[None, :], tl.trans(x), mask=mask)


@tritonx.jit
def matmul(a_ptr, b_ptr, c_ptr, K, stride_a, stride_b, stride_c, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, KB):
        k = start + tl.arange(0, KB)
        a = tl.load(a_ptr + m[:, None] * stride_a + k[None, :])
        b = tl.load(b_ptr + k[:, None] * stride_b + n[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * stride_c + n[None, :], total.to(c_ptr.dtype.element_ty))


ADD = {"x_ptr": "*fp32", "y_ptr": "*fp32", "z_ptr": "*fp32", "n": "i32"}
SOFTMAX = {"x_ptr": "*fp32", "out_ptr": "*fp32", "columns": "i32"}
TRANSPOSE = {"x_ptr": "*fp16", "y_ptr": "*fp16", "rows": "i32", "columns": "i32"}
MATMUL = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16")
MATMUL |= dict.fromkeys(("K", "stride_a", "stride_b", "stride_c"), "i32")


def in_registers(made: Any, limit: int) -> None:
    assert made.metadata["spills"] == 0
    assert made.metadata["registers"] <= limit
    assert ".local" not in made.ptx


@needs_assembler
@pytest.mark.parametrize("arch", ["75", "80", "90", "100", "120"])
def test_add(compiler: Any, arch: str) -> None:
    made = compiler(add, arch, ADD, {"BLOCK": 1024})
    in_registers(made, 40)
    assert (made.count("ld.global"), made.count("st.global")) == (4, 2)
    assert made.count("ld.global.v4") == 4
    assert made.metadata["shared"] == 0


@pytest.mark.parametrize(("aligned", "loads"), [(16, 4), (8, 4), (4, 4), (1, 16)])
def test_width_follows_the_divisibility(compiler: Any, aligned: int, loads: int) -> None:
    """Sizes divisible by 8 and 4 still load in vectors of 4; the pointers are what their own alignment allows."""
    signature = dict(ADD)
    made = compiler(add, "90", signature, {"BLOCK": 1024}, aligned=16 if aligned == 16 else aligned, until="ptx")
    widths = {16: "v4.b32", 8: "v2.b32", 4: "b32", 1: "b32"}
    assert made.count(f"ld.global.{widths[aligned]}") > 0
    assert loads <= made.count("ld.global") <= 16


@needs_assembler
@pytest.mark.parametrize("arch", ["80", "90"])
def test_softmax(compiler: Any, arch: str) -> None:
    made = compiler(softmax, arch, SOFTMAX, {"BLOCK": 8192}, num_warps=8)
    in_registers(made, 128)
    assert made.count("ld.global.v4") == 8
    assert made.count("st.global.v4") == 8
    assert made.count("redux.sync.max.s32") == 1 and made.count("shfl.sync.bfly") == 5  # the maximum, the sum
    assert made.count("bar.sync") == 2


@needs_assembler
def test_transpose(compiler: Any) -> None:
    made = compiler(transpose, "90", TRANSPOSE, {"M": 64, "N": 64})
    in_registers(made, 80)
    assert made.count("ld.global.v4") == made.count("st.global.v4") == 4
    assert made.count("bar.sync") == 1
    assert made.metadata["shared"] >= 64 * 64 * 2


@needs_assembler
@pytest.mark.parametrize(
    ("arch", "instruction"), [("75", "m16n8k8"), ("80", "m16n8k16"), ("90", ""), ("120", "m16n8k16")]
)
def test_matmul(compiler: Any, arch: str, instruction: str) -> None:
    made = compiler(matmul, arch, MATMUL, {"M": 64, "N": 64, "KB": 32})
    in_registers(made, 255)
    assert made.count(f"mma.sync.aligned.{instruction}") + made.count("wgmma") > 0
    assert made.count("fma.rn.f32") == 0


@needs_assembler
def test_registers_make_room_for_another_block(compiler: Any) -> None:
    """36 registers in 1024 threads leave room for one block on a multiprocessor, 32 for two."""
    in_registers(compiler(softmax, "90", SOFTMAX, {"BLOCK": 8192}, num_warps=32), 32)


@pytest.mark.parametrize(
    ("threads", "registers", "arch", "blocks"),
    [
        (1024, 36, 90, 2),  # 40 are taken, one block; 32 would make two
        (256, 68, 90, 4),
        (256, 64, 90, 0),  # four already
        (512, 41, 90, 3),  # two, which take 48 each; 40 make three
        (512, 48, 90, 3),  # 40, a sixth fewer
        (512, 49, 90, 0),  # 56 are taken, and 16 too many for three
        (256, 76, 90, 4),
        (256, 78, 90, 0),
        (256, 38, 90, 7),  # 32, with which all threads are resident
        (256, 39, 90, 0),
        (128, 96, 90, 0),  # five blocks already, and not all threads with six
        (1024, 36, 86, 0),  # two such blocks are more threads than there can be
        (128, 140, 80, 4),
        (128, 152, 80, 4),  # 24 fewer
        (128, 153, 80, 0),
        (128, 184, 90, 3),
        (128, 189, 90, 3),
        (128, 192, 90, 3),
        (128, 193, 90, 0),  # 168 would be 25 fewer
        (256, 70, 80, 4),
        (32, 255, 90, 0),
    ],
)
def test_how_many_blocks_are_wanted(threads: int, registers: int, arch: int, blocks: int) -> None:
    ptx = f".visible .entry k()\n.reqntid {threads}, 1, 1\n{{}}\n"
    assert assemble.one_more_block(ptx, registers, CAPABILITIES[arch]) == blocks


@tritonx.jit
def turned(x_ptr, out_ptr, N: tl.constexpr):
    """As models do: positions by frequencies, and both functions of the angle."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    angle = (i // 128 % 2048).to(tl.float32) * tl.exp2(-(i % 64).to(tl.float32) * 0.2)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x * tl.cos(angle) + tl.load(x_ptr + (i ^ 64)) * tl.sin(angle))


@needs_assembler
@pytest.mark.parametrize("arch", ["80", "90"])
def test_functions_of_large_arguments_cost_no_warps(compiler: Any, arch: str) -> None:
    """A function that hardly any lane calls takes no registers for which warps would have to go, nor memory."""
    made = compiler(turned, arch, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 512}, num_warps=8)
    assert made.metadata["registers"] <= 32
    assert made.metadata["spills"] == 0


def test_registers_of_a_function_are_a_quarter_at_most() -> None:
    ptx = ".visible .entry k()\n.reqntid 256, 1, 1\n{ call.uni (retval0), f, (param0); }\n"
    assert assemble.one_more_block(ptx, 40, CAPABILITIES[90]) == 7
    assert assemble.one_more_block(ptx.replace("call.uni", "add.u32"), 40, CAPABILITIES[90]) == 0
    assert assemble.one_more_block(ptx, 48, CAPABILITIES[90]) == 0


@pytest.mark.parametrize(
    ("body", "bytes_"),
    [
        ("add.f32 %f1, %f1, %f1;", 40),
        ("$gamma: @%p1 bra $gamma;", 10),
        ("$a: mma.sync.aligned.m16n8k16; @%p1 bra $a;", 0),
        ("$a: wgmma.mma_async.sync.aligned; @%p1 bra $a;", 0),
    ],
)
def test_what_may_be_spilled_for_ten_registers(body: str, bytes_: int) -> None:
    """Fewer in loops, and nothing in those of products; a kernel's name is no instruction."""
    assert assemble._spills_worth(body, 10) == bytes_  # pyright: ignore[reportPrivateUsage]


def test_asynchronous_products_want_a_second_block_and_no_third() -> None:
    ptx = ".visible .entry k()\n.reqntid 128, 1, 1\n{ wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 }\n"
    assert assemble.one_more_block(ptx.replace("wgmma", "mma"), 140, CAPABILITIES[90]) == 4
    assert assemble.one_more_block(ptx, 140, CAPABILITIES[90]) == 0
    assert assemble.one_more_block(ptx.replace("128", "256"), 137, CAPABILITIES[90]) == 2


@pytest.mark.parametrize(("shared", "blocks"), [(0, 2), (115712, 2), (115713, 0)])
def test_no_block_is_wanted_that_shared_memory_has_no_room_for(shared: int, blocks: int) -> None:
    """Of 228 KB a block takes 1 KB more than it says."""
    ptx = ".visible .entry k()\n.reqntid 256, 1, 1\n{}\n"
    assert assemble.one_more_block(ptx, 137, CAPABILITIES[90], shared) == blocks


@tritonx.jit
def row_sums(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    tl.store(out_ptr + m, tl.sum(tl.load(x_ptr + m[:, None] * N + tl.arange(0, N)[None, :]), axis=1))


@pytest.mark.parametrize(("arch", "shuffles"), [("75", 256), ("80", 256), ("89", 256), ("90", 640)])
def test_lanes_divide_up_many_results(compiler: Any, arch: str, shuffles: int) -> None:
    """64 rows of two words in a warp: two shuffles a word instead of five, where ptxas has trouble with many."""
    made = compiler(row_sums, arch, {"x_ptr": "*i64", "out_ptr": "*i64"}, {"M": 64, "N": 64}, num_warps=1, until="ptx")
    assert made.count("shfl.sync.bfly") == shuffles


@tritonx.jit
def sums_and_places(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    x = tl.load(x_ptr + m[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out_ptr + m, tl.sum(x, axis=1))
    tl.store(out_ptr + M + m, tl.argmax(x, axis=1))
    tl.store(out_ptr + 2 * M + m, tl.argmin(x, axis=1))


@needs_assembler
@pytest.mark.parametrize("arch", ["75", "80", "90"])
def test_many_results_are_computed_a_few_at_a_time(compiler: Any, arch: str) -> None:
    """256 elements a thread, 128 words: their places, which go along, must not be in registers together."""
    made = compiler(sums_and_places, arch, {"x_ptr": "*u16", "out_ptr": "*i32"}, {"M": 128, "N": 64}, num_warps=1)
    in_registers(made, 255)


@tritonx.jit
def column_results(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    n = tl.arange(0, N)
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + n[None, :])
    tl.store(out_ptr + n, tl.sum(x, axis=0))
    tl.store(out_ptr + N + n, tl.max(x, axis=0))


@needs_assembler
@pytest.mark.parametrize(("rows", "columns", "loads"), [(256, 8, 4), (128, 64, 32)])
def test_lanes_share_what_many_warps_found(compiler: Any, rows: int, columns: int, loads: int) -> None:
    """Two results a column, each from 32 warps, in 64 registers. Of 8 columns a thread has two, as 7 other lanes do:
    each reads what four warps found. Of 64 it has four, as one other lane does: each reads what 16 found."""
    constants = {"M": rows, "N": columns}
    made = compiler(column_results, "90", {"x_ptr": "*fp32", "out_ptr": "*fp32"}, constants, num_warps=32)
    assert made.count("ld.shared.v4") == loads
    in_registers(made, 64)


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16, 32])
def test_number_of_warps(compiler: Any, warps: int) -> None:
    made = compiler(softmax, "90", SOFTMAX, {"BLOCK": 4096}, num_warps=warps, until="ptx")
    assert f".reqntid {32 * warps}" in made.ptx
    assert (made.count("bar.sync") == 0) == (warps == 1)


@tritonx.jit
def many_products(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + m + tl.arange(0, K)[None, :] * M)
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + n)
    tl.store(out_ptr + m * N + n, tl.dot(a, b, input_precision="ieee"))


PRODUCTS = {"a_ptr": "*fp32", "b_ptr": "*fp32", "out_ptr": "*fp32"}


@needs_assembler
def test_a_kernel_that_spills_gets_all_registers(compiler: Any) -> None:
    """The result alone takes 256."""
    made = compiler(many_products, "90", PRODUCTS, {"M": 64, "N": 128, "K": 16}, num_warps=1)
    assert made.metadata["spills"] > 0
    assert made.metadata["registers"] == 255


@needs_assembler
def test_a_kernel_that_takes_far_more_registers_is_assembled_once(
    compiler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For one block on a multiprocessor; what fits is assembled as it is."""
    given: list[bool] = []
    original = assemble._assemble  # pyright: ignore[reportPrivateUsage]

    def counted(ptx: str, *rest: Any) -> Any:
        given.append(".minnctapersm" in ptx)
        return original(ptx, *rest)

    monkeypatch.setattr(assemble, "_assemble", counted)
    compiler(many_products, "90", PRODUCTS, {"M": 128, "N": 128, "K": 16}, num_warps=1)
    assert given == [True]
    given.clear()
    compiler(many_products, "90", PRODUCTS, {"M": 64, "N": 128, "K": 16}, num_warps=1)
    assert given == [True]
    given.clear()
    compiler(many_products, "90", PRODUCTS, {"M": 32, "N": 64, "K": 32})
    assert given == [False]


@needs_assembler
@pytest.mark.parametrize("arch", ["75", "80", "90"])
@pytest.mark.parametrize(
    ("shape", "warps", "registers"),
    [
        ((64, 64, 32), 4, 128),
        ((64, 64, 32), 8, 80),
        ((128, 128, 32), 8, 192),
        ((128, 64, 64), 8, 128),
        ((128, 64, 128), 8, 168),  # 96 KB of operands: two products of half of K where a block has 64
    ],
)
def test_a_product_by_multiply_adds_holds_a_slice(
    compiler: Any, arch: str, shape: tuple[int, int, int], warps: int, registers: int
) -> None:
    """A thread's results, and four steps of K of its operands: not all of K."""
    made = compiler(many_products, arch, PRODUCTS, dict(zip("MNK", shape, strict=True)), num_warps=warps)
    in_registers(made, registers)
    m, n, k = shape
    each = m * n * k // (32 * warps)
    parts = 2 if arch == "75" and shape == (128, 64, 128) else 1
    assert made.count("fma.rn.f32") == (each if each < 2048 else 1024 * parts)
    assert made.count("bar.sync") <= 8


@needs_assembler
@pytest.mark.parametrize("arch", ["75", "80", "90"])
@pytest.mark.parametrize(("shape", "registers"), [((64, 64, 128), 168), ((128, 64, 64), 240)])
def test_a_long_product_by_multiply_adds_is_a_loop(
    compiler: Any, arch: str, shape: tuple[int, int, int], registers: int
) -> None:
    """A quarter of K is written, and iterated four times."""
    made = compiler(many_products, arch, PRODUCTS, dict(zip("MNK", shape, strict=True)))
    in_registers(made, registers)
    assert made.count("fma.rn.f32") == 1024
    assert made.count("bra") == 1
    loop = made.ptx[: made.ptx.index("bra")]
    assert loop.rindex("\n$L") < loop.index("fma.rn.f32")
    last = made.ptx[made.ptx.index("bra") :]
    assert "fma.rn.f32" not in last


@tritonx.jit
def double_product(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    a = tl.load(a_ptr + k[None, :] * M + m)
    b = tl.load(b_ptr + k[:, None] * N + n)
    tl.store(out_ptr + m * N + n, tl.dot(a, b, out_dtype=tl.float64))


DOUBLES = dict.fromkeys(("a_ptr", "b_ptr", "out_ptr"), "*fp64")


@needs_assembler
@pytest.mark.parametrize("arch", ["80", "90", "120"])
def test_a_product_in_double_precision_holds_a_step(compiler: Any, arch: str) -> None:
    """320 words of operands and results a thread: operands come from shared memory when they are needed."""
    made = compiler(double_product, arch, DOUBLES, {"M": 128, "N": 64, "K": 64})
    in_registers(made, 240)
    middle = made.ptx[made.ptx.index("mma.sync") : made.ptx.rindex("mma.sync")]
    assert middle.count("ld.shared.b64") > made.count("ld.shared.b64") // 2


def test_registers_are_limited(compiler: Any) -> None:
    made = compiler(softmax, "90", SOFTMAX, {"BLOCK": 4096}, maxnreg=64, until="ptx")
    assert ".maxnreg 64" in made.ptx


@tritonx.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], tl.float32)
    for _ in range(n):
        acc += tl.load(x_ptr + tl.arange(0, BLOCK))
        x_ptr += BLOCK
    tl.store(out_ptr + tl.arange(0, BLOCK), acc)


@tritonx.jit
def total_of_products(x_ptr, a_ptr, b_ptr, out_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    at = m * N + tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + m + tl.arange(0, K)[None, :] * M)
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    product = tl.dot(a, b, input_precision="ieee")
    acc = 0.0
    for _ in range(n):
        acc += tl.load(x_ptr)
        x_ptr += 1
    sums = tl.zeros([128], tl.float32)
    for _ in range(n):
        sums += tl.load(x_ptr + tl.arange(0, 128))
        x_ptr += 128
    tl.store(out_ptr + at, product + acc + tl.sum(sums))


@needs_assembler
@pytest.mark.skipif(find_nvdisasm() is None, reason="no nvdisasm")
def test_unrolled_loads_are_under_way_together(compiler: Any) -> None:
    """Four loads of 16 bytes a thread, one after another in the machine code of the loop."""
    made = compiler(total, "90", {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": 512})
    assert ".maxnreg 48" in made.ptx
    assert not made.metadata["spills"]
    listing = disassemble(made.stages["cubin"])
    assert re.search(r"(LDG\S*128\b(?:(?!LDG|FADD|STG).)*){4}", listing, re.DOTALL)


@needs_assembler
@pytest.mark.parametrize("arch", ["75", "80", "90"])
@pytest.mark.parametrize("warps", [16, 32])
def test_the_limit_for_loads_leaves_a_block_its_registers(compiler: Any, arch: str, warps: int) -> None:
    """64 bytes a thread and iteration: 96 registers if there are as many, and 64 in 1024 threads."""
    made = compiler(
        total, arch, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": 512 * warps}, num_warps=warps
    )
    assert f".maxnreg {96 if warps == 16 else 64}" in made.ptx
    assert made.metadata["registers"] * 32 * warps <= 65536


@needs_assembler
def test_the_limit_for_loads_gives_way_to_spills(compiler: Any) -> None:
    signature = {"x_ptr": "*fp32", "a_ptr": "*fp32", "b_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    made = compiler(total_of_products, "90", signature, {"M": 64, "N": 64, "K": 16}, num_warps=2)
    assert ".maxnreg" in made.ptx
    assert not made.metadata["spills"]
    assert made.metadata["registers"] > 64
    given = compiler(total_of_products, "90", signature, {"M": 64, "N": 64, "K": 16}, num_warps=2, maxnreg=48)
    assert given.metadata["spills"]
    assert given.metadata["registers"] == 48


@tritonx.jit
def look_up(x_ptr, index_ptr, out_ptr, N: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out_ptr + i, tl.gather(tl.load(x_ptr + tl.arange(0, N)), tl.load(index_ptr + i), 0))


@pytest.mark.parametrize("arch", ["75", "90", "120"])
def test_a_table_that_a_block_may_not_have_is_named(compiler: Any, arch: str) -> None:
    signature = {"x_ptr": "*fp32", "index_ptr": "*i32", "out_ptr": "*fp32"}
    made = compiler(look_up, arch, signature, {"N": 65536, "COUNT": 64}, num_warps=32)
    assert made.metadata["shared"] == 262144
    assert re.search(r"262144 bytes for tt.gather \(.*test_structure\.py:\d+:\d+\)", made.metadata["shared_hint"])


@needs_assembler
@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize(("arch", "available"), [("75", 65536), ("86", 101376), ("90", 232448)])
def test_operands_that_do_not_fit_together_wait_in_registers(
    compiler: Any, arch: str, available: int, *, pipeline: bool
) -> None:
    """256 KiB of operands, more than any block may have: they go through shared memory a part after another."""
    made = compiler(matmul, arch, MATMUL, {"M": 64, "N": 64, "KB": 1024}, num_warps=8, pipeline=pipeline)
    assert made.metadata["shared"] <= available


@tritonx.jit
def of_fp8(a_ptr, b_ptr, c_ptr, K, stride_a, stride_b, stride_c, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr):
    """B lies in columns. No copy brings what is loaded where the mask is false."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, KB):
        k = start + tl.arange(0, KB)
        a = tl.load(a_ptr + m[:, None] * stride_a + k[None, :], mask=k[None, :] < K, other=1.0)
        b = tl.load(b_ptr + k[:, None] + n[None, :] * stride_b, mask=k[:, None] < K, other=1.0)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * stride_c + n[None, :], total.to(tl.float16))


@needs_assembler
@pytest.mark.parametrize(("warps", "ahead"), [(4, False), (8, True)])
def test_loads_that_wait_in_registers_leave_the_product_its_own(
    compiler: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *, warps: int, ahead: bool
) -> None:
    """Of fp8, which 8.0 converts on the way to shared memory. The sums of 4 warps take half of all registers."""
    monkeypatch.setenv("TRITONX_EXPLAIN", "pipeline")
    signature = {**MATMUL, "a_ptr": "*fp8e4nv", "b_ptr": "*fp8e4nv"}
    constants = {"M": 128, "N": 128, "KB": 64}
    made = compiler(of_fp8, "80", signature, constants, num_warps=warps, num_stages=4, pipeline=True)
    in_registers(made, 255)
    said = capfd.readouterr().err
    assert ("2 loads ahead in registers" if ahead else "takes too many registers") in said


@tritonx.jit
def window(x, w, o, width, outer, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, C: tl.constexpr):
    """Three neighbours of each pixel of each channel."""
    pixel, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    column = pixel % width
    total = tl.zeros((M, N), tl.float32)
    for tap in range(3):
        x_ptrs = x + (pixel // width * width)[:, None] + (k * M)[None, :] + (column + tap)[:, None]
        x_mask = (pixel > 2)[:, None] & (k < C)[None, :] & (column + tap < width)[:, None] & (column > tap)[:, None]
        w_ptrs = w + (n * outer)[None, :] + (k * inner)[:, None] + tap
        w_mask = (k < C)[:, None] & (n < N - 1)[None, :]
        total = tl.dot(tl.load(x_ptrs, mask=x_mask, other=0.0), tl.load(w_ptrs, mask=w_mask, other=0.0), total)
    tl.store(o + pixel[:, None] * N + n[None, :], total)


@pytest.mark.parametrize("aligned", [1, 16])
def test_halves_that_are_loaded_one_by_one_are_loaded_where_they_are_multiplied(
    compiler: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *, aligned: int
) -> None:
    """Those that wait would be packed where they arrive. Neighbouring threads load neighbouring pixels, and weights by
    the step that is passed last; of the pointers and masks of pixels a thread has one, and adds channels."""
    monkeypatch.setenv("TRITONX_EXPLAIN", "pipeline")
    signature = {"x": "*fp16", "w": "*fp16", "o": "*fp32", "width": "i32", "outer": "i32", "inner": "i32"}
    constants = {"M": 64, "N": 64, "K": 32, "C": 29}
    given = {"aligned": aligned, "num_warps": 4, "pipeline": True, "until": "ttgir"}
    text = print_module(compiler(window, "90", signature, constants, **given).stages["ttgir"])
    assert "comes in less than words" in capfd.readouterr().err
    body = text.split("scf.for", 1)[1].split("scf.yield")[0]
    loads = re.findall(r"tt\.load .*#(\w+)>", body)
    assert len(loads) == 2 and not re.search(r"iter_args\(.*f16", body.split("\n")[0])
    for name in loads:
        (layout,) = re.findall(rf"#{name} = (.*)", text)
        assert "sizePerThread = [1, 1], threadsPerWarp = [32, 1]" in layout and "order = [0, 1]" in layout
    assert len(re.findall(r"tt\.addptr .*tensor<64x32x!tt.ptr", body)) == 1
    assert len(re.findall(r"arith\.andi .*tensor<64x32xi1", body)) == 1


@tritonx.jit
def shifted(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i) << tl.load(y_ptr + i))


@pytest.mark.parametrize(("kind", "compared"), [("i16", 0), ("i32", 0), ("i64", 1)])
def test_an_amount_of_64_bits_is_compared(compiler: Any, kind: str, compared: int) -> None:
    """shl sees the lower 32 bits of the amount, and clamps them."""
    made = compiler(shifted, "90", dict.fromkeys(("x_ptr", "y_ptr", "out_ptr"), f"*{kind}"), {"N": 128})
    assert made.count(f"shl.b{kind[1:]}") >= 1
    assert made.count("setp") == compared


@tritonx.jit
def rows_apart(p_ptr, first, stride, M: tl.constexpr, N: tl.constexpr):
    m, n = first * M + tl.arange(0, M), tl.arange(0, N)
    x = tl.load(p_ptr + tl.arange(0, M)[:, None] * N + n[None, :])
    tl.store(p_ptr + m[:, None] * stride + n[None, :], x * 2)


def test_rows_of_a_thread_are_reached_by_additions(compiler: Any) -> None:
    """A thread has 128 rows, an unknown stride apart: LLVM's guard against reuse keeps a multiplication for each."""
    signature = {"p_ptr": "*fp16", "first": "i32", "stride": "i32"}
    made = compiler(rows_apart, "90", signature, {"M": 128, "N": 256}, aligned=1, num_warps=8, until="ptx")
    assert len(re.findall(r"\b(?:mul|mad)\.lo", made.ptx)) < 32


def test_what_comes_in_pieces_is_stored_in_pieces(compiler: Any) -> None:
    """What is read back from shared memory for the result's stores is packed as each of them takes it."""
    made = compiler(matmul, "90", MATMUL, {"M": 128, "N": 128, "KB": 32}, until="ptx")
    assert "insertelement <8 x half>" in made.stages["llir"] and "insertelement <128 x half>" not in made.stages["llir"]
