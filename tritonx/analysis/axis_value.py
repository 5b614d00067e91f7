"""The facts of the axis analysis about one value, and their arithmetic.

For every dim d of a tile (a scalar counts as a tile of one element) three powers of two:

- *contiguity* C: runs of C elements along d, starting at coordinates that are multiples of C, increase by one
  (pointers: by one element);
- *divisibility* D: what divides the first element of every such run (pointers: in bytes);
- *constancy* K: runs of K elements along d, starting at multiples of K, are equal.

An offset such as `pid * 1024 + arange(0, 1024)` has C = 1024, D = 1024, and so the access through it is one of
vectors; in `offsets < n` with n divisible by 16 the mask is equal in runs of 16, and the vectors stay whole under it.

A *sign* says how sure it is that no element is below zero, where nothing overflows (`Sign`). Runs of a signed quotient
or remainder break only at a multiple of the divisor below zero, where the runs' other elements lie in front of the
array. They are kept for a dividend that is non-negative, and, as Triton keeps them for every dividend, for one that is
presumed to be: it is below zero only where a size is below 1, or in the surplus programs of a grouped order, which have
no tile. A dividend from which the kernel subtracts, as in `((i - shift) % n + n) % n`, is not presumed.

Shorter runs begin inside longer ones: cut to length c, the divisibility of what begins every c elements is at most c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from math import gcd

Ints = tuple[int, ...]

LARGEST = 1 << 62
"""The divisibility of zero."""


def power_of_two_part(value: int) -> int:
    """The largest power of two that divides `value`; LARGEST for zero."""
    return min(value & -value, LARGEST) if value else LARGEST


class Sign(IntEnum):
    """How sure it is that a value is not below zero; each says more than the one before."""

    UNKNOWN = 0
    OF_SIZES = 1
    """Made of program ids, of arguments that are not known to be negative and of numbers, by any arithmetic."""
    PRESUMED = 2
    """Made of these without a subtraction, but in divisors."""
    NON_NEGATIVE = 3


def sign_of(number: int) -> Sign:
    return Sign.NON_NEGATIVE if number >= 0 else Sign.OF_SIZES


@dataclass(frozen=True, slots=True)
class AxisInfo:
    """What is known about a value; see the module. `unit` is the step within a run: 1, or a pointee's bytes."""

    contiguity: Ints
    divisibility: Ints
    constancy: Ints
    constant: int | None = None
    sign: Sign = Sign.UNKNOWN
    unit: int = 1

    @property
    def non_negative(self) -> bool:
        return self.sign is Sign.NON_NEGATIVE

    @property
    def floors(self) -> bool:
        """Whether a signed quotient of the value is taken to be rounded down."""
        return self.sign >= Sign.PRESUMED

    @property
    def rank(self) -> int:
        return len(self.contiguity)

    def start(self, d: int, run: int) -> int:
        """What divides the elements at multiples of `run` along d."""
        if run >= self.contiguity[d]:
            return self.divisibility[d]
        return gcd(self.divisibility[d], run * self.unit)

    @property
    def every(self) -> int:
        """What divides every element."""
        return max(self.start(d, 1) for d in range(self.rank))

    def with_constant(self, value: int | None) -> AxisInfo:
        return replace(self, constant=value)


def unknown(rank: int, unit: int = 1) -> AxisInfo:
    """Nothing known."""
    ones = (1,) * rank
    return AxisInfo(ones, ones, ones, unit=unit)


def scalar(divisibility: int = 1, constant: int | None = None, sign: Sign = Sign.UNKNOWN, unit: int = 1) -> AxisInfo:
    """A scalar of which this is known."""
    return AxisInfo((1,), (divisibility,), (1,), constant, sign, unit)


def of_constant(value: int, shape: Ints) -> AxisInfo:
    """A tile filled with `value`; `()` is a scalar."""
    sizes = tuple(power_of_two_part(size) for size in shape) or (1,)
    ones = (1,) * len(sizes)
    return AxisInfo(ones, (power_of_two_part(value),) * len(sizes), sizes, value, sign_of(value))


def meet(a: AxisInfo | None, b: AxisInfo | None) -> AxisInfo | None:
    """What holds of a value that is one of two; None is a value that does not exist (yet)."""
    if a is None or b is None:
        return a if b is None else b
    if a == b:
        return a
    dims = range(a.rank)
    contiguity = tuple(map(gcd, a.contiguity, b.contiguity))
    return AxisInfo(
        contiguity,
        tuple(gcd(a.start(d, contiguity[d]), b.start(d, contiguity[d])) for d in dims),
        tuple(map(gcd, a.constancy, b.constancy)),
        a.constant if a.constant == b.constant else None,
        min(a.sign, b.sign),
        a.unit if a.unit == b.unit else 1,
    )


# --- arithmetic
# -------------------------------------------------------------------------------------------------------


def common_constancy(*values: AxisInfo) -> Ints:
    """Constancy of any function of the elements."""
    return tuple(gcd(*(v.constancy[d] for v in values)) for d in range(values[0].rank))


def add(a: AxisInfo, b: AxisInfo, unit: int = 1) -> AxisInfo:
    """a + b. For pointers `unit` is the bytes of an element and b counts elements."""
    contiguity: list[int] = []
    divisibility: list[int] = []
    for d in range(a.rank):
        run = max(gcd(a.contiguity[d], b.constancy[d]), gcd(a.constancy[d], b.contiguity[d]))
        contiguity.append(run)
        divisibility.append(gcd(a.start(d, run), min(b.start(d, run) * unit, LARGEST)))
    constant = a.constant + b.constant if a.constant is not None and b.constant is not None else None
    return _made(contiguity, divisibility, a, b, constant, min(a.sign, b.sign), unit)


def subtract(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """a - b."""
    contiguity: list[int] = []
    divisibility: list[int] = []
    for d in range(a.rank):
        run = gcd(a.contiguity[d], b.constancy[d])
        contiguity.append(run)
        divisibility.append(gcd(a.start(d, run), b.start(d, run)))
    constant = a.constant - b.constant if a.constant is not None and b.constant is not None else None
    return _made(contiguity, divisibility, a, b, constant, min(a.sign, b.sign, Sign.OF_SIZES))


def multiply(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """a * b."""
    if b.constant == 1:
        return a
    if a.constant == 1:
        return b
    divisibility = [min(a.start(d, 1) * b.start(d, 1), LARGEST) for d in range(a.rank)]
    constant = a.constant * b.constant if a.constant is not None and b.constant is not None else None
    return _made([1] * a.rank, divisibility, a, b, constant, min(a.sign, b.sign))


def divide(a: AxisInfo, b: AxisInfo, *, floor: bool) -> AxisInfo:
    """a / b, truncated, or rounded down (`floor`, also for unsigned values). Runs are kept where a is not negative,
    whatever the divisor's sign: truncation is symmetric in that. Of negative constants rounded down the quotient is not
    known: as unsigned values they are others.
    """
    if b.constant == 1:
        return a
    keeps_runs = floor or a.floors
    floor = floor or (a.non_negative and b.non_negative)
    constancy: list[int] = []
    for d in range(a.rank):
        equal = gcd(a.constancy[d], b.constancy[d])
        # An aligned run of g consecutive numbers has one quotient by a multiple of g.
        aligned = gcd(a.contiguity[d], b.constancy[d], a.divisibility[d], b.start(d, 1)) if keeps_runs else 1
        constancy.append(max(equal, aligned))
    divisibility = [1] * a.rank
    if b.constant and b.constant > 0 and not b.constant & (b.constant - 1):
        divisibility = [max(1, a.start(d, 1) // b.constant) for d in range(a.rank)]
    constant = None
    if a.constant is not None and b.constant and (not floor or min(a.constant, b.constant) >= 0):
        quotient = abs(a.constant) // abs(b.constant)
        constant = quotient if (a.constant < 0) == (b.constant < 0) else -quotient
    sign = min(a.sign, b.sign)
    if sign is Sign.OF_SIZES and a.floors and b.constant is None:
        sign = Sign.PRESUMED  # the rows that a group has left, of which surplus programs find none
    return AxisInfo((1,) * a.rank, tuple(divisibility), tuple(constancy), constant, sign)


def remainder(a: AxisInfo, b: AxisInfo, *, floor: bool) -> AxisInfo:
    """a % b with the sign of a; `floor` for unsigned values."""
    if b.constant == 1:
        is_scalar = a.rank == 1 and a.constancy == (1,)
        return of_constant(0, ()) if is_scalar else replace(unknown(a.rank), sign=Sign.NON_NEGATIVE)
    keeps_runs = floor or a.floors  # the divisor's sign does not matter
    contiguity: list[int] = []
    divisibility: list[int] = []
    for d in range(a.rank):
        run = gcd(a.contiguity[d], b.constancy[d], a.divisibility[d], b.start(d, 1)) if keeps_runs else 1
        contiguity.append(run)
        divisibility.append(gcd(a.start(d, run), b.start(d, 1)))
    constant = None
    if a.constant is not None and b.constant and (not floor or min(a.constant, b.constant) >= 0):
        rest = abs(a.constant) % abs(b.constant)
        constant = rest if a.constant >= 0 else -rest
    return _made(contiguity, divisibility, a, b, constant, a.sign)


def compare_aligned(a: AxisInfo, b: AxisInfo) -> Ints:
    """Constancy of `a < b` and `a >= b`: an aligned run of g consecutive numbers is on one side of a multiple of
    g.
    """
    result: list[int] = []
    for d in range(a.rank):
        equal = gcd(a.constancy[d], b.constancy[d])
        left = gcd(a.contiguity[d], b.constancy[d], a.divisibility[d], b.start(d, 1))
        result.append(max(equal, left))
    return tuple(result)


def bitwise(a: AxisInfo, b: AxisInfo, *, both: bool) -> AxisInfo:
    """a & b (`both`: divisible where either is) or a | b, a ^ b."""
    choose = max if both else min
    divisibility = [choose(a.start(d, 1), b.start(d, 1)) for d in range(a.rank)]
    sign = (max if both else min)(a.sign, b.sign)
    return _made([1] * a.rank, divisibility, a, b, None, sign)


def choose(condition: AxisInfo | None, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """An element of a or of b for each element of `condition`; None is a scalar condition."""
    both = meet(a, b)
    assert both is not None
    if condition is None:
        return both
    contiguity = tuple(map(gcd, both.contiguity, condition.constancy))
    return replace(
        both,
        contiguity=contiguity,
        divisibility=tuple(both.start(d, contiguity[d]) for d in range(both.rank)),
        constancy=tuple(map(gcd, both.constancy, condition.constancy)),
    )


def _made(
    contiguity: list[int],
    divisibility: list[int],
    a: AxisInfo,
    b: AxisInfo,
    constant: int | None,
    sign: Sign,
    unit: int = 1,
) -> AxisInfo:
    if constant is not None:
        divisibility = [power_of_two_part(constant)] * len(divisibility)
        sign = sign_of(constant)
    constancy = common_constancy(a, b)
    return AxisInfo(tuple(contiguity), tuple(divisibility), constancy, constant, sign, unit)


# --- shape
# ------------------------------------------------------------------------------------------------------------


def filled(value: AxisInfo, shape: Ints) -> AxisInfo:
    """A scalar in every element of a tile."""
    sizes = tuple(power_of_two_part(size) for size in shape)
    ones = (1,) * len(sizes)
    return replace(value, contiguity=ones, divisibility=value.divisibility * len(sizes), constancy=sizes)


def with_dim(value: AxisInfo, axis: int) -> AxisInfo:
    """A new dim of extent 1."""

    def insert(values: Ints, new: int) -> Ints:
        return (*values[:axis], new, *values[axis:])

    return replace(
        value,
        contiguity=insert(value.contiguity, 1),
        divisibility=insert(value.divisibility, value.every),
        constancy=insert(value.constancy, 1),
    )


def broadcast(value: AxisInfo, old: Ints, new: Ints) -> AxisInfo:
    """Extents of 1 repeated."""
    grown = tuple(power_of_two_part(n) if o != n else k for k, o, n in zip(value.constancy, old, new, strict=True))
    return replace(value, constancy=grown)


def permuted(value: AxisInfo, order: Ints) -> AxisInfo:
    """Result dim i is dim `order[i]`."""

    def permute(values: Ints) -> Ints:
        return tuple(values[d] for d in order)

    return replace(
        value,
        contiguity=permute(value.contiguity),
        divisibility=permute(value.divisibility),
        constancy=permute(value.constancy),
    )


def _innermost(old: Ints, new: Ints) -> list[tuple[int, int]]:
    """The last dims of the groups of dims, as small as can be, of which each pair holds as many elements."""
    left, right = ([d for d, size in enumerate(shape) if size != 1] for shape in (old, new))
    pairs: list[tuple[int, int]] = []
    while left and right:
        pairs.append((left[-1], right[-1]))
        a, b = old[left.pop()], new[right.pop()]
        while a != b:
            if a < b:
                a *= old[left.pop()]
            else:
                b *= new[right.pop()]
    return pairs


def reshaped(value: AxisInfo, old: Ints, new: Ints) -> AxisInfo:
    """Row-major: where neighbouring dims become others that hold as many elements, runs along the last one of them are
    kept as far as the last extent of the others holds them."""
    if not new or not old:
        return replace(unknown(max(1, len(new)), value.unit), divisibility=(value.every,) * max(1, len(new)))
    if value.constancy == tuple(old):
        return filled(replace(value, contiguity=(1,), divisibility=(value.every,), constancy=(1,)), new)
    contiguity, divisibility, constancy = [1] * len(new), [value.every] * len(new), [1] * len(new)
    for d, place in _innermost(old, new):
        contiguity[place] = gcd(value.contiguity[d], old[d], new[place])
        divisibility[place] = value.start(d, contiguity[place])
        constancy[place] = gcd(value.constancy[d], old[d], new[place])
    return replace(value, contiguity=tuple(contiguity), divisibility=tuple(divisibility), constancy=tuple(constancy))
