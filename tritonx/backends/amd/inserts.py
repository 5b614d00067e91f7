"""AMD's own passes, and where each is in the list of every GPU (`tritonx.backends.gpu_passes`)."""

from __future__ import annotations

from collections.abc import Iterator

from tritonx.analysis.registers import RegisterFile
from tritonx.backends.amd.layout_target import alternates, copied_widths
from tritonx.backends.amd.options import AmdOptions, hints_of
from tritonx.backends.amd.passes.block_pingpong import BlockPingpong
from tritonx.backends.amd.passes.carry_scalar_pointers import CarryScalarPointers
from tritonx.backends.amd.passes.copy_first_again import CopyFirstAgain
from tritonx.backends.amd.passes.hoist_strides import HoistStrides
from tritonx.backends.amd.passes.narrow_range_checks import NarrowRangeChecks
from tritonx.backends.amd.passes.order_copies import OrderCopies
from tritonx.backends.amd.passes.pointers_for_buffer_atomics import PointersForBufferAtomics
from tritonx.backends.amd.passes.remake_loop_offsets import RemakeLoopOffsets
from tritonx.backends.amd.passes.use_buffer_accesses import UseBufferAccesses
from tritonx.backends.amd.targets import SHARED_REGISTERS, processor
from tritonx.backends.api import Options, Target
from tritonx.transforms.gpu.rematerialise import Rematerialise
from tritonx.transforms.gpu.split_dots import SplitDots
from tritonx.transforms.pass_list import Insert
from tritonx.transforms.pipelining.expand_pipeline import ExpandPipeline
from tritonx.transforms.pipelining.share_counters import ShareCounters
from tritonx.transforms.tile.dce import DeadCodeElimination

KEPT = 4
"""The part of a thread's registers that an operand may take which is made in front of a loop: a half, if two warps hold
the same rows."""


def on_layouts(target: Target, options: Options) -> Iterator[Insert]:
    """In the order in which they run. Buffer instructions are an option."""
    chip, threads = processor(target), options.num_warps * target.warp_size
    kept = chip.lane_registers(threads) // KEPT * 4 * threads
    yield Insert(SplitDots(chip.shared_bytes, kept), instead="split-dots")
    yield Insert(ExpandPipeline(short=True, marks=True), instead="expand-pipeline")
    yield Insert(OrderCopies(copied_widths(target, options)), after="expand-pipeline")
    yield Insert(ShareCounters(), after="cse")
    yield Insert(Rematerialise(chip.lane_registers(threads), SHARED_REGISTERS), after="dce")
    yield Insert(NarrowRangeChecks(), before="widen-float8")
    yield Insert(PointersForBufferAtomics(), before="widen-float8")
    if isinstance(options, AmdOptions) and options.buffer_ops:
        yield Insert(CarryScalarPointers(), before="widen-float8")
        yield Insert(UseBufferAccesses(), before="widen-float8")
        yield Insert(RemakeLoopOffsets(chip.lane_registers(threads) - RegisterFile.working), before="widen-float8")
    yield Insert(HoistStrides(), before="widen-float8")
    yield Insert(CopyFirstAgain(), before="widen-float8")
    yield Insert(DeadCodeElimination(), before="widen-float8")
    if alternates(target, options):
        yield Insert(BlockPingpong(attention="attention" in hints_of(options)), after="insert-barriers")
