"""Elements of shared memory at computed places: executed as PTX and by the asynchronous interpreter."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from tests.unit.backends.nvidia.written_ptx import ptx_of
from tritonx.interpreter.asynchronous import Kind, Setting, Warps, execute
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.ir.failure import PassFailure
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx_testing.emulators.ptx import run
from tritonx_testing.emulators.ptx.memory import Segment
from tritonx_testing.emulators.ptx.text import parse

SEED = int(os.environ["TRITONX_SEED"])
MEMORY = {
    "swizzled": "#ttg.swizzled_shared<{{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}}>",
    "columns": "#ttg.swizzled_shared<{{vec = 2, perPhase = 2, maxPhase = 4, order = [0, 1]}}>",
    "padded": "#ttg.padded_shared<[16:+4] {{order = [1, 0], shape = [{rows}, {columns}]}}>",
    "wide": "#ttg.nvmma_shared<{{swizzlingByteWidth = 32, transposed = false, elementBitWidth = {bits}}}>",
}
TEXT = """
#tile = #ttg.blocked<{{sizePerThread = [1, {held}], threadsPerWarp = [{lanes}], warpsPerCTA = [{warps}], order = [1, 0]}}>
#shared = {memory}
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = {blocks} : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @f(%v: !tt.ptr<{e}>, %s: !tt.ptr<{w}>, %g: !tt.ptr<{w}>, %o: !tt.ptr<{e}>) {{
    %r = tt.make_range {{start = 0 : i32, end = {rows} : i32}} : tensor<{rows}xi32, #ttg.slice<{{dim = 1, parent = #tile}}>>
    %c = tt.make_range {{start = 0 : i32, end = {columns} : i32}} : tensor<{columns}xi32, #ttg.slice<{{dim = 0, parent = #tile}}>>
    %r1 = tt.expand_dims %r {{axis = 1 : i32}} : tensor<{rows}xi32, #ttg.slice<{{dim = 1, parent = #tile}}>> -> tensor<{rows}x1xi32, #tile>
    %c1 = tt.expand_dims %c {{axis = 0 : i32}} : tensor<{columns}xi32, #ttg.slice<{{dim = 0, parent = #tile}}>> -> tensor<1x{columns}xi32, #tile>
    %n = arith.constant dense<{columns}> : tensor<{rows}x1xi32, #tile>
    %r2 = arith.muli %r1, %n : tensor<{rows}x1xi32, #tile>
    %r3 = tt.broadcast %r2 : tensor<{rows}x1xi32, #tile> -> tensor<{shape}xi32, #tile>
    %c3 = tt.broadcast %c1 : tensor<1x{columns}xi32, #tile> -> tensor<{shape}xi32, #tile>
    %i = arith.addi %r3, %c3 : tensor<{shape}xi32, #tile>
    %vs = tt.splat %v : !tt.ptr<{e}> -> tensor<{shape}x!tt.ptr<{e}>, #tile>
    %vp = tt.addptr %vs, %i : tensor<{shape}x!tt.ptr<{e}>, #tile>, tensor<{shape}xi32, #tile>
    %values = tt.load %vp : tensor<{shape}x!tt.ptr<{e}>, #tile>
    %ss = tt.splat %s : !tt.ptr<{w}> -> tensor<{shape}x!tt.ptr<{w}>, #tile>
    %sp = tt.addptr %ss, %i : tensor<{shape}x!tt.ptr<{w}>, #tile>, tensor<{shape}xi32, #tile>
    %to = tt.load %sp : tensor<{shape}x!tt.ptr<{w}>, #tile>
    %gs = tt.splat %g : !tt.ptr<{w}> -> tensor<{shape}x!tt.ptr<{w}>, #tile>
    %gp = tt.addptr %gs, %i : tensor<{shape}x!tt.ptr<{w}>, #tile>, tensor<{shape}xi32, #tile>
    %from = tt.load %gp : tensor<{shape}x!tt.ptr<{w}>, #tile>
    %os = tt.splat %o : !tt.ptr<{e}> -> tensor<{shape}x!tt.ptr<{e}>, #tile>
    %op = tt.addptr %os, %i : tensor<{shape}x!tt.ptr<{e}>, #tile>, tensor<{shape}xi32, #tile>
    %m = ttg.local_alloc : () -> {type}
    ttg.local_scatter %m[%to], %values {{axis = {a} : i32}} : {type}, tensor<{shape}x{w}, #tile>, tensor<{shape}x{e}, #tile>
    %x = ttg.local_gather %m[%from] {{axis = {b} : i32}} : {type}, tensor<{shape}x{w}, #tile> -> tensor<{shape}x{e}, #tile>
    tt.store %op, %x : tensor<{shape}x!tt.ptr<{e}>, #tile>
    tt.return
  }}
}}
"""  # noqa: E501
DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16, "f32": np.float32}


class Draw:
    """A module, its arrays, and what must be in the last one."""

    def __init__(self, seed: int, **given: Any) -> None:
        random, rng = Random(seed), np.random.default_rng(seed)
        memory = given.pop("memory", None) or random.choice(list(MEMORY))
        self.rows, self.columns = 16 << random.randrange(2), 32 << random.randrange(2)
        element, word = random.choice(["i8", "i16", "i32", "f16", "f32"]), random.choice(["i16", "i32", "i64"])
        self.axes = random.randrange(2), random.randrange(2)
        sizes = {"rows": self.rows, "columns": self.columns, "bits": 8 * np.dtype(DTYPES[element]).itemsize}
        fields: dict[str, Any] = {
            **sizes, "shape": f"{self.rows}x{self.columns}", "e": element, "w": word, "a": self.axes[0],
            "b": self.axes[1], "memory": MEMORY[memory].format(**sizes), "blocks": 1,
            "type": f"!ttg.memdesc<{self.rows}x{self.columns}x{element}, #shared, #smem, mutable>",
            "held": random.choice([1, 2, 4]), "lanes": random.choice(["4, 8", "32, 1", "1, 32"]),
            "warps": random.choice(["4, 1", "2, 2", "1, 4"]),
        }  # fmt: skip
        self.what = f"seed {seed}: {fields}"
        self.text = TEXT.format(**{**fields, **given})
        shape = self.rows, self.columns
        self.values = rng.integers(-100, 100, shape).astype(DTYPES[element])
        self.to = rng.permuted(np.indices(shape)[self.axes[0]], axis=self.axes[0]).astype(DTYPES[word])
        self.source = rng.integers(0, shape[self.axes[1]], shape).astype(DTYPES[word])
        held = np.zeros(shape, DTYPES[element])
        np.put_along_axis(held, self.to.astype(np.int64), self.values, self.axes[0])
        self.expected = np.take_along_axis(held, self.source.astype(np.int64), self.axes[1])
        self.out = np.zeros_like(held)

    @property
    def arrays(self) -> list[Any]:
        return [self.values, self.to, self.source, self.out]


@pytest.mark.parametrize("draw", range(10))
def test_executed_as_ptx(draw: int) -> None:
    case = Draw(SEED + draw)
    module = parse(ptx_of(case.text, "cuda:80"))
    starts = [0x10000 * (n + 1) for n in range(4)]
    flat = (each.view(np.uint8).reshape(-1) for each in case.arrays)
    segments = [Segment(at, each, "global") for at, each in zip(starts, flat, strict=True)]
    count = len(module.functions["f"].parameters)
    arguments = [*(at.to_bytes(8, "little") for at in starts), *[b""] * (count - 4)]
    run.execute(module, (1, 1, 1), arguments, segments, 1 << 16, SEED)
    np.testing.assert_array_equal(case.out, case.expected, case.what)


APART = Setting(warps=Warps.APART)
"""The modules say where warps wait."""
BARRIER = "    ttg.local_barrier\n"
GATHER = "    %x = ttg.local_gather"


@pytest.mark.parametrize("draw", range(10))
def test_interpreted(draw: int) -> None:
    case = Draw(SEED + draw)
    module = parse_module(case.text.replace(GATHER, BARRIER + GATHER))
    verify(module)
    assert not execute(module, 1, case.arrays, APART), case.what
    np.testing.assert_array_equal(case.out, case.expected, case.what)


def test_what_other_warps_have_scattered_needs_a_barrier() -> None:
    """Rows are scattered in the opposite order, and gathered in order: by another warp."""
    case = Draw(SEED, memory="swizzled", held=1, lanes="1, 32", warps="4, 1", a=0, b=0)
    case.to[...] = np.arange(case.rows)[::-1, None]
    case.source[...] = np.arange(case.rows)[:, None]
    assert {report.kind for report in execute(parse_module(case.text), 1, case.arrays, APART)} == {Kind.NOT_VISIBLE}
    assert not execute(parse_module(case.text.replace(GATHER, BARRIER + GATHER)), 1, case.arrays, APART)
    np.testing.assert_array_equal(case.out, case.values[::-1])


def test_a_place_outside() -> None:
    case = Draw(SEED)
    case.source[3, 5] = 100
    with pytest.raises(OutOfBoundsAccess, match=r"lane \(3, 5\) names element 100 along axis"):
        execute(parse_module(case.text.replace(GATHER, BARRIER + GATHER)), 1, case.arrays, APART)


def test_clusters_are_refused() -> None:
    case = Draw(SEED, memory="swizzled", blocks=2)
    text = case.text.replace("order = [1, 0]}>", "order = [1, 0], CGALayout = [[1, 0]]}>")
    with pytest.raises(PassFailure, match=r"ttg\.local_scatter in clusters is not supported"):
        ptx_of(text, "cuda:90", num_ctas=2)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("axis = 0 : i32} : !ttg", "axis = 2 : i32} : !ttg", "axis"),
        ("memdesc<32x64xf32, #shared, #smem, mutable>, tensor", "memdesc<32x64xf16, #shared, #smem, mutable>, tensor",
         "element types"),
        ("memdesc<32x64xf32, #shared, #smem, mutable>, tensor", "memdesc<32x32xf32, #shared, #smem, mutable>, tensor",
         "dimension 1 of the memory has 32 elements, that of the indices 64"),
    ],
)  # fmt: skip
def test_types(before: str, after: str, reason: str) -> None:
    text = """
#tile = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<32x64xf32, #shared, #smem, mutable>, %i: tensor<32x64xi32, #tile>) {
    %x = ttg.local_gather %m[%i] {axis = 0 : i32} : !ttg.memdesc<32x64xf32, #shared, #smem, mutable>, tensor<32x64xi32, #tile> -> tensor<32x64xf32, #tile>
    tt.return
  }
}
"""  # noqa: E501
    verify(parse_module(text))
    changed = text.replace(before, after)
    if "memdesc" in before:
        changed = changed.replace(before.removesuffix(", tensor") + ", %i", after.removesuffix(", tensor") + ", %i")
    with pytest.raises(VerifyException, match=reason):
        verify(parse_module(changed))
