"""A group of warps that run one program together: those of the kernel, or a partition's.

The *agents* of a group are what is ordered: its warps, each in each block of the cluster. A module without barriers
(what Triton writes, and ours before `insert-barriers`) promises that accesses happen in the order of the program; there
the warps of a block are one agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Attribute, Operation

from tritonx.dialects.gpu_layout import MemDescType
from tritonx.interpreter.asynchronous.footprints import NO_BUFFER, View, addresses_in, bytes_at, shares
from tritonx.interpreter.asynchronous.shared import Mode, Proxy, Touch
from tritonx.ir.types import is_tensor

if TYPE_CHECKING:
    from tritonx.interpreter.asynchronous.machine import Copy, Machine
    from tritonx.interpreter.asynchronous.program import Coroutine, Wait


class Warps(Enum):
    """How the warps of a group are executed: in the order of the program (`TOGETHER`), op by op, but each with the
    order that the module's barriers make (`APART`), or each by itself (`ALONE`), where a warp's number decides what it
    does."""

    APART = "apart"
    TOGETHER = "together"
    ALONE = "alone"


@dataclass(frozen=True)
class Operations:
    """An asynchronous operation of a group: its op, the number that each agent's part has (agents that take no part are
    not in it), and when it was issued."""

    op: Operation
    parts: dict[int, int]
    issued: int
    number: int


@dataclass
class Queue:
    """Copies of an agent (number and op), which are waited for in the order of their groups: closed groups, and what is
    open."""

    closed: list[list[tuple[int, Operation]]] = field(default_factory=list[list[tuple[int, Operation]]])
    open: list[tuple[int, Operation]] = field(default_factory=list[tuple[int, Operation]])

    def commit(self) -> None:
        self.closed.append(self.open)
        self.open = []

    def keep(self, count: int) -> list[int]:
        """Take all groups but the last `count`; what was in them."""
        kept = len(self.closed) - min(count, len(self.closed))
        taken, self.closed = self.closed[:kept], self.closed[kept:]
        return [number for group in taken for number, _ in group]

    def all(self) -> list[tuple[int, Operation]]:
        """What no wait has covered yet."""
        return [each for group in (*self.closed, self.open) for each in group]


@dataclass(frozen=True)
class Stored:
    """A copy to global memory under way."""

    part: int
    copy: Copy
    read: Callable[[], None]
    """Has it read shared memory, unless it has: it may write global memory later."""


@lru_cache(maxsize=2048)
def footprint(tensor: Attribute, memory: MemDescType, start: int, size: int, stride: int) -> dict[tuple[int, int], int]:
    """(block, warp) → the bytes, of a view that begins at byte 0, that the warp's elements of a tile take."""
    view = View(NO_BUFFER, 0, start)
    found: dict[tuple[int, int], int] = {}
    for block, warp, elements in shares(tensor):
        own = addresses_in(block, memory, view, size, stride).reshape(-1)
        found[block, warp] = bytes_at(own[elements], size)
    return found


@lru_cache(maxsize=1024)
def elements_of(tensor: Attribute, warp: int) -> np.ndarray:
    """What a warp has of a tile, in all blocks; of a scalar every warp has it."""
    if not is_tensor(tensor):
        return np.zeros(1, np.int64)
    return np.unique(np.concatenate([elements for _, number, elements in shares(tensor) if number == warp]))


class Group:
    """`agents` maps (block, warp of the group) to the agent's number among all of the program. `only` is the one of
    `warps` that a group of a warp by itself has."""

    def __init__(self, machine: Machine, name: str, first: int, warps: int, only: int | None = None) -> None:
        self.machine = machine
        self.name = name
        self.warps = warps
        self.only = only
        self.agents: dict[tuple[int, int], int] = {}
        per_block = machine.agents_per_block
        for block in range(machine.blocks):
            for warp in range(warps) if only is None else (only,):
                agent = first if machine.warps is Warps.TOGETHER else first + warp
                self.agents[block, warp] = block * per_block + agent
        self.copies: dict[int, Queue] = {agent: Queue() for agent in self.all}
        self.stores: dict[int, list[Stored]] = {agent: [] for agent in self.all}
        self.products: list[Operations] = []
        self.coroutine: Coroutine | None = None
        self.waiting: Wait = None
        self.at: Operation | None = None

    @property
    def all(self) -> list[int]:
        """Every agent once."""
        return list(dict.fromkeys(self.agents.values()))

    def in_block(self, block: int) -> list[int]:
        return list(dict.fromkeys(agent for (b, _), agent in self.agents.items() if b == block))

    def elected(self, block: int) -> int:
        """The agent whose thread does what one thread does."""
        return self.agents[block, 0]

    def meet(self) -> None:
        """The warps of each block meet at a barrier."""
        for block in range(self.machine.blocks):
            self.machine.clocks.meet(self.in_block(block))
        self.machine.shared.forget(self.machine.running())

    def own(self, tensor: Attribute) -> np.ndarray | None:
        """The elements of a tile that a warp by itself has, as row-major numbers; None of a group that has all."""
        return None if self.only is None else elements_of(tensor, self.only)

    def finished(self, product: Operations) -> bool:
        """Whether every agent has waited for its part."""
        done = self.machine.clocks.done
        return all(done[agent] >> part & 1 for agent, part in product.parts.items())

    # --- what the warps of a group touch

    def touches(
        self, tensor: Attribute, memory: Attribute, view: View, size: int, mode: Mode, proxy: Proxy = Proxy.GENERIC,
        parts: dict[int, int] | None = None, idle: int = 0,
    ) -> list[Touch]:  # fmt: skip
        """What each warp touches of a view to move its elements of a tile. `parts`: asynchronous operations. Warps
        whose number has a bit of `idle` leave it to others that have the same elements."""
        assert isinstance(memory, MemDescType)
        found = footprint(tensor, memory, view.start, size, self.machine.stride)
        each = ((block, warp, shifted(found[block, warp], view.base)) for block, warp in found if not warp & idle)
        return self.joined(each, mode, proxy, parts)

    def joined(
        self, each: Iterable[tuple[int, int, int]], mode: Mode, proxy: Proxy = Proxy.GENERIC,
        parts: dict[int, int] | None = None,
    ) -> list[Touch]:  # fmt: skip
        """(block, warp, bytes) by agent."""
        by_agent: dict[int, int] = {}
        for block, warp, taken in each:
            agent = self.agents.get((block, warp))
            if agent is not None:
                by_agent[agent] = by_agent.get(agent, 0) | taken
        return [
            Touch(taken, mode, agent, proxy, None if parts is None else parts[agent])
            for agent, taken in by_agent.items()
        ]

    def operation(self, op: Operation, agents: Sequence[int]) -> Operations:
        """A new asynchronous operation in which these agents take part."""
        machine = self.machine
        parts = {agent: machine.clocks.operation() for agent in agents}
        return Operations(op, parts, machine.time, machine.number())


def shifted(taken: int, base: int) -> int:
    return taken << base if base >= 0 else taken >> -base
