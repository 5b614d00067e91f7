"""A small notation for floating-point LLVM code at one width, in which the vector functions are written.

`Code(writer, 16)` writes `<16 x float>` instructions, `Code(writer, 0)` scalars, and `Code(..., double=True)` doubles.
Values are SSA names. Every multiply-add is an explicit `fma`, so that results do not depend on the contraction option.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tritonx.conversion.llvm_text import float_constant, vector
from tritonx.conversion.llvm_writer import Writer


class Code:
    """Arithmetic on floats (`double` or not) and on integers of the same width, at `width` lanes."""

    def __init__(self, writer: Writer, width: int, *, double: bool = False) -> None:
        self.writer = writer
        self.width = width
        self.double = double
        self.scalar = "double" if double else "float"
        self.integer_scalar = "i64" if double else "i32"
        self.type = vector(self.scalar, width)
        self.integer = vector(self.integer_scalar, width)
        self.mask = vector("i1", width)
        self.mantissa_bits = 52 if double else 23
        self.bias = 1023 if double else 127
        suffix = "f64" if double else "f32"
        self.suffix = f"v{width}{suffix}" if width else suffix

    # ---- constants

    def const(self, value: float) -> str:
        text = float_constant(value, double=self.double)
        return f"splat ({self.scalar} {text})" if self.width else text

    def int_const(self, value: int) -> str:
        return f"splat ({self.integer_scalar} {value})" if self.width else str(value)

    # ---- floats

    def _binary(self, op: str, a: str, b: str) -> str:
        return self.writer.inst(f"{op} {self.type} {a}, {b}")

    def add(self, a: str, b: str) -> str:
        return self._binary("fadd", a, b)

    def sub(self, a: str, b: str) -> str:
        return self._binary("fsub", a, b)

    def mul(self, a: str, b: str) -> str:
        return self._binary("fmul", a, b)

    def div(self, a: str, b: str) -> str:
        return self._binary("fdiv", a, b)

    def intrinsic(self, name: str, *args: str) -> str:
        return self.writer.call(self.type, f"@llvm.{name}.{self.suffix}", *((self.type, a) for a in args))

    def fma(self, a: str, b: str, c: str) -> str:
        return self.intrinsic("fma", a, b, c)

    def neg(self, a: str) -> str:
        return self.writer.inst(f"fneg {self.type} {a}")

    def abs(self, a: str) -> str:
        return self.intrinsic("fabs", a)

    def copysign(self, magnitude: str, sign: str) -> str:
        return self.intrinsic("copysign", magnitude, sign)

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Horner's scheme, lowest coefficient first."""
        result = self.const(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = self.fma(result, x, self.const(c))
        return result

    # ---- comparisons and selection

    def compare(self, predicate: str, a: str, b: str) -> str:
        return self.writer.inst(f"fcmp {predicate} {self.type} {a}, {b}")

    def select(self, mask: str, a: str, b: str) -> str:
        return self.writer.inst(f"select {self.mask} {mask}, {self.type} {a}, {self.type} {b}")

    def at_most(self, x: str, limit: float) -> str:
        """min(x, limit); NaN stays NaN."""
        return self.select(self.compare("ogt", x, self.const(limit)), self.const(limit), x)

    def at_least(self, x: str, limit: float) -> str:
        """max(x, limit); NaN stays NaN."""
        return self.select(self.compare("olt", x, self.const(limit)), self.const(limit), x)

    # ---- bits

    def bits(self, x: str) -> str:
        return self.writer.inst(f"bitcast {self.type} {x} to {self.integer}")

    def from_bits(self, x: str) -> str:
        return self.writer.inst(f"bitcast {self.integer} {x} to {self.type}")

    def int_op(self, op: str, a: str, b: str | int) -> str:
        return self.writer.inst(f"{op} {self.integer} {a}, {self.int_const(b) if isinstance(b, int) else b}")

    def int_compare(self, predicate: str, a: str, b: str | int) -> str:
        right = self.int_const(b) if isinstance(b, int) else b
        return self.writer.inst(f"icmp {predicate} {self.integer} {a}, {right}")

    def int_select(self, mask: str, a: str, b: str) -> str:
        return self.writer.inst(f"select {self.mask} {mask}, {self.integer} {a}, {self.integer} {b}")

    def to_float(self, x: str) -> str:
        return self.writer.inst(f"sitofp {self.integer} {x} to {self.type}")

    # ---- lanes

    def lanes(self, a: str, b: str, lanes: Sequence[int]) -> str:
        """The vector of these lanes of `a`, and from `width` on of `b`."""
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.writer.inst(f"shufflevector {self.type} {a}, {self.type} {b}, <{len(lanes)} x i32> <{mask}>")

    # ---- pieces shared by several functions

    def round_to_int(self, x: str) -> tuple[str, str]:
        """(the nearest integer as a float, as an integer) for |x| < 2^21 (f32) or 2^50 (f64); NaN gives some integer.

        Adding 1.5·2^p puts the integer into the low mantissa bits; a conversion instruction would be poison on NaN.
        """
        magic = 1.5 * 2.0**self.mantissa_bits
        shifted = self.add(x, self.const(magic))
        magic_bits = struct.unpack("<q", struct.pack("<d", magic))[0] if self.double else 0x4B400000
        return self.sub(shifted, self.const(magic)), self.int_op("sub", self.bits(shifted), magic_bits)

    def scale(self, x: str, exponent: str) -> str:
        """x·2^exponent with gradual underflow, |exponent| up to twice the exponent range: two exact factors."""
        half = self.int_op("ashr", exponent, 1)
        rest = self.int_op("sub", exponent, half)
        return self.mul(self.mul(x, self.power_of_two(half)), self.power_of_two(rest))

    def power_of_two(self, exponent: str) -> str:
        """2^exponent for exponents of normal numbers."""
        return self.from_bits(self.int_op("shl", self.int_op("add", exponent, self.bias), self.mantissa_bits))

    def any(self, mask: str) -> str:
        """Whether any lane of an i1 vector is set."""
        if not self.width:
            return mask
        return self.writer.call("i1", f"@llvm.vector.reduce.or.v{self.width}i1", (self.mask, mask))
