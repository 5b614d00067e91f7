"""What a pass promises, in a form that can be checked: ``tritonx-opt --explain`` prints it, a test holds passes to it.

The docstring says in words what a pass does, its first sentence in one line; its options are its fields, each with a
docstring of its own. The rest is in ``contract``: the level, which ops, what it goes by, what runs before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

Level = Literal["tt", "ttg"]
"""A module is ``ttg`` when it states the warps of a launch (``ttg.num-warps``): then its tiles have layouts."""


@dataclass(frozen=True)
class Contract:
    """The part of a pass's contract that is not prose. Ops are named as in the text, or by their dialect.

    >>> Contract(("tt",), on=("tt.dot",), creates=("arith",)).leaves is None
    True
    """

    takes: tuple[Level, ...]
    leaves: Level | None = None
    """The level of what it leaves, where that is not the one that it took."""

    on: tuple[str, ...] = ()
    """The ops that it looks for: a module without any of them it leaves as it is. Of a pass without such it is any."""

    creates: tuple[str, ...] = ()
    """The kinds of ops that a module may have behind the pass and not before it."""

    reads: tuple[str, ...] = ()
    """Attributes by which it goes."""

    writes: tuple[str, ...] = ()
    """Attributes that it leaves and that were not there."""

    needs: tuple[str, ...] = ()
    """Passes without which it is wrong: in every list they precede it."""

    after: tuple[str, ...] = ()
    """Passes that it goes by where a list has them: they precede it, and never follow it."""

    placed: bool = False
    """Whether a module whose shared memory is placed (``ttg.shared``) still needs it."""

    written: bool = False
    """Whether a module of ``ttg`` that the program itself, or another compiler, has written may need it, though it
    belongs to the passes that lead to ``ttg``."""

    def __str__(self) -> str:
        """From which level to which, as in ``tt → ttg``."""
        return f"{' or '.join(self.takes)} → {self.leaves or (self.takes[0] if len(self.takes) == 1 else 'the same')}"


def contract_of(kind: type[ModulePass]) -> Contract | None:
    """What the pass declares; None of one, from outside, that declares nothing."""
    found: object = getattr(kind, "contract", None)
    return found if isinstance(found, Contract) else None
