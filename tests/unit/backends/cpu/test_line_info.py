"""The CPU's code says which lines of the source it comes from where it is asked to, and is the same code."""

from __future__ import annotations

import inspect
import os
import re
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx.explain import explain
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource

MARK = re.compile(r", !dbg !(\d+)$")
PLACE = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)")


@tritonx.jit
def halved(x):
    return x * 0.5


@tritonx.jit
def rows(x, y, n, stride, B: tl.constexpr):
    row = tl.program_id(0)
    if row >= n:
        return
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        at = start + tl.arange(0, B)
        v = tl.load(x + row * stride + at, at < n, 0)
        total = tl.maximum(total, v) + tl.sum(v)
    whole = tl.dot(total[:, None] + tl.zeros((B, B), tl.float32), tl.zeros((B, B), tl.float32) + 1)
    total = halved(total) + tl.cumsum(tl.sum(whole, 1))
    tl.store(y + row * stride + tl.arange(0, B), total)


def source(kernel: Any = rows) -> ASTSource:
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "stride": "i32", "B": "constexpr"}
    return ASTSource(kernel, signature, {"B": 16})


def test_marks_change_no_instruction() -> None:
    plain, marked = (compile(source(), "cpu", {"line_info": lines}).asm["llir"] for lines in (False, True))
    bare = [MARK.sub("", line) for line in marked.split("\n")]
    debug = [line for line in bare if re.match(r"!\d+ = .*!?DI|!\d+ = !\{|!llvm\.", line)]
    assert "!dbg" not in plain and len(debug) > 10
    own = [re.sub(r" !dbg !\d+ \{$", " {", line) for line in bare if line not in debug]
    assert own == [line for line in plain.split("\n") if line not in debug]


def test_lines_are_those_of_the_source() -> None:
    text = compile(source(), "cpu", {"line_info": True}).asm["llir"]
    lines = {m[1]: int(m[2]) for line in text.split("\n") if (m := PLACE.match(line))}
    body = text[text.index("define internal void @tx.program") :].split("\n}\n")[0].split("\n")
    instructions = [line for line in body[1:] if line.strip() and not line.endswith(":") and " alloca " not in line]
    assert all(MARK.search(line) for line in instructions)
    whole, first = inspect.getsourcelines(rows.fn)
    found: dict[str, set[str]] = {}
    for line in instructions:
        number = lines[MARK.search(line)[1]]  # type: ignore[index]
        shown = whole[number - first].strip() if 0 <= number - first < len(whole) else ""
        found.setdefault(shown, set()).add(line)
    loads = found["v = tl.load(x + row * stride + at, at < n, 0)"]
    assert any(" load " in line for line in loads)
    stores = found["tl.store(y + row * stride + tl.arange(0, B), total)"]
    assert any(" store <" in line or " store float" in line for line in stores)
    assert any(" fmul " in line for line in found[""]), "halved is another function"


def test_results_are_the_same() -> None:
    x = np.random.default_rng(int(os.environ["TRITONX_SEED"])).standard_normal((5, 100), np.float32)
    plain, marked = np.full_like(x, np.nan), np.full_like(x, np.nan)
    rows[(9,)](x, plain, 5, 100, B=16)
    rows[(9,)](x, marked, 5, 100, B=16, line_info=True)
    np.testing.assert_array_equal(plain, marked)
    assert np.isfinite(marked[:, :16]).all() and np.isnan(marked[:, 16:]).all()


def test_the_page_of_explain_has_them() -> None:
    (llir,) = (level for level in explain(source(), "cpu").facts.levels if level.name == "llir")
    assert sum(place >= 0 for place in llir.places) > len(llir.lines) / 2
