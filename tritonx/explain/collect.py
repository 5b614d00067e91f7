"""From a source and a target to the facts: the stages are run once more, without the cache, and looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tritonx.analysis.axis_info import analyze_axes
from tritonx.backends.api import Backend, KernelImage, Options, PassStage, Stage, Target
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.conversion.tile_to_loops.remarks import HostAccess, LoopNest
from tritonx.dialects import tile
from tritonx.explain import memory
from tritonx.explain.accesses import AccessTable
from tritonx.explain.bounds import bound_of, occupancy_of, work_of
from tritonx.explain.facts import (
    AccessFacts,
    BarFacts,
    BoundFacts,
    BufferFacts,
    Facts,
    NestFacts,
    OccupancyFacts,
    PlanFacts,
    RegisterPoint,
    RemarkFacts,
    SourceText,
    WorkFacts,
)
from tritonx.explain.launch import Launch, known_trips, launch_facts
from tritonx.explain.levels import ir_level
from tritonx.explain.places import Places
from tritonx.explain.recorder import Recorder
from tritonx.ir.explain import Remark, collected
from tritonx.ir.failure import PassError
from tritonx.ir.properties import stated_number
from tritonx.ir.text.op_lines import print_with_lines
from tritonx.ir.walk import ops_in
from tritonx.runtime.compiling.compile_job import begun
from tritonx.runtime.compiling.sources import ASTSource, IRSource, Source
from tritonx.transforms.pipelining.loop_chart import LoopChart

SHOWN_OPTIONS = ("num_warps", "num_ctas", "num_stages", "num_threads", "enable_fp_fusion")


def facts_of(source: Source, backend: Backend, target: Target, options: Options, launch: Launch | None = None) -> Facts:
    """All facts of a source that is compiled for `target`, and of a launch of it. Raises what a compile raises."""
    options = with_lines(options)
    places = Places(texts_of(source))
    module = source.make_module(target, options)
    stages = backend.stages(target, options)
    if isinstance(source, IRSource):
        stages = _from(source, stages, module)
    trips = None if launch is None else known_trips(launch, source, module)
    name = source.name.removeprefix("@")
    facts = facts_of_module(name, module, stages, backend, target, options, places, source)
    if launch is None or trips is None:
        return facts
    held = launch_facts(facts, backend.gpu_target(target, options), launch, trips, places)
    return replace(facts, launch=held)


def facts_of_module(
    name: str,
    module: ModuleOp,
    stages: Sequence[Stage],
    backend: Backend,
    target: Target,
    options: Options,
    places: Places,
    source: Source | None = None,
) -> Facts:
    """The same from a module on, which the stages change."""
    recorder = Recorder(places)
    compilation = begun(module, name, target, options)
    recorder.levels.append(ir_level("tt", module, places))
    with collected() as remarks:
        made = recorder.run(module, stages, compilation)
    metadata: Mapping[str, object] = compilation.metadata
    if isinstance(made, bytes) and backend.disassemblies:
        symbol = str(metadata.get("name", name))
        parameters = () if source is None else source.parameters()
        recorder.disassemble(backend, KernelImage(symbol, made, parameters, compilation.metadata, target))
    gpu = backend.gpu_target(target, options)
    laid_out = gpu is not None and stated_number(module.attributes, "ttg.num-warps") is not None
    on_gpu = _OnGpu(module, gpu, metadata, places, remarks) if laid_out and gpu is not None else None
    threads = max(1, target.warp_size) * options.num_warps
    plans = tuple(_plan(each, places) for each in remarks if each.topic == "pipeline")
    return Facts(
        name,
        str(target),
        {name: str(value) for name, value in asdict(options).items() if name in SHOWN_OPTIONS},
        threads,
        places.texts(),
        places.pairs(),
        tuple(recorder.levels),
        tuple(recorder.stages),
        tuple(recorder.passes),
        tuple(recorder.layouts.facts),
        _host_accesses(remarks, places) if on_gpu is None else on_gpu.flat(),
        () if on_gpu is None else on_gpu.buffers,
        () if on_gpu is None else on_gpu.registers,
        plans,
        tuple(_nest(each, each.detail, places) for each in remarks if isinstance(each.detail, LoopNest)),
        tuple(RemarkFacts(each.topic, places.among(each.positions), each.text) for each in remarks if each.text),
        None if on_gpu is None else on_gpu.occupancy,
        None if on_gpu is None else on_gpu.bound(plans),
        () if on_gpu is None else on_gpu.work(plans),
    )


def with_lines(options: Options) -> Options:
    """With the option that has the code say its lines, of a backend that has it."""
    return options.replace(line_info=True) if any(f.name == "line_info" for f in fields(options)) else options


def texts_of(source: Source) -> list[SourceText]:
    """The kernel's function and those of its file that it calls, or the text of a file of IR."""
    if isinstance(source, IRSource):
        return [SourceText(str(source.path), 1, tuple(source.src.splitlines()))]
    return _functions(source)


def _functions(source: ASTSource) -> list[SourceText]:
    found: list[SourceText] = []
    seen: list[object] = []
    left: list[object] = [source.fn, *source.constants.values()]
    while left:
        function = left.pop(0)
        lines: Sequence[str] | None = getattr(function, "raw_src", None)
        if lines is None or function in seen:
            continue
        seen.append(function)
        file = str(getattr(function, "file_name", ""))
        if found and file != found[0].file:
            continue
        first = int(getattr(function, "starting_line_number", 1))
        found.append(SourceText(file, first, tuple(line.rstrip("\n") for line in lines)))
        left += [each.value for each in getattr(function, "used_globals", ())]
    return found


def _from(source: IRSource, stages: Sequence[Stage], module: ModuleOp) -> tuple[Stage, ...]:
    """The stages that a file of IR still needs."""
    names = [stage.name for stage in stages]
    at = names.index(source.ext) if source.ext in names else 0
    own = stages[at]
    return (own.remaining(module) if isinstance(own, PassStage) else own, *stages[at + 1 :])


class _OnGpu:
    """What is known of the last level of IR of a GPU's kernel."""

    def __init__(
        self,
        module: ModuleOp,
        target: GpuTarget,
        metadata: Mapping[str, object],
        places: Places,
        remarks: Sequence[Remark],
    ) -> None:
        self.module = module
        self.target = target
        self.places = places
        _, lines = print_with_lines(module)
        table = AccessTable(analyze_axes(module), target, lines, places)
        self.accesses: dict[Operation, list[AccessFacts]] = {}
        for op in ops_in(module):
            try:
                found = list(table.of(op))
            except PassError:
                continue
            if found:
                self.accesses[op] = found
        functions = [op for op in module.ops if isinstance(op, tile.FuncOp) and op.body.blocks]
        self.buffers: tuple[BufferFacts, ...] = tuple(b for f in functions for b in memory.buffers(f, lines, places))
        self.registers: tuple[RegisterPoint, ...] = tuple(
            point for f in functions for point in memory.registers(f, lines, places)
        )
        self.occupancy = self._occupancy(metadata)

    def _occupancy(self, metadata: Mapping[str, object]) -> OccupancyFacts | None:
        warps, registers, shared = (metadata.get(name) for name in ("num_warps", "registers", "shared"))
        count = warps if isinstance(warps, int) else self.target.num_warps
        return occupancy_of(
            self.target,
            count * self.target.warp_size,
            registers if isinstance(registers, int) and registers else None,
            shared if isinstance(shared, int) else max((b.offset + b.size for b in self.buffers), default=0),
        )

    def flat(self) -> tuple[AccessFacts, ...]:
        return tuple(access for found in self.accesses.values() for access in found)

    def bound(self, plans: Sequence[PlanFacts]) -> BoundFacts | None:
        return bound_of(self.module, self.target, self.accesses, plans, self.occupancy, self.places)

    def work(self, plans: Sequence[PlanFacts]) -> tuple[WorkFacts, ...]:
        return work_of(self.module, self.target, self.accesses, plans, self.places)


def _plan(remark: Remark, places: Places) -> PlanFacts:
    place, chart = places.among(remark.positions), remark.detail
    if not isinstance(chart, LoopChart):
        return PlanFacts(place, remark.text)
    bars = tuple(
        BarFacts(bar.unit, bar.name, places.among(bar.positions), bar.stage, bar.start, bar.cycles)
        for bar in chart.bars
    )
    return PlanFacts(
        place, remark.text, chart.interval, chart.stages, chart.bound, chart.bounds, chart.slots, bars, chart.proven
    )


def _nest(remark: Remark, nest: LoopNest, places: Places) -> NestFacts:
    return NestFacts(places.among(remark.positions), nest.shape, nest.lane, nest.width, nest.work, nest.reduced)


def _host_accesses(remarks: Sequence[Remark], places: Places) -> tuple[AccessFacts, ...]:
    """Those of a host's code, whose vectors are a core's."""
    return tuple(
        AccessFacts(
            -1,
            places.among(each.positions),
            each.op,
            "global",
            each.detail.kind,
            each.detail.bits,
            each.detail.width,
            0,
            0,
        )
        for each in remarks
        if isinstance(each.detail, HostAccess)
    )
