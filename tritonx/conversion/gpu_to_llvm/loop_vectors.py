"""Vectors that a loop makes of fewer scalars than they have elements, such as a row's maximum beside a tile's elements.

LLVM moves a vector of loop-invariant scalars in front of the loop. Where its code generator gives a vector as many
registers as it has elements and does not see across blocks that they are equal (`Machine.holds_vectors_whole`), the
loop then holds as many registers for one scalar. There `Machine.copied_within` copies the scalar in each iteration, so
that the vector stays in the loop. What all lanes share is left alone: registers for that are not short.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


@dataclass
class LoopBody:
    """The body that is being written of a loop: its counter, and the number of the last name in front of it."""

    type: str
    counter: str
    last: int
    copies: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """The copy of a scalar in a block, by their names."""

    def is_invariant(self, name: str) -> bool:
        """Whether a value was written in front of the loop. Of those in a prologue that is not known."""
        number = name.removeprefix("%v")
        return name.startswith("%arg") or (name.startswith("%v") and number.isdecimal() and int(number) <= self.last)


def are_few(elements: Sequence[Hashable]) -> bool:
    """Whether half of the elements or more repeat others."""
    return 2 * len(set(elements)) <= len(elements)


def kept_in_loop(f: FunctionEmitter, elem: str, names: list[str]) -> list[str]:
    """The elements of a vector: of those that are repeated and loop-invariant the loop's own copies."""
    body = f.body
    if body is None or not f.machine.holds_vectors_whole or not are_few(names):
        return names
    scalars = {name: name for name in names if body.is_invariant(name) and name not in f.uniform}
    for name in scalars:
        key = f.block, name
        if key not in body.copies:
            body.copies[key] = f.machine.copied_within(f, elem, name, body)
        scalars[name] = body.copies[key]
    return [scalars.get(name, name) for name in names]
