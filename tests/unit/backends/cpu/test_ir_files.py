"""Modules that no kernel's source gives, compiled from their text: branches in cycles, the type `index`."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tritonx.interpreter.machine import interpret
from tritonx.ir.text import parse_module
from tritonx.runtime.compiling.compiler import compile

TWO_ENTRIES = """
tt.func public @f(%x: !tt.ptr<i32>, %n: i32, %way: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %p = tt.splat %x : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %q = tt.addptr %p, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %v = tt.load %q : tensor<32x!tt.ptr<i32>>
  %c = arith.cmpi slt, %way, %one : i32
  cf.cond_br %c, ^first(%zero, %v : i32, tensor<32xi32>), ^second(%zero, %v : i32, tensor<32xi32>)
^first(%a: i32, %s: tensor<32xi32>):
  %t = arith.addi %s, %i : tensor<32xi32>
  %a1 = arith.addi %a, %one : i32
  %more = arith.cmpi slt, %a1, %n : i32
  cf.cond_br %more, ^second(%a1, %t : i32, tensor<32xi32>), ^end(%t : tensor<32xi32>)
^second(%b: i32, %u: tensor<32xi32>):
  %w = arith.muli %u, %u : tensor<32xi32>
  %b1 = arith.addi %b, %one : i32
  %again = arith.cmpi slt, %b1, %n : i32
  cf.cond_br %again, ^first(%b1, %w : i32, tensor<32xi32>), ^end(%w : tensor<32xi32>)
^end(%r: tensor<32xi32>):
  tt.store %q, %r : tensor<32x!tt.ptr<i32>>
  tt.return
}
"""

INDEX = """
tt.func public @f(%x: !tt.ptr<i64>, %n: i64) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.index_cast %n : i64 to index
  %start = tt.load %x : !tt.ptr<i64>
  %sum = scf.for %i = %zero to %end step %one iter_args(%s = %start) -> (i64) {
    %k = arith.index_cast %i : index to i64
    %t = arith.addi %s, %k : i64
    scf.yield %t : i64
  }
  tt.store %x, %sum : !tt.ptr<i64>
  tt.return
}
"""


def same_as_interpreted(text: str, tmp_path: Path, array: Any, *scalars: int) -> None:
    path = tmp_path / "module.ttir"
    path.write_text(text)
    compiled: Any = compile(str(path))
    ours, theirs = array.copy(), array.copy()
    compiled[(1,)](ours, *scalars)
    interpret(parse_module(text), (1,), [theirs, *scalars])
    assert ours.tobytes() == theirs.tobytes() != array.tobytes()


@pytest.fixture(autouse=True)
def fresh_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_cycle_with_two_entries(tmp_path: Path, n: int, way: int) -> None:
    same_as_interpreted(TWO_ENTRIES, tmp_path, np.arange(2, 34, dtype=np.int32), n, way)


def test_index_is_64_bits_wide(tmp_path: Path) -> None:
    same_as_interpreted(INDEX, tmp_path, np.array([5 << 33], np.int64), 100)


LISTS: dict[str, tuple[np.dtype[Any], list[str]]] = {
    "i1": (np.dtype(np.bool_), ["true", "false"]),
    "i8": (np.dtype(np.int8), ["-1", "-2", "127", "-128", "0"]),
    "i16": (np.dtype(np.int16), ["-1", "-2", "32767", "-32768"]),
    "i32": (np.dtype(np.int32), ["-1", "-2", "2147483647", "7"]),
    "i64": (np.dtype(np.int64), ["-1", "-2", "9223372036854775807", "2305843009213693951"]),
    "f16": (np.dtype(np.float16), ["-1.0", "-2.0", "0.5", "-0.0", "6.5504e4"]),
    "bf16": (np.dtype(ml_dtypes.bfloat16), ["-1.0", "-2.0", "0.5", "-0.0", "0x7F80"]),
    "f8E5M2": (np.dtype(ml_dtypes.float8_e5m2), ["-1.0", "-2.0", "0.5", "-0.0"]),
    "f32": (np.dtype(np.float32), ["-1.0", "-2.0", "0x7F800000", "0x7FC00000", "1.0e-40"]),
    "f64": (np.dtype(np.float64), ["-1.0", "-2.0", "1.0e300", "0x7FF8000000000000"]),
}
"""The numbers that lists of each type are drawn from; -1 and -2 have the same hash in Python."""


@pytest.mark.parametrize("element", LISTS)
def test_tiles_that_list_their_elements(element: str, tmp_path: Path) -> None:
    """Two that differ in -1 and -2 alone, others drawn, one twice, and one that is read along its columns."""
    dtype, numbers = LISTS[element]
    rng = random.Random(int(os.environ["TRITONX_SEED"]))
    first = [rng.choice(numbers) for _ in range(32)]
    lists = [[numbers[0], *first[1:]], [numbers[1], *first[1:]], [rng.choice(numbers) for _ in range(32)]]
    tile, pointers = "tensor<4x8x{}>".format, f"tensor<32x!tt.ptr<{element}>>"
    body = ""
    for k, values in enumerate([*lists, lists[0]]):
        rows = ", ".join(f"[{', '.join(values[i : i + 8])}]" for i in range(0, 32, 8))
        source = f"%t{k} : tensor<8x4x{element}>" if k == 2 else f"%c{k} : {tile(element)}"
        body += f"""
  %c{k} = arith.constant dense<[{rows}]> : {tile(element)}
  %t{k} = tt.trans %c{k} {{order = array<i32: 1, 0>}} : {tile(element)} -> tensor<8x4x{element}>
  %f{k} = tt.reshape {source} -> tensor<32x{element}>
  %o{k} = arith.constant dense<{32 * k}> : tensor<32xi32>
  %j{k} = arith.addi %i, %o{k} : tensor<32xi32>
  %q{k} = tt.addptr %p, %j{k} : {pointers}, tensor<32xi32>
  tt.store %q{k}, %f{k} : {pointers}
"""
    text = f"""
tt.func public @f(%x: !tt.ptr<{element}>) {{
  %i = tt.make_range {{start = 0 : i32, end = 32 : i32}} : tensor<32xi32>
  %p = tt.splat %x : !tt.ptr<{element}> -> {pointers}
{body}
  tt.return
}}
"""
    same_as_interpreted(text, tmp_path, np.full(128, 0, dtype))


@pytest.mark.parametrize("pointee", ["i1", "i8", "f16", "f32", "i64"])
@pytest.mark.parametrize("width", [1, 8, 16, 32, 64])
def test_offsets_count_elements_and_have_a_sign(pointee: str, width: int, tmp_path: Path) -> None:
    """Of every width, one by one and as a tile; a set i1 is -1. Nothing is read at the addresses."""
    size = {"i1": 1, "i8": 1, "f16": 2, "f32": 4, "i64": 8}[pointee]
    rng, half = random.Random(int(os.environ["TRITONX_SEED"])), 1 << (width - 1)
    numbers = [-half, half - 1, *(rng.randrange(-half, half) for _ in range(6))]
    numbers = [n % (1 << 40) - (1 << 39) if width == 64 else n for n in numbers]
    low = [f"arith.constant {n} : i64" for n in numbers]
    body = "".join(
        f"""
  %w{k} = {text}
  %n{k} = {f"arith.trunci %w{k} : i64 to i{width}" if width < 64 else f"arith.addi %w{k}, %zero : i64"}
  %p{k} = tt.addptr %base, %n{k} : !tt.ptr<{pointee}>, i{width}
  %i{k} = tt.ptr_to_int %p{k} : !tt.ptr<{pointee}> -> i64
  %d{k} = arith.subi %i{k}, %start : i64
  %o{k} = arith.constant {k} : i32
  %x{k} = tt.addptr %x, %o{k} : !tt.ptr<i64>, i32
  tt.store %x{k}, %d{k} : !tt.ptr<i64>
"""
        for k, text in enumerate(low)
    )
    narrow = f"arith.trunci %list : tensor<8xi64> to tensor<8xi{width}>"
    text = f"""
tt.func public @f(%x: !tt.ptr<i64>) {{
  %zero = arith.constant 0 : i64
  %start = tt.ptr_to_int %x : !tt.ptr<i64> -> i64
  %base = tt.bitcast %x : !tt.ptr<i64> -> !tt.ptr<{pointee}>
{body}
  %r = tt.make_range {{start = 0 : i32, end = 8 : i32}} : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<i64> -> tensor<8x!tt.ptr<i64>>
  %xp = tt.addptr %xs, %r : tensor<8x!tt.ptr<i64>>, tensor<8xi32>
  %list = arith.constant dense<[{", ".join(map(str, numbers))}]> : tensor<8xi64>
  %n = {narrow if width < 64 else "arith.addi %list, %list : tensor<8xi64>"}
  %bs = tt.splat %base : !tt.ptr<{pointee}> -> tensor<8x!tt.ptr<{pointee}>>
  %ps = tt.addptr %bs, %n : tensor<8x!tt.ptr<{pointee}>>, tensor<8xi{width}>
  %is = tt.ptr_to_int %ps : tensor<8x!tt.ptr<{pointee}>> -> tensor<8xi64>
  %ss = tt.splat %start : i64 -> tensor<8xi64>
  %ds = arith.subi %is, %ss : tensor<8xi64>
  %eight = arith.constant dense<8> : tensor<8xi32>
  %xq = tt.addptr %xp, %eight : tensor<8x!tt.ptr<i64>>, tensor<8xi32>
  tt.store %xq, %ds : tensor<8x!tt.ptr<i64>>
  tt.return
}}
"""
    found = np.full(16, 12345, np.int64)
    same_as_interpreted(text, tmp_path, found)
    interpret(parse_module(text), (1,), [found])
    times = 2 if width == 64 else 1
    assert found.tolist() == [n * size for n in numbers] + [n * times * size for n in numbers]
