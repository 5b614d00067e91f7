"""How often a loop runs whose bounds are not known, but by how much they differ."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tritonx.dialects import arith, scf
from tritonx.ir.fold.constants import integer_of, width_of


def iterations_if_any(loop: scf.ForOp) -> int | None:
    """The trip count of a loop if it runs at all; None where that is not known.

    A loop from `a` to `a + 128` in steps of 64 runs twice, or never where the sum overflows."""
    step, width = integer_of(loop.step), width_of(loop.lb.type)
    (lower, first), (upper, last) = _parts(loop.lb), _parts(loop.ub)
    if width is None or lower is not upper or step is None or step <= 0:
        return None
    length = (last - first) % (1 << width)
    return -(-length // step) if 0 < length < 1 << (width - 1) else None


def _parts(value: SSAValue) -> tuple[SSAValue | None, int]:
    """A value, or none, and the number that is added to it."""
    number = 0
    while isinstance(value.owner, arith.AddiOp):
        terms = value.owner.operands
        known = next((i for i, term in enumerate(terms) if integer_of(term) is not None), None)
        if known is None:
            break
        number += integer_of(terms[known]) or 0
        value = terms[1 - known]
    alone = integer_of(value)
    return (value, number) if alone is None else (None, number + alone)
