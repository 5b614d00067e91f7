"""What each level decides: the dtypes of results, the ops that they become, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block, Operation

import tritonx
import tritonx.language as tl
from tritonx import level
from tritonx.backends.api import Target
from tritonx.frontend.errors import CompilationError
from tritonx.frontend.semantics import Semantics, ir_type
from tritonx.interpreter import interpreted
from tritonx.interpreter.options import InterpreterOptions
from tritonx.ir.builder import Builder
from tritonx.kernel import active
from tritonx.language.values.tensor import tensor

LEVELS = [*level.LEVELS]
NAMES = {"h": "float16", "b": "bfloat16", "s": "float32", "q": "float8e5", "i": "int32", "u": "uint8", "n": "int8"}
"""A letter for a block of each dtype."""


def blocks() -> dict[str, tensor]:
    types = {name: tl.block_type(getattr(tl, dtype), (16,)) for name, dtype in NAMES.items()}
    return {name: tensor(Block(arg_types=[ir_type(t)]).args[0], t) for name, t in types.items()}


def evaluated(text: str) -> tensor:
    """An expression over these blocks, through the semantics."""
    with active.activate(Semantics(Builder(Block()), InterpreterOptions(), Target("cpu"))):
        return eval(text, {"tl": tl, **blocks()})


def outcome(text: str) -> str:
    """The dtype of an expression, or the class of its error."""
    try:
        return str(evaluated(text).dtype)
    except (TypeError, ValueError, AssertionError) as error:
        return type(error).__name__


DTYPES = {
    # expression: (the level that it changes at, before, from there on)
    "tl.maximum(b, b)": ("3.9", "fp32", "bf16"),
    "tl.minimum(b, 0.0)": ("3.9", "fp32", "bf16"),
    "tl.clamp(b, 0.0, 1.0)": ("3.9", "fp32", "bf16"),
    "tl.clamp(n, 0, 1)": ("3.9", "TypeError", "int8"),
    "tl.maximum(h, 0.1)": ("3.9", "fp32", "fp16"),
    "tl.minimum(n, 7)": ("3.9", "int32", "int8"),
    "tl.minimum(u, 300)": ("3.9", "int32", "ValueError"),
    "tl.minimum(i, 0.5)": ("3.9", "fp32", "fp32"),
    "tl.where(h > 0, h, 0.0)": ("3.9", "fp16", "fp16"),
    "tl.fma(h, 2.0, 1.0)": ("3.9", "fp32", "fp16"),
    "tl.fma(1.0, n, 2)": ("3.9", "fp32", "fp32"),
    "tl.fma(h, s, 1e300)": ("3.9", "fp64", "fp32"),
    "tl.clamp(h, s, 1.0)": ("3.9", "fp32", "fp32"),
    "u < 300": ("3.9", "int1", "ValueError"),
    "u == -1": ("3.9", "int1", "ValueError"),
    "h < 0.1": ("3.9", "int1", "int1"),
    "q / 3": ("3.9", "fp8e5", "fp32"),
    "q % 3.0": ("3.9", "fp8e5", "fp32"),
    "q / q": ("3.9", "fp8e5", "fp32"),
    "q * q": ("3.9", "fp8e5", "fp8e5"),
    "h / 3": ("3.9", "fp32", "fp32"),
    "tl.fdiv(h, h)": ("3.9", "fp16", "fp32"),
    "tl.fdiv(s, 3)": ("3.9", "TypeError", "fp32"),
    "tl.fdiv(i, i)": ("3.9", "TypeError", "TypeError"),
    "tl.histogram(n, 16)": ("3.9", "int32", "ValueError"),
    "tl.histogram(i, 16)": ("3.9", "int32", "int32"),
}


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("text", DTYPES)
def test_a_dtype_is_that_of_the_level(name: str, text: str) -> None:
    first, before, after = DTYPES[text]
    with level.at(name):
        assert outcome(text) == (after if name >= first else before)


@pytest.mark.parametrize("name", LEVELS)
def test_the_sign_of_a_negated_zero(name: str) -> None:
    with level.at(name):
        made: Any = evaluated("-s").handle.owner
        assert isinstance(made, Operation)
        assert made.name == ("arith.negf" if name >= "3.8" else "arith.subf")
        assert evaluated("-i").handle.owner.name == "arith.subi"


@pytest.mark.parametrize("name", LEVELS)
def test_a_product_without_a_dtype_has_that_of_its_accumulator(name: str) -> None:
    half = "tl.full((16, 16), 1, tl.float16)"
    with level.at(name):
        assert outcome(f"tl.dot({half}, {half})") == "fp32"
        assert outcome(f"tl.dot({half}, {half}, {half})") == ("fp16" if name >= "3.8" else "AssertionError")
        assert outcome(f"tl.dot({half}, {half}, {half}, out_dtype=tl.float16)") == "fp16"


def scans() -> Any:
    """A new kernel each time: a process has one level, so that the keys of kernels in memory do not hold it."""

    @tritonx.jit
    def kernel(b, n, kinds: tl.constexpr):
        i = tl.arange(0, 16)
        x, y = tl.load(b + i), tl.load(n + i)
        tl.static_assert(tl.cumsum(x, 0).dtype == kinds[0])
        tl.static_assert(tl.cumprod(x, 0).dtype == kinds[0])
        tl.static_assert(tl.max(x, 0, return_indices=True)[0].dtype == kinds[0])
        tl.static_assert(tl.max(x, 0).dtype == tl.float32)
        tl.static_assert(tl.cumprod(y, 0).dtype == kinds[1])
        tl.static_assert(tl.cumprod(y, 0, dtype=tl.int64).dtype == tl.int64)
        tl.static_assert(tl.cumsum(y, 0).dtype == tl.int32)

    return kernel


@pytest.mark.parametrize("name", LEVELS)
def test_scans_have_the_dtypes_of_the_level(name: str) -> None:
    kinds = (tl.bfloat16, tl.int32) if name >= "3.9" else (tl.float32, tl.int8)
    with level.at(name):
        tritonx.compile(tritonx.compiler.ASTSource(scans(), {"b": "*bf16", "n": "*i8"}, {"kinds": kinds}), "cpu")


def returning() -> Any:
    @tritonx.jit
    def width(n: tl.constexpr):
        return n * 4

    @tritonx.jit
    def sign(n):
        if n > 3:
            return 1, 5
        if n < 0:
            return -1, 5
        return n * 0, 5

    @tritonx.jit
    def kernel(h, out, n):
        size: tl.constexpr = width(4)
        i = tl.arange(0, size)
        value = tl.load(h + i) * width(0.5)
        tl.static_assert(value.dtype == tl.float16)
        first, _second = sign(n)
        tl.store(out + i, value.to(tl.float32) * first + sign(n)[1])
        static: tl.constexpr = sign(n)[1]
        tl.static_assert(static == 5)

    return kernel


@pytest.mark.parametrize("name", ["3.7", "3.9"])
@pytest.mark.parametrize("kind", [lambda kernel: kernel, interpreted], ids=["cpu", "lines"])
@pytest.mark.parametrize(("n", "factor"), [(5, 2.0), (-1, -2.0), (2, 0.0)])
def test_a_constant_that_is_returned_stays_one(name: str, kind: Any, n: int, factor: float) -> None:
    h, out = np.arange(16, dtype=np.float16), np.zeros(16, np.float32)
    with level.at(name):
        kind(returning())[(1,)](h, out, n)
    assert np.array_equal(out, h.astype(np.float32) * factor + 5)


@pytest.mark.level("3.6")
def test_a_constant_that_is_returned_became_a_tensor() -> None:
    with pytest.raises(CompilationError, match="constexpr"):
        returning().warmup(np.zeros(16, np.float16), np.zeros(16, np.float32), 1, grid=(1,))


def starred() -> Any:
    @tritonx.jit
    def kernel(x):
        a, *b = 1, 2, 3
        tl.store(x, a + b[0])

    return kernel


@pytest.mark.parametrize("name", LEVELS)
def test_starred_targets(name: str) -> None:
    x = np.zeros(1, np.int32)
    with level.at(name):
        if name < "3.9":
            starred()[(1,)](x)
            assert x[0] == 3
        else:
            with pytest.raises(CompilationError, match="starred assignment targets are not supported"):
                starred()[(1,)](x)


def test_negative_zero_where_it_is_executed() -> None:
    def made() -> Any:
        @tritonx.jit
        def kernel(x):
            tl.store(x + tl.arange(0, 4), -tl.load(x + tl.arange(0, 4)))

        return kernel

    for name in LEVELS:
        for kind in (lambda kernel: kernel, interpreted):
            x = np.zeros(4, np.float32)
            with level.at(name):
                kind(made())[(1,)](x)
            assert np.signbit(x).all() == (name >= "3.8")


def test_what_is_stored_as_a_truth() -> None:
    def made() -> Any:
        @tritonx.jit
        def kernel(x, n, f):
            tl.store(x, f)
            tl.store(x + 1, n)
            tl.store(x + 2, n * 2 + 1)
            tl.store(x + tl.arange(4, 8), tl.full((4,), 3, tl.int32), mask=tl.arange(0, 4) < 2)

        return kernel

    for name in LEVELS:
        for kind in (lambda kernel: kernel, interpreted):
            x = np.zeros(8, np.bool_)
            with level.at(name):
                kind(made())[(1,)](x, 256, 0.5)
            stored = [1, 1, 1, 0, 1, 1, 0, 0] if name >= "3.9" else [0, 0, 1, 0, 3, 3, 0, 0]
            assert x.view(np.uint8).tolist() == stored


PROGRAM = """
import json, tritonx
from tritonx import level
from tritonx.runtime import knobs
from tritonx.runtime.compiling.keys import environment_key
print(json.dumps([level.active().name, knobs.language.level, tritonx.__triton_version__, environment_key()]))
"""


def in_process(**environment: str) -> Any:
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)


def test_a_process_has_the_level_of_its_environment() -> None:
    told = [json.loads(in_process(TRITONX_LEVEL=name).stdout) for name in LEVELS]
    assert [t[0] for t in told] == [t[1] for t in told] == LEVELS
    assert [t[2].rpartition(".")[0] for t in told] == LEVELS
    assert len({t[3] for t in told}) == len(LEVELS), "the level is part of the key"


def test_another_level_is_refused() -> None:
    assert "'4.0' is no level: TRITONX_LEVEL is one of 3.6, 3.7, 3.8, 3.9" in in_process(TRITONX_LEVEL="4.0").stderr


@pytest.mark.parametrize("name", LEVELS)
def test_the_text_of_a_configuration(name: str) -> None:
    with level.at(name):
        text = str(tritonx.Config({"B": 4}, maxnreg=64))
    assert text == "B: 4, num_warps: 4, num_ctas: 1, num_stages: 3, maxnreg: 64" + ", ir_override: None" * (
        name == "3.9"
    )
    with level.at(name):
        assert str(tritonx.Config({}, ir_override="k.ttir")).endswith("maxnreg: None, ir_override: k.ttir")
