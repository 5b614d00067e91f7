"""Code says which lines of the source it comes from where it is asked to, and is the same code."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource
from tritonx_testing.emulators.ptx.backend import active, emulated


@tritonx.jit
def halved(x):
    return x * 0.5


@tritonx.jit(noinline=True)
def apart(x):
    return x - 1


@tritonx.jit
def product(a, b, c, k, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, BLOCK):
        x = tl.load(a + i * k + start + j, start + j < k, 0)
        y = tl.load(b + (start + i) * BLOCK + j, start + i < k, 0)
        total = tl.dot(x, y, total)
    total = halved(total)
    tl.store(c + i * BLOCK + j, tl.softmax(total) + apart(k))


@tritonx.jit
def scaled(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if n > 3:
        value = tl.load(x + at, at < n) * 2
        tl.store(x + at, value, at < n)


SIGNATURES = {
    product: ({"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}, {"BLOCK": 64}),
    scaled: ({"x": "*fp32", "n": "i32"}, {"BLOCK": 256}),
}


def made(kernel: Any, target: str, **options: Any) -> Any:
    signature, constants = SIGNATURES[kernel]
    signature = signature | dict.fromkeys(constants, "constexpr")
    return compile(ASTSource(kernel, signature, constants), target, options)


def lines_of(kernel: Any, text: str) -> set[str]:
    """The lines of this file that the text's places are in."""
    source, first = inspect.getsourcelines(kernel.fn)
    named = {int(line) for line in re.findall(r"\.loc\t\d+ (\d+) ", text)}
    return {source[n - first].strip() for n in named if first <= n < first + len(source)}


def bare(text: str) -> str:
    """Assembly without places, the labels around them and comments."""
    text = text.split("\t.section")[0]
    text = re.sub(r"(\s*//.*)|(\n\t\.(loc|file)\b.*)|(\n\$L__(tmp|func_\w+?)\d+:)", "", text)
    return re.sub(r"\n+", "\n", text).strip()


@pytest.mark.parametrize("target", ["cuda:75", "cuda:80", "cuda:90", "cuda:100", "cuda:120"])
@pytest.mark.parametrize("kernel", SIGNATURES, ids=["product", "scaled"])
def test_the_code_is_the_same(kernel: Any, target: str) -> None:
    plain, with_lines = made(kernel, target), made(kernel, target, line_info=True)
    assert "\t.loc" not in plain.asm["ptx"] and "\t.loc" in with_lines.asm["ptx"]
    assert bare(plain.asm["ptx"]) == bare(with_lines.asm["ptx"])


def test_statements_have_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_DISABLE_LINE_INFO", "0")
    ptx = made(product, "cuda:90").asm["ptx"]
    assert f'"{__file__}"' in ptx
    assert lines_of(product, ptx) >= {
        "x = tl.load(a + i * k + start + j, start + j < k, 0)",
        "y = tl.load(b + (start + i) * BLOCK + j, start + i < k, 0)",
        "total = tl.dot(x, y, total)",
        "tl.store(c + i * BLOCK + j, tl.softmax(total) + apart(k))",
    }
    assert lines_of(halved, ptx) == {"return x * 0.5"} and "return x - 1" in lines_of(apart, ptx)
    assert "standard.py" in ptx  # the softmax of the language


@pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx1201"])
def test_amd_assembly_has_them(target: str) -> None:
    assert ".loc" not in made(scaled, target).asm["amdgcn"]
    text = made(scaled, target, line_info=True).asm["amdgcn"]
    assert "tl.store(x + at, value, at < n)" in lines_of(scaled, text)


def test_such_code_runs() -> None:
    x = np.arange(300, dtype=np.float32)
    with active(emulated("90")):
        kernel = scaled[(2,)](x, 300, BLOCK=256, line_info=True)
    assert ".loc" in kernel.asm["ptx"]
    np.testing.assert_array_equal(x, 2 * np.arange(300))
