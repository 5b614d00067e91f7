"""What a kernel's key depends on beside its text: two values of a global are two keys wherever they are two kernels."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("no_bytecode")

PROGRAM = """
import enum
import math
import tritonx
import tritonx.language as tl

VALUE = {value}

@tritonx.jit
def kernel(n, same: tl.constexpr = VALUE):
    a = n + {read}
"""


def loaded(directory: Path, value: str, read: str = "VALUE") -> Any:
    path = directory / "program.py"
    path.write_text(PROGRAM.format(value=value, read=read))
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tl.float32", "tl.float16"),
        ("tl.constexpr(tl.float32)", "tl.constexpr(tl.float16)"),
        ("tl.pointer_type(tl.int8)", "tl.pointer_type(tl.int16)"),
        ("tl.PropagateNan.ALL", "tl.PropagateNan.NONE"),
        ("4", "tl.constexpr(4)"),
        ("tl.constexpr(1)", "tl.constexpr(1.0)"),
        ("[4]", "[5]"),
    ],
)
def test_two_values_of_a_global_are_two_keys(tmp_path: Path, one: str, other: str) -> None:
    first = loaded(tmp_path, one).kernel.cache_key
    assert loaded(tmp_path, one).kernel.cache_key == first
    assert loaded(tmp_path, other).kernel.cache_key != first


def test_a_default_alone_is_no_global_that_is_read(tmp_path: Path) -> None:
    assert not loaded(tmp_path, "tl.constexpr(4)", read="same").kernel.used_globals


@pytest.mark.parametrize("value", ["[[4]]", "tl.constexpr([4, [5]])", "(4, [5])", "{1: [2]}"])
def test_what_is_changed_in_place_has_changed(tmp_path: Path, value: str) -> None:
    module = loaded(tmp_path, value)
    (found,) = module.kernel.used_globals
    assert not found.changed()
    held = getattr(module.VALUE, "value", module.VALUE)
    inner = held[1] if isinstance(held, tuple | dict) else held[-1]
    inner.append(6)
    assert found.changed()
