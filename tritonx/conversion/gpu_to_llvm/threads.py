"""Who runs a line: the group of warps that a region belongs to, and the position of one of its threads.

A kernel is run by one group. A region of `ttg.warp_specialize` is run by a group of its own: its threads count from
0, wait for each other at a barrier of their own, and know nothing of the others. What is known of a thread (its lane,
its warp, the coordinates that a layout gives it) is computed once, in the group's prologue: the block that it runs
first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.indices import LayoutIndices

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.layouts import LinearLayout


@dataclass(frozen=True)
class ThreadGroup:
    """The warps `first_warp` to `first_warp + warps - 1` of a block.

    ``barrier`` numbers the barrier at which they wait for each other; None: they are all of the block's, and wait at
    that of the block. ``registers``: what a thread of it may hold, where the group has a share of its own.

    >>> ThreadGroup(4).first_warp
    0
    """

    warps: int
    first_warp: int = 0
    barrier: int | None = None
    registers: int | None = None


@dataclass(frozen=True)
class Stand:
    """A thread's position in its group: names of i32."""

    lane: str
    warp: str


class Threads:
    """A thread of a group, as a function that the group runs sees it."""

    def __init__(self, f: FunctionEmitter, group: ThreadGroup, entry: str = "entry") -> None:
        self.f = f
        self.group = group
        self.entry = entry
        self.prologue: list[str] = []
        self._known: dict[str, str] = {}
        self._indices: dict[LinearLayout, LayoutIndices] = {}

    @property
    def count(self) -> int:
        """How many threads the group has."""
        return self.group.warps * self.f.machine.warp_size

    def once(self, key: str, make: Callable[[], str]) -> str:
        """What ``make`` writes to the prologue, under that key."""
        if (found := self._known.get(key)) is None:
            with self.f.in_prologue():
                found = self._known[key] = make()
        return found

    # ---- the thread's position

    @property
    def thread(self) -> str:
        """The thread's number in its group (i32)."""
        return self.once("thread", self._thread)

    def _thread(self) -> str:
        return self._in_group(self.f.machine.thread_id(self.f))

    def _in_group(self, number: str) -> str:
        first = self.group.first_warp * self.f.machine.warp_size
        return self.f.inst(f"sub i32 {number}, {first}") if first else number

    @property
    def lane(self) -> str:
        """The thread's number in its warp (i32)."""
        return self.once("lane", lambda: self._lane_of(self.thread))

    def _lane_of(self, thread: str) -> str:
        return self.f.inst(f"and i32 {thread}, {self.f.machine.warp_size - 1}")

    @property
    def warp(self) -> str:
        """The warp's number in the group (i32), in a form known to be uniform over the warp."""
        if self.group.warps == 1:
            return "0"
        thread = self.thread
        return self.once("warp", lambda: self.f.machine.uniform(self.f, self._warp_of(thread)))

    def _warp_of(self, thread: str) -> str:
        return self.f.inst(f"lshr i32 {thread}, {self.f.machine.warp_size.bit_length() - 1}")

    def read_anew(self) -> Stand:
        """The lane and the warp, written at the emitter's insertion point, which are not known to be constant."""
        thread = self._in_group(self.f.machine.thread_id_anew(self.f))
        return Stand(self._lane_of(thread), "0" if self.group.warps == 1 else self._warp_of(thread))

    @property
    def is_first(self) -> str:
        """An i1 that holds in thread 0 of the group."""
        thread = self.thread
        return self.once("is first", lambda: self.f.inst(f"icmp eq i32 {thread}, 0"))

    def touch(self) -> None:
        """Make the lane and the warp, so that lines written to the prologue afterwards may use them."""
        _ = self.lane, self.warp

    def indices(self, layout: LinearLayout) -> LayoutIndices:
        """The coordinates that ``layout`` gives the thread."""
        if (found := self._indices.get(layout)) is None:
            found = self._indices[layout] = LayoutIndices(self.f, layout)
        return found

    # ---- waiting for each other

    def local_barrier(self) -> None:
        """Accesses to shared memory of all threads of the group before it are visible to all after it."""
        if self.group.warps == 1:
            self.f.machine.warp_barrier(self.f)
        else:
            self.f.machine.local_barrier(self.f)

    def barrier(self) -> None:
        """As `local_barrier`, for accesses to all memory."""
        self.f.machine.barrier(self.f)

    def warp_barrier(self) -> None:
        """As `local_barrier` among the threads of each warp."""
        self.f.machine.warp_barrier(self.f)
