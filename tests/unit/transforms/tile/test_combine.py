"""What combining leaves alone: each rule on what it is for, and on everything that differs from that in one respect.

Both are executed before and after the pass, on numbers whose sums are exact.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tritonx.interpreter.compare import same_behaviour
from tritonx.ir.pipeline import PassHooks, run_passes
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.registry import find_pass

SEED = int(os.environ["TRITONX_SEED"])
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def ops_after(text: str, arguments: Sequence[object]) -> list[str]:
    """The names of the module's ops after the pass, which must not change what it does."""
    before, after = parse_module(text), parse_module(text)
    verify(before)
    run_passes(after, (find_pass("combine")(), find_pass("dce")()), PassHooks(verify=True))
    same_behaviour(before, after, args=arguments, seed=SEED)
    return [op.name for op in after.walk()]


@dataclass(frozen=True)
class Sum:
    """``sum over axis of (x spread along `spread[0]`) op (y spread along `spread[1]`)``."""

    element: str = "f32"
    op: str = "arith.mulf"
    combine: str = "arith.addf %s, %t"
    axis: int = 1
    spread: tuple[int, int] = (2, 0)
    shape: tuple[int, int, int] = (16, 32, 16)

    def text(self) -> str:
        whole = self.shape
        x, y = (tuple(size for d, size in enumerate(whole) if d != out) for out in self.spread)
        left = tuple(size for d, size in enumerate(whole) if d != self.axis)
        e, tile = self.element, tensor(whole, self.element)
        body = "".join(loaded(name, shape, e) for name, shape in (("x", x), ("y", y)))
        for name, shape, out in (("x", x, self.spread[0]), ("y", y, self.spread[1])):
            wide = tuple(1 if d == out else size for d, size in enumerate(whole))
            body += (
                f"%{name}e = tt.expand_dims %{name}v {{axis = {out} : i32}} : {tensor(shape, e)} -> {tensor(wide, e)}\n"
            )
            body += f"%{name}b = tt.broadcast %{name}e : {tensor(wide, e)} -> {tile}\n"
        body += f"""
  %m = {self.op} %xb, %yb : {tile}
  %r = "tt.reduce"(%m) <{{axis = {self.axis} : i32}}> ({{
  ^bb0(%s: {e}, %t: {e}):
    %u = {self.combine} : {e}
    tt.reduce.return %u : {e}
  }}) : ({tile}) -> {tensor(left, e)}
{stored("z", "r", left, e)}"""
        return kernel(body, e)


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def pointers(name: str, shape: tuple[int, ...], element: str) -> str:
    """Text of `%{name}p`, pointers to the elements of a row-major array at `%{name}`."""
    n = int(np.prod(shape))
    flat, at = f"tensor<{n}xi32>", tensor(shape, "i32")
    return f"""
  %{name}i = tt.make_range {{start = 0 : i32, end = {n} : i32}} : {flat}
  %{name}o = tt.reshape %{name}i : {flat} -> {at}
  %{name}s = tt.splat %{name} : !tt.ptr<{element}> -> {tensor(shape, f"!tt.ptr<{element}>")}
  %{name}p = tt.addptr %{name}s, %{name}o : {tensor(shape, f"!tt.ptr<{element}>")}, {at}
"""


def loaded(name: str, shape: tuple[int, ...], element: str) -> str:
    return f"{pointers(name, shape, element)}  %{name}v = tt.load %{name}p : {tensor(shape, f'!tt.ptr<{element}>')}\n"


def stored(name: str, value: str, shape: tuple[int, ...], element: str) -> str:
    return f"{pointers(name, shape, element)}  tt.store %{name}p, %{value} : {tensor(shape, f'!tt.ptr<{element}>')}\n"


def kernel(body: str, element: str) -> str:
    arguments = ", ".join(f"%{name}: !tt.ptr<{element}>" for name in "xyz")
    return f"tt.func public @f({arguments}, %c: i1) {{\n{body}  tt.return\n}}\n"


def small_numbers(element: str, size: int) -> list[np.ndarray]:
    rng = np.random.default_rng(SEED)
    return [rng.integers(-2, 3, size).astype(FLOATS[element]) for _ in range(3)]


PRODUCT = Sum()
SUMS = {
    "a product": (PRODUCT, True),
    "a product, exchanged": (replace(PRODUCT, spread=(0, 2)), True),
    "longer": (replace(PRODUCT, shape=(32, 16, 64)), True),
    "square": (replace(PRODUCT, shape=(16, 16, 16)), True),
    "a sum of sums": (replace(PRODUCT, op="arith.addf"), False),
    "f16": (replace(PRODUCT, element="f16"), False),
    "f64": (replace(PRODUCT, element="f64"), False),
    "f16 sums": (replace(PRODUCT, element="f16", op="arith.addf"), False),
    "the largest": (replace(PRODUCT, combine="arith.maximumf %s, %t"), False),
    "the last, twice": (replace(PRODUCT, combine="arith.addf %t, %t"), False),
    "exchanged sum": (replace(PRODUCT, combine="arith.addf %t, %s"), True),
    "over rows": (replace(PRODUCT, axis=0, shape=(16, 16, 16)), False),
    "over columns": (replace(PRODUCT, axis=2, shape=(16, 16, 16)), False),
    "over what both have": (replace(PRODUCT, spread=(2, 2), shape=(16, 16, 16)), False),
    "spread along the sum": (replace(PRODUCT, spread=(2, 1), shape=(16, 16, 16)), False),
    "few rows": (replace(PRODUCT, shape=(8, 32, 16)), False),
    "few columns": (replace(PRODUCT, shape=(16, 32, 8)), False),
    "short": (replace(PRODUCT, shape=(16, 8, 16)), False),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_products(name: str) -> None:
    case, is_product = SUMS[name]
    if name == "the last, twice":  # no combination that a reduction may have: nothing to execute
        module = parse_module(case.text())
        run_passes(module, (find_pass("combine")(),))
        found = [op.name for op in module.walk()]
    else:
        found = ops_after(case.text(), [*small_numbers(case.element, 1 << 12), True])
    assert ("tt.dot" in found, "tt.reduce" in found) == (is_product, not is_product)


SQUARE, POINTERS, MASK = tensor((16, 16), "f32"), tensor((16, 16), "!tt.ptr<f32>"), tensor((16, 16), "i1")
HEAD = loaded("x", (16, 16), "f32") + loaded("y", (16, 16), "f32") + pointers("z", (16, 16), "f32")


def dot(start: str = "0.0", more: str = "", use: str = "") -> str:
    return f"""
  %zero = arith.constant dense<{start}> : {SQUARE}
  %d = tt.dot %xv, %yv, %zero, inputPrecision = ieee {more} : {SQUARE} * {SQUARE} -> {SQUARE}
  {use}
"""


MASKED = f"""
  %k = arith.constant dense<0.0> : {SQUARE}
  %m = arith.cmpf ogt, %yv, %k : {SQUARE}
  %other = arith.cmpf olt, %yv, %k : {SQUARE}
"""
LOAD = f"%l = tt.load %xp, %m : {POINTERS}"
MASKED_CHOICE = f"{MASK}, {SQUARE}"
RULES = {
    "a product and a tile": (dot() + f"%r = arith.addf %d, %yv : {SQUARE}", "arith.addf", False),
    "a tile and a product": (dot() + f"%r = arith.addf %yv, %d : {SQUARE}", "arith.addf", False),
    "a product that starts elsewhere": (dot("1.0") + f"%r = arith.addf %d, %yv : {SQUARE}", "arith.addf", True),
    "a product that splits its sums": (
        dot(more="{maxNumImpreciseAcc = 32 : i32}") + f"%r = arith.addf %d, %yv : {SQUARE}", "arith.addf", True,
    ),
    "a product that is used twice": (
        dot(use=f"tt.store %yp, %d : {POINTERS}") + f"%r = arith.addf %d, %yv : {SQUARE}", "arith.addf", True,
    ),
    "a product less a tile": (dot() + f"%r = arith.subf %d, %yv : {SQUARE}", "arith.subf", True),
    "a choice of a load": (MASKED + LOAD + f"\n%r = arith.select %m, %l, %yv : {MASKED_CHOICE}", "arith.select", False),
    "the other side of it": (MASKED + LOAD + f"\n%r = arith.select %m, %yv, %l : {MASKED_CHOICE}",
        "arith.select", True),
    "by another mask": (MASKED + LOAD + f"\n%r = arith.select %other, %l, %yv : {MASKED_CHOICE}", "arith.select", True),
    "of a load that is used twice": (
        f"{MASKED}{LOAD}\ntt.store %yp, %l, %m : {POINTERS}\n%r = arith.select %m, %l, %yv : {MASKED_CHOICE}",
        "arith.select", True,
    ),
    "and a later constant": (
        f"{MASKED}{LOAD}\n%late = arith.constant dense<7.0> : {SQUARE}\n"
        f"%r = arith.select %m, %l, %late : {MASKED_CHOICE}", "arith.select", False,
    ),
    "and what is computed later": (
        f"{MASKED}{LOAD}\n%late = arith.addf %yv, %yv : {SQUARE}\n%r = arith.select %m, %l, %late : {MASKED_CHOICE}",
        "arith.select", True,
    ),
}  # fmt: skip
"""Text that gives `%r`, an op, and whether it is left."""


@pytest.mark.parametrize("name", RULES)
def test_products_with_sums_and_loads_with_choices(name: str) -> None:
    body, op, left = RULES[name]
    text = kernel(f"{HEAD}{body}\n  tt.store %zp, %r : {POINTERS}\n", "f32")
    found = ops_after(text, [*small_numbers("f32", 256), True])
    assert (op in found) == left


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("turns", ["xc xc", "xc cx", "cx xc", "xy xc", "xc xy"])
def test_sums_with_constants(width: int, turns: str) -> None:
    """On either side; also where the constants' sum wraps."""
    half, e = 1 << (width - 1), f"i{width}"
    first, second = (f"arith.addi {', '.join(names)} : {e}" for names in _operands(turns))
    text = f"""
tt.func public @f(%p: !tt.ptr<{e}>, %q: !tt.ptr<{e}>) {{
  %x = tt.load %p : !tt.ptr<{e}>
  %y = tt.load %q : !tt.ptr<{e}>
  %c1 = arith.constant {half - 3} : {e}
  %c2 = arith.constant 5 : {e}
  %s1 = {first}
  %s2 = {second}
  tt.store %p, %s2 : !tt.ptr<{e}>
  tt.return
}}
"""
    rng = np.random.default_rng(SEED)
    found = ops_after(text, [rng.integers(-half, half - 1, 1).astype(f"int{width}") for _ in range(2)])
    assert found.count("arith.addi") == (2 if "y" in turns else 1)


def _operands(turns: str) -> list[list[str]]:
    first, second = turns.split()
    names = [{"x": "%x", "y": "%y", "c": "%c1"}, {"x": "%s1", "y": "%y", "c": "%c2"}]
    return [[table[letter] for letter in turn] for table, turn in zip(names, (first, second), strict=True)]


@pytest.mark.parametrize("used", [False, True])
def test_a_sum_with_a_constant_that_is_used_elsewhere_stays(used: bool) -> None:
    text = f"""
tt.func public @f(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {{
  %x = tt.load %p : !tt.ptr<i32>
  %c = arith.constant 5 : i32
  %s = arith.addi %x, %c : i32
  %t = arith.addi %s, %c : i32
  {"tt.store %q, %s : !tt.ptr<i32>" if used else ""}
  tt.store %p, %t : !tt.ptr<i32>
  tt.return
}}
"""
    found = ops_after(text, [np.array([3], np.int32), np.array([4], np.int32)])
    assert found.count("arith.addi") == 1 + used


@pytest.mark.parametrize(("first", "second", "type_", "together"), [
    ("3", "4", "i32", True), ("2147483647", "1", "i32", False), ("-2147483648", "-1", "i32", False),
    ("2147483646", "1", "i32", True), ("3", "4", "i64", True), ("%n", "4", "i32", False), ("%n", "%n", "i32", False),
    ("%w", "4", "i64", True), ("%w", "%w", "i64", True), ("100", "27", "i8", True), ("100", "28", "i8", False),
])  # fmt: skip
def test_steps_of_pointers(first: str, second: str, type_: str, together: bool) -> None:
    """Offsets are extended one by one, so that their sum must not wrap first. Addresses are compared, nothing read."""
    constants = "".join(
        f"  %c{i} = arith.constant {value} : {type_}\n" for i, value in enumerate((first, second)) if value[0] != "%"
    )
    a, b = (value if value[0] == "%" else f"%c{i}" for i, value in enumerate((first, second)))
    text = f"""
tt.func public @f(%p: !tt.ptr<i8>, %o: !tt.ptr<i64>, %n: i32, %w: i64) {{
{constants}
  %q = tt.addptr %p, {a} : !tt.ptr<i8>, {type_}
  %r = tt.addptr %q, {b} : !tt.ptr<i8>, {type_}
  %i = tt.ptr_to_int %r : !tt.ptr<i8> -> i64
  %j = tt.ptr_to_int %p : !tt.ptr<i8> -> i64
  %d = arith.subi %i, %j : i64
  tt.store %o, %d : !tt.ptr<i64>
  tt.return
}}
"""
    found = ops_after(text, [np.zeros(4, np.int8), np.zeros(1, np.int64), 2**31 - 5, 2**40])
    assert found.count("tt.addptr") == 2 - together


@pytest.mark.parametrize("mask", ["true", "false"])
@pytest.mark.parametrize("other", ["", ", %yv"])
def test_constant_masks(mask: str, other: str) -> None:
    body = f"""
  %m = arith.constant dense<{mask}> : {MASK}
  %l = tt.load %xp, %m{other} : {POINTERS}
  %h = arith.addf %l, %l : {SQUARE}
  tt.store %zp, {"%h" if other or mask == "true" else "%xv"} : {POINTERS}
  tt.store %yp, %xv, %m : {POINTERS}
"""
    found = ops_after(kernel(HEAD + body, "f32"), [*small_numbers("f32", 256), True])
    assert found.count("tt.store") == (2 if mask == "true" else 1)
    assert found.count("tt.load") == (2 if mask == "true" else 1)


@pytest.mark.parametrize(("divide", "dividend", "divisor", "found"), [
    ("divsi", "%x", "%y", "arith.remsi"), ("divui", "%x", "%y", "arith.remui"), ("divsi", "%y", "%x", "arith.remsi"),
    ("divsi", "%x", "%x", None), ("divsi", "%y", "%y", None),
])  # fmt: skip
@pytest.mark.parametrize("product", ["%q, %y", "%y, %q"])
def test_a_remainder_that_is_written_by_a_quotient(
    divide: str, dividend: str, divisor: str, found: str | None, product: str
) -> None:
    """Only where the dividend, the divisor and the factor are the same values; of all signs."""
    left, right = (dividend, divisor) if found is not None else ("%x", "%y")
    text = f"""
tt.func public @f(%p: !tt.ptr<i32>, %q0: !tt.ptr<i32>, %o: !tt.ptr<i32>) {{
  %x = tt.load %p : !tt.ptr<i32>
  %y = tt.load %q0 : !tt.ptr<i32>
  %q = arith.{divide} {dividend}, {divisor} : i32
  %m = arith.muli {product.replace("%y", right)} : i32
  %r = arith.subi {left}, %m : i32
  tt.store %o, %r : !tt.ptr<i32>
  tt.return
}}
"""
    for x, y in ((17, 5), (-17, 5), (17, -5), (-17, -5), (3, 7)):
        arguments = [np.array([value], np.int32) for value in (x, y, 0)]
        names = ops_after(text, arguments)
        assert ([name for name in names if name.startswith("arith.rem")] == [found]) is (found is not None)
        assert ("arith.subi" in names) is (found is None)
