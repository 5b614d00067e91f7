"""Whether arguments overlap where a kernel's code takes them to be apart: see conversion/tile_to_loops/disjoint.py."""

from __future__ import annotations

from collections.abc import Sequence

from tritonx.backends.cpu.argument_memory import address_of
from tritonx.conversion.tile_to_loops.disjoint import Pair
from tritonx.runtime.errors import UnreachableArgument


def overlap(pairs: Sequence[Pair], flat: Sequence[object], grid: Sequence[int]) -> tuple[int, ...]:
    """The places of two arguments for which the code may be wrong; none if it is right. It is right if no program's
    tiles overlap at different positions, or if the memory that one argument was cut from is not that of the other."""
    parameters = {i: value for i, value in enumerate(flat) if isinstance(value, int)} if pairs else {}
    apart = set[tuple[int, int]]()
    for pair in pairs:
        places = pair.stored, pair.other
        if places in apart:
            continue
        stored, other = flat[pair.stored], flat[pair.other]
        if pair.is_right(address_of(stored) - address_of(other), parameters, grid):
            continue
        if not _are_apart(stored, other):
            return places
        apart.add(places)
    return ()


def _are_apart(a: object, b: object) -> bool:
    """Whether two arguments have no memory in common; not where one does not tell its size."""
    from tritonx.runtime.launch.spans import Span, spanned

    try:
        first, second = spanned(a), spanned(b)
    except UnreachableArgument:
        return False
    if not (isinstance(first, Span) and isinstance(second, Span)):
        return False
    return first.end <= second.start or second.end <= first.start
