"""Where buffers lie: a plan of offsets from sizes and lifetimes alone.

Buffers that are alive at the same time must not overlap; the memory that all take should be small (dynamic storage
allocation, which is NP-hard). Buffers are laid one after another, each at the lowest gap among those that it lives
with. Laid in the order of their offsets in a best plan, they make a best plan: each has room where it is there. So
a plan is an order. The largest first is mostly good; what does not fit the budget so is tried in other orders, and few
buffers in all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

ALL_ORDERS = 6
"""Buffers of which all orders are tried: 720, some 10 ms."""


@dataclass(frozen=True)
class Life:
    """`size` and `alignment` in bytes; alive in [first, last], both included, whatever counts time."""

    size: int
    alignment: int
    first: int
    last: int

    def meets(self, other: Life) -> bool:
        """Whether both are alive at some time."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Plan:
    """The byte offset of each buffer, in the order in which they were given; `top`: the first byte above all."""

    offsets: tuple[int, ...]
    top: int


class OverBudget(Exception):
    """No plan was found within `budget` bytes; `plan` takes the fewest of those that were tried."""

    def __init__(self, plan: Plan, budget: int) -> None:
        super().__init__(f"buffers take {plan.top} bytes of shared memory where there are {budget}")
        self.plan = plan
        self.budget = budget


def plan(lives: Sequence[Life], budget: int, base: int = 0) -> Plan:
    """Offsets from `base` on for buffers with these lives, all below `budget`. Raises OverBudget where none are found;
    of up to `ALL_ORDERS` buffers none exist then."""
    best: Plan | None = None
    beside = _alive_together(lives)
    for order in _orders(lives):
        found = _in_order(lives, beside, order, base)
        if found.top <= budget:
            return found
        if best is None or found.top < best.top:
            best = found
    assert best is not None
    raise OverBudget(best, budget)


def most_alive(lives: Sequence[Life]) -> int:
    """Bytes of what is alive when that is most: no plan takes less."""
    return max((sum(o.size for o in lives if o.first <= each.first <= o.last) for each in lives), default=0)


def _orders(lives: Sequence[Life]) -> Iterator[Sequence[int]]:
    numbers = range(len(lives))
    yield sorted(numbers, key=lambda i: (-lives[i].size, lives[i].first))
    yield sorted(numbers, key=lambda i: (-lives[i].size * (lives[i].last - lives[i].first + 1), lives[i].first))
    yield sorted(numbers, key=lambda i: (lives[i].first, -lives[i].size))
    yield sorted(numbers, key=lambda i: (-lives[i].last, -lives[i].size))
    if len(lives) <= ALL_ORDERS:
        yield from permutations(numbers)


def _alive_together(lives: Sequence[Life]) -> list[list[int]]:
    """For each buffer the others that are alive at some time while it is: by one sweep over the time."""
    beside: list[list[int]] = [[] for _ in lives]
    alive: list[int] = []
    for number in sorted(range(len(lives)), key=lambda i: lives[i].first):
        alive = [other for other in alive if lives[other].last >= lives[number].first]
        for other in alive:
            if lives[number].meets(lives[other]):
                beside[number].append(other)
                beside[other].append(number)
        alive.append(number)
    return beside


def _in_order(lives: Sequence[Life], beside: Sequence[Sequence[int]], order: Sequence[int], base: int) -> Plan:
    """Each at the lowest gap that those before it leave."""
    offsets: dict[int, int] = {}
    for number in order:
        life = lives[number]
        taken = sorted(
            (offsets[other], offsets[other] + lives[other].size) for other in beside[number] if other in offsets
        )
        offset = align(base, life.alignment)
        for start, end in taken:
            if offset + life.size <= start:
                break
            offset = max(offset, align(end, life.alignment))
        offsets[number] = offset
    top = max((offset + lives[number].size for number, offset in offsets.items()), default=base)
    return Plan(tuple(offsets[number] for number in range(len(lives))), top)


def align(value: int, alignment: int) -> int:
    """`value` rounded up."""
    return -(-value // alignment) * alignment
