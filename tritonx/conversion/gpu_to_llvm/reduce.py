"""Reductions: within a thread's registers, then across the lanes of a warp, then across warps through scratch memory.

The registers are folded in halves, the half with the higher coordinate into the lower, so that a wide vector shrinks
by one instruction a step; three at a time where one instruction combines three. The combine region is emitted once a
step on whole tiles. Where a thread has many results, those of a part are folded and combined across lanes before the
next part's. What many warps found is shared out among the lanes of each, and combined across them once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from xdsl.ir import Operation

from tritonx.analysis.combiner import IDEMPOTENT, Component, components
from tritonx.analysis.scratch import bits_along
from tritonx.conversion.gpu_to_llvm.control import bind
from tritonx.conversion.gpu_to_llvm.elementwise import convert_tile, lanewise
from tritonx.conversion.gpu_to_llvm.exchange import exchange
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.register_words import move_both, move_tile
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.scalar.floats import EXTREMA
from tritonx.dialects import arith, tile
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.layouts import AxisBits, LayoutError
from tritonx.layouts.dims import LANE


def combine_region(f: FunctionEmitter, of: Component, left: list[Tile], right: list[Tile]) -> list[Tile]:
    """What the component ``of`` a region makes of two lists of tiles, element by element.

    A function with control flow of its own is written once for every element, any other once for all.
    """
    n = left[0].n
    if n > 1 and any(op.regions for op in of.ops):
        columns = [[f.scalars(t) for t in side] for side in (left, right)]
        done: list[list[str]] = []
        for i in range(n):
            one = [[Tile.of(t.elem, [c[i]]) for t, c in zip(left, side, strict=True)] for side in columns]
            done.append([f.scalars(t)[0] for t in combine_region(f, of, *one)])
        return [Tile.of(t.elem, list(names)) for t, names in zip(left, zip(*done, strict=True), strict=True)]
    bind(f, of.arguments, left + right)
    f.sequence(of.ops)
    results = [f.get(value) for value in of.results]
    return [t if t.n == n else Tile.splat(t.elem, n, f.scalars(t)[0]) for t in results]


def axis_bits(op: tile.ReduceOp | tile.ScanOp, f: FunctionEmitter) -> AxisBits:
    try:
        return bits_along(f.layout(op.srcs[0].type), op.axis.value.data)
    except LayoutError as error:
        raise PassError(op, str(error), "convert the operand to a blocked layout first") from error


def pick(f: FunctionEmitter, values: list[Tile], registers: list[int]) -> list[Tile]:
    return [f.permute(v, registers) for v in values]


Combine = Callable[[list[Tile], list[Tile]], list[Tile]]
"""Two lists of tiles, element by element."""


def fold_registers(
    f: FunctionEmitter, combine: Combine, values: list[Tile], axis: AxisBits
) -> tuple[list[Tile], list[int]]:
    """Fold away the register bits that move along the axis; also the remaining original register numbers."""
    numbers = list(range(values[0].n))
    if len(axis.registers) == numbers[-1].bit_length() and len(numbers) > RUN:
        values, numbers = fold_runs(f, combine, values), numbers[:RUN]
        axis = replace(axis, registers=tuple((bit, step) for bit, step in axis.registers if 1 << bit < RUN))
    for bit, _ in reversed(axis.registers):
        low = [i for i, r in enumerate(numbers) if not r >> bit & 1]
        high = [i for i, r in enumerate(numbers) if r >> bit & 1]
        values = combine(pick(f, values, low), pick(f, values, high))
        numbers = [numbers[i] for i in low]
    return values, numbers


RUN = 8
"""Registers that are folded at a time: enough independent chains to hide the latency of an addition."""


def fold_threes(
    f: FunctionEmitter, combine: Combine, values: list[Tile], axis: AxisBits
) -> tuple[list[Tile], list[int]]:
    """Fold registers along the axis, three at a time, for machines that do so by one instruction; also the numbers of
    the remaining ones."""
    along = sum(1 << bit for bit, _ in axis.registers)
    rows: dict[int, list[int]] = {}
    for register in range(values[0].n):
        rows.setdefault(register & along, []).append(register)
    parts = [pick(f, values, registers) for registers in rows.values()]
    while len(parts) > 1:
        whole = len(parts) - len(parts) % 3
        threes = [combine(combine(*parts[i : i + 2]), parts[i + 2]) for i in range(0, whole, 3)]
        parts = [*threes, *parts[whole:]] if threes else [combine(*parts)]
    return parts[0], rows[0]


def fold_runs(f: FunctionEmitter, combine: Combine, values: list[Tile]) -> list[Tile]:
    """Fold runs of registers into the first one, in order. All registers lie along the axis."""
    total = [Tile.wide(v.elem, RUN, f.run(v, 0, RUN)) for v in values]
    for first in range(RUN, values[0].n, RUN):
        total = combine(total, [Tile.wide(v.elem, RUN, f.run(v, first, RUN)) for v in values])
    return total


def across_lanes(
    f: FunctionEmitter, component: Component, values: list[Tile], lanes: list[int], beside: int
) -> list[Tile]:
    """Combine over the bits ``lanes`` of a lane's number, those along the axis; afterwards all those lanes hold the
    result. ``beside`` has the bits that move beside the axis; between all others the values are copies.

    By one instruction for the whole warp where the machine has it, else by butterflies, but for the end of a reduction
    over all lanes, for which some machines have something cheaper.
    """
    if not lanes:
        return values
    whole = over_whole_warps(f, component, values, sum(lanes), beside)
    if whole is not None:
        return [whole]
    machine = f.machine
    if machine.divides_reductions() and values[0].n >= DIVIDED:
        upper = [(mask, f.inst(f"icmp ne i32 {f.inst(f'and i32 {f.threads.lane}, {mask}')}, 0")) for mask in lanes]
        groups = [[part(f, v, first, DIVIDED) for v in values] for first in range(0, values[0].n, DIVIDED)]
        done = [divided_among_lanes(f, component, group, upper) for group in groups]
        return [joined(f, list(parts)) for parts in zip(*done, strict=True)]
    *moves, last = (machine.across_rows(f) if sum(lanes) == machine.warp_size - 1 else ()) or (None,)
    equal = 0
    for mask in lanes if last is None else [mask for mask in lanes if mask < ROW]:
        if machine.swaps(mask):
            pairs = [move_both(f, v, partial(machine.both, f, mask=mask)) for v in values]
            values = combine_region(f, component, [low for low, _ in pairs], [high for _, high in pairs])
        else:
            butterfly = partial(machine.shuffle_xor, f, mask=mask, equal=equal)
            values = combine_region(f, component, values, [move_tile(f, v, butterfly) for v in values])
        equal |= mask
    for move in moves:
        values = combine_region(f, component, values, [move_tile(f, v, move) for v in values])
    return values if last is None else [move_tile(f, v, last) for v in values]


DIVIDED = 8
"""Results that lanes divide up, at a time: 16 shuffles in 8 steps instead of 40 in 5. More at a time are more values in
registers and hardly fewer shuffles, fewer save less than the steps cost."""


def divided_among_lanes(
    f: FunctionEmitter, component: Component, values: list[Tile], lanes: list[tuple[int, str]]
) -> list[Tile]:
    """Combine over lanes, of which each computes a share of the results and tells the others. ``lanes`` has the bits of
    a lane's number, each with whether it is set (i1).

    A butterfly computes all results in every lane: n shuffles and combinations for each bit of the lane's number. Here
    the two lanes of a butterfly give each other the halves that they do not need, so that the next one moves half as
    many; butterflies in the opposite order bring the results together. That is 2n shuffles and n combinations in
    all, of the same pairs in the same order: a sum is the same, bit by bit."""
    divided: list[tuple[int, str]] = []
    for mask, bit in lanes:
        given = values
        if (half := values[0].n // 2) > 0:
            halves = [(part(f, v, 0, half), part(f, v, half, half)) for v in values]
            values = [choose(f, bit, high, low) for low, high in halves]
            given = [choose(f, bit, low, high) for low, high in halves]
            divided.append((mask, bit))
        butterfly = partial(f.machine.shuffle_xor, f, mask=mask)
        values = combine_region(f, component, values, [move_tile(f, v, butterfly) for v in given])
    for mask, bit in reversed(divided):
        butterfly = partial(f.machine.shuffle_xor, f, mask=mask)
        others = [move_tile(f, v, butterfly) for v in values]
        values = [
            joined(f, [choose(f, bit, other, own), choose(f, bit, own, other)])
            for own, other in zip(values, others, strict=True)
        ]
    return values


def part(f: FunctionEmitter, value: Tile, first: int, count: int) -> Tile:
    """Consecutive elements of a tile."""
    return Tile.wide(value.elem, count, f.run(value, first, count))


def joined(f: FunctionEmitter, parts: list[Tile]) -> Tile:
    """Tiles of one size, one after another."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if not first.prefers_vector:
        return Tile.of(first.elem, [name for p in parts for name in f.scalars(p)])
    return Tile.wide(first.elem, len(parts) * first.n, f.concat(first.elem, [f.wide(p) for p in parts], first.n))


def choose(f: FunctionEmitter, condition: str, yes: Tile, no: Tile) -> Tile:
    """``yes`` where ``condition`` (i1) holds, else ``no``."""
    text = f"select i1 {condition}, {yes.type} {f.wide(yes)}, {no.type} {f.wide(no)}"
    return Tile.wide(yes.elem, yes.n, f.inst(text))


ROW = 16
"""Lanes of the rows that ``Machine.across_rows`` speaks of."""


def over_whole_warps(
    f: FunctionEmitter, component: Component, values: list[Tile], along: int, beside: int
) -> Tile | None:
    """The values of a warp whose lanes all move along the axis, or hold copies that do no harm, by the machine's
    instruction for that; None where it has none.
    """
    how = component.combiner
    if how is None or along.bit_count() < 2 or beside:
        return None
    if along != f.machine.warp_size - 1 and how not in IDEMPOTENT:
        return None
    (value,) = values
    names: list[str] = []
    for name in f.scalars(value):
        done = f.machine.reduce_lanes(f, how, name, value.elem)
        if done is None:
            return None
        names.append(done)
    return Tile.of(value.elem, names)


def reduce(op: tile.ReduceOp, f: FunctionEmitter) -> None:
    axis = axis_bits(op, f)
    parts = components(op)
    narrow = [narrow_extremum(op, f, c) for c in parts]
    sources = [
        [f.get(op.srcs[n]) for n in c.operands] if v is None else [v] for c, v in zip(parts, narrow, strict=True)
    ]
    columns = f.layout(op.srcs[0].type).columns(LANE)
    beside = sum(1 << bit for bit, column in enumerate(columns) if column and not axis.lane_mask >> bit & 1)
    lanes = [1 << bit for bit, _ in axis.lanes]
    done: list[list[list[Tile]]] = []
    numbers: list[int] = []
    for registers in parts_of(sources[0][0].n, axis):
        mine = [[select(f, v, registers) for v in values] for values in sources]
        own = inside(axis, registers)
        threads = [
            within_threads(f, c, values, own, narrow=v is not None)
            for c, values, v in zip(parts, mine, narrow, strict=True)
        ]
        done.append([across_lanes(f, c, values, lanes, beside) for c, (values, _) in zip(parts, threads, strict=True)])
        numbers += [registers[r] for r in threads[0][1]]
    found = [[joined(f, list(each)) for each in zip(*of, strict=True)] for of in zip(*done, strict=True)]
    if axis.warps:
        found = across_warps(f, op, parts, found, axis, beside)
    results = dict(zip([n for c in parts for n in c.operands], [v for values in found for v in values], strict=True))
    set_results(op, f, [results[n] for n in range(len(results))], numbers)


def within_threads(
    f: FunctionEmitter, component: Component, values: list[Tile], axis: AxisBits, *, narrow: bool
) -> tuple[list[Tile], list[int]]:
    """What each thread makes of its registers, and the numbers of those that are left. ``narrow`` values are those of
    `narrow_extremum`."""
    how, combine = component.combiner, partial(combine_narrow if narrow else combine_region, f, component)
    threes = how is not None and f.machine.combines_three(how, values[0].elem)
    values, left = (fold_threes if threes else fold_registers)(f, combine, values, axis)
    return [convert_tile(f, "fpext", v, "float") for v in values] if narrow else values, left


def across_warps(
    f: FunctionEmitter,
    op: tile.ReduceOp,
    parts: list[Component],
    values: list[list[Tile]],
    axis: AxisBits,
    beside: int,
) -> list[list[Tile]]:
    """Combine what the warps along the axis have found, each component's apart behind one barrier; afterwards all of
    them have it. ``beside`` has the bits of the lane's number that move beside the axis."""
    exchanged = exchange(f, op, f.layout(op.srcs[0].type), axis, [v for each in values for v in each])
    done: list[list[Tile]] = []
    for component, found in zip(parts, exchanged.split([len(each) for each in values]), strict=True):
        share = found.share(f, among_lanes=found.along >= MANY_WARPS)
        count = found.values[0].n
        step = min(count, max(1, READ // share.count))
        rows = [folded(f, component, found.read(f, share, range(r, r + step))) for r in range(0, count, step)]
        joint = [joined(f, list(each)) for each in zip(*rows, strict=True)]
        done.append(across_lanes(f, component, joint, share.lanes, beside))
    return done


def folded(f: FunctionEmitter, component: Component, rows: list[list[Tile]]) -> list[Tile]:
    """All rows combined into one, the second half into the first."""
    while len(rows) > 1:
        half = len(rows) // 2
        rows = [combine_region(f, component, rows[i], rows[i + half]) for i in range(half)]
    return rows[0]


MANY_WARPS = 16
"""Warps from which on lanes share the reading of partial results. The sum of 32 takes a load of four, three additions
and three shuffles with theirs, and not eight loads and 31 additions in each of 32 warps: softmax of 8192 f32 in 32
warps 3870 → 4159 GB/s (H200)."""

READ = 16
"""Partial results that a thread reads before it combines them: reductions over 32 warps have 64 registers a thread."""

PART = 8
"""Results of a thread that are computed before the next ones are started, so that what is between takes
registers for a part at a time. argmax and argmin of 128x64 f32 on 4 warps take 48 registers instead of 60 for 9.0, the
sum, maximum and minimum of int64 90 instead of 167."""


def parts_of(count: int, axis: AxisBits) -> list[list[int]]:
    """A thread's ``count`` registers in groups that make ``PART`` results each, in order."""
    along = {bit for bit, _ in axis.registers}
    beside = [bit for bit in range(count.bit_length() - 1) if bit not in along]
    apart = beside[PART.bit_length() - 1 :] if along else []
    mask = sum(1 << bit for bit in apart)
    groups: dict[int, list[int]] = {}
    for register in range(count):
        groups.setdefault(register & mask, []).append(register)
    return list(groups.values())


def inside(axis: AxisBits, registers: list[int]) -> AxisBits:
    """The bits along the axis of a group of registers, which are numbered from 0 there."""
    moved = {register ^ registers[0]: i for i, register in enumerate(registers)}
    return replace(axis, registers=tuple((moved[1 << bit].bit_length() - 1, step) for bit, step in axis.registers))


def select(f: FunctionEmitter, value: Tile, registers: list[int]) -> Tile:
    """Some registers of a tile, of which consecutive ones are written as one run."""
    if len(registers) == value.n:
        return value
    if value.prefers_vector and registers[-1] - registers[0] == len(registers) - 1:
        return part(f, value, registers[0], len(registers))
    return f.permute(value, registers)


def narrow_extremum(op: tile.ReduceOp, f: FunctionEmitter, component: Component) -> Tile | None:
    """The 16-bit numbers whose f32 extensions a component takes the extremum of, where the machine compares them in
    pairs: a thread looks among those, since extending keeps the order, and extends what it finds.
    """
    source = op.srcs[component.operands[0]]
    made = source.owner
    if not isinstance(made, arith.ExtFOp) or component.combiner not in EXTREMA or f.type(source.type) != "float":
        return None
    narrow = f.get(made.operands[0])
    return narrow if narrow.n > 1 and narrow.elem in f.machine.paired_extrema else None


def combine_narrow(f: FunctionEmitter, component: Component, left: list[Tile], right: list[Tile]) -> list[Tile]:
    """What ``component`` takes of two f32, of the narrow numbers that ``narrow_extremum`` found."""
    how, elem = component.combiner, left[0].elem
    assert how is not None
    return [lanewise(f, elem, [*left, *right], lambda ops, x: EXTREMA[how](ops, elem, *x))]


def set_results(op: tile.ReduceOp, f: FunctionEmitter, values: list[Tile], numbers: list[int]) -> None:
    """Bind the results, renumbering the registers that are left to the result's layout."""
    dim = op.axis.value.data
    type_ = op.results[0].type
    if f.registers(type_) == 1 and len(numbers) == 1:
        bind(f, op.results, values)
        return
    source = positions(f.layout(op.srcs[0].type))
    where: dict[tuple[int, ...], int] = {}
    for i, r in enumerate(numbers):
        p = source[r]
        where.setdefault(p[:dim] + p[dim + 1 :], i)
    wanted = positions(f.layout(type_)) if hasattr(type_, "get_shape") else [()]
    try:
        order = [where[p] for p in wanted]
    except KeyError:
        raise PassError(op, "the result's layout is not the slice of the operand's") from None
    bind(f, op.results, [f.permute(v, order) for v in values])


TABLE: dict[type[Operation], Emit] = {**case(tile.ReduceOp, reduce)}
