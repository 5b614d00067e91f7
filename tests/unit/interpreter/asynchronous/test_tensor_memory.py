"""Products and tiles in tensor memory, executed as `ttg`: the results are NumPy's, without a report, before and after
the passes that place memory and insert barriers; what does not wait is reported."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.nvidia import BACKEND
from tritonx.interpreter.asynchronous import execute
from tritonx.ir.pipeline import run_pass_stage
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify

sys.path.insert(0, str(Path(__file__).parents[3]))

from tensor_memory_programs import PASSAGES, PRODUCTS, Passage, Product

SEED = int(os.environ["TRITONX_SEED"])
DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "i32": np.int32,
    "i8": np.int8,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


def module_of(text: str, warps: int, *, placed: bool) -> ModuleOp:
    module = parse_module(text)
    verify(module)
    if placed:
        target = BACKEND.parse_target("100")
        compilation = Compilation(target, BACKEND.parse_options(target, {"num_warps": warps}))
        for stage in BACKEND.stages(target, compilation.options)[:2]:
            assert isinstance(stage, PassStage)
            run_pass_stage(module, stage.remaining(module), compilation)
        verify(module)
    return module


def drawn(random: np.random.Generator, element: str, shape: tuple[int, int]) -> np.ndarray:
    """Small integers, of which sums are exact in every format."""
    return random.integers(-3, 4, shape).astype(DTYPES[element])


def operands(product: Product) -> tuple[list[np.ndarray], np.ndarray]:
    random = np.random.default_rng(SEED)
    a = drawn(random, product.element, (product.m, product.k))
    b = drawn(random, product.other or product.element, (product.k, product.n))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    given = [a, b]
    if product.adds:
        given.append(drawn(random, product.result, (product.m, product.n)))
        expected = expected + given[-1].astype(np.float64)
    return given, expected


def poisoned(element: str, shape: tuple[int, int]) -> np.ndarray:
    return np.full(shape, -77, DTYPES[element])


@pytest.mark.parametrize("placed", [False, True], ids=["as written", "placed"])
@pytest.mark.parametrize("product", PRODUCTS, ids=lambda one: one.name)
def test_products(product: Product, placed: bool) -> None:
    given, expected = operands(product)
    out = poisoned(product.result, (product.m, product.n))
    assert execute(module_of(product.text(), product.warps, placed=placed), 1, [*given, out]) == ()
    np.testing.assert_array_equal(out.astype(np.float64), expected)


@pytest.mark.parametrize("placed", [False, True], ids=["as written", "placed"])
@pytest.mark.parametrize("passage", PASSAGES, ids=lambda one: one.name)
def test_tiles(passage: Passage, placed: bool) -> None:
    shape = passage.rows, passage.columns
    given = drawn(np.random.default_rng(SEED), passage.element, shape)
    out = poisoned(passage.element, shape)
    assert execute(module_of(passage.text(), passage.warps, placed=placed), 1, [given, out]) == ()
    np.testing.assert_array_equal(out, given)


BASE = Product("f16", 128, 64, 32, adds=True)


def without(text: str, word: str) -> str:
    kept = [line for line in text.splitlines() if word not in line]
    assert len(kept) == len(text.splitlines()) - 1
    return "\n".join(kept)


def reported(text: str, *, barriers: bool = True) -> set[str]:
    module = module_of(text, 4, placed=True)
    if not barriers:
        for op in [op for op in module.walk() if op.name == "ttg.local_barrier"]:
            op.detach()
            op.erase()
    given, _ = operands(BASE)
    reports = execute(module, 1, [*given, poisoned("f32", (128, 64))])
    return {report.kind.name for report in reports}


def test_a_result_that_is_not_waited_for() -> None:
    assert "NOT_VISIBLE" in reported(without(BASE.text(), "ttng.wait_barrier"))


def test_operands_without_barriers() -> None:
    """The cores read what other warps than the one that issues have stored: operands, and the accumulator."""
    assert "NOT_VISIBLE" in reported(BASE.text(), barriers=False)


def test_parts_of_columns() -> None:
    """A part of a tile's columns, and one of several tiles, lie where they are asked for."""
    passage = PASSAGES[0]
    text = passage.text()
    whole = next(line for line in text.splitlines() if "ttng.tmem_alloc" in line)
    two = whole.replace("%t =", "%several =").replace("<128x64x", "<2x128x64x")
    several = two.split(" -> ")[1]
    one = whole.split(" -> ")[1]
    lines = [two, "    %one = arith.constant 1 : i32"]
    lines.append(f"    %t = ttg.memdesc_index %several[%one] : {several} -> {one}")
    given = drawn(np.random.default_rng(SEED), "f32", (128, 64))
    for placed in (False, True):
        out = poisoned("f32", (128, 64))
        module = module_of(text.replace(whole, "\n".join(lines)), 4, placed=placed)
        assert execute(module, 1, [given, out]) == ()
        np.testing.assert_array_equal(out, given)
