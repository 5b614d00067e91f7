"""A digest that is found when a kernel is declared is the one that its first launch would find, whatever the program
does in between."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("no_bytecode")

PROGRAM = """
import enum, math, types
import tritonx
import tritonx.language as tl

SIZE = tl.constexpr(4)
SIZES = [4, 8]
own = types.ModuleType("own")
own.SIZE = tl.constexpr(2)

class Mode(enum.Enum):
    A = 1

@tritonx.jit
def inner(x):
    return x * SIZE

@tritonx.jit
def other(x):
    return x + SIZE

@tritonx.jit
def helper(x):
    return inner(x) + 1

{decorated}
def kernel(x, n: tl.constexpr = SIZE):
    tl.store(x, {body})

{found}
{then}
"""
CHANGES = [
    ("helper(1)", "SIZE = tl.constexpr(8)"),
    ("helper(1)", "SIZE.value = 8"),
    ("helper(1)", "inner = other"),
    ("helper(1)", "helper = other"),
    ("SIZES[0]", "SIZES.append(2)"),
    ("late(1)", "late = other"),
    ("min(SIZE, 3)", "min = other"),
    ("own.SIZE", "own.SIZE = tl.constexpr(3)"),
    ("own.late(1)", "own.late = other"),
    ("own.SIZE", "own = types.ModuleType('another'); own.SIZE = tl.constexpr(3)"),
    ("math.pi", "math = types.ModuleType('another'); math.pi = 3"),
    ("Mode.A.value", "Mode.A._value_ = 2"),
    ("helper(1)", ""),
    ("tl.sum(tl.arange(0, SIZE))", ""),
]
CLOSURE = """
def make():
    @tritonx.jit
    def kernel(x):
        tl.store(x, late(1))
    {found}
    late = other
    return kernel

kernel = make()
"""


def loaded(directory: Path, text: str) -> Any:
    path = directory / "program_of_a_test.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("program_of_a_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(template: str, **fields: str) -> tuple[str, str]:
    """A program that finds the digest early, and one of the same lines that does not."""
    early, late = "kernel.find_early()", "kernel.cache_key_is_found_later = True"
    return template.format(found=early, **fields), template.format(found=late, **fields)


@pytest.mark.parametrize(("body", "then"), CHANGES)
def test_the_same_digest(body: str, then: str, tmp_path: Path) -> None:
    early, late = texts(PROGRAM, decorated="@tritonx.jit", body=body, then=then)
    found = loaded(tmp_path, early).kernel
    if not then:
        assert found._dependencies is not None
        assert found._dependencies.still_hold()
    found.settle()
    assert found.cache_key == loaded(tmp_path, late).kernel.cache_key


def test_the_same_digest_of_a_closure(tmp_path: Path) -> None:
    head = PROGRAM.format(decorated="@tritonx.jit", body="1", found="", then="")
    early, late = texts(CLOSURE)
    found = loaded(tmp_path, head + early).kernel
    found.settle()
    assert found.cache_key == loaded(tmp_path, head + late).kernel.cache_key


def test_what_a_launch_settled_stays(tmp_path: Path) -> None:
    """As without an early search: a global that changes later is refused by the launch, and has no other digest."""
    early, _ = texts(PROGRAM, decorated="@tritonx.jit", body="helper(1)", then="")
    module = loaded(tmp_path, early)
    module.kernel.settle()
    before = module.kernel.cache_key
    module.SIZE = module.tl.constexpr(8)
    assert module.kernel.cache_key == before
    assert any(found.changed() for found in module.kernel.used_globals)
