"""What Triton 3.9 writes in `ttg` and `ttng` and 3.6 does not, executed as PTX and by the asynchronous interpreter."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.nvidia.written_ptx import ptx_of
from tritonx.interpreter.asynchronous import execute
from tritonx.interpreter.errors import UnsupportedInInterpreter
from tritonx.ir.failure import PassFailure
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx_testing.emulators.ptx import run
from tritonx_testing.emulators.ptx.memory import Segment
from tritonx_testing.emulators.ptx.text import parse

SEED = int(os.environ["TRITONX_SEED"])
SIZE = 512
DTYPES = {"f32": np.float32, "f16": np.float16}
TEXT = """
#tile = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [WARPS], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = WARPS : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%a: !tt.ptr<ELEM> {tt.divisibility = 16 : i32}, %b: !tt.ptr<ELEM> {tt.divisibility = 16 : i32}, %c: !tt.ptr<ELEM> {tt.divisibility = 16 : i32}, %o: !tt.ptr<ELEM> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #tile>
    %limit = arith.constant dense<500> : tensor<512xi32, #tile>
    %most = arith.cmpi slt, %i, %limit : tensor<512xi32, #tile>
    %as = tt.splat %a : !tt.ptr<ELEM> -> tensor<512x!tt.ptr<ELEM>, #tile>
    %ap = tt.addptr %as, %i : tensor<512x!tt.ptr<ELEM>, #tile>, tensor<512xi32, #tile>
    %bs = tt.splat %b : !tt.ptr<ELEM> -> tensor<512x!tt.ptr<ELEM>, #tile>
    %bp = tt.addptr %bs, %i : tensor<512x!tt.ptr<ELEM>, #tile>, tensor<512xi32, #tile>
    %cs = tt.splat %c : !tt.ptr<ELEM> -> tensor<512x!tt.ptr<ELEM>, #tile>
    %cp = tt.addptr %cs, %i : tensor<512x!tt.ptr<ELEM>, #tile>, tensor<512xi32, #tile>
    %os = tt.splat %o : !tt.ptr<ELEM> -> tensor<512x!tt.ptr<ELEM>, #tile>
    %op = tt.addptr %os, %i : tensor<512x!tt.ptr<ELEM>, #tile>, tensor<512xi32, #tile>
    %x = tt.load %ap {cachePolicy = #ttng.cache_policy<l1 = no_allocate, l2_primary = evict_last, l2_secondary = evict_first, l2_fraction = 5.000000e-01 : f32, l2_prefetch_size = 256 : i32>} : tensor<512x!tt.ptr<ELEM>, #tile>
    %y = tt.load %bp, %most, %x {cachePolicy = #ttng.cache_policy<l2_primary = evict_unchanged, l2_secondary = evict_unchanged, l2_fraction = 2.500000e-01 : f32>} : tensor<512x!tt.ptr<ELEM>, #tile>
    %z = tt.load %cp {cachePolicy = #ttng.cache_policy<cache_modifier = cg>} : tensor<512x!tt.ptr<ELEM>, #tile>
    BODY
    tt.store %op, %r, %most {cachePolicy = #ttng.cache_policy<l1 = evict_first, l2_primary = evict_first, l2_secondary = evict_unchanged, l2_fraction = 1.000000e+00 : f32>} : tensor<512x!tt.ptr<ELEM>, #tile>
    tt.return
  }
}
"""  # noqa: E501
TWO = "(tensor<512xELEM, #tile>, tensor<512xELEM, #tile>) -> tensor<512xELEM, #tile>"
THREE = TWO.replace("(", "(tensor<512xELEM, #tile>, ")
KINDS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda x, y, z: x + y,
    "sub": lambda x, y, z: x - y,
    "mul": lambda x, y, z: x * y,
    "fma": lambda x, y, z: (x.astype(np.float64) * y + z).astype(x.dtype),
    "min": lambda x, y, z: np.fmin(x, y),
    "max": lambda x, y, z: np.fmax(x, y),
}


def _text(elem: str, body: str, warps: int = 4) -> str:
    return TEXT.replace("BODY", body).replace("ELEM", elem).replace("WARPS", str(warps))


def _packed(kind: str, elem: str) -> str:
    given = "fma %x, %y, %z" if kind == "fma" else f"{kind} %x, %y"
    return _text(elem, f"%r = ttng.packed_arith {given} : {THREE if kind == 'fma' else TWO}")


def _arrays(elem: str) -> list[Any]:
    rng = np.random.default_rng(SEED)
    arrays = [rng.standard_normal(SIZE).astype(DTYPES[elem]) for _ in range(3)]
    arrays[0][7], arrays[1][9] = np.nan, np.nan
    return [*arrays, np.zeros(SIZE, DTYPES[elem])]


def _emulated(text: str, target: str, arrays: list[Any]) -> str:
    """Runs the PTX of a module on arrays, and gives it."""
    ptx = ptx_of(text, target)
    module = parse(ptx)
    starts = [0x10000 * (n + 1) for n in range(len(arrays))]
    flat = (each.view(np.uint8).reshape(-1) for each in arrays)
    segments = [Segment(at, each, "global") for at, each in zip(starts, flat, strict=True)]
    count = len(module.functions["f"].parameters) - len(arrays)
    run.execute(module, (1, 1, 1), [*(at.to_bytes(8, "little") for at in starts), *[b""] * count], segments, 0, SEED)
    return ptx


CASES = [(kind, elem) for elem in DTYPES for kind in KINDS if elem == "f16" or kind not in ("min", "max")]


@pytest.mark.parametrize(("kind", "elem"), CASES)
def test_packed_arithmetic(kind: str, elem: str) -> None:
    text, arrays = _packed(kind, elem), _arrays(elem)
    x, y, z, out = arrays
    expected = KINDS[kind](x, np.where(np.arange(SIZE) < 500, y, x), z)
    expected[500:] = 0
    module = parse_module(text)
    verify(module)
    assert not execute(module, 1, arrays)
    np.testing.assert_array_equal(out, expected)
    for target in ("cuda:75", "cuda:90", "cuda:100"):
        out[...] = 0
        _emulated(text, target, arrays)
        np.testing.assert_array_equal(out, expected, target)


def test_pairs_are_one_instruction_where_the_chip_has_it() -> None:
    """LLVM forms it."""
    assert "fma.rn.f32x2" in ptx_of(_packed("fma", "f32"), "cuda:100")
    assert "f32x2" not in ptx_of(_packed("fma", "f32"), "cuda:90")
    assert "add.rn.f16x2" in ptx_of(_packed("add", "f16"), "cuda:90")


def test_several_types_are_refused() -> None:
    body = (
        "%w = arith.extf %x : tensor<512xf16, #tile> to tensor<512xf32, #tile>\n"
        "%s = ttng.packed_arith add %x, %w : (tensor<512xf16, #tile>, tensor<512xf32, #tile>)"
        " -> tensor<512xf32, #tile>\n"
        "%r = arith.truncf %s : tensor<512xf32, #tile> to tensor<512xf16, #tile>"
    )
    text = _text("f16", body)
    verify(parse_module(text))
    with pytest.raises(PassFailure, match=r"no code is generated for ttng\.packed_arith of several types"):
        ptx_of(text, "cuda:100")
    with pytest.raises(UnsupportedInInterpreter, match=r"ttng\.packed_arith' of several types"):
        execute(parse_module(text), 1, _arrays("f16"))


def test_cache_policies() -> None:
    """Modifiers and policies; chips before 8.0 have none of the second-level cache."""
    arrays = _arrays("f32")
    ptx = _emulated(_packed("add", "f32"), "cuda:80", arrays)
    assert "createpolicy.fractional.L2::evict_last.L2::evict_first.b64" in ptx
    assert ptx.count("createpolicy.") == 3
    assert "ld.global.L1::no_allocate.L2::cache_hint.L2::256B.v4.b32" in ptx
    assert "st.global.L1::evict_first.L2::cache_hint" in ptx
    assert "ld.global.cg.v4.b32" in _emulated(_packed("fma", "f32"), "cuda:80", arrays)
    older = ptx_of(_packed("add", "f32"), "cuda:75")
    assert "L2::" not in older and "ld.global.L1::no_allocate.v4.b32" in older


WARP = """%w = ttg.warp_id
    %v = tt.splat %w : i32 -> tensor<512xi32, #tile>
    %r = arith.sitofp %v : tensor<512xi32, #tile> to tensor<512xf32, #tile>"""


def test_numbers_of_warps() -> None:
    arrays = _arrays("f32")
    _emulated(_text("f32", WARP), "cuda:80", arrays)
    np.testing.assert_array_equal(arrays[3][:500], (np.arange(SIZE) // 128)[:500])
    with pytest.raises(UnsupportedInInterpreter, match=r"'ttg\.warp_id' differs between the 4 warps"):
        execute(parse_module(_text("f32", WARP)), 1, arrays)
    assert not execute(parse_module(_text("f32", WARP, warps=1)), 1, arrays)
    assert not arrays[3].any()
