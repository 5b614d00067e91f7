"""How a list of statements ends, and statements that were generated into a block of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, SSAValue


@dataclass(frozen=True, slots=True)
class Returned:
    """Control always left the function, with ``value`` (None: with nothing)."""

    value: Any


@dataclass(frozen=True, slots=True)
class MayReturn:
    """Control left the function if ``flag`` (an i1) is true, and then with ``value``."""

    flag: SSAValue
    value: Any


Outcome = Returned | MayReturn | None
"""None: control goes on behind the statements."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a statement answers that has generated all statements behind it too."""

    outcome: Outcome


@dataclass(slots=True)
class Arm:
    """The block, the names at its end, and how it ends."""

    block: Block
    scope: dict[str, Any]
    outcome: Outcome
