"""`ttg.warp_specialize`: groups of warps that run different regions at the same time.

The kernel's own warps run its body. All other warps of the block wait at a barrier until the body comes to a
`warp_specialize`; its number and the captured values are handed over in shared memory. Each warp then runs the region
of its partition, if it has one, and waits again. The body goes on once all have come back, and ends by handing over a
number that lets the others end, too.

What is handed over lies behind everything that was allocated: a word for the number, then eight bytes for each value.
Nothing else is ever put there, and it is written only while all other warps wait.

Where partitions ask for registers, a partition's warps, and the kernel's own for the time of the op, have what
`allocate-warp-groups` gave them; at all other times every warp has what it was launched with. Who takes more waits
until there are as many, so that on the way back all give before they meet and take afterwards."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.analysis.memory_plan import align
from tritonx.analysis.shared_budget import HANDOVER_ALIGNMENT, HANDOVER_SLOT
from tritonx.conversion.gpu_to_llvm import regions
from tritonx.conversion.gpu_to_llvm.control import bind, emit_blocks, passed_on, terminator_values
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.threads import ThreadGroup, Threads
from tritonx.conversion.gpu_to_llvm.values import Tile, is_constant
from tritonx.dialects.gpu_layout import WarpReturnOp, WarpSpecializeOp, WarpYieldOp
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import is_tensor
from tritonx.transforms.gpu.allocate_warp_groups import WARPS_IN_GROUP, registers_of_groups

if TYPE_CHECKING:
    from xdsl.ir import Operation, Region

FIRST_BARRIER = 2
"""That partitions have; the kernel's own warps have the one before."""

BARRIERS = 16
"""A block has (PTX ISA, "bar")."""

OWN = "own"
"""The label of what the kernel's own warps run."""

END = -1
"""The number handed over when the kernel ends."""


@dataclass(frozen=True)
class Capture:
    """A captured value: a name that holds everywhere in the function, or its place in what is handed over."""

    type: str
    name: str
    slot: int | None = None


@dataclass(frozen=True)
class Specialized:
    """A `warp_specialize` whose partitions are still to be written."""

    op: WarpSpecializeOp
    captures: tuple[Capture, ...]


class Partitions:
    """The partitions of one kernel."""

    def __init__(self, f: FunctionEmitter) -> None:
        self.f = f
        # They meet at the block's barrier, for which no count is written: tools that look for races take that for one
        # of all threads.
        self.block = Threads(f, ThreadGroup(f.module.num_warps))
        f.threads = Threads(f, f.module.group, OWN)
        self.area = align(f.module.shared_bytes, HANDOVER_ALIGNMENT)
        self.written: list[Specialized] = []
        self.slots = 0
        self.end_label = ""

    # ---- on the side of the kernel's own warps

    def hand_over(self, number: int, captures: tuple[Capture, ...] = ()) -> None:
        """Let the waiting warps run the op of that number."""
        f = self.f
        with f.where(f.threads.is_first):
            f.line(f"store i32 {number}, {f.shared} {f.shared_base(self.area)}, align 8")
            for capture in captures:
                if capture.slot is not None:
                    place = f.shared_base(self.area + HANDOVER_SLOT * (1 + capture.slot))
                    f.line(f"store {capture.type} {capture.name}, {f.shared} {place}, align 8")
        self._meet()

    def end(self) -> None:
        """The kernel ends, for all warps."""
        self.hand_over(END)

    def _meet(self) -> None:
        """All threads of the block wait for each other."""
        with self.run_by(self.block):
            self.f.threads.barrier()

    def captures(self, op: WarpSpecializeOp) -> tuple[Capture, ...]:
        f, out, slot = self.f, list[Capture](), 0
        for value, tile in zip(op.explicitCaptures, passed_on(f, op, op.explicitCaptures), strict=True):
            if is_tensor(value.type):
                raise PassError(op, "a partition captures a tile; only scalars and buffers can be handed over")
            (name,) = f.scalars(tile)
            if is_constant(name) or name.startswith(("%arg", "@", "getelementptr")):
                out.append(Capture(tile.elem, name))
            else:
                out.append(Capture(tile.elem, name, slot))
                slot += 1
        self.slots = max(self.slots, slot)
        return tuple(out)

    def specialize(self, op: WarpSpecializeOp) -> None:
        f = self.f
        if len(op.defaultRegion.blocks) != 1:
            raise PassError(op, "the default region of a ttg.warp_specialize has several blocks")
        captures = self.captures(op)
        number = len(self.written)
        self.written.append(Specialized(op, captures))
        own, at_launch = registers_of(op)[0], f.module.launch_registers
        if own is None or at_launch is None:
            own = at_launch = 0
        self.hand_over(number, captures)
        if own != at_launch:
            f.machine.set_registers(f, own, more=own > at_launch)
        f.ops(op.defaultRegion.block)
        results = terminator_values(f, op.defaultRegion.block)
        if own > at_launch:
            f.machine.set_registers(f, at_launch, more=False)
        self._meet()
        if own < at_launch:
            f.machine.set_registers(f, at_launch, more=True)
        bind(f, op.defaultPassthrough, results)

    # ---- on the side of the others

    def finish(self) -> list[str]:
        """Write what the other warps run, behind the body. Returns the function's entry block, in which the kernel's
        own warps part from the others."""
        f = self.f
        f.module.shared_bytes = self.area + HANDOVER_SLOT * (1 + self.slots)
        numbers = range(len(self.written))
        f.label("others")
        if f.module.regions is not None:
            with self.run_by(self.block):
                regions.begin(f)
        f.branch("wait")
        f.label("wait")
        with self.run_by(self.block):
            self._meet()
            number = f.inst(f"load volatile i32, {f.shared} {f.shared_base(self.area)}, align 8")
            cases = " ".join(f"i32 {n}, label %specialized{n}" for n in numbers)
            f.line(f"switch i32 {number}, label %leave [ {cases} ]")
            for n in numbers:
                self._dispatch(n, self.written[n])
            f.label("leave")
            if f.module.regions is not None:
                regions.end(f)
            f.line("ret void")
            warp = f.threads.warp
            with f.in_prologue():
                own = f.inst(f"icmp ult i32 {warp}, {f.module.group.warps}")
                f.line(f"br i1 {own}, label %{OWN}, label %others")
        return [*self.block.prologue, f"{OWN}:"]

    def _dispatch(self, number: int, specialized: Specialized) -> None:
        """Each warp to its partition; one that has none waits with the others."""
        f, op = self.f, specialized.op
        f.label(f"specialized{number}")
        starts, warps = start_ids(op), tuple(int(n) for n in op.partitionNumWarps.get_values())
        registers = registers_of(op)[1:]
        done = f"done{number}"
        needs = registers_of_groups(starts, warps, registers)
        self._set_registers(needs)
        for index, (region, first, count) in enumerate(zip(op.partitions, starts, warps, strict=True)):
            inside, following = f.new_label("partition"), f.new_label("next")
            offset = f.inst(f"sub i32 {self.block.warp}, {first}")
            is_own = f.inst(f"icmp ult i32 {offset}, {count}")
            f.line(f"br i1 {is_own}, label %{inside}, label %{following}")
            f.label(inside)
            if FIRST_BARRIER + index >= BARRIERS:
                raise PassError(op, f"a block has {BARRIERS} barriers, too few for {len(starts)} partitions")
            group = ThreadGroup(count, first, FIRST_BARRIER + index, registers[index])
            with self.run_by(Threads(f, group, inside)):
                at = len(f.lines)
                self._partition(region, specialized, done)
                f.lines[at:at] = f.threads.prologue
            f.label(following)
        f.branch(done)
        f.label(done)
        at_launch = f.module.launch_registers or 0
        self._set_registers({group: at_launch for group, amount in needs.items() if amount > at_launch}, more=False)
        self._meet()
        self._set_registers({group: at_launch for group, amount in needs.items() if amount < at_launch}, more=True)
        f.branch("wait")

    def _set_registers(self, needs: dict[int, int], *, more: bool | None = None) -> None:
        """Each warp group takes its registers: ``more`` than it has, or by default more or fewer than at the launch.
        The instruction is for all of its warps, with or without a partition."""
        f, at_launch = self.f, self.f.module.launch_registers
        if more is None:
            needs = {group: amount for group, amount in needs.items() if amount != at_launch}
        if not needs or at_launch is None:
            return
        mine = f.inst(f"lshr i32 {self.block.warp}, {WARPS_IN_GROUP.bit_length() - 1}")
        ready = f.new_label("ready")
        labels = {group: f.new_label("registers") for group in needs}
        cases = " ".join(f"i32 {group}, label %{label}" for group, label in labels.items())
        f.line(f"switch i32 {mine}, label %{ready} [ {cases} ]")
        for group, amount in needs.items():
            f.label(labels[group])
            f.machine.set_registers(f, amount, more=amount > at_launch if more is None else more)
            f.branch(ready)
        f.label(ready)

    def _partition(self, region: Region, specialized: Specialized, done: str) -> None:
        f = self.f
        tiles: list[Tile] = []
        for capture in specialized.captures:
            name = capture.name
            if capture.slot is not None:
                place = f.shared_base(self.area + HANDOVER_SLOT * (1 + capture.slot))
                name = f.inst(f"load volatile {capture.type}, {f.shared} {place}, align 8")
            tiles.append(Tile.of(capture.type, [name]))
        blocks = list(region.blocks)
        bind(f, blocks[0].args, tiles)
        for block in blocks:
            f.labels[block] = f.new_label("part")
        self.end_label = done
        f.branch(f.labels[blocks[0]])
        emit_blocks(f, blocks)

    @contextmanager
    def run_by(self, threads: Threads) -> Generator[None]:
        """Lines written inside are run by these threads."""
        f = self.f
        before, f.threads = f.threads, threads
        try:
            yield
        finally:
            f.threads = before


def registers_of(op: WarpSpecializeOp) -> tuple[int | None, ...]:
    """What a thread of the kernel's own warps, and of each partition's, may hold; None where that asked."""
    if op.actualRegisters is None:
        return (None,) * (1 + len(op.partitions))
    return tuple(int(n) for n in op.actualRegisters.get_values())


def start_ids(op: WarpSpecializeOp) -> tuple[int, ...]:
    """The first warp of each partition."""
    if op.warpGroupStartIds is None:
        raise PassError(op, "the partitions have no warps", "run the pass allocate-warp-groups first")
    return tuple(int(n) for n in op.warpGroupStartIds.get_values())


def specialize(op: WarpSpecializeOp, f: FunctionEmitter) -> None:
    if f.partitions is None:
        raise PassError(
            op,
            "ttg.warp_specialize stands in a kernel whose module says of no warps beside its own",
            "run the pass allocate-warp-groups first",
        )
    f.partitions.specialize(op)


def nothing(op: Operation, f: FunctionEmitter) -> None:
    """The end of the default region: the op has read its operands."""


def end_of_partition(op: WarpReturnOp, f: FunctionEmitter) -> None:
    assert f.partitions is not None
    f.branch(f.partitions.end_label)


TABLE: dict[type[Operation], Emit] = {
    **case(WarpSpecializeOp, specialize),
    WarpYieldOp: nothing,
    **case(WarpReturnOp, end_of_partition),
}
