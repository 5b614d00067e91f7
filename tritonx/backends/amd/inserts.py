"""AMD's own passes, and where each is in the list of every GPU (`tritonx.backends.gpu_passes`)."""

from __future__ import annotations

from collections.abc import Iterator

from tritonx.backends.amd.layout_target import alternates, copied_widths
from tritonx.backends.amd.options import AmdOptions
from tritonx.backends.amd.passes.block_pingpong import BlockPingpong
from tritonx.backends.amd.passes.carry_scalar_pointers import CarryScalarPointers
from tritonx.backends.amd.passes.order_copies import OrderCopies
from tritonx.backends.amd.passes.pointers_for_buffer_atomics import PointersForBufferAtomics
from tritonx.backends.amd.passes.use_buffer_accesses import UseBufferAccesses
from tritonx.backends.amd.targets import SHARED_REGISTERS
from tritonx.backends.api import Options, Target
from tritonx.transforms.gpu.rematerialise import Rematerialise
from tritonx.transforms.pass_list import Insert
from tritonx.transforms.pipelining.expand_pipeline import ExpandPipeline
from tritonx.transforms.tile.dce import DeadCodeElimination


def on_layouts(target: Target, options: Options) -> Iterator[Insert]:
    """In the order in which they run. Buffer instructions are an option."""
    yield Insert(ExpandPipeline(short=True), instead="expand-pipeline")
    yield Insert(OrderCopies(copied_widths(target, options)), after="expand-pipeline")
    yield Insert(Rematerialise(shared=SHARED_REGISTERS), after="dce")
    yield Insert(PointersForBufferAtomics(), before="widen-float8")
    if isinstance(options, AmdOptions) and options.buffer_ops:
        yield Insert(CarryScalarPointers(), before="widen-float8")
        yield Insert(UseBufferAccesses(), before="widen-float8")
    yield Insert(DeadCodeElimination(), before="widen-float8")
    if alternates(target, options):
        yield Insert(BlockPingpong(), after="insert-barriers")
