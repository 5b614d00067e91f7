"""Blocks whose extents are not powers of two: which ops may have them, what the others say, and that other blocks cost
nothing."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block, Operation

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Options, Target
from tritonx.dialects import arith, gpu, llvm, math, tile
from tritonx.frontend import semantics
from tritonx.frontend.errors import CompilationError
from tritonx.frontend.semantics import Semantics, ir_type
from tritonx.frontend.semantics.base import SemanticsBase
from tritonx.frontend.semantics.neutral import neutral_element
from tritonx.frontend.semantics.padding import PaddingSemantics
from tritonx.frontend.semantics.shape import same_order
from tritonx.frontend.semantics.storage import UnsupportedExtents, ignores_padding
from tritonx.interpreter.eager import EagerValue
from tritonx.interpreter.function import interpreted
from tritonx.ir.builder import Builder
from tritonx.language import standard
from tritonx.language.types.block_shapes import storage_shape
from tritonx.language.values.tensor import tensor
from tritonx_testing.conformance import cases
from tritonx_testing.conformance.device import PythonLines, check

SEED = int(os.environ["TRITONX_SEED"])
SOURCES = sorted(Path(semantics.__file__).parent.glob("*.py"))
DIALECTS = {"arith": arith, "math": math}


# The table.


def ops_of_the_language() -> Iterator[type]:
    """Every op that a file of the semantics names."""
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tritonx.dialects"):
                where: Any = {"tritonx.dialects.gpu": gpu, "tritonx.dialects.llvm": llvm}.get(str(node.module), tile)
                yield from (
                    getattr(where, a.name) for a in node.names if a.name.endswith("Op") and hasattr(where, a.name)
                )
            if isinstance(node, ast.Attribute) and node.attr.endswith("Op") and isinstance(node.value, ast.Name):
                if node.value.id in DIALECTS:
                    yield getattr(DIALECTS[node.value.id], node.attr)


def ops_in_need() -> set[type[Operation]]:
    """Those that must be given storage."""
    return {op for op in ops_of_the_language() if issubclass(op, Operation) and not ignores_padding(op)}


def test_what_moves_elements_along_an_axis_must_be_given_storage() -> None:
    moving = {
        tile.CatOp,
        tile.DotOp,
        tile.GatherOp,
        tile.HistogramOp,
        tile.MakeRangeOp,
        tile.ReduceOp,
        tile.ReshapeOp,
        tile.ScanOp,
    }
    running = {
        tile.ElementwiseInlineAsmOp,
        tile.MapElementwiseOp,
        tile.LoadOp,
        tile.StoreOp,
        tile.AssertOp,
        tile.AtomicRMWOp,
    }
    assert moving | running < ops_in_need()
    kept = {
        arith.AddfOp,
        math.ExpOp,
        tile.MulhiUIOp,
        tile.BroadcastOp,
        tile.ExpandDimsOp,
        tile.JoinOp,
        tile.SplitOp,
        tile.TransOp,
    }
    assert kept <= {*ops_of_the_language()} - ops_in_need()


def test_no_family_passes_the_check_by() -> None:
    """Ops of blocks are made by ``emit``, ``multi`` and ``create``, which look at the table."""
    by: set[tuple[str, str]] = set()
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "self.builder.create",
                "self.builder.emit",
                "self.builder.multi",
            ):
                by.add((file.stem, ast.unparse(node.args[0])))
    assert by == {
        ("base", "op"),  # the check itself
        ("control", "AssumeOp"), ("control", "BarrierOp"),  # of no block
        ("descriptor", "MakeTensorDescOp"), ("descriptor", "DescriptorLoadOp"), ("descriptor", "DescriptorStoreOp"),
        ("descriptor", "DescriptorReduceOp"),  # of a descriptor's block, which has powers of two
        ("descriptor", "DescriptorGatherOp"), ("descriptor", "DescriptorScatterOp"),  # of what ``filled`` gave
        ("reduce", "terminator"), ("reduce", "MapElementwiseReturnOp"),  # of scalars
    }  # fmt: skip


@pytest.mark.parametrize("op", sorted(ops_in_need(), key=lambda op: op.name), ids=lambda op: op.name)
def test_an_op_that_does_not_know_of_padding_is_refused(op: Any) -> None:
    sem = Semantics(Builder(Block()), Options(), Target("cpu"))
    type_ = tl.block_type(tl.float32, [3, 96])
    value = tensor(Block(arg_types=[ir_type(type_)]).args[0], type_)
    with pytest.raises(UnsupportedExtents, match=r"\(3, 96\)"):
        sem.emit(op, [value], tl.float32)
    with pytest.raises(UnsupportedExtents, match=r"\(3, 96\)"):
        sem.create(op, [], [type_])


# What is refused, with the kernel's line.


@tritonx.jit
def until_one(a, b):
    while a != b:
        a = a // 2
    return a


@tritonx.jit
def prints(a):
    tl.device_print("a", a)
    return a


@tritonx.jit
def pairs(a, b):
    return b, a


@tritonx.jit
def refused_kernel(p, WHICH: tl.constexpr):
    x = tl.load(p + tl.arange(0, 96))
    if WHICH == 0:
        tl.reduce(x, 0, until_one)
    elif WHICH == 1:
        tl.associative_scan(x, 0, until_one)
    elif WHICH == 2:
        tl.map_elementwise(prints, x)
    elif WHICH == 3:
        tl.map_elementwise(pairs, x, pack=2)
    elif WHICH == 4:
        tl.inline_asm_elementwise("nop", "=r,r", [x], tl.int32, is_pure=False, pack=1)
    elif WHICH == 5:
        tl.max_contiguous(x, 24 * 2)
    elif WHICH == 6:
        tl.make_tensor_descriptor(p, [96], [1], [96])
    elif WHICH == 7:
        tl.store(p + tl.arange(0, 128), x)
    elif WHICH == 8:
        tl.standard.sort_impl(x)
    elif WHICH == 9:
        tl.topk(x, 97)
    else:
        for _ in range(2):
            x = tl.full((128,), 0, tl.int32)


REFUSED = (
    "until_one is given blocks whose extents are no powers of two, but may not end",
    "until_one is given blocks whose extents are no powers of two, but may not end",
    "prints is given blocks whose extents are no powers of two, but does more than compute",
    "map_elementwise has no packs of elements of a block of (96,)",
    "code with effects has no blocks of (96,)",
    "max_contiguous of 48 along an axis of 96 elements",
    "Shape element 0 must be a power of 2",
    "incompatible dimensions at index 0: 128 and 96",
    "use sort or topk where an extent is no power of two",
    "k must not exceed the size of the selected dimension",
    "initial type <['96'], int32> but is re-assigned to <['128'], int32> in loop",
)


@pytest.mark.parametrize("which", range(len(REFUSED)))
def test_what_is_not_built_is_refused_with_the_line(which: int, build: Callable[..., Any]) -> None:
    with pytest.raises(CompilationError) as caught:
        build(refused_kernel, {"p": "*i32"}, WHICH=which)
    assert REFUSED[which] in str(caught.value)
    assert "test_extents.py:" in str(caught.value)


# Where an element lies.


def drawn_shape(random: Random, count: int) -> tuple[int, ...]:
    """A shape of so many elements."""
    shape: list[int] = []
    while count > 1 and len(shape) < 4:
        factor = random.choice([d for d in range(2, count + 1) if count % d == 0])
        shape.insert(random.randrange(len(shape) + 1), factor)
        count //= factor
    return (*shape, *([count] if count > 1 else []), *([1] if random.random() < 0.3 else []))


def test_the_order_of_storage_is_what_counting_says() -> None:
    random = Random(SEED)
    same = 0
    for _ in range(400):
        count = random.choice([6, 12, 24, 30, 48, 60, 96, 192])
        shape, to = drawn_shape(random, count), drawn_shape(random, count)
        places = [np.flatnonzero(_elements(s)) for s in (shape, to)]
        expected = np.array_equal(*places)
        assert same_order(shape, to) == expected, f"seed {SEED}: {shape} to {to}"
        assert not expected or prod(storage_shape(shape)) == prod(storage_shape(to))
        same += expected
    assert 0 < same < 400


def _elements(shape: tuple[int, ...]) -> Any:
    stored = np.zeros(storage_shape(shape), bool)
    stored[tuple(map(slice, shape))] = True
    return stored.reshape(-1)


@pytest.mark.parametrize("name", ["_sum_combine", "_prod_combine", "_elementwise_max", "_elementwise_min"])
def test_neutral_elements_change_nothing(name: str) -> None:
    function: Any = getattr(standard, name)
    numbers = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 3.5], np.float32)
    neutral: Any = neutral_element(function, tl.float32)
    combined: Any = {
        "_sum_combine": np.add, "_prod_combine": np.multiply, "_elementwise_max": np.fmax, "_elementwise_min": np.fmin,
    }[name](numbers, np.float32(neutral))  # fmt: skip
    np.testing.assert_array_equal(combined, numbers)
    assert (np.signbit(combined) == np.signbit(numbers))[:5].all()
    assert neutral_element(until_one, tl.float32) is None and neutral_element(function, tl.float8e5) is None


# Poison.


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Behind each block that an op makes lies what must not be seen: NaN, a large number, an address of nothing. The
    names of the ops."""
    emit, create, seen = SemanticsBase.emit, SemanticsBase.create, list[str]()

    def spoilt(sem: Any, value: tensor) -> tensor:
        if not value.type.padded:
            return value
        fill = float("nan") if value.dtype.is_floating() else 1 if value.dtype.is_ptr() else 0x5A
        return cropped(sem, sem.filled(value, fill), value.type.shape)

    def emit_spoilt(self: Any, op: Any, *args: Any, **kwargs: Any) -> tensor:
        made = emit(self, op, *args, **kwargs)
        seen.append(op.name)
        return spoilt(self, made)

    def create_spoilt(self: Any, op: Any, *args: Any, **kwargs: Any) -> list[tensor]:
        seen.append(op.name)
        return [spoilt(self, value) for value in create(self, op, *args, **kwargs)]

    cropped = PaddingSemantics.cropped
    monkeypatch.setattr(SemanticsBase, "emit", emit_spoilt)
    monkeypatch.setattr(SemanticsBase, "create", create_spoilt)
    monkeypatch.setattr(PaddingSemantics, "cropped", lambda self, v, shape: spoilt(self, cropped(self, v, shape)))
    return seen


CASES = [case for case in cases() if case.family.startswith("extents")]


@pytest.mark.parametrize("number", range(12))
def test_nothing_is_computed_from_the_padding(number: int, poisoned: list[str]) -> None:
    case = Random(f"{SEED}/{number}").choice(CASES)
    try:
        check(case, PythonLines(), SEED)
    except AssertionError as error:
        raise AssertionError(f"seed {SEED}: {case.name}: {error}") from error
    assert poisoned


# Kernels without such blocks.


def test_other_blocks_get_no_op(monkeypatch: pytest.MonkeyPatch, build: Callable[..., Any]) -> None:
    def none(*_: object) -> Any:
        raise AssertionError("an op for padding that is not there")

    monkeypatch.setattr(PaddingSemantics, "_chosen", none)
    others = [case for case in cases() if not case.family.startswith("extents")]
    for case in Random(SEED).sample(others, 6):
        check(case, PythonLines(), SEED)


@tritonx.jit
def prints_all(p):
    tl.device_print("x", tl.load(p + tl.arange(0, 3)[:, None] + tl.arange(0, 2)[None, :]))


def test_padding_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    x = np.array([5, 6, 7, 8], np.int32)
    for kernel in (prints_all, interpreted(prints_all)):
        kernel[(1,)](x)
        lines = capfd.readouterr().out.split("\n")
        assert sorted(line for line in lines if line) == [
            f"pid (0, 0, 0) idx ({i}, {j}) x: {x[i + j]}" for i in range(3) for j in range(2)
        ]


def test_a_debugger_shows_the_elements() -> None:
    type_ = tl.block_type(tl.int32, [3])
    value = EagerValue(ir_type(type_), np.array([1, 2, 3, 4], np.int32))
    assert repr(tensor(value, type_)) == "int32[constexpr[3]]([1 2 3])"
