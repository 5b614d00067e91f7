"""The symbols of the device library, overload by overload, are those that Triton's own table calls."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

from tritonx.backends.nvidia.libdevice.libdevice_names import FUNCTIONS

pytestmark = pytest.mark.peer
FOUND = find_spec("triton")
if FOUND is None or FOUND.origin is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

Overloads = dict[tuple[str, ...], tuple[str, str]]


def theirs() -> dict[str, Overloads]:
    """Each function's table, read from the source: dtypes of the operands → symbol and dtype of the result."""
    assert FOUND is not None and FOUND.origin is not None
    source = Path(FOUND.origin).parent / "language/extra/cuda/libdevice.py"
    out: dict[str, Overloads] = {}
    for function in ast.parse(source.read_text()).body:
        if isinstance(function, ast.FunctionDef):
            for table in (node for node in ast.walk(function) if isinstance(node, ast.Dict)):
                out[function.name] = dict(map(entry, table.keys, table.values))
    return out


def entry(key: ast.expr | None, value: ast.expr) -> tuple[tuple[str, ...], tuple[str, str]]:
    assert isinstance(key, ast.Tuple) and isinstance(value, ast.Tuple)
    symbol = value.elts[0]
    assert isinstance(symbol, ast.Constant)
    return tuple(map(dtype, key.elts)), (str(symbol.value), dtype(value.elts[1]))


def dtype(node: ast.expr) -> str:
    assert isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant)
    return str(node.args[0].value)


def test_every_overload() -> None:
    expected = theirs()
    assert len(expected) > 150
    named = {name: {k: v for k, v in FUNCTIONS.get(name, {}).items() if k in each} for name, each in expected.items()}
    assert {n: t for n, t in named.items() if t != expected[n]} == {}, "ours where it is not theirs"
    missing = {n: t for n, t in expected.items() if n not in FUNCTIONS}
    assert missing == {}
