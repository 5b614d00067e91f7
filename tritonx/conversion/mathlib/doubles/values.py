"""Doubles, integers and truth values of a scalar LLVM function as Python values, so that a formula reads like one.

Each operator writes one instruction, without fast-math flags. Nothing is fused: a formula that wants a fused
multiply-add says ``fma``, and a target must not contract the others on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tritonx.conversion.mathlib.code import Code


@dataclass(frozen=True, eq=False)
class Truth:
    """An i1."""

    code: Code
    text: str

    def _with(self, op: str, other: Truth | str) -> Truth:
        right = other if isinstance(other, str) else other.text
        return Truth(self.code, self.code.writer.inst(f"{op} i1 {self.text}, {right}"))

    def __and__(self, other: Truth) -> Truth:
        return self._with("and", other)

    def __or__(self, other: Truth) -> Truth:
        return self._with("or", other)

    def __xor__(self, other: Truth) -> Truth:
        return self._with("xor", other)

    def __invert__(self) -> Truth:
        return self._with("xor", "true")


@dataclass(frozen=True, eq=False)
class Word:
    """An i64."""

    code: Code
    text: str

    def _with(self, op: str, other: Word | int) -> Word:
        right = other if isinstance(other, int) else other.text
        return Word(self.code, self.code.int_op(op, self.text, right))

    def _compared(self, predicate: str, other: Word | int) -> Truth:
        right = other if isinstance(other, int) else other.text
        return Truth(self.code, self.code.int_compare(predicate, self.text, right))

    def __add__(self, other: Word | int) -> Word:
        return self._with("add", other)

    def __sub__(self, other: Word | int) -> Word:
        return self._with("sub", other)

    def __mul__(self, other: Word | int) -> Word:
        return self._with("mul", other)

    def __and__(self, other: Word | int) -> Word:
        return self._with("and", other)

    def __or__(self, other: Word | int) -> Word:
        return self._with("or", other)

    def __xor__(self, other: Word | int) -> Word:
        return self._with("xor", other)

    def __lshift__(self, other: Word | int) -> Word:
        return self._with("shl", other)

    def __rshift__(self, other: Word | int) -> Word:
        """The logical shift."""
        return self._with("lshr", other)

    def sar(self, other: Word | int) -> Word:
        """The arithmetic shift."""
        return self._with("ashr", other)

    def __lt__(self, other: Word | int) -> Truth:
        return self._compared("slt", other)

    def __gt__(self, other: Word | int) -> Truth:
        return self._compared("sgt", other)

    def __le__(self, other: Word | int) -> Truth:
        return self._compared("sle", other)

    def __ge__(self, other: Word | int) -> Truth:
        return self._compared("sge", other)

    def equals(self, other: Word | int) -> Truth:
        return self._compared("eq", other)

    def differs(self, other: Word | int) -> Truth:
        return self._compared("ne", other)

    def double(self) -> Double:
        """The bits as a number."""
        return Double(self.code, self.code.from_bits(self.text))

    def converted(self) -> Double:
        """The signed integer as a number."""
        return Double(self.code, self.code.to_float(self.text))


@dataclass(frozen=True, eq=False)
class Double:
    """A float of the code's format: f64, or f32 for the few functions that are written for both."""

    code: Code
    text: str

    def const(self, value: float) -> Double:
        """A constant of the same format."""
        return Double(self.code, self.code.const(value))

    def word(self, value: int) -> Word:
        """A constant integer of the same width."""
        return Word(self.code, self.code.int_const(value))

    def _given(self, other: Double | float) -> str:
        return other.text if isinstance(other, Double) else self.code.const(other)

    def __add__(self, other: Double | float) -> Double:
        return Double(self.code, self.code.add(self.text, self._given(other)))

    def __sub__(self, other: Double | float) -> Double:
        return Double(self.code, self.code.sub(self.text, self._given(other)))

    def __rsub__(self, other: float) -> Double:
        return Double(self.code, self.code.sub(self._given(other), self.text))

    def __mul__(self, other: Double | float) -> Double:
        return Double(self.code, self.code.mul(self.text, self._given(other)))

    def __truediv__(self, other: Double | float) -> Double:
        return Double(self.code, self.code.div(self.text, self._given(other)))

    def __rtruediv__(self, other: float) -> Double:
        return Double(self.code, self.code.div(self._given(other), self.text))

    def __neg__(self) -> Double:
        return Double(self.code, self.code.neg(self.text))

    def __abs__(self) -> Double:
        return Double(self.code, self.code.abs(self.text))

    def fma(self, factor: Double | float, addend: Double | float) -> Double:
        """self · factor + addend, rounded once."""
        return Double(self.code, self.code.fma(self.text, self._given(factor), self._given(addend)))

    def sqrt(self) -> Double:
        return Double(self.code, self.code.intrinsic("sqrt", self.text))

    def rounded(self, how: str = "rint") -> Double:
        """To an integer: ``rint``, ``floor``, ``ceil`` or ``trunc``."""
        return Double(self.code, self.code.intrinsic(how, self.text))

    def signed_as(self, other: Double) -> Double:
        return Double(self.code, self.code.copysign(self.text, other.text))

    def polynomial(self, coefficients: Sequence[float]) -> Double:
        """Horner's scheme, lowest coefficient first."""
        return Double(self.code, self.code.polynomial(self.text, coefficients))

    def bits(self) -> Word:
        return Word(self.code, self.code.bits(self.text))

    def nearest(self) -> tuple[Double, Word]:
        """The nearest integer below 2^50 as a number and as a word."""
        number, word = self.code.round_to_int(self.text)
        return Double(self.code, number), Word(self.code, word)

    def scaled(self, exponent: Word) -> Double:
        """self · 2^exponent by two factors: |exponent| below 2000."""
        return Double(self.code, self.code.scale(self.text, exponent.text))

    def at_most(self, limit: float) -> Double:
        return Double(self.code, self.code.at_most(self.text, limit))

    def at_least(self, limit: float) -> Double:
        return Double(self.code, self.code.at_least(self.text, limit))

    def _compared(self, predicate: str, other: Double | float) -> Truth:
        return Truth(self.code, self.code.compare(predicate, self.text, self._given(other)))

    def __lt__(self, other: Double | float) -> Truth:
        return self._compared("olt", other)

    def __gt__(self, other: Double | float) -> Truth:
        return self._compared("ogt", other)

    def __le__(self, other: Double | float) -> Truth:
        return self._compared("ole", other)

    def __ge__(self, other: Double | float) -> Truth:
        return self._compared("oge", other)

    def equals(self, other: Double | float) -> Truth:
        return self._compared("oeq", other)

    def differs(self, other: Double | float) -> Truth:
        """Ordered and not equal: false for NaN."""
        return self._compared("one", other)

    def is_nan(self) -> Truth:
        return self._compared("uno", self)

    def is_negative(self) -> Truth:
        """By the sign bit."""
        return self.bits() < 0


def select(condition: Truth, a: Double | float, b: Double | float) -> Double:
    """a where the condition holds. Two numbers are of the condition's format."""
    code = a.code if isinstance(a, Double) else b.code if isinstance(b, Double) else condition.code
    texts = [v.text if isinstance(v, Double) else code.const(v) for v in (a, b)]
    return Double(code, code.select(condition.text, *texts))


def select_word(condition: Truth, a: Word | int, b: Word | int) -> Word:
    code = condition.code
    texts = [v.text if isinstance(v, Word) else code.int_const(v) for v in (a, b)]
    return Word(code, code.int_select(condition.text, *texts))


def branch(condition: Truth, then: Callable[[], Double], otherwise: Callable[[], Double]) -> Double:
    """What ``then`` gives where the condition holds, else what ``otherwise`` gives; only that one is executed."""
    code, w = condition.code, condition.code.writer
    yes, no, end = w.new_label("then"), w.new_label("otherwise"), w.new_label("end")
    w.branch_if(condition.text, yes, no)
    w.label(yes)
    a = then()
    left = w.block
    w.branch(end)
    w.label(no)
    b = otherwise()
    right = w.block
    w.branch(end)
    w.label(end)
    return Double(code, w.inst(f"phi {code.type} [ {a.text}, %{left} ], [ {b.text}, %{right} ]"))
