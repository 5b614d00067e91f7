"""What an SSA value of `ttg` is in the LLVM function: a thread's share of a tile in registers, or memory of the block.

A memdesc is memory (`SharedView`), whatever lies there; everything else is held in registers (`Tile`).

A thread holds ``n`` elements of a tile, numbered by the layout's register index. They are written in one of two forms:

* **vector**: one ``<n x T>`` value. Data is kept like this: an elementwise op is one line whatever ``n`` is, and
  LLVM's type legalisation cuts it up as late as possible (64 registers through 12 ops parse and optimise five times
  faster than scalars).
* **scalars**: a list of ``n`` names, in which equal elements share one name. Indices, pointers and masks are kept
  like this: ``rows[:, None] * stride`` has one multiplication for each distinct row a thread owns, however often it
  repeats along the columns, and a splat is one name ``n`` times.

Either form is made from the other on demand. A scalar value is a tile with ``n == 1``.

A third form is *lazy*: a function that writes any run of the elements when they are asked for. A wide tile with one
user in the same wait interval of a block is kept like this, so that a chain of elementwise ops between a load and a
reduction or a store is written a few elements at a time and its intermediates never all live at once. The
assembler would have to find that order again, and does not. Data whose elements are there one by one is lazy as well
(``FunctionEmitter.gathered``): it has scalars, and packs the run that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(slots=True, eq=False)
class Tile:
    """``n`` values of LLVM type ``elem``; at least one of the two forms is present.

    The cached conversions are valid in the block in which they were made only: ``scalars_block``/``vector_block``
    name it, or are None where the form is the original one and so dominates every use of the tile."""

    elem: str
    n: int
    scalars: list[str] | None = None
    vector: str | None = None
    scalars_block: str | None = field(default=None)
    vector_block: str | None = field(default=None)
    lazy: Callable[[int, int], str] | None = field(default=None)
    """``lazy(first, count)`` writes and names that run of elements."""

    @staticmethod
    def of(elem: str, names: list[str]) -> Tile:
        return Tile(elem, len(names), scalars=names)

    @staticmethod
    def wide(elem: str, n: int, name: str) -> Tile:
        if n == 1:
            return Tile(elem, 1, scalars=[name])
        return Tile(elem, n, vector=name)

    @staticmethod
    def splat(elem: str, n: int, name: str) -> Tile:
        return Tile(elem, n, scalars=[name] * n)

    @property
    def type(self) -> str:
        """The LLVM type of the vector form."""
        return self.elem if self.n == 1 else f"<{self.n} x {self.elem}>"

    @property
    def prefers_vector(self) -> bool:
        """Whether the original form is the vector."""
        return self.n > 1 and (self.lazy is not None or (self.vector is not None and self.vector_block is None))


@dataclass(frozen=True)
class SharedView:
    """Where a buffer in shared memory, or a view into one, begins.

    ``start`` is XORed to every element offset: the corner of a sub-slice in its parent's (possibly swizzled) layout.
    ``padding`` holds (interval, amount) pairs of a padded layout, in elements.
    """

    pointer: str
    start: int = 0
    padding: tuple[tuple[int, int], ...] = ()


Value: TypeAlias = Tile | SharedView
"""What the emitters keep for an SSA value."""


def is_constant(name: str) -> bool:
    """Whether the text of an LLVM operand is a literal rather than a value or a global."""
    return name[0] not in "%@"
