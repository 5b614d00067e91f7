"""Vectors over GF(2) as Python ints: bit i is coordinate i, `^` adds, and a matrix is a sequence of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Echelon:
    """A growing set of independent vectors in reduced form, with the combination of inserted columns that made each.

    `insert` and `reduce` cost one pass over the pivots, so a full elimination of the matrices met here (at most some
    twenty columns) is a few microseconds.
    """

    __slots__ = ("_pivots",)

    def __init__(self) -> None:
        self._pivots: dict[int, tuple[int, int]] = {}

    def reduce(self, vector: int) -> tuple[int, int]:
        """`vector` less its projection on the span, and the combination (packed column numbers) that was taken
        away.
        """
        combination = 0
        for pivot, (basis, made_of) in self._pivots.items():
            if vector >> pivot & 1:
                vector ^= basis
                combination ^= made_of
        return vector, combination

    def insert(self, vector: int, column: int) -> bool:
        """Adds column number `column`; false when it already lies in the span."""
        vector, combination = self.reduce(vector)
        if not vector:
            return False
        combination ^= 1 << column
        pivot = vector.bit_length() - 1
        for other, (basis, made_of) in self._pivots.items():
            if basis >> pivot & 1:
                self._pivots[other] = (basis ^ vector, made_of ^ combination)
        self._pivots[pivot] = (vector, combination)
        return True

    def copy(self) -> Echelon:
        """The same span, to be extended apart."""
        result = Echelon()
        result._pivots = dict(self._pivots)
        return result

    @property
    def rank(self) -> int:
        return len(self._pivots)

    @property
    def pivots(self) -> int:
        """Mask of the coordinates that lead a reduced vector."""
        return sum(1 << pivot for pivot in self._pivots)

    @property
    def vectors(self) -> tuple[int, ...]:
        """The reduced vectors, in order of insertion."""
        return tuple(basis for basis, _ in self._pivots.values())


def echelon(vectors: Iterable[int]) -> Echelon:
    """The reduced form of `vectors`, columns numbered in order."""
    result = Echelon()
    for column, vector in enumerate(vectors):
        result.insert(vector, column)
    return result


def rank(vectors: Iterable[int]) -> int:
    """Dimension of the span."""
    return echelon(vectors).rank


def independent(vectors: Iterable[int]) -> tuple[int, ...]:
    """The vectors that do not depend on earlier ones, in order."""
    reduced = Echelon()
    return tuple(vector for column, vector in enumerate(vectors) if reduced.insert(vector, column))


def complement(vectors: Iterable[int], bits: int) -> tuple[int, ...]:
    """Unit vectors that complete the span of `vectors` to the whole space of `bits` coordinates, ascending."""
    pivots = echelon(vectors).pivots
    return tuple(1 << i for i in range(bits) if not pivots >> i & 1)


def intersection(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """A basis of span(a) ∩ span(b) (Zassenhaus: a dependency between columns of both sides is a common vector)."""
    reduced = Echelon()
    a = independent(a)
    for column, vector in enumerate(a):
        reduced.insert(vector, column)
    common: list[int] = []
    for column, vector in enumerate(independent(b)):
        rest, combination = reduced.reduce(vector)
        if rest:
            reduced.insert(vector, len(a) + column)
        else:
            common.append(combine(a, combination & ((1 << len(a)) - 1)))
    return independent(common)


def combine(columns: Sequence[int], selection: int) -> int:
    """XOR of the columns whose number's bit is set in `selection`: the matrix times a vector."""
    result = 0
    while selection:
        low = selection & -selection
        result ^= columns[low.bit_length() - 1]
        selection ^= low
    return result


def log2(size: int) -> int:
    """Exponent of a power of two."""
    if size < 1 or size & (size - 1):
        raise ValueError(f"{size} is not a power of two")
    return size.bit_length() - 1
