"""How a host's registers hold numbers, for the scalar rules, and how it divides vectors of integers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute

from tritonx.conversion.scalar.ops import Division, Ops, Target
from tritonx.conversion.tile_to_loops.types import is_narrow_float, memory_type, register_type
from tritonx.conversion.tile_to_loops.writer import Lanes

_FORMATS = {"f16": "half", "bf16": "i16", "f32": "float", "f64": "double"}


class HostNumbers(Target):
    """See `types.py`: bf16 and the 8-bit floats are integers of their bits, and nothing narrower than f32 is computed
    with. LLVM's `fptrunc` of f64 to f16 is a library's function, and `maxnum` of zeros either."""

    narrows_double = False

    def __init__(self, *, fuse: bool) -> None:
        self.fuse = fuse

    def held(self, element: Attribute) -> str:
        return register_type(element)

    def in_memory(self, element: Attribute) -> str:
        return memory_type(element)

    def format(self, name: str) -> str:
        return _FORMATS.get(name, "i8")

    def computes(self, element: Attribute) -> bool:
        return not is_narrow_float(element)

    def converts_integers(self, name: str) -> bool:
        return name in ("f32", "f64")

    def division(self, elem: str, width: int) -> Division | None:
        return divide_in_double if width and int(elem[1:]) <= 32 else None


def divide_in_double(ops: Ops, elem: str, a: str, b: str, signed: bool) -> str:
    """Vectors of up to 32 bits divide in f64, whose quotient truncates to the right integer: it differs from one by at
    least 1/divisor, which is 2^-31 of the quotient or more. The least integer by -1 wraps in the truncation."""
    to, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
    x, y = (ops.cast(to, elem, v, "double") for v in (a, b))
    middle = "i64" if elem == "i32" else "i32"
    quotient = ops.cast(back, "double", ops.binary("fdiv", "double", x, y), middle)
    return ops.cast("trunc", middle, quotient, elem)


@dataclass(frozen=True)
class Literal:
    """What the text of an operand says of its elements: the number, where it is one."""

    constant: int | None = None

    @property
    def non_negative(self) -> bool:
        return self.constant is not None and self.constant >= 0


_UNKNOWN = Literal()


def of_operand(lanes: Lanes) -> Literal:
    """What is known of an operand."""
    text = lanes.text
    if text[0] == "%":
        return _UNKNOWN
    if text.startswith("splat ("):
        text = text[text.index(" ", 7) + 1 : -1]
    return Literal(int(text)) if text.removeprefix("-").isdigit() else _UNKNOWN
