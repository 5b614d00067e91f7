"""Launches that a kernel's code is not for: those with a null pointer among the arguments, or with two that overlap
where the code takes them to be apart (`disjoint.py`).

The builtin compares the addresses that it has. For a launch that may be irregular it calls `tx.otherwise`, a Python
function, with its own arguments. That has the arrays, and either launches other code, which reads a tile whole before
it stores one and looks at each access (`guard-null-pointers`), or returns False: then the builtin goes on.

Two NumPy arrays that own their memory and have different addresses are apart. So most launches of NumPy arrays need no
more than that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tritonx.conversion.tile_to_loops.disjoint import Pair, Sum
from tritonx.conversion.tile_to_loops.launch_parameter import Parameter

DECLARATIONS = """declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
@_Py_FalseStruct = external global i8"""

FLAGS = 64
"""Where a NumPy array has its flags."""

OWNS_DATA = 4
"""NPY_ARRAY_OWNDATA."""


def check(parameters: Sequence[Parameter], pairs: Iterable[Pair]) -> list[str]:
    """Go to ``%go`` where the arguments are regular; launch other code where they are not."""
    lines, found = list[str](), "false"
    for i, parameter in enumerate(parameters):
        if parameter.llvm == "ptr":
            lines += [f"  %null{i} = icmp eq i64 %p{i}, 0", f"  %irregular{i} = or i1 {found}, %null{i}"]
            found = f"%irregular{i}"
    for i, each in enumerate(pairs):
        lines += [*_near(i, each), f"  %overlapping{i} = or i1 {found}, %near{i}"]
        found = f"%overlapping{i}"
    return [
        *lines,
        f"  br i1 {found}, label %otherwise, label %go",
        "otherwise:",
        "  %other = load ptr, ptr @tx.otherwise, align 8",
        "  %launched = call ptr @PyObject_Vectorcall(ptr %other, ptr %args, i64 %nargs, ptr null)",
        "  %regular = icmp eq ptr %launched, @_Py_FalseStruct",
        "  br i1 %regular, label %regularly, label %launchedother",
        "launchedother:",
        "  ret ptr %launched",
        "regularly:",
        "  call void @Py_DecRef(ptr %launched)",
        "  br label %go",
    ]


def _near(i: int, pair: Pair) -> list[str]:
    """Set ``%near`` i: whether `Pair.is_right` is false, and the arguments are not two arrays that own their memory."""
    a, b = pair.stored, pair.other
    w = _Numbers(f"near{i}.")
    distance = w.binary("sub", f"%p{a}", f"%p{b}")
    different = w.compare("ne", distance, "0")
    found = w.logic("xor", w.logic("and", w.logic("and", f"%owns{a}", f"%owns{b}"), different), "true")
    bounds = None if pair.difference is None else w.bounds(pair.difference)
    if bounds is not None:
        low, high, unknown = bounds
        low, high = (w.binary("add", distance, w.binary("mul", bound, str(pair.size))) for bound in (low, high))
        in_place = w.logic("and", w.compare("eq", low, "0"), w.compare("eq", high, "0"))
        reach, endless = str(pair.size), unknown
        for length, step in pair.steps:
            least, most, unsteady = w.bounds(step)
            endless = w.logic("or", endless, unsteady)
            size = w.greatest(w.magnitude(least), w.magnitude(most))
            reach = w.binary("add", reach, w.binary("mul", size, str(length * pair.size)))
        below = w.compare("sle", high, w.binary("sub", "0", reach))
        apart = w.logic("or", below, w.compare("sge", low, reach))
        apart = w.logic("and", apart, w.logic("xor", endless, "true"))
        in_place = w.logic("and", in_place, w.logic("xor", unknown, "true"))
        found = w.logic("and", found, w.logic("xor", w.logic("or", apart, in_place), "true"))
    return [*w.lines, f"  %near{i} = and i1 {found}, true"]


class _Numbers:
    """Lines that compute, and the names of what they make, which begin with ``prefix``."""

    def __init__(self, prefix: str) -> None:
        self.prefix, self.lines = prefix, list[str]()

    def _set(self, text: str) -> str:
        name = f"%{self.prefix}{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def binary(self, op: str, a: str, b: str) -> str:
        return self._set(f"{op} i64 {a}, {b}")

    def logic(self, op: str, a: str, b: str) -> str:
        return self._set(f"{op} i1 {a}, {b}")

    def compare(self, how: str, a: str, b: str) -> str:
        return self._set(f"icmp {how} i64 {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        return self._set(f"select i1 {condition}, i64 {a}, i64 {b}")

    def greatest(self, a: str, b: str) -> str:
        return self.choose(self.compare("sgt", a, b), a, b)

    def magnitude(self, a: str) -> str:
        return self.greatest(a, self.binary("sub", "0", a))

    def bounds(self, terms: Sum) -> tuple[str, str, str]:
        """The least and the greatest value of a sum, and whether it has none: see `disjoint.py`."""
        totals: dict[int, str] = {}
        for coefficient, factors, rest in terms:
            product = str(coefficient)
            for factor in factors:
                product = self.binary("mul", product, f"%v{factor}")
            totals[rest] = self.binary("add", totals[rest], product) if rest in totals else product
        low = high = totals.pop(0, "0")
        unknown = "false"
        for rest, total in totals.items():
            if rest > 0:
                unknown = self.logic("or", unknown, self.compare("ne", total, "0"))
                continue
            reach = self.binary("mul", total, self.binary("sub", f"%g{'xyz'[-1 - rest]}", "1"))
            positive = self.compare("sgt", reach, "0")
            low = self.binary("add", low, self.choose(positive, "0", reach))
            high = self.binary("add", high, self.choose(positive, reach, "0"))
        return low, high, unknown


def compared(pairs: Iterable[Pair]) -> frozenset[int]:
    """The parameters of which the builtin must know whether they own their memory."""
    return frozenset(number for pair in pairs for number in (pair.stored, pair.other))


def owns(i: int) -> tuple[list[str], str]:
    """Read whether the array that parameter i is owns its memory; the phi where that is joined with other kinds."""
    lines = [
        f"  %flags{i}.at = getelementptr i8, ptr %o{i}, i64 {FLAGS}",
        f"  %flags{i} = load i32, ptr %flags{i}.at, align 4",
        f"  %owning{i} = and i32 %flags{i}, {OWNS_DATA}",
        f"  %owner{i} = icmp ne i32 %owning{i}, 0",
    ]
    return lines, f"  %owns{i} = phi i1 [ %owner{i}, %array{i} ], [ false, %int{i} ], [ false, %answered{i} ]"
