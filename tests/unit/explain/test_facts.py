"""The facts of `tritonx explain`: what the passes did, how memory is accessed, what holds the kernel."""

from __future__ import annotations

import io
import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.analysis.residency import Residency
from tritonx.explain import Report, explain
from tritonx.explain.diffs import changed_lines, counted
from tritonx.explain.facts import AccessFacts, Facts
from tritonx.ir.explain import collected
from tritonx.ir.text import print_module
from tritonx.tools import opt


@tritonx.jit
def copy_rows(x, y, stride, n, N: tl.constexpr, BY_ROWS: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + at * (1 if BY_ROWS else stride))
    tl.store(y + at, v, mask=at < n)


@tritonx.jit
def transpose(x, y, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + j * N + i, tl.load(x + i * N + j))


@tritonx.jit
def matmul(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, at = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        x = tl.load(a + i * k + start + at[None, :])
        y = tl.load(b + (start + at[:, None]) * N + j)
        total += tl.dot(x, y)
    tl.store(c + i * N + j, total)


def source(kernel: Any, types: dict[str, str], constants: dict[str, object]) -> Any:
    signature = {**types, **dict.fromkeys(constants, "constexpr")}
    aligned = {(n,): [["tt.divisibility", 16]] for n in range(len(types))}
    return tritonx.compiler.ASTSource(kernel, signature, constants, aligned)


@cache
def copied(target: str, by_rows: bool) -> Facts:
    types = {"x": "*fp16", "y": "*fp16", "stride": "i32", "n": "i32"}
    return explain(source(copy_rows, types, {"N": 1024, "BY_ROWS": by_rows}), target).facts


@cache
def multiplied(target: str = "cuda:80") -> Report:
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}
    return explain(source(matmul, types, {"M": 64, "N": 64, "K": 32}), target)


def access(facts: Facts, kind: str, space: str = "global") -> AccessFacts:
    (found,) = (each for each in facts.accesses if each.kind == kind and each.space == space)
    return found


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_accesses_have_widths_and_sectors(target: str) -> None:
    lanes = 64 if target.startswith("hip") else 32
    together, apart = (access(copied(target, by_rows), "load") for by_rows in (True, False))
    assert together.width * together.bits == (64 if lanes == 64 else 128)
    assert together.sectors == together.sectors_least == lanes * together.width * together.bits // 8 // 32
    assert (apart.width, apart.sectors, apart.sectors_least) == (1, lanes, lanes * 2 // 32)
    assert copied(target, True).sources[0].lines[2].strip().startswith("at =")


def test_a_place_is_a_line_of_the_source() -> None:
    facts = copied("cuda:90", True)
    number, line = facts.places[access(facts, "load").place]
    assert "tl.load" in facts.sources[number].lines[line - facts.sources[number].first]
    for level in facts.levels:
        assert len(level.places) == len(level.lines)
        lines = {facts.places[place][1] for place in level.places if place >= 0}
        assert any("tl.store" in facts.sources[0].lines[each - facts.sources[0].first] for each in lines), level.name


def test_conflicts_are_those_of_the_layouts() -> None:
    facts = explain(source(transpose, {"x": "*fp32", "y": "*fp32"}, {"N": 32}), "cuda:90").facts
    shared = [each for each in facts.accesses if each.space == "shared"]
    assert {each.kind for each in shared} == {"store", "load"}
    assert all(
        each.wavefronts and each.wavefronts_least and each.wavefronts >= each.wavefronts_least for each in shared
    )
    (buffer,) = facts.buffers
    assert buffer.scratch and buffer.size == 32 * 32 * 4 and buffer.op == "ttg.convert_layout"


def test_buffers_fit_what_the_kernel_takes() -> None:
    facts = multiplied().facts
    assert facts.occupancy is not None
    assert max(each.offset + each.size for each in facts.buffers) <= facts.occupancy.shared
    for one in facts.buffers:
        for other in facts.buffers:
            if one is not other and one.first <= other.last and other.first <= one.last:
                assert one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
    ir = [level for level in facts.levels if level.kind == "ir"][-1]
    assert all(each.op in ir.lines[each.line] for each in (*facts.buffers, *facts.accesses))


def test_the_plan_has_the_units_over_time() -> None:
    (plan,) = multiplied().facts.plans
    assert plan.interval > 0 and plan.stages > 1 and plan.slots
    assert plan.bounds is not None and max(plan.bounds.values()) <= plan.interval
    threads = sorted((bar.start % plan.interval, bar.cycles) for bar in plan.bars if bar.unit == "threads")
    assert all(a + cycles <= b for (a, cycles), (b, _) in pairwise(threads))
    assert {bar.unit for bar in plan.bars} >= {"threads", "copies"}
    bound = multiplied().facts.bound
    assert bound is not None and bound.region == "loop" and bound.cycles[bound.bound] == max(bound.cycles.values())


def test_passes_that_change_are_those_that_print(tmp_path: Path) -> None:
    given = source(matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}, {"M": 64, "N": 64, "K": 32})
    backend, target = tritonx.backends.registry.parse_target("cuda:80")
    options = backend.parse_options(target, {})
    path = tmp_path / "k.ttir"
    path.write_text(print_module(given.make_module(target, options), debuginfo=True))
    stderr = io.StringIO()
    arguments = [str(path), "--target", "cuda:80", "--until", "ttgir", "--print-ir-after-change", "-o", "/dev/null"]
    assert opt.run(arguments, io.BytesIO(), io.StringIO(), stderr) == 0
    printed = [line.split()[5] for line in stderr.getvalue().splitlines() if "IR Dump After" in line]
    facts = multiplied().facts
    assert [each.name for each in facts.passes if each.changed] == printed
    assert all(bool(each.diff) == each.changed or not each.diff for each in facts.passes)
    assert any(each.levels and each.contract for each in facts.passes)


def test_layouts_span_their_tiles() -> None:
    facts = multiplied().facts
    assert {each.memory for each in facts.layouts} == {True, False}
    for layout in facts.layouts:
        reached = {0}
        for basis in (basis for bases in layout.bases.values() for basis in bases):
            reached |= {each ^ basis for each in reached}
        assert len(reached) == 1 << sum(layout.bits)
    ir = [level for level in facts.levels if level.kind == "ir"][-1]
    for span in ir.layouts:
        shape = "x".join(map(str, facts.layouts[span.layout].shape))
        assert f"<{shape}x" in ir.lines[span.line][span.start : span.end]


def test_a_hosts_loops_have_vectors() -> None:
    facts = copied("cpu", True)
    assert facts.occupancy is None and not facts.layouts
    assert {each.kind for each in facts.accesses} == {"vector"}
    (nest,) = facts.nests
    assert nest.shape == (1024,) and nest.width == facts.accesses[0].width > 1


def test_json_has_every_fact() -> None:
    found = json.loads(multiplied().json())
    assert found["schema"] == 1 and found["kernel"] == "matmul" and found["target"] == "cuda:80"
    assert [level["name"] for level in found["levels"]][:3] == ["tt", "ttir", "ttgir"]
    assert len(found["registers"]) == len(multiplied().facts.registers) and found["registers"][-1]["words"] >= 0


def test_a_diff_keeps_the_names_of_what_stays() -> None:
    before = "%0 = a\n%1 = b\n%2 = c %1\n%3 = d %2, %1"
    assert changed_lines(before, "%0 = b\n%1 = c %0\n%2 = d %1, %0") == (
        *("@@ -1,3 +1,2 @@", "-%0 = a", " %1 = b", " %2 = c %1"),
    )  # fmt: skip
    swapped = changed_lines(before, "%0 = a\n%1 = b\n%2 = c %0\n%3 = d %2, %1")
    assert counted(swapped) == (1, 1) and "+%2 = c %0" in swapped


def test_remarks_that_are_collected_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}
    with collected() as remarks:
        given = source(matmul, types, {"M": 64, "N": 64, "K": 16})
        tritonx.compile(given, target="cuda:80", options={"num_stages": 2})
    assert any(each.topic == "pipeline" and each.op == "scf.for" for each in remarks)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("registers", "shared", "limiter", "blocks"),
    [(32, 0, "threads", 16), (255, 0, "registers", 2), (64, 100_000, "shared memory", 2), (None, 0, "threads", 16)],
)
def test_occupancy_names_its_limiter(registers: int | None, shared: int, limiter: str, blocks: int) -> None:
    chip = Residency(threads=2048, blocks=32, registers=65536, granule=8, shared=233472, reserved=1024)
    found = chip.occupancy(128, registers, shared)
    assert (found.limiter, found.blocks, found.threads) == (limiter, blocks, 128 * blocks)
