"""``ttg.convert_layout``: the plan of ``tritonx.layouts.convert`` as instructions."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.analysis.buffers import conversion_plan
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import apply_layout, thread_coordinate
from tritonx.conversion.gpu_to_llvm.register_words import pack_words, through_words, unpack_words
from tritonx.conversion.gpu_to_llvm.transfer import load_registers, memory_type, store_registers
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import SharedView, Tile
from tritonx.dialects import gpu_layout
from tritonx.ir.dispatch import case
from tritonx.layouts.convert import NoMove, RegisterMove, SharedMemoryPlan
from tritonx.layouts.dims import LANE, WARP
from tritonx.layouts.shuffle import SelectStage, ShufflePlan


def convert(op: gpu_layout.ConvertLayoutOp, f: FunctionEmitter) -> None:
    value = f.get(op.src)
    match conversion_plan(op):
        case NoMove():
            f.result(op, value)
        case RegisterMove(sources):
            f.result(op, f.permute(value, list(sources)))
        case ShufflePlan() as plan:
            f.result(op, shuffle(f, plan, value))
        case SharedMemoryPlan() as plan:
            f.result(op, through_memory(op, f, plan, value, f.registers(op.results[0].type)))


# ---- inside a warp


def shuffle(f: FunctionEmitter, plan: ShufflePlan, value: Tile) -> Tile:
    """See ``ShufflePlan``: pack, select, swap, shuffle, select, unpack."""
    plan = plan.using(f.machine.swaps, f.machine.reads_both)
    per = 1 << plan.pack
    elem = value.elem
    names = f.scalars(value)
    ordered = [names[r] for r in plan.before]
    word = elem if per == 1 else "i32"
    words = ordered if per == 1 else [packed(f, elem, ordered[i : i + per]) for i in range(0, len(ordered), per)]
    words = stages(f, word, words, plan.source_stages)
    slots: list[str] = [words[step.source] for step in plan.rounds]
    for step in plan.swaps:
        for low in [x.slot for x in plan.rounds if not x.lane_xor & step.mask]:
            high = low ^ step.xor
            slots[low], slots[high] = swap(f, word, slots[low], slots[high], step.mask)
    slots = rounds(f, plan, word, slots)
    slots = stages(f, word, slots, plan.target_stages)
    unpacked = slots if per == 1 else [x for w in slots for x in split(f, elem, w, per)]
    chosen = [unpacked[i] for i in plan.after]
    if value.prefers_vector and len(chosen) > 1:
        return f.gathered(elem, chosen)
    return Tile.of(elem, chosen)


def swap(f: FunctionEmitter, word: str, first: str, second: str, mask: int) -> tuple[str, str]:
    """``Machine.swap`` of two words of type ``word``."""
    pairs = zip(pack_words(f, word, first), pack_words(f, word, second), strict=True)
    moved = [f.machine.swap(f, a, b, mask) for a, b in pairs]
    return unpack_words(f, word, [a for a, _ in moved]), unpack_words(f, word, [b for _, b in moved])


def both(f: FunctionEmitter, word: str, name: str, mask: int) -> tuple[str, str]:
    """``Machine.both`` of a word of type ``word``."""
    pairs = [f.machine.both(f, x, mask) for x in pack_words(f, word, name)]
    return unpack_words(f, word, [a for a, _ in pairs]), unpack_words(f, word, [b for _, b in pairs])


def packed(f: FunctionEmitter, elem: str, names: list[str]) -> str:
    memory, per = memory_type(elem), len(names)
    width = per * bits(elem)
    word = f.inst(f"bitcast <{per} x {memory}> {f.pack(memory, widened(f, elem, names))} to i{width}")
    return word if width == 32 else f.inst(f"zext i{width} {word} to i32")


def widened(f: FunctionEmitter, elem: str, names: list[str]) -> list[str]:
    return [f.inst(f"zext i1 {x} to i8") for x in names] if elem == "i1" else names


def split(f: FunctionEmitter, elem: str, word: str, per: int) -> list[str]:
    memory, width = memory_type(elem), per * bits(elem)
    if width < 32:
        word = f.inst(f"trunc i32 {word} to i{width}")
    vector = f.inst(f"bitcast i{width} {word} to <{per} x {memory}>")
    names = [f.inst(f"extractelement <{per} x {memory}> {vector}, i32 {i}") for i in range(per)]
    return [f.inst(f"trunc i8 {x} to i1") for x in names] if elem == "i1" else names


def stages(f: FunctionEmitter, word: str, words: list[str], steps: tuple[SelectStage, ...]) -> list[str]:
    for stage in steps:
        condition = parity(f, stage.lane_mask, stage.warp_mask)
        words = [
            x
            if x == words[i ^ stage.xor]
            else f.inst(f"select i1 {condition}, {word} {words[i ^ stage.xor]}, {word} {x}")
            for i, x in enumerate(words)
        ]
    return words


def parity(f: FunctionEmitter, lane_mask: int, warp_mask: int) -> str:
    """An i1: whether the number of set bits of ``lane & lane_mask`` and ``warp & warp_mask`` together is odd."""
    parts: list[str] = []
    lane, warp = f.threads.lane, f.threads.warp
    with f.in_prologue():
        for x, mask in ((lane, lane_mask), (warp, warp_mask)):
            if mask and x != "0":
                parts.append(f.inst(f"and i32 {x}, {mask}"))
        if not parts:
            return "false"
        if len(parts) == 1 and (lane_mask | warp_mask).bit_count() == 1:
            return f.inst(f"icmp ne i32 {parts[0]}, 0")
        counts = [f.inst(f"call i32 {f.module.declare('i32', '@llvm.ctpop.i32', ['i32'])}(i32 {p})") for p in parts]
        total = counts[0] if len(counts) == 1 else f.inst(f"add i32 {counts[0]}, {counts[1]}")
        return f.inst(f"trunc i32 {total} to i1")


def rounds(f: FunctionEmitter, plan: ShufflePlan, word: str, slots: list[str]) -> list[str]:
    """The words of ``slots`` of the lanes that the rounds read."""
    handled = sum(swap.mask for swap in plan.swaps) | sum(plan.spread)
    halves: dict[tuple[str, int], tuple[str, str]] = {}
    out = list(slots)
    for step in plan.rounds:
        name, apart = slots[step.slot], step.lane_xor & ~handled
        for mask in plan.spread:
            if (name, mask) not in halves:
                halves[name, mask] = both(f, word, name, mask)
            name = halves[name, mask][bool(step.lane_xor & mask)]
        if plan.lane_map is not None and not plan.spread:
            lane = mapped_lane(f, plan, apart)
            name = through_words(f, word, name, lambda w, lane=lane: f.machine.shuffle_index(f, w, lane))
        elif apart:
            name = through_words(f, word, name, lambda w, apart=apart: f.machine.shuffle_xor(f, w, apart))
        out[step.slot] = name
    return out


def mapped_lane(f: FunctionEmitter, plan: ShufflePlan, lane_xor: int) -> str:
    assert plan.lane_map is not None
    for dim in (LANE, WARP):
        thread_coordinate(f, dim)
    with f.in_prologue():
        lane, _ = apply_layout(f, plan.lane_map, LANE)
        if lane_xor == 0:
            return lane
        return str(lane_xor) if lane == "0" else f.inst(f"xor i32 {lane}, {lane_xor}")


# ---- through shared memory


def through_memory(
    op: gpu_layout.ConvertLayoutOp, f: FunctionEmitter, plan: SharedMemoryPlan, value: Tile, count: int
) -> Tile:
    base = SharedView(f.shared_base(f.scratch_offset(op)))
    out: list[str] = ["poison"] * count
    for number, step in enumerate(plan.parts):
        if plan.same_warp:  # of a conversion before, or of the last iteration, the other lanes may still read
            f.threads.warp_barrier()
        elif number:
            f.threads.local_barrier()
        store_registers(f, base, step.write, value)
        if plan.same_warp:
            f.threads.warp_barrier()
        else:
            f.threads.local_barrier()
        load_registers(f, base, value.elem, step.read, out)
    if value.prefers_vector and count > 1:
        return f.gathered(value.elem, out)
    return Tile.of(value.elem, out)


TABLE: dict[type[Operation], Emit] = {**case(gpu_layout.ConvertLayoutOp, convert)}
