"""Double-double arithmetic: a number as the unevaluated sum of two doubles, with about 104 correct bits.

The sums are Knuth's and Dekker's, products take the error of one product by a fused multiply-add. Error bounds are
those of Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
arithmetic" (2017): 3u² for sums, 5u² for products, 10u² for quotients, u = 2^-53."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.conversion.mathlib.doubles.values import Double, Truth, select

Constant = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Pair:
    """hi + lo, where hi is the sum rounded to nearest."""

    hi: Double
    lo: Double

    def value(self) -> Double:
        return self.hi + self.lo

    def __neg__(self) -> Pair:
        return Pair(-self.hi, -self.lo)

    def __add__(self, other: Pair | Double | float | Constant) -> Pair:
        if isinstance(other, (Double, float, int)):
            s = two_sum(self.hi, other if isinstance(other, Double) else self.hi.const(other))
            return fast_two_sum(s.hi, s.lo + self.lo)
        other = self.given(other)
        s, t = two_sum(self.hi, other.hi), two_sum(self.lo, other.lo)
        s = fast_two_sum(s.hi, s.lo + t.hi)
        return fast_two_sum(s.hi, s.lo + t.lo)

    def __sub__(self, other: Pair | Double | float) -> Pair:
        return self + -other

    def __mul__(self, other: Pair | Double | float | Constant) -> Pair:
        if isinstance(other, (Double, float, int)):
            p = two_product(self.hi, other if isinstance(other, Double) else self.hi.const(other))
            return fast_two_sum(p.hi, self.lo.fma(other, p.lo))
        other = self.given(other)
        p = two_product(self.hi, other.hi)
        return fast_two_sum(p.hi, p.lo + self.hi.fma(other.lo, self.lo * other.hi))

    def __truediv__(self, other: Pair) -> Pair:
        first = self.hi / other.hi
        rest = (-first).fma(other.hi, self.hi)
        rest = (-first).fma(other.lo, rest + self.lo)
        return fast_two_sum(first, rest / other.hi)

    def times_power(self, factor: float) -> Pair:
        """The product with a power of two."""
        return Pair(self.hi * factor, self.lo * factor)

    def sqrt(self) -> Pair:
        """The root of a positive number."""
        root = self.hi.sqrt()
        rest = (-root).fma(root, self.hi) + self.lo
        return fast_two_sum(root, rest / (root + root))

    def given(self, other: Pair | Constant) -> Pair:
        return other if isinstance(other, Pair) else constant(self.hi, other)


def constant(like: Double, value: Constant) -> Pair:
    return Pair(like.const(value[0]), like.const(value[1]))


def exact(x: Double) -> Pair:
    return Pair(x, x.const(0.0))


def fast_two_sum(a: Double, b: Double) -> Pair:
    """a + b exactly, where |a| ≥ |b| or a is 0."""
    s = a + b
    return Pair(s, b - (s - a))


def two_sum(a: Double, b: Double) -> Pair:
    """a + b exactly."""
    s = a + b
    part = s - a
    return Pair(s, (a - (s - part)) + (b - part))


def two_product(a: Double, b: Double) -> Pair:
    """a · b exactly, but for underflow."""
    p = a * b
    return Pair(p, a.fma(b, -p))


def square(a: Double) -> Pair:
    return two_product(a, a)


def select_pair(condition: Truth, a: Pair, b: Pair) -> Pair:
    return Pair(select(condition, a.hi, b.hi), select(condition, a.lo, b.lo))
