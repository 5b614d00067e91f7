"""Ranges of the integers that the programs of a launch compute: interval arithmetic over steps, which
`tritonx.analysis.launch_bounds` writes and a launch evaluates for its arguments and its grid.

A range holds all values that its step takes in any program and in any iteration of the enclosing loops. Each step has
so many bits; where a result may leave the signed range of these it may be any number of that range. A quotient by 0 is
0 (docs/guide.md, "Integers"). Nothing here imports a compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Step = Sequence[str | int]
"""What is computed, the bits of the result, and behind them the numbers of earlier steps, then plain numbers."""

Range = tuple[int, int]
"""The least and the largest value."""

UNKNOWN_TRUTH: Range = (-1, 0)
"""A comparison that holds (-1, in one bit) or not (0)."""


def ranges(steps: Sequence[Step], arguments: Mapping[int, int], grid: Sequence[int]) -> list[Range]:
    """The range of each step, for the code's arguments by their numbers and the programs along x, y and z."""
    found: list[Range] = []
    for name, bits, *rest in steps:
        assert isinstance(name, str) and isinstance(bits, int)
        numbers = [int(number) for number in rest]
        if name == "argument":
            made = _point(signed(arguments[numbers[0]], bits))
        elif name == "constant":
            made = _point(signed(numbers[0], bits))
        elif name == "program_id":
            made = (0, max(grid[numbers[0]] - 1, 0))
        elif name == "num_programs":
            made = _point(grid[numbers[0]])
        else:
            count, rule = RULES[name]
            made = rule(bits, *(found[place] for place in numbers[:count]), *numbers[count:])
        whole = _whole(bits)
        found.append(made if whole[0] <= made[0] and made[1] <= whole[1] else whole)
    return found


def arguments_of(steps: Sequence[Step]) -> tuple[int, ...]:
    """The numbers of the arguments that steps name."""
    return tuple(sorted({int(step[2]) for step in steps if step[0] == "argument"}))


def signed(value: int, bits: int) -> int:
    """The integer of so many bits with these low bits."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def _point(value: int) -> Range:
    return value, value


def _whole(bits: int) -> Range:
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _hull(*values: int) -> Range:
    return min(values), max(values)


def _add(bits: int, a: Range, b: Range) -> Range:
    return a[0] + b[0], a[1] + b[1]


def _subtract(bits: int, a: Range, b: Range) -> Range:
    return a[0] - b[1], a[1] - b[0]


def _multiply(bits: int, a: Range, b: Range) -> Range:
    return _hull(*(x * y for x in a for y in b))


def quotient(a: int, b: int) -> int:
    """Rounded towards zero; by 0 it is 0."""
    if b == 0:
        return 0
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def remainder(a: int, b: int) -> int:
    """With the sign of the dividend; by 0 that is left."""
    return a - quotient(a, b) * b


def _divide(bits: int, a: Range, b: Range) -> Range:
    """A quotient is monotonic in the dividend, and in the divisor on each side of 0."""
    divisors = {y for y in (b[0], b[1], -1, 1) if y and b[0] <= y <= b[1]}
    by_zero = [0] if b[0] <= 0 <= b[1] else []
    return _hull(*(quotient(x, y) for x in a for y in divisors), *by_zero)


def _remainder(bits: int, a: Range, b: Range) -> Range:
    """It has the dividend's sign and at most its size, and is less than the divisor's size if that is not 0."""
    if a[0] == a[1] and b[0] == b[1]:
        return _point(remainder(a[0], b[0]))
    largest = max(abs(b[0]), abs(b[1])) - 1
    smallest = 0 if b[0] <= 0 <= b[1] else min(abs(b[0]), abs(b[1]))
    if max(abs(a[0]), abs(a[1])) < smallest:
        return a
    if not smallest:  # by 0 the dividend is left
        return min(a[0], 0), max(a[1], 0)
    return max(min(a[0], 0), -largest), min(max(a[1], 0), largest)


def _and(bits: int, a: Range, b: Range) -> Range:
    if a[0] == a[1] and b[0] == b[1]:
        return _point(a[0] & b[0])
    tops = [each[1] for each in (a, b) if each[0] >= 0]
    return (0, min(tops)) if tops else _whole(bits)


def _either(function: Callable[[int, int], int]) -> Rule:
    """Of bits that one of two has: no more of them than the larger one."""

    def rule(bits: int, a: Range, b: Range) -> Range:
        if a[0] == a[1] and b[0] == b[1]:
            return _point(function(a[0], b[0]))
        if min(a[0], b[0]) < 0:
            return _whole(bits)
        return 0, (1 << max(a[1], b[1]).bit_length()) - 1

    return rule


def _shift_left(bits: int, a: Range, b: Range) -> Range:
    if not 0 <= b[0] <= b[1] < bits:
        return _whole(bits)
    return _hull(*(x << by for x in a for by in b))


def _shift_right(bits: int, a: Range, b: Range) -> Range:
    if b[0] < 0:
        return _whole(bits)
    return _hull(*(x >> min(by, bits) for x in a for by in b))


def _shift_right_unsigned(bits: int, a: Range, b: Range) -> Range:
    if a[0] >= 0:
        return _shift_right(bits, a, b)
    return (0, (1 << bits) - 1 >> min(b[0], bits)) if b[0] > 0 else _whole(bits)


def _of_natural(rule: Rule) -> Rule:
    """Of numbers that are the same without a sign."""

    def made(bits: int, a: Range, b: Range) -> Range:
        return rule(bits, a, b) if min(a[0], b[0]) >= 0 else _whole(bits)

    return made


def _maximum(bits: int, a: Range, b: Range) -> Range:
    return max(a[0], b[0]), max(a[1], b[1])


def _minimum(bits: int, a: Range, b: Range) -> Range:
    return min(a[0], b[0]), min(a[1], b[1])


def _same(bits: int, a: Range, *of: int) -> Range:
    return a


def _widen(bits: int, a: Range, of: int) -> Range:
    if a[0] >= 0:
        return a
    return _point(a[0] % (1 << of)) if a[0] == a[1] else (0, (1 << of) - 1)


_HOLDS: tuple[Callable[[Range, Range], bool], ...] = (
    lambda a, b: a[0] == a[1] == b[0] == b[1],
    lambda a, b: a[1] < b[0] or b[1] < a[0],
    lambda a, b: a[1] < b[0],
    lambda a, b: a[1] <= b[0],
    lambda a, b: a[0] > b[1],
    lambda a, b: a[0] >= b[1],
)
"""When a comparison holds for all pairs, by the number of its predicate in `arith.cmpi`: eq ne slt sle sgt sge."""
_OPPOSITE = 1, 0, 5, 4, 3, 2
_UNSIGNED = 6
"""The first predicate of unsigned integers; these are in the order of the last four of signed ones."""


def _compare(bits: int, a: Range, b: Range, of: int, predicate: int) -> Range:
    if predicate >= _UNSIGNED:
        if min(a[0], b[0]) < 0:
            return UNKNOWN_TRUTH
        predicate -= _UNSIGNED - 2
    if _HOLDS[predicate](a, b):
        return _point(-1)
    return _point(0) if _HOLDS[_OPPOSITE[predicate]](a, b) else UNKNOWN_TRUTH


def _select(bits: int, condition: Range, a: Range, b: Range) -> Range:
    if condition[0] == condition[1]:
        return a if condition[0] else b
    return _hull(*a, *b)


def _add_to_address(bits: int, base: Range, by: Range, size: int) -> Range:
    return base[0] + by[0] * size, base[1] + by[1] * size


def _natural(bits: int) -> Range:
    return 0, _whole(bits)[1]


def _counter(bits: int, lower: Range, upper: Range, step: Range) -> Range:
    """Of a loop that counts up from `lower` and stays below `upper`."""
    return (lower[0], max(lower[0], upper[1] - 1)) if step[0] > 0 else _whole(bits)


def _trips(bits: int, lower: Range, upper: Range, step: Range) -> Range:
    """The trip count of such a loop."""
    if step[0] <= 0:
        return _natural(bits)
    return max(0, -((lower[1] - upper[0]) // step[1])), max(0, -((lower[0] - upper[1]) // step[0]))


def _rounds(bits: int, lower: Range, upper: Range, step: Range) -> Range:
    """The number of an iteration of such a loop, from 0."""
    return 0, max(0, _trips(bits, lower, upper, step)[1] - 1)


Rule = Callable[..., Range]

RULES: dict[str, tuple[int, Rule]] = {
    "addi": (2, _add),
    "subi": (2, _subtract),
    "muli": (2, _multiply),
    "divsi": (2, _divide),
    "divui": (2, _of_natural(_divide)),
    "remsi": (2, _remainder),
    "remui": (2, _of_natural(_remainder)),
    "andi": (2, _and),
    "ori": (2, _either(int.__or__)),
    "xori": (2, _either(int.__xor__)),
    "shli": (2, _shift_left),
    "shrsi": (2, _shift_right),
    "shrui": (2, _shift_right_unsigned),
    "maxsi": (2, _maximum),
    "minsi": (2, _minimum),
    "maxui": (2, _of_natural(_maximum)),
    "minui": (2, _of_natural(_minimum)),
    "extsi": (1, _same),
    "extui": (1, _widen),
    "trunci": (1, _same),
    "cmpi": (2, _compare),
    "select": (3, _select),
    "addptr": (2, _add_to_address),
    "bitcast": (1, _same),
    "natural": (0, _natural),
    "counter": (3, _counter),
    "trips": (3, _trips),
    "rounds": (3, _rounds),
}
"""Name → how many operands are earlier steps, and the range for the bits of the result, theirs, and the numbers behind
them. The first 24 are those of the values that a launch computes (`tritonx.analysis.launch_values`)."""
