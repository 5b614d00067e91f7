"""Regions that are measured: the clock is read where one begins or ends, and stored to memory of the program.

A kernel that records takes one parameter more than its function in the IR, the last: where the records of the grid
begin (`ir/region_records`). A program is one warp. How many records it has made is a variable on its stack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.tile_to_loops.launch_parameter import Parameter
from tritonx.conversion.tile_to_loops.tables import StatementRule
from tritonx.dialects.proton import RecordOp
from tritonx.ir import region_records
from tritonx.ir.dispatch import case_in
from tritonx.ir.region_records import Regions

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

PARAMETER = Parameter("!tt.ptr<i64>", "ptr")
MONOTONIC_CLOCK = 1
"""Linux' number of CLOCK_MONOTONIC."""


@dataclass(frozen=True)
class Variables:
    """Of one program: its number of records, where they begin, and room for a time."""

    count: str
    start: str
    time: str


def begin(e: Emitter, regions: Regions, argument: str) -> Variables:
    """At the program's entry; ``argument`` is the parameter."""
    w = e.writer
    count, time = w.alloca("i32, align 4"), w.alloca("[2 x i64], align 8")
    w.line(f"store i32 0, ptr {count}, align 4")
    number = "%pid.z"
    for axis in ("y", "x"):
        number = w.inst(f"add i32 {w.inst(f'mul i32 {number}, %num.{axis}')}, %pid.{axis}")
    offset = w.mul(w.inst(f"zext i32 {number} to i64"), str(regions.recording.block_bytes))
    start = w.inst(f"getelementptr i8, ptr {argument}, i64 {offset}")
    found = Variables(count, start, time)
    _header(e, regions, found, region_records.BEGIN_NANOSECONDS)
    return found


def end(e: Emitter, regions: Regions, variables: Variables) -> None:
    """At its exit."""
    _header(e, regions, variables, region_records.END_NANOSECONDS)


def _header(e: Emitter, regions: Regions, variables: Variables, first: int) -> None:
    if not regions.recording.warps:
        return
    for at, nanoseconds in enumerate((True, regions.recording.nanoseconds)):
        value = _clock(e, variables.time, nanoseconds=nanoseconds)
        place = e.writer.inst(f"getelementptr i64, ptr {variables.start}, i64 {first + at}")
        e.writer.line(f"store volatile i64 {value}, ptr {place}, align 8")


def _record(e: Emitter, op: RecordOp) -> None:
    regions, variables, w = e.regions, e.region_variables, e.writer
    if regions is None or variables is None or not regions.recording.warps:
        return
    clock = _clock(e, variables.time, nanoseconds=regions.recording.nanoseconds)
    before = w.inst(f"load i32, ptr {variables.count}, align 4")
    number = w.inst(f"add i32 {before}, 1")
    w.line(f"store i32 {number}, ptr {variables.count}, align 4")
    slot = w.inst(f"and i32 {before}, {regions.recording.slots - 1}")
    first = w.inst(f"shl i64 {w.inst(f'zext i32 {slot} to i64')}, {region_records.WORDS.bit_length() - 1}")
    place = w.inst(f"getelementptr i64, ptr {variables.start}, i64 {w.add(first, str(region_records.HEADER))}")
    high = w.inst(f"shl i64 {w.inst(f'zext i32 {number} to i64')}, 32")
    key = w.inst(f"or i64 {high}, {regions.key(op)}")
    behind = w.inst(f"getelementptr i64, ptr {place}, i64 1")
    w.line(f"store volatile i64 {key}, ptr {place}, align 8")
    w.line(f"store volatile i64 {clock}, ptr {behind}, align 8")


def _clock(e: Emitter, slot: str, *, nanoseconds: bool) -> str:
    """The processor's counter of cycles where a program may read it, else the system's time."""
    if not nanoseconds and e.isa.triple.startswith("x86_64"):
        return e.writer.call("i64", "@llvm.readcyclecounter")
    return read_nanoseconds(e, slot)


def read_nanoseconds(e: Emitter, slot: str) -> str:
    """The time, i64; ``slot`` is memory for two i64."""
    w = e.writer
    w.call("i32", "@clock_gettime", ("i32", str(MONOTONIC_CLOCK)), ("ptr", slot))
    seconds = w.inst(f"load i64, ptr {slot}, align 8")
    behind = w.inst(f"getelementptr i64, ptr {slot}, i64 1")
    scaled = w.inst(f"mul i64 {seconds}, 1000000000")
    return w.inst(f"add i64 {scaled}, {w.inst(f'load i64, ptr {behind}, align 8')}")


STATEMENTS: dict[type[Operation], StatementRule] = {**case_in(RecordOp, _record)}
