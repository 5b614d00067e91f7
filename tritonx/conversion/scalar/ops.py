"""The instructions of one elementwise op at one width, and what a path to LLVM says of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from xdsl.ir import Attribute, Operation

from tritonx.conversion.llvm_text import int_literal, vector
from tritonx.conversion.llvm_writer import Writer
from tritonx.conversion.mathlib import Code
from tritonx.ir.types import element_type, type_of


class Fact(Protocol):
    """What is known of every element of an operand; `analysis.axis_value.AxisInfo` is one."""

    @property
    def constant(self) -> int | None: ...
    @property
    def non_negative(self) -> bool: ...


class Target:
    """How a path to LLVM holds numbers, and what its instructions do by themselves."""

    fuse: bool = True
    """Whether a product and a sum may become one operation."""
    shifts_saturate: int = 0
    """Up to which width of values a shift by the width or more leaves 0, or the sign, as the language says."""
    orders_zeros: bool = False
    """Whether the instructions of `maxnum` and `minnum` take -0 for less than 0, of which LLVM says nothing."""
    bfloat_by_single: bool = True
    """Whether LLVM's instructions convert integers to bf16 by way of f32, which rounds those of many digits twice."""
    narrows_double: bool = True
    """Whether the machine rounds f64 to formats narrower than f32 in instructions."""
    converts_bytes_slowly: bool = False
    """Whether an instruction that converts a byte to a float takes longer than moving its bits and a subtraction."""

    widest_integer: int = 128
    """Bits of the widest integer that there are instructions for."""
    orders_truth_values: bool = True
    """Whether there are extrema of i1."""

    def held(self, element: Attribute) -> str:
        """The LLVM type of an element in a register."""
        raise NotImplementedError

    def in_memory(self, element: Attribute) -> str:
        """The LLVM type of an element in memory."""
        raise NotImplementedError

    def format(self, name: str) -> str:
        """The LLVM type that holds the float format of that name in the IR (`bf16`, `f8E5M2`)."""
        raise NotImplementedError

    def computes(self, element: Attribute) -> bool:
        """Whether floats of this type are computed with as they are; others are in f32, and rounded."""
        return True

    def converts_integers(self, name: str) -> bool:
        """Whether LLVM's instructions convert between integers and the float format of this name."""
        return True

    def division(self, elem: str, width: int) -> Division | None:
        """How integers of these vectors are divided where that is better than LLVM's instruction."""
        return None


Division = Callable[["Ops", str, str, str, bool], str]
"""(ops, type of the elements, dividend, divisor, whether they are signed) → the quotient, towards zero. The divisor is
nowhere 0; the least integer by -1 wraps."""


class Ops:
    """Writes instructions on values of ``width`` lanes, or on scalars (0). Equal instructions are written once."""

    def __init__(self, writer: Writer, width: int, target: Target, fact: Callable[[int], Fact]) -> None:
        self.writer = writer
        self.width = width
        self.target = target
        self.fact = fact
        """What is known of the operand of this number."""
        self._made: dict[str, str] = {}

    def inst(self, text: str) -> str:
        """The name of what ``text``, an instruction without effects, gives."""
        name = self._made.get(text)
        if name is None:
            name = self._made[text] = self.writer.inst(text)
        return name

    def of(self, elem: str) -> str:
        """The type of an operand whose elements are ``elem``."""
        return vector(elem, self.width)

    def splat(self, elem: str, literal: str) -> str:
        """A constant in every lane."""
        return f"splat ({elem} {literal})" if self.width else literal

    def number(self, elem: str, value: int) -> str:
        """An integer constant, wrapped to its type."""
        return self.splat(elem, int_literal(value, int(elem[1:])))

    def binary(self, opcode: str, elem: str, a: str, b: str) -> str:
        return self.inst(f"{opcode} {vector(elem, self.width)} {a}, {b}")

    def test(self, predicate: str, elem: str, a: str, number: int) -> str:
        """An integer compared with a constant."""
        return self.binary(f"icmp {predicate}", elem, a, self.number(elem, number))

    def select(self, condition: str, elem: str, a: str, b: str) -> str:
        type_ = vector(elem, self.width)
        return self.inst(f"select {self.of('i1')} {condition}, {type_} {a}, {type_} {b}")

    def cast(self, opcode: str, source: str, value: str, target: str) -> str:
        if source == target:
            return value
        return self.inst(f"{opcode} {self.of(source)} {value} to {self.of(target)}")

    def intrinsic(self, name: str, elem: str, *args: str, flags: Sequence[str] = ()) -> str:
        """``llvm.<name>`` overloaded on its one type; ``flags`` are i1 literals that follow."""
        type_ = vector(elem, self.width)
        symbol = self.writer.module.intrinsic(name, type_, [type_] * len(args) + ["i1"] * len(flags))
        operands = ", ".join([*[f"{type_} {a}" for a in args], *[f"i1 {flag}" for flag in flags]])
        return self.inst(f"call {type_} {symbol}({operands})")

    def overloaded(self, name: str, wanted: str, held: str, value: str) -> str:
        """``llvm.<name>`` overloaded on the types of its result and of its operand."""
        result, operand = self.of(wanted), self.of(held)
        symbol = self.writer.module.intrinsic(name, result, [operand], operand)
        return self.inst(f"call {result} {symbol}({operand} {value})")

    def code(self, *, double: bool = False) -> Code:
        """The notation for floating-point code, in f32 or f64."""
        return Code(self.writer, self.width, double=double)


Rule = Callable[[Ops, Operation, Sequence[str]], str]
"""(ops, op, the operands' names) → the result's name."""


def operand_element(op: Operation, i: int = 0) -> Attribute:
    return element_type(type_of(op.operands[i]))


def result_element(op: Operation) -> Attribute:
    return element_type(type_of(op.results[0]))
