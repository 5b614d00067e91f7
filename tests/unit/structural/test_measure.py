"""What `benchmarks/structure.py` reads out of PTX and machine code, and what it calls worse."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from structural import listing, reasons, work  # pyright: ignore[reportMissingImports]
from structural.compare import Finding, findings  # pyright: ignore[reportMissingImports]
from structural.job import Job, distinct  # pyright: ignore[reportMissingImports]
from structural.loops import innermost, natural_loops  # pyright: ignore[reportMissingImports]
from structural.measure import of_amdgcn, of_code, of_ptx  # pyright: ignore[reportMissingImports]
from structural.occupancy import blocks  # pyright: ignore[reportMissingImports]
from structure import chosen  # pyright: ignore[reportMissingImports]

PTX = """
    @%p1 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
    ld.global.nc.L1::evict_last.b16 %rs1, [%rd2];
    cp.async.cg.shared.global [%r5], [%rd3], 0x10, %r6;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd4, {%r1, %r2}], [%r7];
    wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%f1}, %rd5, %rd6, 1, 1, 1, 0, 0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};
    red.global.add.f32 [%rd1], %f1;
    st.global.v2.b32 [%rd1], {%r1, %r2};
    bar.sync 0;
    barrier.cta.sync 1;
    bar.warp.sync -1;
"""

SASS = """
	.section	.text.kernel,"ax",@progbits
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   LDG.E.128 R4, [R2.64] ;
.L_x_1:
        /*0020*/                   HMMA.16816.F32 R8, R4, R6, R8 ;
        /*0030*/                   IADD3 R0, R0, 0x1, RZ ;
        /*0040*/               @P0 BRA `(.L_x_1) ;
        /*0050*/               @P1 BRA `(.L_x_3) ;
.L_x_2:
        /*0060*/                   STL [R1], R8 ;
        /*0070*/               @P2 BRA `(.L_x_0) ;
        /*0080*/                   EXIT ;
.L_x_3:
        /*0090*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R3], R2 ;
        /*00a0*/              @!P1 BRA `(.L_x_3) ;
        /*00b0*/                   BRA `(.L_x_2) ;
        /*00b8*/                   @!UPT UIADD3 URZ, URZ, URZ, URZ ;
        /*00c0*/                   NOP ;
.L_x_4:
        /*00d0*/                   BRA `(.L_x_4);
"""

AMD = """
kernel:
	global_load_dwordx4 v[0:3], v0, s[0:1]
.LBB0_1:
	v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
	s_barrier
	s_cbranch_scc1 .LBB0_1
	global_store_short v0, v1, s[2:3]
	global_atomic_add_x2 v0, v[2:3], s[2:3]
	ds_read2st64_b64 v[0:3], v0 offset1:8
	ds_read_u16 v0, v1
	ds_write_b32 v0, v1
	ds_bpermute_b32 v0, v1, v2
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_accum_offset 16
    .private_segment_fixed_size: 8
    .sgpr_count:     30
    .vgpr_count:     24
"""

RDNA = """
kernel:
	buffer_load_b128 v[0:3], v0, s[0:3], null offen
	global_load_d16_u8 v4, v[0:1], off
	global_load_d16_hi_b16 v4, v[0:1], off
.LBB0_1:
	v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]
	s_barrier_signal -1
	s_barrier_wait -1
	s_cbranch_scc1 .LBB0_1
	buffer_store_b16 v0, v1, s[0:3], null offen
	ds_load_2addr_stride64_b64 v[0:3], v0 offset1:8
	ds_load_u16_d16_hi v0, v1
	ds_store_b128 v0, v[1:4]
	s_endpgm
"""

ROW: dict[str, float] = {
    "load": 16, "store": 16, "copies": 4, "bulk": 0, "matrix": 2048, "products": 1, "barriers": 2, "shared": 57344,
    "threads": 256, "registers": 64, "spills": 0, "instructions": 100, "loop": 20, "loop_multiplies": 4096,
    "loop_moves": 0,
}  # fmt: skip


def test_ptx() -> None:
    row = of_ptx(PTX)
    moved = {16: 2, 2: 1, work.BULK_WIDTH: work.BULK // work.BULK_WIDTH}
    total = sum(size * count for size, count in moved.items())
    assert row["load"] == sum(size * size * count for size, count in moved.items()) / total
    assert row["store"] == (4 * 4 + 8 * 8) / 12
    assert (row["copies"], row["bulk"], row["products"], row["barriers"]) == (1, 1, 2, 2)
    assert row["matrix"] == (64 * 128 * 16 + 16 * 8 * 16) / 2


def test_loops_of_machine_code() -> None:
    """A wait out of line is a loop without work, and belongs to the loop that it goes back into."""
    (function,) = listing.sass(SASS)
    assert {"NOP", "UIADD3"}.isdisjoint(i.opcode for i in function.code)
    sizes = sorted(map(len, natural_loops(function)))
    assert sizes == [2, 3, 10]
    inner = innermost(natural_loops(function), lambda i: work.works(function.code[i]))
    assert [len(loop) for loop in inner] == [3]
    row = of_code([function])
    assert (row["loop"], row["loop_multiplies"], row["spills"]) == (3, 2048, 1)


def test_branches_with_their_predicate_among_the_operands() -> None:
    (function,) = listing.sass(".section .text.k\n.L_x_0:\n /*0000*/ BRA P0, `(.L_x_0) ;\n /*0010*/ EXIT ;")
    assert [i.falls for i in function.code] == [True, False]


def test_amd() -> None:
    row = of_amdgcn(AMD)
    assert (row["load"], row["store"], row["matrix"], row["barriers"]) == (16, (2 * 2 + 8 * 8) / 10, 32 * 32 * 8, 1)
    assert (row["loop"], row["instructions"]) == (3, 11)
    assert (row["registers"], row["agprs"], row["sgprs"], row["scratch"]) == (24, 8, 30, 8)
    assert (row["lds_load"], row["lds_store"]) == ((16 * 16 + 2 * 2) / 18, 4)
    assert (row["lds_loads"], row["lds_stores"]) == (2, 1)


def test_rdna() -> None:
    row = of_amdgcn(RDNA)
    assert (row["load"], row["store"]) == ((16 * 16 + 1 + 2 * 2) / 19, 2)
    assert (row["matrix"], row["barriers"], row["loop"]) == (16 * 16 * 16, 1, 4)
    assert (row["lds_load"], row["lds_store"]) == ((16 * 16 + 2 * 2) / 18, 16)
    assert (row["lds_loads"], row["lds_stores"]) == (2, 1)


@pytest.mark.parametrize(
    ("body", "exposed"),
    [
        ("ds_read_b128 v[0:3], v9; s_waitcnt lgkmcnt(0)", 1),
        ("ds_read_b128 v[0:3], v9; v_add_u32_e32 v8, v8, v8; s_waitcnt lgkmcnt(0)", 0),
        ("ds_read_b128 v[0:3], v9; v_add_u32_e32 v8, v8, v8; ds_read_b128 v[4:7], v9; s_waitcnt lgkmcnt(1)", 0),
        ("s_waitcnt vmcnt(3) lgkmcnt(0); v_add_u32_e32 v8, v8, v0; ds_read_b128 v[0:3], v9", 0),
        ("s_waitcnt lgkmcnt(0); ds_read_b128 v[0:3], v9; v_add_u32_e32 v8, v8, v8", 0),
        ("ds_load_b128 v[0:3], v9; s_wait_dscnt 0x0; ds_load_b128 v[0:3], v9; s_wait_dscnt 0x1", 1),
        ("ds_read_b128 v[0:3], v9; s_waitcnt lgkmcnt(0); s_waitcnt lgkmcnt(0); s_waitcnt vmcnt(0)", 1),
    ],
)
def test_waits_that_nothing_hides(body: str, exposed: int) -> None:
    """A product ends each round."""
    lines = "".join(f"\t{line.strip()}\n" for line in body.split(";"))
    row = of_amdgcn(f"k:\n.LBB0_1:\n{lines}\tv_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]\n"
                    "\ts_cbranch_scc1 .LBB0_1\n\ts_endpgm\n")  # fmt: skip
    assert row["lds_waits"] == exposed


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, set()),
        ({"load": 8}, {"load"}),
        ({"load": 15.5}, set()),
        ({"copies": 3}, {"copies"}),
        ({"copies": 0, "bulk": 2}, set()),
        ({"matrix": 0, "loop_multiplies": 0}, {"matrix"}),
        ({"registers": 64}, set()),
        ({"registers": 80}, {"registers"}),
        ({"shared": 57500}, set()),
        ({"shared": 65536}, {"shared"}),
        ({"spills": 1}, {"spills"}),
        ({"instructions": 113}, set()),
        ({"instructions": 114}, {"instructions"}),
        ({"loop": 40, "loop_multiplies": 8192}, set()),
        ({"loop": 40}, {"loop"}),
    ],
)
def test_worse(change: dict[str, float], found: set[str]) -> None:
    assert {f.column for f in findings("k", "cuda:90", {**ROW, **change}, ROW)} == found


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, set()),
        ({"lds_load": 8}, {"lds_load"}),
        ({"lds_load": 8, "lds_loads": 3}, set()),  # fewer, and narrower
        ({"lds_store": 4}, {"lds_store"}),
        ({"scratch": 16}, {"scratch"}),
        ({"agprs": 128, "sgprs": 100}, set()),
    ],
)
def test_worse_on_amd(change: dict[str, float], found: set[str]) -> None:
    row = {**ROW, "lds_load": 16, "lds_loads": 4, "lds_store": 16, "lds_stores": 4, "scratch": 0}
    assert {f.column for f in findings("k", "hip:gfx942", {**row, **change}, row)} == found


@pytest.mark.parametrize(
    ("registers", "shared", "threads", "found"),
    [(32, 0, 128, 16), (33, 0, 128, 12), (255, 0, 256, 1), (32, 57344, 256, 4), (16, 0, 32, 32), (168, 0, 384, 1)],
)
def test_blocks_of_a_multiprocessor(registers: int, shared: int, threads: int, found: int) -> None:
    assert blocks("cuda:90", registers, shared, threads) == found


@pytest.mark.parametrize(
    ("registers", "shared", "threads", "found"),
    [(192, 0, 128, 4), (193, 0, 128, 3), (96, 0, 128, 8), (97, 0, 128, 6), (24, 32768, 128, 2), (256, 0, 256, 1)],
)
def test_blocks_of_a_compute_unit_of_rdna(registers: int, shared: int, threads: int, found: int) -> None:
    assert blocks("hip:gfx1201", registers, shared, threads) == found


def test_a_reason_holds_until_it_gets_worse(tmp_path: Path) -> None:
    first = Finding("k", "cuda:90", "spills", 100, 0)
    known = reasons.with_seen(reasons.Reasons({"kind": "why"}, {}), "3.6", "kind", [first])
    reasons.write(known, tmp_path / "reasons.json")
    known = reasons.read(tmp_path / "reasons.json")
    assert known.of("3.6", first) == "kind"
    assert known.of("3.9", first) is None
    assert known.of("3.6", Finding("k", "cuda:90", "spills", 105, 0)) == "kind"
    assert known.of("3.6", Finding("k", "cuda:90", "spills", 106, 0)) is None
    narrow = reasons.with_seen(known, "3.6", "kind", [Finding("k", "cuda:90", "load", 8, 16)])
    assert narrow.of("3.6", Finding("k", "cuda:90", "load", 9, 16)) == "kind"
    assert narrow.of("3.6", Finding("k", "cuda:90", "load", 4, 16)) is None


def test_every_reason_is_a_kind_with_a_sentence() -> None:
    known = reasons.read()
    used = {
        kind
        for targets in known.seen.values() for kernels in targets.values() for columns in kernels.values()
        for kind, _ in columns.values()
    }  # fmt: skip
    assert used == set(known.kinds)
    assert all(sentence.endswith(".") and len(sentence.split()) > 4 for sentence in known.kinds.values())


def test_pointers_of_a_launch_on_amd() -> None:
    aligned = ["tt.divisibility", 16]
    job = Job("a", "f.py", "k", {"x": "*fp32", "n": "i32", "y": "*fp32"}, attrs=[(0, [aligned]), (1, [aligned])])
    small = ["tt.pointer_range", 32]
    assert job.on("hip:gfx942").attrs == [(0, [aligned, small]), (1, [aligned]), (2, [small])]
    assert job.on("cuda:80").attrs == job.attrs


def test_products_in_tf32_where_there_is_none() -> None:
    job = Job("a", "f.py", "k", {"P": "constexpr"}, constants=[(0, "tf32")])
    found = {target: job.on(target).constants[0][1] for target in ("cuda:80", "hip:gfx942", "hip:gfx1201")}
    assert found == {"cuda:80": "tf32", "hip:gfx942": "tf32", "hip:gfx1201": "ieee"}


def test_a_sample_of_each_target() -> None:
    jobs = [
        Job(f"{kind}{i}", "f.py", "k", {}, targets=t) for kind, t in (("a", ()), ("b", ("cuda",))) for i in range(9)
    ]
    given = Namespace(target=["cuda:90", "cuda:80", "hip:gfx942"], only=[""], sample=[5, 2], seed="1", seconds=None)
    drawn = [(job.target, job.name[0]) for job in chosen(jobs, given)]
    assert [t for t, _ in drawn] == ["cuda:90"] * 5 + ["cuda:80"] * 2 + ["hip:gfx942"] * 2
    assert {kind for target, kind in drawn if target == "hip:gfx942"} == {"a"}
    assert len(chosen(jobs, Namespace(**{**vars(given), "sample": None}))) == 18 + 18 + 9


def test_jobs_that_compile_the_same_are_one() -> None:
    one = Job("a", "f.py", "k", {"x": "*fp32"})
    other = Job("b", "f.py", "k", {"x": "*fp32"})
    wide = Job("a", "f.py", "k", {"x": "*fp32"}, options={"num_warps": 8})
    assert [j.name for j in distinct([one, other, wide])] == ["a", "a (2)"]
