"""Polynomials with integer coefficients over scalars of a program: what an index or an address is, written out, so that
two may be compared, and one divided by a stride.

Numbers are without bounds here. An index is taken not to leave its type, as the axis analysis takes it
(`analysis/axis_value`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass

Monomial = frozenset[tuple[Hashable, int]]
"""Atoms with their exponents; empty is 1."""


@dataclass(frozen=True)
class Polynomial:
    """The sum of `terms`: no two of one monomial, no coefficient 0.

    >>> x, y = atom("x"), atom("y")
    >>> (x + y) * (x - y) == x * x - y * y
    True
    """

    terms: frozenset[tuple[Monomial, int]]

    def __add__(self, other: Polynomial) -> Polynomial:
        return _sum((*self.terms, *other.terms))

    def __neg__(self) -> Polynomial:
        return Polynomial(frozenset((monomial, -factor) for monomial, factor in self.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _sum(
            (_product(a, b), one * two) for a, one in self.terms for b, two in other.terms
        )  # fmt: skip

    @property
    def value(self) -> int | None:
        """The number that it is; None where it has atoms."""
        if not self.terms:
            return 0
        if len(self.terms) == 1:
            ((monomial, factor),) = self.terms
            if not monomial:
                return factor
        return None

    def atoms(self) -> set[Hashable]:
        """All that it is of."""
        return {each for monomial, _ in self.terms for each, _ in monomial}

    def each(self) -> Iterator[Polynomial]:
        """Its terms, a polynomial each."""
        return (Polynomial(frozenset((term,))) for term in self.terms)

    def where(self, wanted: Callable[[Polynomial], bool]) -> Polynomial:
        """The sum of the terms that are wanted."""
        return Polynomial(frozenset(term for term in self.terms if wanted(Polynomial(frozenset((term,))))))

    def over(self, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        """The quotient by one term, of the terms that it divides, and the other terms.

        >>> x, y = atom("x"), atom("y")
        >>> (x * y * number(6) + x).over(y * number(2)) == (x * number(3), x)
        True
        """
        ((by, number_),) = divisor.terms
        quotient: list[tuple[Monomial, int]] = []
        rest: list[tuple[Monomial, int]] = []
        for monomial, factor in self.terms:
            exponents = dict(monomial)
            for each, exponent in by:
                exponents[each] = exponents.get(each, 0) - exponent
            if factor % number_ == 0 and min(exponents.values(), default=0) >= 0:
                quotient.append((_monomial(exponents), factor // number_))
            else:
                rest.append((monomial, factor))
        return Polynomial(frozenset(quotient)), Polynomial(frozenset(rest))


def number(value: int) -> Polynomial:
    """A constant."""
    return Polynomial(frozenset({(frozenset[tuple[Hashable, int]](), value)} if value else ()))


def atom(value: Hashable) -> Polynomial:
    """Something of which nothing is known here but that it is the same wherever it is equal."""
    return Polynomial(frozenset({(frozenset({(value, 1)}), 1)}))


def _sum(terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
    found: dict[Monomial, int] = {}
    for monomial, factor in terms:
        found[monomial] = found.get(monomial, 0) + factor
    return Polynomial(frozenset((monomial, factor) for monomial, factor in found.items() if factor))


def _product(a: Monomial, b: Monomial) -> Monomial:
    exponents = dict(a)
    for each, exponent in b:
        exponents[each] = exponents.get(each, 0) + exponent
    return _monomial(exponents)


def _monomial(exponents: dict[Hashable, int]) -> Monomial:
    return frozenset((each, exponent) for each, exponent in exponents.items() if exponent)
