"""A backend's stages, run with everything kept that a reader may ask of them: texts, passes, times, remarks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.backends.api import Backend, Compilation, KernelImage, PassStage, Stage
from tritonx.explain.diffs import changed_lines, counted
from tritonx.explain.facts import LevelText, PassFacts, StageFacts
from tritonx.explain.layouts import LayoutTable
from tritonx.explain.levels import ir_level, text_level
from tritonx.explain.places import Places
from tritonx.ir.contract import contract_of
from tritonx.ir.failure import PassFailure
from tritonx.ir.location import file_loc
from tritonx.ir.pipeline import PassHooks, run_emit_stage, run_passes
from tritonx.ir.source import source_of
from tritonx.ir.text import print_module
from tritonx.runtime.errors import TritonError
from tritonx.tools.pass_info import summary

CONTRACT_FIELDS = ("on", "creates", "reads", "writes", "needs", "after")

LINES = "lines"
"""Behind the name of a disassembly: the one that says the lines of the source, where a backend has it."""


@dataclass
class Recorder:
    """What the stages made so far."""

    places: Places
    layouts: LayoutTable = field(default_factory=LayoutTable)
    levels: list[LevelText] = field(default_factory=list[LevelText])
    passes: list[PassFacts] = field(default_factory=list[PassFacts])
    stages: list[StageFacts] = field(default_factory=list[StageFacts])
    seconds: float = 0.0
    _before: str = ""

    def run(self, module: ModuleOp, stages: Sequence[Stage], compilation: Compilation) -> bytes | str | None:
        """Runs the stages on a module; the last one's result, or None where one of them could not be run here. Raises
        `PassFailure` and the backend's errors as a compile does."""
        value: ModuleOp | str | bytes = module
        for stage in stages:
            start = time.perf_counter()
            if isinstance(stage, PassStage):
                self._run_passes(module, stage)
                self.stages.append(StageFacts(stage.name, self.seconds, len(self._before)))
                continue
            if isinstance(value, ModuleOp):
                self._move_locations(value)
            try:
                value = run_emit_stage(stage, value, compilation)
            except PassFailure:
                raise
            except TritonError as error:
                if not stage.needs_tool:
                    raise
                self.stages.append(StageFacts(stage.name, 0.0, 0, " ".join(str(error).split())))
                return None
            self.stages.append(StageFacts(stage.name, time.perf_counter() - start, len(value)))
            if isinstance(value, str):
                self.levels.append(text_level(stage.name, value, self.places))
        return None if isinstance(value, ModuleOp) else value

    def disassemble(self, backend: Backend, image: KernelImage) -> None:
        """The disassemblies that this machine has the tools for."""
        for name in backend.disassemblies:
            start = time.perf_counter()
            try:
                text = backend.disassemble(f"{name}-{LINES}", image) or backend.disassemble(name, image)
            except TritonError as error:
                self.stages.append(StageFacts(name, 0.0, 0, " ".join(str(error).split())))
                continue
            if text:
                self.stages.append(StageFacts(name, time.perf_counter() - start, len(text)))
                self.levels.append(text_level(name, text, self.places))

    def _move_locations(self, module: ModuleOp) -> None:
        """What is emitted says one line for each op: the kernel's, not that of a function that it calls."""
        for op in module.walk():
            point = self.places.chosen(source_of(op))
            if point is not None:
                op.location = file_loc(point.file, point.line, point.column)

    def _run_passes(self, module: ModuleOp, stage: PassStage) -> None:
        self._before, self.seconds = print_module(module), 0.0
        times: list[float] = []

        def after(done: ModulePass, module: ModuleOp) -> None:
            self.seconds += times[-1]
            self._passed(stage, done, module, times[-1])

        run_passes(module, stage.passes, PassHooks(after=after, timing=lambda name, seconds: times.append(seconds)))
        self.levels.append(ir_level(stage.name, module, self.places, self.layouts))

    def _passed(self, stage: PassStage, done: ModulePass, module: ModuleOp, seconds: float) -> None:
        text = print_module(module)
        diff = changed_lines(self._before, text) if text != self._before else ()
        contract = contract_of(type(done))
        fields = {name: cast("tuple[str, ...]", getattr(contract, name)) for name in CONTRACT_FIELDS if contract}
        self.passes.append(
            PassFacts(
                len(self.passes) + 1,
                stage.name,
                done.name,
                str(done),
                summary(type(done)),
                seconds,
                text != self._before,
                *counted(diff),
                diff,
                "" if contract is None else str(contract),
                {name: found for name, found in fields.items() if found},
            )
        )
        self._before = text
