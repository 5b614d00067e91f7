"""LLVM's functions of which LLVM says more than a compiler's own function for them does, as OpenCL's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tritonx.conversion.legalize.bfloat import shared_rules
from tritonx.conversion.scalar.conversions import to_odd

SHORT = {"half": "f16", "float": "f32", "double": "f64"}
"""How the names of intrinsics write LLVM's float types."""
OF_TWO_TYPES = ("llvm.fptosi.sat", "llvm.fptoui.sat")
"""Intrinsics whose names have the type of the operand as well."""

Call = Callable[[str, str, Sequence[str], Sequence[str]], str]
"""(intrinsic without types, type of the result, types and values of the operands) → the result's name."""


@dataclass(frozen=True)
class Caller:
    """How scalar instructions are added: ``new`` names the result of one, ``call`` that of an intrinsic."""

    new: Callable[[str], str]
    call: Call


Write = Callable[[Caller, str, Sequence[str], Sequence[str]], str]
"""(where to, type of the result, types and values of the operands) → the result's name."""


def ordered_extremum(of: str, joined: str) -> Write:
    """``maximumnum`` or ``minimumnum``. OpenCL's fmax and fmin may return either of two zeros; LLVM's take -0 for less.
    The bits of equal numbers are the same but for zeros', of which ``and`` has the sign of the greater."""

    def write(to: Caller, elem: str, types: Sequence[str], values: Sequence[str]) -> str:
        number = to.call(of, elem, types, values)
        bits = f"i{({'half': 16, 'float': 32, 'double': 64})[elem]}"
        a, b = (to.new(f"bitcast {elem} {value} to {bits}") for value in values)
        tie = to.new(f"bitcast {bits} {to.new(f'{joined} {bits} {a}, {b}')} to {elem}")
        equal = to.new(f"fcmp oeq {elem} {values[0]}, {values[1]}")
        return to.new(f"select i1 {equal}, {elem} {tie}, {elem} {number}")

    return write


def of_all(extremum: Write) -> Write:
    """``maximum`` or ``minimum``: NaN where either is."""

    def write(to: Caller, elem: str, types: Sequence[str], values: Sequence[str]) -> str:
        number = extremum(to, elem, types, values)
        unordered = to.new(f"fcmp uno {elem} {values[0]}, {values[1]}")
        total = to.new(f"fadd {elem} {values[0]}, {values[1]}")
        return to.new(f"select i1 {unordered}, {elem} {total}, {elem} {number}")

    return write


def saturating(name: str) -> Write:
    """A conversion that saturates gives 0 for NaN, which OpenCL only says that it should: Intel's for CPUs makes
    2^32 - 1 of it where it does not optimise."""

    def write(to: Caller, elem: str, types: Sequence[str], values: Sequence[str]) -> str:
        number = to.call(name, elem, types, values)
        unordered = to.new(f"fcmp uno {types[0]} {values[0]}, {values[0]}")
        return to.new(f"select i1 {unordered}, {elem} 0, {elem} {number}")

    return write


def fma(to: Caller, elem: str, types: Sequence[str], values: Sequence[str]) -> str:
    """Of halves in f64, where it has no rounding that a half's result could show once it is rounded to odd. OpenCL's
    function of halves is called for each lane, under a predicate, which takes Intel's vectoriser a time that
    grows with the square of the calls (`words`)."""
    if elem != "half":
        return to.call("llvm.fma", elem, types, values)
    exact = to.call("llvm.fma", "double", ["double"] * 3, [to.new(f"fpext half {v} to double") for v in values])
    return to.new(f"fptrunc float {to_odd(shared_rules(to.new), exact)} to half")


MAXIMUM = ordered_extremum("llvm.maxnum", "and")
MINIMUM = ordered_extremum("llvm.minnum", "or")
WRITTEN: dict[str, Write] = {
    "llvm.fma": fma,
    "llvm.maximumnum": MAXIMUM,
    "llvm.minimumnum": MINIMUM,
    "llvm.maximum": of_all(MAXIMUM),
    "llvm.minimum": of_all(MINIMUM),
    "llvm.fptosi.sat": saturating("llvm.fptosi.sat"),
    "llvm.fptoui.sat": saturating("llvm.fptoui.sat"),
}
"""By the name without types."""
