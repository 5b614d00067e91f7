"""What the docstrings of `tl` show is what a kernel gives, compiled for the CPU and line by line.

What stands behind ``>>>`` is a kernel's body, and what an expression at its end is stands below it, as Python writes
it.
``ints`` points to 16 int32 of 0 to 15 and ``floats`` to 16 fp32 of 0, 0.5, 1, …; functions under ``@tritonx.jit`` stand
beside the kernel. One program runs it. Floats are written to four digits.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tritonx.language as tl
from tritonx.backends.api import Target
from tritonx.frontend.compile import make_module
from tritonx.interpreter.function import interpreted
from tritonx.interpreter.options import InterpreterOptions
from tritonx.language.extra.libdevice_table import names as library_names

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from public_names import OF_THE_HOST  # pyright: ignore[reportMissingImports]

HEAD = """
import tritonx
import tritonx.language as tl


@tritonx.jit
def write(out, value):
    if value.type.is_block():
        tl.store(out + tl.arange(0, value.numel), tl.reshape(value, (value.numel,)).to(tl.float64))
    else:
        tl.store(out, value.to(tl.float64))
"""

ROOM = 64
"""Elements that a result may have."""


@dataclass(frozen=True)
class Example:
    """``want`` is None where it ends with a statement."""

    name: str
    sources: tuple[str, ...]
    want: Any

    def program(self) -> str:
        """The kernel, and the functions that it calls."""
        functions = [source for source in self.sources if source.startswith("@")]
        lines = [source for source in self.sources if not source.startswith("@")]
        if self.want is not None:
            lines[-1] = f"write(out, tl.cast({lines[-1].strip()}, tl.float64))"
        body = "\n".join(f"    {line}" for source in lines for line in source.rstrip().split("\n"))
        return "\n\n" + "\n\n".join([*functions, f"@tritonx.jit\ndef example(out, ints, floats):\n{body}\n"])


def public_names() -> list[str]:
    """What a kernel may name: functions and classes of `tl`."""
    return [
        name
        for name, value in sorted(vars(tl).items())
        if not name.startswith("_") and callable(value) and not inspect.ismodule(value)
    ]


def example_of(name: str) -> Example | None:
    parsed = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(tl, name)) or "")
    if not parsed:
        return None
    want = parsed[-1].want.strip()
    return Example(name, tuple(one.source for one in parsed), ast.literal_eval(want) if want else None)


def examples() -> Iterator[Example]:
    return (found for name in public_names() if name not in OF_THE_HOST and (found := example_of(name)) is not None)


def module_of(program: str, name: str, directory: Path) -> Any:
    """The Python module of that text, which kernels' sources are read from."""
    path = directory / f"example_{name}.py"
    path.write_text(HEAD + program)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def result(example: Example, directory: Path, way: Callable[[Any], Any]) -> NDArray[np.float64]:
    """What the kernel, launched as ``way`` makes it, writes; as many elements as are written."""
    module = module_of(example.program(), example.name, directory)
    out = np.full(ROOM, np.nan)
    way(module.example)[(1,)](out, np.arange(16, dtype=np.int32), np.arange(16, dtype=np.float32) / 2, debug=True)
    return out[~np.isnan(out)]


EXAMPLES = list(examples())


def test_every_public_name_is_described_and_has_an_example() -> None:
    assert [name for name in public_names() if not inspect.getdoc(getattr(tl, name))] == []
    assert {name for name in public_names() if name not in {one.name for one in EXAMPLES}} == set(OF_THE_HOST)


@pytest.mark.parametrize("way", [lambda kernel: kernel, interpreted], ids=["cpu", "lines"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.name)
def test_the_example_is_true(example: Example, way: Any, tmp_path: Path) -> None:
    got = result(example, tmp_path, way)
    if example.want is None:
        assert not got.size
    else:
        np.testing.assert_allclose(got, np.ravel(example.want), rtol=1e-3, atol=1e-6)
        assert got.size == np.size(example.want)


@pytest.mark.parametrize("name", sorted(library_names()))
def test_the_type_that_a_library_function_says_is_what_it_gives(name: str, tmp_path: Path) -> None:
    """The example asserts it; no target is asked, of which each has some of the functions."""
    parsed = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(tl.extra.libdevice, name)) or "")
    assert len(parsed) == 2
    kernel = module_of(Example(name, tuple(one.source for one in parsed), None).program(), name, tmp_path).example
    signature = dict.fromkeys(kernel.arg_names, "*fp32")
    module = make_module(kernel, signature, {}, {}, InterpreterOptions(), Target("elsewhere"))
    module.verify()
