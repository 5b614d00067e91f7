"""What a compile says of its decisions, for who asks: of products, of accesses; as Triton's remarks too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource


@tritonx.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x = tl.load(a + i * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j)
    tl.store(c + i * N + j, tl.dot(x, y, input_precision=PRECISION))


@tritonx.jit
def accesses(a, b, c, n, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(a + at)
    y = tl.load(b + at * 3)
    tl.store(c + at, x + y, at % 5 < n)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))


def line_of(kernel: Any, text: str) -> int:
    return kernel.def_line_number + next(n for n, line in enumerate(kernel.src.splitlines()) if text in line)


@pytest.mark.parametrize(
    ("target", "type_", "shape", "options", "said"),
    [
        ("cuda:90", "fp16", (64, 64, 64), {}, "64x64x64 of f16 by wgmma (MMA version 3)"),
        ("cuda:90", "fp16", (32, 64, 64), {},
         "32x64x64 of f16 by mma.sync (MMA version 2); can't use wgmma (MMA version 3) due to unsupported shapes or "
         "data types: M = 32 is less than 64"),
        ("cuda:90", "fp16", (64, 64, 64), {"num_warps": 2}, "data types: 2 warps are no whole groups of 4"),
        ("cuda:80", "fp16", (64, 64, 64), {}, "64x64x64 of f16 by mma.sync (MMA version 2)"),
        ("cuda:80", "fp32", (64, 64, 64), {"PRECISION": "ieee"},
         "f32 by the threads' multiply-adds; can't use mma.sync (MMA version 2) due to unsupported shapes or data "
         'types: f32 is multiplied as tf32, and input_precision="ieee" does not allow that'),
        ("cuda:80", "fp16", (8, 16, 16), {}, "data types: M = 8 is less than 16"),
        ("cuda:75", "bf16", (64, 64, 64), {}, "data types: it does not sum products of bf16 in f32"),
        ("hip:gfx942", "fp16", (64, 64, 64), {}, "64x64x64 of f16 by MFMA"),
        ("hip:gfx1201", "fp16", (8, 64, 16), {}, "unsupported shapes or data types: M = 8 is less than 16"),
    ],
)  # fmt: skip
def test_products(
    target: str, type_: str, shape: tuple[int, int, int], options: dict[str, Any], said: str,
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("TRITONX_EXPLAIN", "products")
    constants = {**dict(zip("MNK", shape, strict=True)), "PRECISION": options.pop("PRECISION", None)}
    signature = {"a": f"*{type_}", "b": f"*{type_}", "c": "*fp32", **dict.fromkeys(constants, "constexpr")}
    compile(ASTSource(product, signature, constants), target, options)
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"{__file__}:{line_of(product, 'tl.dot')}:")
    assert line.endswith(said), line


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "hip:gfx1100"])
@pytest.mark.parametrize(
    "asked", [{}, {"TRITONX_EXPLAIN": "accesses"}, {"MLIR_ENABLE_DIAGNOSTICS": "remarks"},
              {"MLIR_ENABLE_DIAGNOSTICS": "remarks, operations,stacktraces"}]
)  # fmt: skip
def test_accesses(
    target: str, asked: dict[str, str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first load goes in vectors, of which nothing is said."""
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    signature = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32", "N": "constexpr"}
    source = ASTSource(accesses, signature, {"N": 1024}, aligned)
    compile(source, target)
    first = capfd.readouterr().err
    compile(source, target)  # is in the cache, and made again for who asks
    said = capfd.readouterr().err
    assert first == said or "stacktraces" in str(asked)
    lines = [line for line in said.splitlines() if "vectorization fails" in line]
    assert len(lines) == (2 if asked else 0) and (asked or not said)
    if not asked:
        return
    places = [f"{__file__}:{line_of(accesses, text)}:" for text in ("b + at * 3", "tl.store")]
    assert all(line.startswith(place) for line, place in zip(lines, places, strict=True))
    assert "runs of 1, each" in lines[0] and lines[1].endswith("and the mask has one value in runs of 1")
    topic = "remark" if "MLIR_ENABLE_DIAGNOSTICS" in asked else "accesses"
    assert all(f"{topic}: Warning: vectorization fails" in line for line in lines)
    noted = "operations" in asked.get("MLIR_ENABLE_DIAGNOSTICS", "")
    assert ("note: see current operation: " in said) == noted
    assert ("note: diagnostic emitted with trace:\n  File " in said) == noted


@tritonx.jit
def on_host(a, b, c, n, N: tl.constexpr, PRECISION: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    total = tl.zeros((N, N), tl.float32)
    for k in range(0, n, N):
        x = tl.load(a + i * n + (k + j))
        y = tl.load(b + (k + i) + j * n)
        total = tl.dot(x, y, total, input_precision=PRECISION)
    tl.store(c + i * 7 + j * 2, total)


HOST_SAYS = {
    "accesses": [("b + (k + i)", "bits are gathered, since"), ("c + i * 7", "bits are scattered, since")],
    "products": [("tl.dot", "32x32x32 of f32 by multiply-adds of")],
    "pipeline": [("for k in", "not pipelined: the processor runs ahead by itself; an iteration has 1 loop nest")],
}


@pytest.mark.parametrize("topics", ["accesses", "products", "pipeline", "accesses,products,pipeline", ""])
def test_host(topics: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """One line an op, however often it is emitted; nothing of the load of `a`, which goes in vectors."""
    monkeypatch.setenv("TRITONX_EXPLAIN", topics)
    signature = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32", "N": "constexpr", "PRECISION": "constexpr"}
    compile(ASTSource(on_host, signature, {"N": 32, "PRECISION": "tf32x3"}), "cpu")
    lines = capfd.readouterr().err.splitlines()
    wanted = [(t, *said) for t in HOST_SAYS if t in topics for said in HOST_SAYS[t]]
    assert len(lines) == len(wanted)
    for topic, text, said in wanted:
        (line,) = [line for line in lines if line.startswith(f"{__file__}:{line_of(on_host, text)}:") and said in line]
        assert f" {topic}: " in line and (topic != "products" or line.endswith("in 3 products of parts"))
