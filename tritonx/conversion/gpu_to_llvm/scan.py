"""Inclusive scans by doubling over the bits of the axis coordinate, from the lowest.

The lowest bits, as far as they are a thread's own, are scanned one element after another: a tree has fewer steps one
behind the other, but takes ``n / 2 * log n`` combinations of ``n`` elements where ``n - 1`` are enough.

After the bits below ``j`` every register holds its prefix inside its run of ``2^j`` elements, and the run's total is
known to all of the run's threads. Bit ``j`` joins two neighbouring runs: the total of the lower goes in front of
everything in the upper. What goes in front of a run is kept apart (``before``) and joined to the elements once, at
the end. Where a bit belongs decides how the neighbour's total is reached: a register, a shuffle, or scratch memory
between warps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from xdsl.ir import Operation

from tritonx.analysis.combiner import whole
from tritonx.conversion.gpu_to_llvm.control import bind
from tritonx.conversion.gpu_to_llvm.elementwise import select_tile
from tritonx.conversion.gpu_to_llvm.exchange import exchange, squeeze
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.reduce import axis_bits, combine_region
from tritonx.conversion.gpu_to_llvm.register_words import move_tile
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.layouts import AxisBits
from tritonx.layouts.dims import WARP


@dataclass
class Run:
    """Registers that are one run of the axis in this thread, in order.

    ``total`` is the whole run's combination, over threads too; ``before`` what precedes it, in the threads where
    ``has`` (an i1, or None for all of them) holds; ``before`` is None while nothing can precede."""

    registers: list[int]
    total: list[Tile]
    before: list[Tile] | None = None
    has: str | None = None


class Scanner:
    """One scan; ``lower`` and ``upper`` below are in the direction of the scan."""

    def __init__(self, op: tile.ScanOp, f: FunctionEmitter) -> None:
        self.op = op
        self.f = f
        self.region = whole(op)
        self.axis: AxisBits = axis_bits(op, f)
        self.layout = f.layout(op.srcs[0].type)
        self.reverse = bool(op.reverse.value.data)
        self.values: list[list[str]] = [list(f.scalars(f.get(v))) for v in op.srcs]
        self.elems = [f.get(v).elem for v in op.srcs]
        count = len(self.values[0])
        self.runs = {r: Run([r], self.element(r)) for r in range(count)}
        self.equal = 0
        """Bits of the lane's number between which the totals do not differ."""

    def element(self, register: int) -> list[Tile]:
        return self.elements((register,))

    def elements(self, registers: Sequence[int]) -> list[Tile]:
        return [Tile.of(e, [v[r] for r in registers]) for e, v in zip(self.elems, self.values, strict=True)]

    def combine(self, left: list[Tile], right: list[Tile]) -> list[Tile]:
        return combine_region(self.f, self.region, left, right)

    def select(self, condition: str, a: list[Tile], b: list[Tile]) -> list[Tile]:
        return [select_tile(self.f, Tile.splat("i1", x.n, condition), x, y) for x, y in zip(a, b, strict=True)]

    def put_before(self, run: Run, total: list[Tile], where: str | None) -> None:
        """``total`` precedes ``run`` in the threads where ``where`` holds (all of them if None)."""
        if run.before is None:
            run.before, run.has = total, where
            return
        joined = self.combine(total, run.before)
        if run.has is not None:
            joined = self.select(run.has, joined, total)
        run.before = joined if where is None else self.select(where, joined, run.before)
        if where is None or run.has is None:
            run.has = None
        else:
            run.has = self.f.inst(f"or i1 {run.has}, {where}")

    # ---- the three places where a bit of the coordinate can be

    def lowest_registers(self, bits: list[int]) -> None:
        """No other thread is involved yet: one element after another, those of all runs at once."""
        for bit in bits:
            pairs = [
                (first, run, self.runs[first | 1 << bit]) for first, run in self.runs.items() if not first >> bit & 1
            ]
            ordered = ((first, (high, low) if self.reverse else (low, high)) for first, low, high in pairs)
            self.runs = {first: Run(a.registers + b.registers, []) for first, (a, b) in ordered}
        runs = list(self.runs.values())
        columns = list(zip(*(run.registers for run in runs), strict=True))
        so_far = self.elements(columns[0])
        for registers in columns[1:]:
            so_far = self.combine(so_far, self.elements(registers))
            self.write(registers, so_far)
        for run in runs:
            run.total = self.element(run.registers[-1])

    def register_bit(self, bit: int) -> None:
        merged: dict[int, Run] = {}
        for first, run in self.runs.items():
            if first >> bit & 1:
                continue
            low, high = run, self.runs[first | 1 << bit]
            if self.reverse:
                low, high = high, low
            self.put_before(high, low.total, None)
            self.settle(high)
            self.settle(low)
            low.before = None
            merged[first] = Run(low.registers + high.registers, self.combine(low.total, high.total))
        self.runs = merged

    def write(self, registers: Sequence[int], tiles: list[Tile]) -> None:
        for names, tile_ in zip(self.values, tiles, strict=True):
            for r, name in zip(registers, self.f.scalars(tile_), strict=True):
                names[r] = name

    def lane_bit(self, bit: int) -> None:
        f = self.f
        with f.in_prologue():
            here = f.inst(f"and i32 {f.threads.lane}, {1 << bit}")
            upper = f.inst(f"icmp {'eq' if self.reverse else 'ne'} i32 {here}, 0")
        runs = list(self.runs.values())
        totals = [Tile.of(e, [f.scalars(run.total[k])[0] for run in runs]) for k, e in enumerate(self.elems)]
        butterfly = partial(f.machine.shuffle_xor, f, mask=1 << bit, equal=self.equal)
        others = [f.scalars(move_tile(f, t, butterfly)) for t in totals]
        self.equal |= 1 << bit
        for run, names in zip(runs, zip(*others, strict=True), strict=True):
            other = [Tile.of(e, [name]) for e, name in zip(self.elems, names, strict=True)]
            self.put_before(run, other, upper)
            lower, higher = self.select(upper, other, run.total), self.select(upper, run.total, other)
            run.total = self.combine(lower, higher)

    def warp_bits(self) -> None:
        """All warp bits at once: they are neighbours in the coordinate, see ``scan``."""
        f, axis = self.f, self.axis
        order = sorted(self.runs)
        totals = [Tile.of(e, [f.scalars(self.runs[r].total[k])[0] for r in order]) for k, e in enumerate(self.elems)]
        warps = exchange(f, self.op, self.layout, axis, totals).of_all_warps(f)
        mine = apply_columns(f, {WARP: squeeze(axis.warp_mask, self.layout.in_bits(WARP), 0)})
        numbers = range(len(warps))
        if self.reverse:
            warps.reverse()
            numbers = reversed(numbers)
        so_far: list[Tile] | None = None
        before: list[Tile] | None = None
        for number, row in zip(numbers, warps, strict=True):
            if so_far is not None:
                here = f.inst(f"icmp eq i32 {mine}, {number}")
                before = so_far if before is None else self.select(here, so_far, before)
                so_far = self.combine(so_far, row)
            else:
                so_far = row
        assert so_far is not None and before is not None
        first = len(warps) - 1 if self.reverse else 0
        has = f.inst(f"icmp ne i32 {mine}, {first}")
        for i, r in enumerate(order):
            run = self.runs[r]
            self.put_before(run, [Tile.of(t.elem, [f.scalars(t)[i]]) for t in before], has)
            run.total = [Tile.of(t.elem, [f.scalars(t)[i]]) for t in so_far]

    def settle(self, run: Run) -> None:
        """Join what precedes a run to its elements."""
        if run.before is None:
            return
        n = len(run.registers)
        now = self.elements(run.registers)
        left = [Tile.splat(t.elem, n, self.f.scalars(t)[0]) for t in run.before]
        joined = self.combine(left, now)
        if run.has is not None:
            joined = self.select(run.has, joined, now)
        self.write(run.registers, joined)
        run.before = run.has = None


def check_order(op: tile.ScanOp, bits: list[tuple[int, str, int]]) -> None:
    """The warps' steps must be neighbours and above the lanes': then the lanes agree on a total before warps exchange
    it.
    """
    kinds = [kind for _, kind, _ in sorted(bits)]
    if "warp" not in kinds:
        return
    first, last = kinds.index("warp"), len(kinds) - kinds[::-1].index("warp")
    if any(kind != "warp" for kind in kinds[first:last]) or "lane" in kinds[last:]:
        raise PassError(op, "the axis runs through warps before lanes", "convert the operand to a blocked layout first")


def scan(op: tile.ScanOp, f: FunctionEmitter) -> None:
    scanner = Scanner(op, f)
    axis = scanner.axis
    bits: list[tuple[int, str, int]] = []
    for kind, of_kind in (("register", axis.registers), ("lane", axis.lanes), ("warp", axis.warps)):
        bits += [(step, kind, i) for i, step in of_kind]
    check_order(op, bits)
    warps_done = False
    steps = sorted(bits)
    own = [i for _, _, i in takewhile(lambda step: step[1] == "register", steps)]
    scanner.lowest_registers(own)
    for _, kind, i in steps[len(own) :]:
        if kind == "register":
            scanner.register_bit(i)
        elif kind == "lane":
            scanner.lane_bit(i)
        elif not warps_done:
            scanner.warp_bits()
            warps_done = True
    for run in scanner.runs.values():
        scanner.settle(run)
    bind(f, op.results, [Tile.of(e, v) for e, v in zip(scanner.elems, scanner.values, strict=True)])


TABLE: dict[type[Operation], Emit] = {**case(tile.ScanOp, scan)}
