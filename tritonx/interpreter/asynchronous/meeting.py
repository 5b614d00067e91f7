"""Where warps that are each executed by themselves meet: barriers of the block, and exchanges through scratch memory.

A barrier has no name. It ends when as many warps have come to one as the block has, wherever each of them stands: two
groups of warps may meet at different barriers of a loop, again and again, which is what keeps them a part of the
iteration apart. An exchange (a conversion, a reduction over warps) has barriers inside; all warps take part in the
same one, and each has computed its own elements of the operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
from xdsl.ir import Attribute, Operation

from tritonx.interpreter.asynchronous.reports import Hang, Kind
from tritonx.ir.types import is_tensor, type_of

if TYPE_CHECKING:
    from tritonx.interpreter.asynchronous.group import Group
    from tritonx.interpreter.asynchronous.program import Coroutine
    from tritonx.interpreter.values import Array, Value

Values = tuple["Value", ...]
Exchange = Callable[[Values], object]
"""What an exchange makes of its operands, once for all."""


@dataclass
class _Round:
    """One meeting: who has come, at which op, with which values; what came out of it."""

    come: dict[int, tuple[Operation, Values]] = field(default_factory=dict[int, tuple[Operation, Values]])
    exchange: tuple[Operation, Exchange] | None = None
    over: bool = False
    result: object = None


class Meeting:
    """`whole` is the group of all warps, `groups` are the warps by themselves."""

    def __init__(self, whole: Group, groups: Sequence[Group]) -> None:
        self.whole = whole
        self.groups = groups
        self._round = _Round()

    def arrive(self, group: Group, op: Operation, values: Values = (), exchange: Exchange | None = None) -> Coroutine:
        """A warp waits until all have come; the result of the exchange, `()` of a barrier."""
        assert group.only is not None
        here = self._round
        here.come[group.only] = op, values
        group.at = op
        if exchange is not None:
            here.exchange = op, exchange
        if len(here.come) == len(self.groups):
            self._end(here)
        else:
            yield lambda: here.over
        return here.result  # pyright: ignore[reportReturnType]  # one value, or a tuple of all, as of any step

    def _end(self, here: _Round) -> None:
        self._round = _Round()
        self.whole.meet()
        here.result, here.over = (), True
        if here.exchange is None:
            return
        op = here.exchange[0]
        ops = {other.name: other for other, _ in here.come.values() if other is not op}
        if ops:
            text = f"other warps are at {', '.join(sorted(ops))}"
            self.whole.machine.reports.add(Kind.DIVERGED, op, text, next(iter(ops.values())))
            raise Hang
        here.result = here.exchange[1](self._joined(op, here))

    def _joined(self, op: Operation, here: _Round) -> Values:
        """The operands, each element from a warp that has it."""
        types = [type_of(operand) for operand in op.operands]
        return tuple(self._tile(type_, number, here) for number, type_ in enumerate(types))

    def _tile(self, type_: Attribute, number: int, here: _Round) -> Value:
        given = {warp: values[number] for warp, (_, values) in here.come.items()}
        if not is_tensor(type_):
            return given[0]
        tiles = {warp: cast("Array", value) for warp, value in given.items()}
        joined = np.array(tiles[0], order="C")
        flat = joined.reshape(-1)
        for group in self.groups:
            assert group.only is not None
            own = group.own(type_)
            flat[own] = tiles[group.only].reshape(-1)[own]
        return joined
