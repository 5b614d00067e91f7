"""The tables of the op families, as one value that the emitter is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, SSAValue

from tritonx.conversion.tile_to_loops.writer import Lanes

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter
    from tritonx.conversion.tile_to_loops.position import Position

InlineRule = Callable[["Emitter", Operation, SSAValue, "Position"], Lanes]
"""(emitter, op, which result, position) → its elements there."""

ElementwiseRule = Callable[["Emitter", Operation, list[Lanes]], Lanes]
"""(emitter, op, operands at one width) → the result at that width; serves scalars, tiles and combine regions."""

EffectRule = Callable[["Emitter", Operation, "Position"], None]
"""(emitter, op, position): perform the op's effect for the chunk."""

StatementRule = Callable[["Emitter", Operation], None]
"""(emitter, op): an op that is emitted on its own."""


RegionRule = Callable[["Emitter", Block], list[tuple[str, ...]]]
"""(emitter, a region's block): emit it in place; the values of its terminator."""


@dataclass(frozen=True)
class Tables:
    inline: Mapping[type[Operation], InlineRule]
    elementwise: Mapping[type[Operation], ElementwiseRule]
    effects: Mapping[type[Operation], EffectRule]
    statements: Mapping[type[Operation], StatementRule]
    region: RegionRule
