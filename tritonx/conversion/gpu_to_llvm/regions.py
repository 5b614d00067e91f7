"""Regions that are measured: a clock is read where one begins or ends, and stored to memory of the warp.

A kernel that records has one parameter more than its function in the IR, behind the function's own: where the records
of the grid begin (`ir/region_records`). One lane of each warp stores. How many records the warp has made is a variable
on the stack, which LLVM keeps in a register unless the kernel calls a function: functions that are called are given the
address of their warp's records and of that variable.

A record costs a read of the clock, four integer instructions and a store that nothing waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.conversion.data_layout import stack_space
from tritonx.conversion.gpu_to_llvm.global_scratch import block_number
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.types import pointer_to
from tritonx.dialects.proton import RecordOp
from tritonx.ir import region_records
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.region_records import Regions, records_in

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

PARAMETER = "%region_records"
COUNT = "%region_count"


@dataclass(frozen=True)
class _Warp:
    """Where the records of the warp begin, and the i1 that holds in the lane that stores."""

    start: str
    stores: str


def regions_of(f: FunctionEmitter) -> Regions:
    """Those that are measured, of whom something is measured."""
    assert f.module.regions is not None
    return f.module.regions


def parameters(f: FunctionEmitter) -> list[str]:
    """Of the function."""
    if f.module.regions is None:
        return []
    if f.is_kernel:
        return [f.machine.parameter(f.global_, PARAMETER, {})]
    return [f"{f.global_} {PARAMETER}", f"{_stack(f)} {COUNT}"]


def arguments(f: FunctionEmitter) -> list[str]:
    """Of a call."""
    return [] if f.module.regions is None else [f"{f.global_} {_warp(f).start}", f"{_stack(f)} {COUNT}"]


def variables(f: FunctionEmitter) -> list[str]:
    """The lines at a kernel's entry that make its variable."""
    if f.module.regions is None or not f.is_kernel:
        return []
    space = stack_space(f.machine.data_layout)
    where = f", addrspace({space})" if space else ""
    return [f"  {COUNT} = alloca i32, align 4{where}", f"  store i32 0, {_stack(f)} {COUNT}, align 4"]


def begin(f: FunctionEmitter) -> None:
    """The warp's header, when it begins."""
    _header(f, region_records.BEGIN_NANOSECONDS)
    if (processor := f.machine.processor_number(f)) is not None:
        number = f.inst(f"add i64 {f.inst(f'zext i32 {processor} to i64')}, 1")
        _store(f, _at(f, _warp(f).start, 8 * region_records.PROCESSOR), number, Access("i64", 1, 8))


def end(f: FunctionEmitter) -> None:
    """And when it ends."""
    _header(f, region_records.END_NANOSECONDS)


def record(op: RecordOp, f: FunctionEmitter) -> None:
    if f.module.regions is None:
        return
    regions, stack = regions_of(f), _stack(f)
    ended = None if op.is_start else _clock(f, nanoseconds=regions.recording.nanoseconds)
    before = f.inst(f"load i32, {stack} {COUNT}, align 4")
    number = f.inst(f"add i32 {before}, 1")
    f.line(f"store i32 {number}, {stack} {COUNT}, align 4")
    slot = f.inst(f"and i32 {before}, {regions.recording.slots - 1}")
    place = _at(f, _warp(f).start, 8 * region_records.HEADER)
    place = f.inst(f"getelementptr <2 x i64>, {f.global_} {place}, i32 {slot}")
    high = f.inst(f"shl i64 {f.inst(f'zext i32 {number} to i64')}, 32")
    key = f.inst(f"or i64 {high}, {regions.key(op)}")
    clock = ended or _clock(f, nanoseconds=regions.recording.nanoseconds)
    words = f.inst(f"insertelement <2 x i64> poison, i64 {key}, i32 0")
    words = f.inst(f"insertelement <2 x i64> {words}, i64 {clock}, i32 1")
    _store(f, place, words, Access("i64", 2, 16))


def _header(f: FunctionEmitter, first: int) -> None:
    """Two words from ``first`` on: the time in nanoseconds, and by the clock of the records."""
    time, clock = (_clock(f, nanoseconds=each) for each in (True, regions_of(f).recording.nanoseconds))
    start = _warp(f).start
    for at, value in enumerate((time, clock)):
        _store(f, _at(f, start, 8 * (first + at)), value, Access("i64", 1, 8))


def _clock(f: FunctionEmitter, *, nanoseconds: bool) -> str:
    """Read here: not before what is in front of it, nor after what is behind it."""
    f.machine.keep_order(f)
    found = f.machine.clock(f, nanoseconds=nanoseconds)
    if found is None:
        reason = "this target has no clock that a kernel can read"
        raise PassError(next(iter(records_in(f.module.op))), reason, "do not ask for regions")
    f.machine.keep_order(f)
    return found


def _store(f: FunctionEmitter, place: str, value: str, access: Access) -> None:
    f.machine.memory.store(f, place, value, access, _warp(f).stores)


def _at(f: FunctionEmitter, start: str, offset: int) -> str:
    return f.inst(f"getelementptr i8, {f.global_} {start}, i32 {offset}") if offset else start


def _stack(f: FunctionEmitter) -> str:
    return pointer_to(stack_space(f.machine.data_layout))


def _warp(f: FunctionEmitter) -> _Warp:
    """Of those who run the lines, computed where they begin."""
    threads, lane = f.threads, f.threads.lane
    first_lane = threads.once("first lane", lambda: f.inst(f"icmp eq i32 {lane}, 0"))
    sampled = len(regions_of(f).recording.warps) != f.module.num_warps
    if not f.is_kernel:
        stores = threads.once("records", lambda: _unless_null(f, first_lane)) if sampled else first_lane
        return _Warp(PARAMETER, stores)
    warp = threads.warp
    start = threads.once("region records", lambda: _start(f, warp))
    if not sampled:
        return _Warp(start, first_lane)
    chosen = threads.once("records", lambda: _is_sampled(f, warp, first_lane))
    return _Warp(threads.once("own records", lambda: _or_null(f, chosen, start)), chosen)


def _start(f: FunctionEmitter, warp: str) -> str:
    """Where the records of a warp would begin; of one that is not sampled it is anywhere."""
    recording, index = regions_of(f).recording, f"i{f.pointer_bits(f.global_)}"
    number = f.inst(f"add i32 {warp}, {f.threads.group.first_warp}") if f.threads.group.first_warp else warp
    if len(recording.warps) != f.module.num_warps:
        position = "0"
        for at, each in enumerate(recording.warps):
            is_it = f.inst(f"icmp eq i32 {number}, {each}")
            position = f.inst(f"select i1 {is_it}, i32 {at}, i32 {position}") if at else position
        number = position
    block = f.inst(f"mul {index} {block_number(f)}, {recording.block_bytes}")
    wide = f.inst(f"zext i32 {number} to {index}") if index != "i32" else number
    offset = f.inst(f"add {index} {block}, {f.inst(f'mul {index} {wide}, {recording.warp_bytes}')}")
    return f.inst(f"getelementptr i8, {f.global_} {PARAMETER}, {index} {offset}")


def _is_sampled(f: FunctionEmitter, warp: str, first_lane: str) -> str:
    number = f.inst(f"add i32 {warp}, {f.threads.group.first_warp}") if f.threads.group.first_warp else warp
    found = "false"
    for each in regions_of(f).recording.warps:
        found = f.inst(f"or i1 {found}, {f.inst(f'icmp eq i32 {number}, {each}')}")
    return f.inst(f"and i1 {found}, {first_lane}")


def _or_null(f: FunctionEmitter, chosen: str, start: str) -> str:
    """What a function that is called goes by."""
    return f.inst(f"select i1 {chosen}, {f.global_} {start}, {f.global_} null")


def _unless_null(f: FunctionEmitter, first_lane: str) -> str:
    there = f.inst(f"icmp ne {f.global_} {PARAMETER}, null")
    return f.inst(f"and i1 {there}, {first_lane}")


TABLE: dict[type[Operation], Emit] = {**case(RecordOp, record)}
