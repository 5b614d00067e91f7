"""Runs a variant in the interpreter beside the original, on fresh random arguments, and compares all arrays."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.styles.program import Case, Program
from tritonx.interpreter import interpreted

DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp8e4nv": ml_dtypes.float8_e4m3fn,
    "i8": np.int8, "i32": np.int32, "i64": np.int64,
}  # fmt: skip

_NUMBERS = itertools.count()


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def evaluated(expression: str, sizes: Mapping[str, int]) -> Any:
    """The value of an expression over a case's sizes."""
    return eval(expression, {"cdiv": cdiv, "min": min}, dict(sizes))


def drawn_sizes(case: Case, rng: np.random.Generator, *, aligned: bool) -> dict[str, int]:
    """Sizes for a run; those from a range become multiples of 16 where rows must be aligned."""
    sizes: dict[str, int] = {}
    for name, value in case.small.items():
        if isinstance(value, tuple):
            number = int(rng.integers(value[0], value[1] + 1))
            sizes[name] = 16 * cdiv(number, 16) if aligned or rng.integers(2) else number
        else:
            sizes[name] = value
    return sizes


def arrays(case: Case, sizes: Mapping[str, int], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The tensors of a launch: floats around 0, integers from 0 up to their bound."""
    found = {}
    for name, tensor in case.tensors.items():
        count = int(evaluated(tensor.elements, sizes))
        if tensor.dtype[0] == "i":
            values = rng.integers(0, evaluated(tensor.below or "100", sizes), count)
        else:
            values = rng.standard_normal(count)
        found[name] = values.astype(DTYPES[tensor.dtype])
    return found


def loaded(program: Program, kernel: str, folder: Path) -> Any:
    """The program's function, from a file of its own."""
    path = folder / f"styled_{next(_NUMBERS)}.py"
    path.write_text(program.text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, kernel)


def run(
    program: Program, kernel: str, sizes: Mapping[str, int], given: Mapping[str, np.ndarray], folder: Path
) -> dict[str, np.ndarray]:
    """What the arrays hold after a launch in the interpreter."""
    held = {name: array.copy() for name, array in given.items()}
    values = {name: evaluated(text, sizes) for name, text in (*program.numbers.items(), *program.constants.items())}
    grid = tuple(int(evaluated(extent, sizes)) for extent in program.grid)
    interpreted(loaded(program, kernel, folder))[grid](**held, **values)
    return held


def difference(case: Case, variant: Program, rng: np.random.Generator, folder: Path) -> str:
    """How a variant's results differ from the original's; empty where they are equal: bit for bit if the arithmetic is
    the same, within the case's tolerance of the largest result if not."""
    sizes = drawn_sizes(case, rng, aligned=variant.aligned)
    given = arrays(case, sizes, rng)
    expected = run(case.program(), case.name, sizes, given, folder)
    got = run(variant, case.name, sizes, given, folder)
    for name in given:
        a, b = (x.astype(np.float64) for x in (got[name], expected[name]))
        if variant.exact and case.exact:
            equal = np.array_equal(got[name].view(np.uint8), expected[name].view(np.uint8))
        else:
            top = float(np.nanmax(np.abs(b), initial=1.0))
            equal = bool(np.all((np.abs(a - b) <= case.tolerance * top) | (a == b) | (np.isnan(a) & np.isnan(b))))
        if not equal:
            most = float(np.nanmax(np.abs(a - b), initial=0.0))
            return f"{name} differs by up to {most} with {sizes}"
    return ""
