"""Aggregates: constructors of every kind, methods of every kind, fields that hold what they declare, in loops."""

from __future__ import annotations

import importlib.util
import linecache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.frontend.errors import CompilationError
from tritonx.interpreter.function import interpreted

pytestmark = pytest.mark.usefixtures("no_bytecode")


@tl.core._aggregate
class Span:
    start: tl.tensor
    count: tl.constexpr

    def __init__(self, start, count, _semantic=None):
        self.start = start.__add__(0, _semantic=_semantic)
        self.count = count

    @tl.core.builtin
    def indices(self, _semantic=None):
        return tl.arange(0, self.count.value, _semantic=_semantic).__add__(self.start, _semantic=_semantic)

    @tritonx.jit
    def moved(self, by):
        return Span(self.start + by, self.count)

    @tritonx.constexpr_function
    def doubled(self):
        return 2 * self.count


@tl.core._aggregate
class Walk:
    span: Span
    pair: tl.tuple
    steps: tl.constexpr

    @tritonx.jit
    def __init__(self, span, low, high, steps):
        self.span = span
        self.pair = (low, high)
        self.steps = steps

    @tritonx.jit
    def stepped(self):
        return Walk(self.span.moved(self.steps), self.pair[0] + 1, self.pair[1], self.steps)


@tritonx.jit
def every_kind(out, n):
    walk = Walk(Span(n, 8), n, 7, 2)
    tl.static_assert(walk.steps == 2)
    tl.static_assert(walk.span.count == 8)
    for _ in range(n):
        walk = walk.stepped()
    while walk.pair[0] < 20:
        walk = walk.stepped()
    if n > 100:
        walk = Walk(Span(n, 8), n, 7, 2)
    size: tl.constexpr = walk.span.doubled()
    tl.store(out + tl.arange(0, 8), walk.span.indices())
    tl.store(out + 8 + tl.arange(0, size), walk.pair[0] * 100 + walk.pair[1])


@pytest.mark.parametrize("run", ["compiled", "interpreted"])
def test_every_kind(run: str) -> None:
    kernel: Any = every_kind if run == "compiled" else interpreted(every_kind)
    out = np.full(24, -1, np.int32)
    kernel[(1,)](out, 3)
    steps = 17  # from 3 to 20
    np.testing.assert_array_equal(out[:8], 3 + 2 * steps + np.arange(8))
    np.testing.assert_array_equal(out[8:], 2007)


@tl.core._aggregate
class Kept:
    span: Span
    pair: tl.tuple

    def __init__(self, span, pair):
        self.span = span
        self.pair = pair


@tritonx.jit
def counts_in_a_tuple(out, n):
    kept = Kept(Span(n, 8), (1, 7))
    for _ in range(n):
        kept = Kept(kept.span.moved(1), (kept.pair[0] + 1, kept.pair[1]))
    tl.store(out, kept.pair[0])


@tritonx.jit
def counts_in_a_constant(out, n):
    span = Span(n, 8)
    while span.start < 20:
        span = Span(span.start + 1, span.count + 1)
    tl.store(out, span.start)


@tritonx.jit
def changes_the_sign(out, n):
    walk = Walk(Span(n, 8), n, 7, 2)
    for _ in range(n):
        walk = Walk(walk.span, walk.pair[0].to(tl.uint32), 7, 2)
    tl.store(out, walk.pair[0] // 2)


@pytest.mark.parametrize(
    "kernel", [counts_in_a_tuple, counts_in_a_constant, changes_the_sign], ids=lambda kernel: kernel.__name__
)
def test_a_loop_does_not_keep_the_first_value_of_what_changes(kernel: Any) -> None:
    with pytest.raises(CompilationError, match=r"has initial type .* but is re-assigned to"):
        kernel[(1,)](np.full(1, -1, np.int32), 3)


@tl.core._aggregate
class Two:
    x: tl.tensor
    y: tl.constexpr

    @tritonx.jit
    def __init__(self, x, y, part: tl.constexpr):
        if part != "y":
            self.x = x
        if part != "x":
            self.y = y
        if part == "z":
            self.z = x


@tritonx.jit
def constructs(out, n, CONSTANT: tl.constexpr, PART: tl.constexpr):
    two = Two(n, CONSTANT if PART != "type" else n, PART)
    tl.store(out, two.x + two.y)


@pytest.mark.parametrize("run", ["compiled", "interpreted"])
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("x", "constructor for Two did not initialize attribute 'y'"),
        ("y", "constructor for Two did not initialize attribute 'x'"),
        ("z", "Two has no attribute 'z'; its fields are x, y"),
        ("type", "Expected .*constexpr.* for attribute 'y', got .*tensor"),
    ],
)
def test_fields_hold_what_they_declare(run: str, part: str, said: str) -> None:
    kernel: Any = constructs if run == "compiled" else interpreted(constructs)
    out = np.full(1, -1, np.int32)
    with pytest.raises((CompilationError, tritonx.InterpreterError), match=said):
        kernel[(1,)](out, 5, CONSTANT=2, PART=part)
    kernel[(1,)](out, 5, CONSTANT=2, PART="both")
    assert out[0] == 7


SOURCE = """
import tritonx
import tritonx.language as tl

def shared(self, {shared}):
    return self

@tl.core._aggregate
class Q:
    x: tl.tensor
    {field}

    {constructor}

    @tritonx.jit
    def method(self):
        return self.x + {method}

    @tritonx.constexpr_function
    def constant(self):
        return {constant}

    @tl.core.builtin
    def built(self, _semantic=None):
        return self.x.__add__({built}, _semantic=_semantic)

@tritonx.jit
def kernel(o):
    q = Q(tl.program_id(0))
    tl.store(o, q.method() + q.constant() + q.built())
"""

JIT, PLAIN = (
    "@tritonx.jit\n    def __init__(self, x):\n        self.x = x + {}",
    "def __init__(self, x):\n        self.x = x{}",
)


def load(folder: Path, **parts: str) -> ModuleType:
    given = {"shared": "a", "field": "", "constructor": JIT.format(1), "method": "1", "constant": "1", "built": "1"}
    path = folder / "aggregates_of_a_test.py"
    path.write_text(SOURCE.format(**{**given, **parts}))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_what_an_aggregate_does_is_part_of_a_kernels_key(tmp_path: Path) -> None:
    """A constructor or a method that is edited makes other code: no kernel of before is found in the cache."""
    versions: list[dict[str, str]] = [
        {},
        {"method": "2"},
        {"constant": "2"},
        {"built": "2"},
        {"constructor": JIT.format(2)},
        {"constructor": PLAIN.format("")},
        {"constructor": PLAIN.format(".to(tl.int64)")},
    ]
    keys = [load(tmp_path, **parts).kernel.cache_key for parts in versions]
    assert len(set(keys)) == len(versions)
    assert load(tmp_path).kernel.cache_key == keys[0]
    assert load(tmp_path, shared="b").kernel.cache_key == keys[0]  # of which no kernel knows


@tl.core._aggregate
class Scaled:
    values: tl.tensor
    by: tl.constexpr

    def __init__(self, values, by):
        self.values = values
        self.by = by

    @staticmethod
    def four(values, by=4):
        return Scaled(values, tl.constexpr(by))


@tritonx.jit
def made_by_plain_python(out):
    made = Scaled.four(tl.arange(0, 4))
    other = Scaled.four(made.values, 2)
    tl.store(out + tl.arange(0, 4), made.values * made.by + other.by)


def test_a_plain_function_of_an_aggregate_makes_one() -> None:
    """Like its constructor, it runs when the kernel is compiled, and is part of what the class does."""
    out = np.zeros(4, np.int32)
    made_by_plain_python[(1,)](out)
    assert out.tolist() == [2, 6, 10, 14]


@tritonx.aggregate
class Weighted:
    value: tl.tensor
    weight: tl.constexpr = 3
    pair: tl.tuple = (1, 2)

    @tritonx.jit
    def total(self):
        return self.value * self.weight + self.pair[1]

    @tritonx.jit
    def __add__(self, other):
        return self.value + other

    @tritonx.jit
    def __radd__(self, other):
        return other - self.value

    @tritonx.jit
    def __gt__(self, other):
        return self.value > other


@tritonx.aggregate
class Named(Weighted):
    more: tl.tensor = None

    @tritonx.jit
    def all(self):
        return self.total() + self.more


@tritonx.aggregate
class Doubled(Weighted):
    def __init__(self, value, weight=5, pair=(1, 2)):
        super().__init__(value, weight, pair)


@tritonx.jit
def later_aggregates(out, n):
    plain = Weighted(n)
    tl.static_assert(plain.weight == 3)
    tl.store(out, plain.total())
    named = Named(n, more=n + 1, weight=2)
    tl.store(out + 1, named.all())
    other = tl.aggregate_replace(named, weight=10)
    tl.store(out + 2, other.all() * 100 + named.weight)
    tl.store(out + 3, (1 + plain) * 100 + (plain + n))
    tl.store(out + 4, (n + plain) * 100 + (5 < plain).to(tl.int32) + (plain > 5).to(tl.int32))
    for _ in range(n):
        other = tl.aggregate_replace(other, more=other.more * 2)
    tl.store(out + 5, other.more)
    tl.store(out + 6, Doubled(n).total())


@pytest.mark.parametrize("run", ["compiled", "interpreted"])
@pytest.mark.parametrize("n", [4, 7])
def test_defaults_inheritance_replacement_and_reflected_operators(run: str, n: int) -> None:
    kernel: Any = later_aggregates if run == "compiled" else interpreted(later_aggregates)
    out = np.full(7, -1, np.int32)
    kernel[(1,)](out, n)
    wanted = [n * 3 + 2, n * 2 + 2 + n + 1, (n * 10 + 2 + n + 1) * 100 + 2, (1 - n) * 100 + 2 * n]
    wanted += [2 * (n > 5), (n + 1) << n, n * 5 + 2]
    assert out.tolist() == wanted


def refusing(line: str) -> Any:
    namespace: dict[str, Any] = {"tl": tl, "tritonx": tritonx, "Weighted": Weighted, "Two": Two}
    file = f"<aggregate {line}>"
    text = f"def kernel(out, n):\n    plain = Weighted(n)\n    {line}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), namespace)
    return tritonx.jit(namespace["kernel"])


@pytest.mark.parametrize("run", ["compiled", "interpreted"])
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Weighted()", "missing required argument: 'value'"),
        ("Weighted(n, 1, (1, 2), 4)", "takes 3 positional arguments but 4 were given"),
        ("Weighted(n, value=n)", "multiple values for argument 'value'"),
        ("Weighted(n, other=n)", "an unexpected argument 'other'"),
        ("tl.aggregate_replace(plain, other=n)", "Weighted has no field 'other'"),
        ("tl.aggregate_replace(n, other=n)", "expects an aggregate instance"),
        ("tl.aggregate_replace(Two(n, 1, 'both'), x=n)", "the constructor of Two is a jit function"),
        ("plain * n", "no operator __mul__ of operands of types 'Weighted' and 'tensor'|unsupported operand"),
        ("plain.value = n", "Attribute assignment is not supported|cannot assign to field 'value' on immutable"),
    ],
)
def test_mistakes_with_aggregates(run: str, line: str, said: str) -> None:
    kernel: Any = refusing(line) if run == "compiled" else interpreted(refusing(line))
    with pytest.raises((CompilationError, tritonx.InterpreterError), match=said):
        kernel[(1,)](np.zeros(1, np.int32), 3)


def test_an_aggregate_is_not_changed() -> None:
    @tl.core.builtin
    def changed(value: Any, _semantic: Any = None) -> None:
        value.weight = 4

    @tritonx.jit
    def kernel(out, n):
        changed(Weighted(n))

    with pytest.raises(CompilationError, match="cannot assign to field 'weight' on immutable aggregate Weighted"):
        kernel.warmup(np.zeros(1, np.int32), 3, grid=(1,))


def test_defaults_are_part_of_a_kernels_key() -> None:
    def made(default: int) -> str:
        class Part:
            x: tl.tensor
            n: tl.constexpr = default

        Part = tritonx.aggregate(Part)  # a class

        @tritonx.jit
        def kernel(out, n):
            tl.store(out, Part(n).x)

        return kernel.cache_key

    assert made(1) == made(1) != made(2)


def test_fields_are_replaced_outside_kernels_too() -> None:
    @tritonx.aggregate
    class Point:
        x: tl.constexpr
        y: tl.constexpr

    first = Point(1, 2)
    second = tl.aggregate_replace(first, y=5)
    assert (first.x.value, first.y.value, second.x.value, second.y.value) == (1, 2, 1, 5)
    with pytest.raises(TypeError, match="Point has no field 'z'"):
        tl.aggregate_replace(first, z=1)
    with pytest.raises(TypeError, match="expects an aggregate instance"):
        tl.aggregate_replace(42, x=1)


def test_elements_of_a_tuple_are_values_of_the_language() -> None:
    class Shape(NamedTuple):
        x: Any
        y: Any

    @tritonx.aggregate
    class State:
        shape: tl.tuple
        strides: tl.tuple

    state = State(Shape(3, tl.constexpr(7)), (7, (tl.constexpr(1), 2)))
    assert isinstance(state.shape.x, tl.constexpr) and state.shape.x.value == 3 and state.shape.y.value == 7
    assert isinstance(state.strides[1], tl.tuple) and state.strides[1][1].value == 2


@tritonx.jit
def compares_types(given: tl.constexpr):
    named: tl.constexpr = (5, (6, 7))
    tl.static_assert(named.type == ((5, (6, 7))).type)
    tl.static_assert(given.type == ((5, (6, 7))).type)
    tl.static_assert(given.type != ((5, 6)).type)


def test_the_type_of_a_constant_tuple_is_that_of_its_elements() -> None:
    compares_types[(1,)]((5, (6, 7)))
    assert hash(tl.constexpr((5, (6, 7))).type) == hash(tl.tuple((tl.constexpr(5), tl.tuple((6, 7)))).type)


@tritonx.aggregate
class Squared:
    x: tl.tensor

    @tritonx.must_use_result
    @tritonx.jit
    def compute(self):
        return self.x * self.x


@tritonx.jit
def drops(out):
    square = Squared(tl.load(out))
    square.compute()


def test_a_dropped_result_of_a_method_is_refused() -> None:
    with pytest.raises(CompilationError, match=r"The result of square\.compute is not being used"):
        drops.warmup(np.zeros(1), grid=(1,))
