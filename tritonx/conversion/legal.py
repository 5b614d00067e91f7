"""What LLVM text may hold for the compiler that reads it: a machine states it, and who writes the text obeys."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Legal:
    """LLVM's own rules where nothing is said, as its targets for GPUs have them.

    ``integer`` and ``orders_truth_values`` are obeyed where instructions are written, ``types`` are refused there with
    the op. ``vector``, ``bfloat`` and ``narrow_accesses`` are of the whole text: `legalize.legal` writes it anew.

    >>> Legal(vector=4).vector
    4
    """

    types: frozenset[str] = frozenset({"half", "bfloat", "float", "double", "i64"})
    """Scalar types of which there are values, beside i1 to i32."""
    integer: int = 128
    """Bits of the widest integer that is computed with."""
    orders_truth_values: bool = True
    """Whether there are extrema of i1."""
    vector: int | None = None
    """Most elements of a vector, which then is only accessed, reinterpreted, and taken apart; None where a vector may
    have any number, and be computed with."""
    bfloat: bool = True
    """Whether bfloat is a type of the compiler's. If not, such values are the integers of their bits, and computed with
    in f32."""
    narrow_accesses: bool = True
    """Whether vectors of 8- and 16-bit elements may be accessed as such; if not, as words of 32 bits where they are
    aligned to such."""
