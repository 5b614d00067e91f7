"""What a launch computes of its arguments for a kernel: integers of fixed widths, as the kernel would compute them.

`tritonx.analysis.launch_values` writes the steps. Each value is kept in the signed range of its bits, an address as
well; a result is taken modulo 2^bits. Nothing here imports a compiler."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from tritonx.analysis.launch_ranges import Step, quotient, remainder, signed


def evaluate(steps: Sequence[Step], arguments: Mapping[int, int]) -> list[int]:
    """The value of each step, for the code's arguments by their numbers (`launch_ranges.arguments_of`)."""
    values: list[int] = []
    for name, bits, *rest in steps:
        assert isinstance(name, str) and isinstance(bits, int)
        numbers = [int(number) for number in rest]
        if name == "argument":
            found = operator.index(arguments[numbers[0]])
        elif name == "constant":
            found = numbers[0]
        else:
            count, meaning = MEANINGS[name]
            found = meaning(bits, *(values[place] for place in numbers[:count]), *numbers[count:])
        values.append(signed(found, bits))
    return values


def unsigned(value: int, bits: int) -> int:
    return value % (1 << bits)


def _shift_left(bits: int, a: int, b: int) -> int:
    by = unsigned(b, bits)
    return a << by if by < bits else 0


def _shift_right(bits: int, a: int, b: int) -> int:
    return a >> min(unsigned(b, bits), bits)


def _shift_right_unsigned(bits: int, a: int, b: int) -> int:
    return _shift_right(bits, unsigned(a, bits), b)


_PREDICATES = (
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.lt, operator.le, operator.gt,
    operator.ge,
)  # fmt: skip
"""By the number of `arith.cmpi`; the last four are of unsigned integers."""
_UNSIGNED = 6


def _compare(bits: int, a: int, b: int, of: int, predicate: int) -> int:
    if predicate >= _UNSIGNED:
        a, b = unsigned(a, of), unsigned(b, of)
    return int(_PREDICATES[predicate](a, b))


def _widen(bits: int, a: int, of: int) -> int:
    return unsigned(a, of)


def _same(bits: int, a: int, *of: int) -> int:
    return a


def _select(bits: int, condition: int, a: int, b: int) -> int:
    return a if condition else b


def _add_to_address(bits: int, base: int, by: int, size: int) -> int:
    return base + by * size


Meaning = Callable[..., int]


def _plain(function: Callable[[int, int], int]) -> tuple[int, Meaning]:
    def meaning(bits: int, a: int, b: int) -> int:
        return function(a, b)

    return 2, meaning


def _of_unsigned(function: Callable[[int, int], int]) -> tuple[int, Meaning]:
    def meaning(bits: int, a: int, b: int) -> int:
        return function(unsigned(a, bits), unsigned(b, bits))

    return 2, meaning


MEANINGS: dict[str, tuple[int, Meaning]] = {
    "addi": _plain(operator.add),
    "subi": _plain(operator.sub),
    "muli": _plain(operator.mul),
    "divsi": _plain(quotient),
    "divui": _of_unsigned(quotient),
    "remsi": _plain(remainder),
    "remui": _of_unsigned(remainder),
    "andi": _plain(int.__and__),
    "ori": _plain(int.__or__),
    "xori": _plain(int.__xor__),
    "shli": (2, _shift_left),
    "shrsi": (2, _shift_right),
    "shrui": (2, _shift_right_unsigned),
    "maxsi": _plain(max),
    "minsi": _plain(min),
    "maxui": _of_unsigned(max),
    "minui": _of_unsigned(min),
    "extsi": (1, _same),
    "extui": (1, _widen),
    "trunci": (1, _same),
    "cmpi": (2, _compare),
    "select": (3, _select),
    "addptr": (2, _add_to_address),
    "bitcast": (1, _same),
}
"""Name → how many operands are earlier steps, and the value of the bits of the result, these, and the numbers behind
them."""
