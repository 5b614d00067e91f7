"""The table of ops: an expression of the language, the dtypes of its operands and of its result, and the error it may
have. Operands are ``x``, ``y`` and ``z``; each group of ops that take the same dtypes is one kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tritonx import level
from tritonx_testing.conformance.case import EXACT, Tolerance
from tritonx_testing.conformance.values import FLOATS, FP8, INTEGERS, SIGNED
from tritonx_testing.differential.operands import COUNT, numpy_dtype

DIVISION = Tolerance(ulps=2, flush=1)
"""What ``/`` of floats may be off: devices have approximate quotients (``div.full.f32``)."""

ROWS, COLUMNS = 32, COUNT // 32
"""The shape that reductions and scans see the operands in; they go along the columns."""

TILES = {
    **{name: name for name in (*INTEGERS, "int1")},
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e4nv": "float8e4nv", "fp8e5": "float8e5",
}  # fmt: skip
"""What ``tl`` calls the dtypes."""


@dataclass(frozen=True)
class Operation:
    """``text`` is a statement that writes ``count`` elements of dtype ``result`` to ``out``. It may name the operands,
    ``i`` (the number of every element), and in tiles of two dimensions ``row`` and ``lane``, the numbers of its rows
    and columns. ``initial`` is the operand whose values are in the output before (atomics)."""

    name: str
    text: str
    result: str
    bound: Tolerance = EXACT
    count: int = COUNT
    initial: int | None = None


@dataclass(frozen=True)
class Group:
    """Ops on operands of the same dtypes, which become one kernel. ``rows``: the operands are tiles of two dimensions.
    ``interval``: the operands are drawn from it, and are the special values, not all edges.
    """

    name: str
    operands: tuple[str, ...]
    operations: tuple[Operation, ...]
    rows: bool = False
    interval: tuple[float, float] | None = None

    @property
    def needs(self) -> frozenset[str]:
        """The fp8 types without which a target cannot run it."""
        return frozenset({*self.operands, *(operation.result for operation in self.operations)} & set(FP8))

    def only(self, operations: Iterable[Operation]) -> Group:
        """The same with some of the ops."""
        return replace(self, operations=tuple(operations))


def _each(expressions: Iterable[str], result: str, bound: Tolerance = EXACT) -> Iterator[Operation]:
    """Ops on every element, named by their expressions."""
    for expression in expressions:
        to = ".to(tl.int8)" if result == "int1" else ""
        dtype = "int8" if result == "int1" else result
        yield Operation(expression, f"tl.store(out + i, ({expression}){to})", dtype, bound)


COMPARISONS = ("x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y")


def _integers(dtype: str) -> Iterator[Group]:
    bits = numpy_dtype(dtype).itemsize * 8
    constant = ("x + 1", "x * 3", "x // 7", "x % 7", "x & 5", "x << 1", "x >> 1", "x // 8", "x % 8")
    if level.active().weak_scalars:
        constant += ("tl.minimum(x, 7)", "tl.maximum(90, x)", "tl.clamp(x, 3, 90)")
    yield Group(f"{dtype}", (dtype,), (*_each(("-x", "~x", "tl.abs(x)", *constant), dtype), *_casts(dtype)))
    binary = (
        "x + y", "x - y", "x * y", "x & y", "x | y", "x ^ y", "tl.minimum(x, y)", "tl.maximum(x, y)",
        "tl.where(x > y, x, y)", f"x << (y & {bits - 1})", f"x >> (y & {bits - 1})", "x // y", "x % y",
    )  # fmt: skip
    listed = [*_each(binary, dtype), *_each(COMPARISONS, "int1"), *_atomics(dtype)]
    if dtype in ("uint32", "uint64"):
        listed += _each(("tl.umulhi(x, y)",), dtype)
    yield Group(f"{dtype}, {dtype}", (dtype, dtype), tuple(listed))
    yield Group(f"rows of {dtype}", (dtype,), tuple(_rows(dtype)), rows=True)


def _floats(dtype: str) -> Iterator[Group]:
    wide = dtype in ("fp32", "fp64")
    single = "fp32" if dtype == "bf16" and not level.active().bf16_stays else dtype
    weak = "fp32" if dtype in ("fp16", "bf16") and not level.active().weak_scalars else dtype
    unary = [*_each(("-x", "tl.abs(x)", "x + 1", "x * 0.5"), dtype), *_casts(dtype)]
    unary += _each(("tl.maximum(x, 0.1)", "tl.clamp(x, -0.3, 7)"), weak)
    if wide:
        unary += _each(("tl.floor(x)", "tl.ceil(x)"), dtype)
    if dtype == "fp32":
        unary += _each(("tl.sqrt_rn(x)",), dtype)
    yield Group(f"{dtype}", (dtype,), tuple(unary))
    binary = [*_each(("x + y", "x - y", "x * y", "tl.where(x < y, x, y)"), dtype), *_each(COMPARISONS, "int1")]
    for mode in ("NONE", "ALL"):
        named = (f"tl.{f}(x, y, propagate_nan=tl.PropagateNan.{mode})" for f in ("minimum", "maximum"))
        binary += _each(named, single)
    binary += _each(("x / y",), dtype, DIVISION)
    if dtype == "fp32":
        binary += _each(("tl.div_rn(x, y)",), dtype)
    yield Group(f"{dtype}, {dtype}", (dtype, dtype), (*binary, *_atomics(dtype)))
    ternary = [] if not wide else list(_each(("tl.fma(x, y, z)",), dtype))
    for mode in ("NONE", "ALL"):
        low_high = "tl.minimum(y, z), tl.maximum(y, z)"
        ternary += _each((f"tl.clamp(x, {low_high}, propagate_nan=tl.PropagateNan.{mode})",), single)
    yield Group(f"{dtype}, {dtype}, {dtype}", (dtype,) * 3, tuple(ternary))
    yield Group(f"rows of {dtype}", (dtype,), tuple(_rows(dtype)), rows=True)


def _small_floats(dtype: str) -> Iterator[Group]:
    """8-bit floats: every op rounds its exact result once."""
    yield Group(dtype, (dtype,), (*_each(("-x", "tl.abs(x)"), dtype), *_values_of(dtype, FLOATS)))
    binary = ("x + y", "x - y", "x * y", "tl.where(x < y, x, y)", "tl.minimum(x, y)", "tl.maximum(x, y)")
    quotient = "fp32" if level.active().narrow_division_in_f32 else dtype
    divided = [*_each(("x / y",), quotient, DIVISION if quotient == "fp32" else EXACT), *_each(("x % y",), quotient)]
    yield Group(f"{dtype}, {dtype}", (dtype, dtype), (*_each(binary, dtype), *_each(COMPARISONS, "int1"), *divided))
    yield Group(f"{dtype}, {dtype}, {dtype}", (dtype,) * 3, tuple(_each(("tl.fma(x, y, z)",), dtype)))


def _casts(source: str) -> Iterator[Operation]:
    """To every type by value, to narrower floats towards zero as well, and by bits to those of the same width."""
    narrow = FP8 if source in FLOATS else ()
    for target in (*INTEGERS, *FLOATS, *narrow):
        if target != source:
            yield from _each((f"x.to(tl.{TILES[target]})",), target)
    if source not in FP8:
        yield from _each(("x.to(tl.int1)",), "int1")
    for target in (*INTEGERS, *FLOATS):
        if target != source and numpy_dtype(target).itemsize == numpy_dtype(source).itemsize:
            yield from _each((f"x.to(tl.{TILES[target]}, bitcast=True)",), target)
    for target in (*FLOATS, *FP8) if source in FLOATS else ():
        if numpy_dtype(target).itemsize < numpy_dtype(source).itemsize:
            yield from _each((f"x.to(tl.{TILES[target]}, fp_downcast_rounding='rtz')",), target)


def _atomics(dtype: str) -> Iterator[Operation]:
    """``y`` in memory, ``x`` the operand; the old values are stored behind the new ones."""
    if dtype in ("int32", "int64", "uint32", "uint64"):
        names = ["add", "and", "or", "xor", "max", "min", "xchg"]
    else:
        names = {"fp16": ["add"], "fp32": ["add", "max", "min", "xchg"], "fp64": ["add", "xchg"]}.get(dtype, [])
    for name in names:
        text = f"tl.store(out + {COUNT} + i, tl.atomic_{name}(out + i, x))"
        yield Operation(f"tl.atomic_{name}(y, x)", text, dtype, count=2 * COUNT, initial=1)


def _rows(dtype: str) -> Iterator[Operation]:
    """Reductions and scans whose result does not depend on an order, gathers and sorts along the rows."""

    def row(expression: str, result: str) -> Operation:
        return Operation(expression, f"tl.store(out + row, {expression})", result, count=ROWS)

    narrow = dtype not in FLOATS and numpy_dtype(dtype).itemsize < 4
    sign = "int32" if dtype in SIGNED else "uint32"
    extremum = "int32" if narrow else "fp32" if dtype in ("fp16", "bf16") else dtype
    for name in ("min", "max"):
        yield row(f"tl.{name}(x, 1)", extremum)
        yield row(f"tl.arg{name}(x, 1)", "int32")
    if dtype in FLOATS:
        return
    yield row("tl.sum(x, 1)", sign if narrow else dtype)
    yield row("tl.xor_sum(x, 1)", dtype)
    yield row("tl.reduce_or(x, 1)", dtype)
    yield Operation("tl.cumsum(x, 1)", "tl.store(out + i, tl.cumsum(x, 1))", sign if narrow else dtype)
    product = sign if narrow and level.active().widens_products else dtype
    yield Operation("tl.cumprod(x, 1)", "tl.store(out + i, tl.cumprod(x, 1))", product)
    for descending in ("False", "True"):
        text = f"tl.sort(x, 1, descending={descending})"
        yield Operation(text, f"tl.store(out + i, {text})", dtype)
    yield Operation(
        "tl.gather(x, lane, 1)", f"tl.store(out + i, tl.gather(x, (lane * 5 + row[:, None]) % {COLUMNS}, 1))", dtype
    )
    for bins in (2, 256) if dtype.endswith("32") or not level.active().counts_words_only else ():
        text = f"tl.histogram(tl.reshape(x, ({COUNT},)), {bins})"
        yield Operation(
            f"tl.histogram(x, {bins})", f"tl.store(out + tl.arange(0, {bins}), {text})", "int32", count=bins
        )


def _functions(dtype: str) -> Iterator[Group]:
    """Each on its own interval, with the error that the conformance suite documents."""
    from tritonx_testing.conformance.families.functions import DOUBLE, FUNCTIONS

    for name, function in FUNCTIONS.items():
        if name != "sqrt_rn":
            operations = _each((f"tl.{name}(x)",), dtype, function.bound if dtype == "fp32" else DOUBLE)
            yield Group(f"{name} of {dtype}", (dtype,), tuple(operations), interval=(function.low, function.high))


def groups() -> list[Group]:
    """Every group, in a fixed order; the names are unique."""
    found: list[Group] = []
    for dtype in INTEGERS:
        found += _integers(dtype)
    for dtype in FLOATS:
        found += _floats(dtype)
    for dtype in FP8:
        found += _small_floats(dtype)
    found.append(Group("int1", ("int1",), tuple(_values_of("int1", (*INTEGERS, *FLOATS)))))
    for dtype in ("fp32", "fp64"):
        found += _functions(dtype)
    return found


def _values_of(source: str, targets: Iterable[str]) -> Iterator[Operation]:
    for target in targets:
        yield from _each((f"x.to(tl.{TILES[target]})",), target)
