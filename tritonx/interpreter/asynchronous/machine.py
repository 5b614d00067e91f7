"""One block of a `ttg` module, or a cluster, executed: memory, barriers, groups of warps, and who goes next.

The groups are coroutines. Copies of the tensor memory accelerator land at a moment that the driver draws: at once, as
late as anything else can go on, or in between. Nothing else of the order matters, since what is wrong in any order is
seen in every one (`clocks.py`), but where control flow depends on it: which phase of a barrier a wait meets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation

from tritonx.analysis.buffers import allocation_alignment, allocation_size, scratch_alignment, scratch_size
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects import nvidia as ttng
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.interpreter.asynchronous import tensor_memory
from tritonx.interpreter.asynchronous.barriers import MBarrier
from tritonx.interpreter.asynchronous.clocks import Clocks, Knowledge
from tritonx.interpreter.asynchronous.group import Group, Warps
from tritonx.interpreter.asynchronous.meeting import Meeting
from tritonx.interpreter.asynchronous.program import Meaning, Program
from tritonx.interpreter.asynchronous.reports import Hang, Kind, Reports
from tritonx.interpreter.asynchronous.shared import Buffer, SharedMemory
from tritonx.interpreter.asynchronous.timeline import Timeline
from tritonx.interpreter.errors import InvalidLaunch, UnsupportedInInterpreter
from tritonx.interpreter.execution import Execution
from tritonx.interpreter.values import Value
from tritonx.ir.types import type_of

if TYPE_CHECKING:
    from tritonx.interpreter.values import Descriptor

OFFSET = "allocation.offset"
"""Where the allocation put an op's buffer; Triton's name, which `allocate-shared-memory` writes."""

APART = 1024
"""Buffers that were not allocated lie at multiples of this: the largest alignment."""


class Landing(Enum):
    """When copies land."""

    EARLY = "early"
    LATE = "late"
    RANDOM = "random"


@dataclass(frozen=True)
class Order:
    """What is drawn: which group goes next, and when copies land."""

    seed: int = 0
    landing: Landing = Landing.RANDOM


@dataclass(frozen=True)
class Copy:
    """A copy under way: what happens when it lands, and its op."""

    land: Callable[[], None]
    op: Operation
    issued: int
    number: int


class Machine:
    """The state of one program (a block, or a cluster of blocks that share a program)."""

    def __init__(
        self, module: ModuleOp, execution: Execution, reports: Reports, meanings: Mapping[type[Operation], Meaning],
        warps: Warps, order: Order, timeline: Timeline | None = None,
    ) -> None:  # fmt: skip
        self.module = module
        self.execution = execution
        self.reports = reports
        self.meanings = meanings
        self.warps = warps
        self.order = order
        self.timeline = timeline
        self.random = Random(order.seed)
        self.time = 0
        self._numbers = 0
        self.blocks = _number(module, "ttg.num-ctas", 1)
        self.num_warps = _number(module, "ttg.num-warps", 4)
        self.warp_size = _number(module, "ttg.threads-per-warp", 32)
        self._functions = {f.sym_name.data: f for f in module.body.block.ops if isinstance(f, tile.FuncOp)}
        self.agents_per_block = self._count_agents()
        self.clocks = Clocks(self.agents_per_block * self.blocks)
        self._extents, end = self._lay_out()
        self.tensor_memory = tensor_memory.placed(module, -(-end // APART) * APART)
        end += 0 if self.tensor_memory is None else APART + self.tensor_memory.size
        self.stride = -(-max(end, 1) // APART) * APART
        proxies = any(op.name.startswith("ttng.") for op in module.walk())
        placed = warps is Warps.APART
        self.shared = SharedMemory(self.blocks, self.stride, self.clocks, reports, proxies=proxies, placed=placed)
        self.barriers: dict[int, MBarrier] = {}
        self.under_way: list[Copy] = []
        self.read: set[int] = set()
        """Numbers of the copies to global memory that are known to have read their source."""
        self.groups: list[Group] = []
        self.tensor_maps: dict[int, TensorMap] = {}
        self.cluster: list[Knowledge] = []
        self._made: dict[Operation, list[Buffer]] = {}
        self._executed: dict[tuple[Operation, int], int] = {}
        self.meeting: Meeting | None = None

    def callee(self, name: str) -> tile.FuncOp:
        """The function of this name. Raises `InvalidLaunch` where there is none."""
        function = self._functions.get(name)
        if function is None:
            raise InvalidLaunch(f"the module has no function @{name}; it has {', '.join(self._functions)}")
        return function

    def number(self) -> int:
        """A number for what has no name."""
        self._numbers += 1
        return self._numbers

    # --- shared memory

    def cores_of(self, agent: int) -> int:
        """The agent that does what the tensor cores do for another one."""
        return agent + self.agents_per_block // 2

    def _count_agents(self) -> int:
        """Those of a block: its warps, and as many tensor cores where there are products in tensor memory."""
        products = ttng.TCGen5MMAOp, ttng.TCGen5CommitOp
        return self._count_warps() * (2 if any(isinstance(op, products) for op in self.module.walk()) else 1)

    def _count_warps(self) -> int:
        specialised = [op for op in self.module.walk() if isinstance(op, gpu_layout.WarpSpecializeOp)]
        if specialised and self.warps is Warps.ALONE:
            raise UnsupportedInInterpreter("partitions of warps that are each executed by themselves")
        if self.warps is Warps.TOGETHER:
            return 1 + max((len(op.partitions) for op in specialised), default=0)
        each = (sum(int(n) for n in op.partitionNumWarps.get_values()) for op in specialised)
        return self.num_warps + max(each, default=0)

    def _lay_out(self) -> tuple[dict[Operation, tuple[int, int]], int]:
        """(address, size) of every op with a buffer, and the end of all. Buffers without an offset get memory of their
        own; scratch memory without one is left out."""
        extents: dict[Operation, tuple[int, int]] = {}
        apart: list[Operation] = []
        end = _number(self.module, "ttg.shared", 0)
        total = end
        for op in self.module.walk():
            offset = op.attributes.get(OFFSET)
            if isinstance(offset, IntegerAttr):
                extents[op] = offset.value.data, _buffer_size(op)
                total = max(total, sum(extents[op]))
                self._check_extent(op, *extents[op], end)
            elif isinstance(op, gpu_layout.LocalAllocOp):
                apart.append(op)
        for op in apart:
            extents[op] = -(-total // APART) * APART, _buffer_size(op)
            total = sum(extents[op])
        return extents, total

    def _check_extent(self, op: Operation, offset: int, size: int, end: int) -> None:
        alignment = allocation_alignment(op) if isinstance(op, gpu_layout.LocalAllocOp) else scratch_alignment(op)
        if offset % alignment:
            self.reports.add(Kind.MISPLACED, op, f"offset {offset} is no multiple of {alignment}")
        if offset < 0 or (end and offset + size > end):
            self.reports.add(Kind.MISPLACED, op, f"bytes {offset} to {offset + size} of {end}")

    def buffer(self, op: Operation, group: Group) -> Buffer | None:
        """Memory for this execution of an op; None for scratch memory that was not allocated. For warps by themselves
        the n-th execution of each is one."""
        extent = self._extents.get(op)
        if extent is None or group.only is None:
            return None if extent is None else self.shared.buffer(op, *extent)
        made = self._made.setdefault(op, [])
        count = self._executed[op, group.only] = self._executed.get((op, group.only), 0) + 1
        if count > len(made):
            made.append(self.shared.buffer(op, *extent))
        return made[count - 1]

    def has_buffer(self, op: Operation) -> bool:
        """Whether the op has memory."""
        return op in self._extents

    # --- who goes next

    def running(self) -> list[int]:
        """All agents of groups that run."""
        return [agent for group in self.groups for agent in group.all]

    def start(self, group: Group) -> None:
        self.groups.append(group)

    def issue(self, op: Operation, land: Callable[[], None]) -> Copy:
        """A copy is under way; `land` is called once."""
        copy = Copy(land, op, self.time, self.number())
        self.under_way.append(copy)
        if self.order.landing is Landing.EARLY:
            self.land(copy)
        return copy

    def has_read(self, copy: Copy) -> None:
        """A wait has proved that a copy to global memory has read the block's memory: it may outlive the block."""
        self.read.add(copy.number)

    def is_under_way(self, copy: Copy) -> bool:
        """Whether it has not landed yet."""
        return copy in self.under_way

    def land(self, copy: Copy) -> None:
        """The copy lands now, unless it has already."""
        if copy in self.under_way:
            self.under_way.remove(copy)
            if self.timeline is not None:
                self.timeline.span("copies", copy.op, copy.issued, self.time)
            copy.land()

    def drive(self, main: Sequence[Group]) -> None:
        """Run until these groups have ended. Raises `Hang`."""
        while any(group in self.groups for group in main):
            ready = [group for group in self.groups if group.waiting is None or group.waiting()]
            if self._lands(bool(ready)):
                self.land(self.under_way[self.random.randrange(len(self.under_way))])
            elif ready:
                self._resume(self.random.choice(ready))
            else:
                self._hang()

    def _lands(self, others: bool) -> bool:
        if not self.under_way:
            return False
        if not others:
            return True
        return self.order.landing is Landing.RANDOM and self.random.random() < 0.3

    def _resume(self, group: Group) -> None:
        group.waiting = None
        assert group.coroutine is not None
        try:
            group.waiting = next(group.coroutine)
        except StopIteration:
            self._end(group)

    def _end(self, group: Group) -> None:
        """A group has executed its last op."""
        self.groups.remove(group)
        for agent, queue in group.copies.items():
            for number, op in queue.all():
                if not self.clocks.done[agent] >> number & 1:
                    self.reports.add(Kind.UNFINISHED, op, "there is no wait for it")

    def _hang(self) -> None:
        for group in self.groups:
            op = group.at
            if op is not None:
                self.reports.add(Kind.HANG, op, f"{group.name} waits for ever")
        raise Hang

    def run(self, kernel: tile.FuncOp, arguments: Sequence[Value]) -> None:
        """Execute the kernel as this program."""
        whole = Group(self, f"warps 0-{self.num_warps - 1}", 0, self.num_warps)
        main = [whole]
        if self.warps is Warps.ALONE:
            main = [Group(self, f"warp {warp}", 0, self.num_warps, warp) for warp in range(self.num_warps)]
            self.meeting = Meeting(whole, main)
        for group in main:
            self.start(group)
            group.coroutine = Program(self, group).coroutine(kernel.body)(*arguments)
        self.drive(main)
        for copy in list(self.under_way):
            if copy.number not in self.read:
                self.reports.add(Kind.UNFINISHED, copy.op, "there is no wait for it")
            self.land(copy)


@dataclass
class TensorMap:
    """A descriptor that the kernel has written to memory; copies may use it once it has been acquired. `made` and
    `acquired`: the agents that did so, one a block, and their clocks then. `users`: copies that read it, each with the
    number of its part in each block."""

    descriptor: Descriptor
    op: Operation
    made: dict[int, int]
    acquired: dict[int, int] = field(default_factory=dict[int, int])
    users: list[tuple[Operation, list[int]]] = field(default_factory=list[tuple[Operation, list[int]]])


def _number(module: ModuleOp, name: str, default: int) -> int:
    value = module.attributes.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else default


def _buffer_size(op: Operation) -> int:
    if isinstance(op, gpu_layout.LocalAllocOp):
        type_ = type_of(op.result)
        assert isinstance(type_, MemDescType)
        return allocation_size(type_)
    return scratch_size(op)
