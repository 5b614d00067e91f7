"""A compile that another process may do: from the text of a module at ``tt`` to the result of every stage.

The front end needs the kernel's Python, with all that it names, and stays where the kernel is. What follows needs no
more than text and options, so that a worker imports the compiler and nothing of the user's. The bits are the same: the
text of ``tt`` holds all of a module. A worker that would make other code (another version, other tools, another backend
of that name) finds another key than the job's, and says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from tritonx.backends.api import Backend, Compilation, EmitStage, Options, PassStage, Shortage, Stage, Target
from tritonx.runtime import knobs
from tritonx.runtime.compiling.keys import Settings, assigned_settings, compile_key
from tritonx.runtime.compiling.sources import entry_symbol, printed
from tritonx.runtime.devices.drivers import find_backend
from tritonx.runtime.errors import BackendContractError, Foreseen, TritonError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class OtherCompiler(TritonError):
    """A worker would compile a job to something else than the process that it comes from."""


@dataclass(frozen=True)
class CompileJob:
    """``text`` is the module that the front end made; ``settings`` are those that change code, by group and name."""

    name: str
    text: str
    target: Target
    options: Options
    source_hash: str
    key: str
    settings: Settings


@dataclass
class Made:
    """What the stages made, in their order, and what a launch must know; the names of those that are no text."""

    asm: dict[str, str | bytes] = field(default_factory=dict[str, str | bytes])
    binary: list[str] = field(default_factory=list[str])
    metadata: dict[str, object] = field(default_factory=dict[str, object])
    seconds: dict[str, float] = field(default_factory=dict[str, float])


def job_of(name: str, module: object, target: Target, options: Options, source_hash: str, key: str) -> CompileJob:
    text = module if isinstance(module, str) else printed(module)
    return CompileJob(name, text, target, options, source_hash, key, assigned_settings())


def begun(module: object, name: str, target: Target, options: Options) -> Compilation:
    """What the stages of a compile share before the first one runs: the symbol of the kernel, and which arguments of
    the front end's ``module`` it may store through."""
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.analysis.written import written_arguments

    symbol = entry_symbol(module, name)
    written = written_arguments(module, symbol) if isinstance(module, ModuleOp) else ()  # a source may be no IR
    return Compilation(target, options, {"name": symbol, "written": written})


def perform(job: CompileJob) -> Made:
    """Run the stages of ``job``. Raises ``OtherCompiler``, ``Foreseen`` before code is made for what cannot run, and
    what the stages raise."""
    with _settings(job.settings):
        backend = find_backend(job.target.backend)
        if compile_key(job.source_hash, backend, job.target, job.options) != job.key:
            raise OtherCompiler(
                f"this process would compile {job.name} to something else than the one that asks for it"
            )
        stages = backend.stages(job.target, job.options)
        module: object = job.text
        start = time.perf_counter()
        if isinstance(stages[0], PassStage):
            from tritonx.ir.text import parse_module

            module = parse_module(job.text, f"{job.name}.{stages[0].name}")
        compilation = begun(module, job.name, job.target, job.options)
        made = Made(metadata=compilation.metadata)
        last = [stage for stage in stages if isinstance(stage, PassStage)][-1:]
        for stage, value in kept(made, run_stages(module, stages, compilation, backend), start):
            if stage in last:
                refuse(backend.foresee(job.target, job.options, cast("ModuleOp", value)))
        return made


def refuse(short: Shortage | None) -> None:
    """Raise what the tuner takes for a configuration that cannot run."""
    if short is not None:
        raise Foreseen(short.required, short.limit, short.name)


def kept(made: Made, results: Iterator[tuple[Stage, object]], start: float) -> Iterator[tuple[Stage, object]]:
    """The results of stages that run since ``start``, each put to the others when it is there, with its seconds."""
    for stage, value in results:
        _keep(made, stage, value)
        now = time.perf_counter()
        made.seconds[stage.name], start = now - start, now
        yield stage, value


def _keep(made: Made, stage: Stage, value: object) -> None:
    text = printed(value) if isinstance(stage, PassStage) else value
    assert isinstance(text, str | bytes), stage.name
    if isinstance(text, bytes):
        made.binary.append(stage.name)
    made.asm[stage.name] = text


def run_stages(
    value: object,
    stages: tuple[Stage, ...],
    compilation: Compilation,
    backend: Backend,
    replaced: Callable[[Stage, object], object] = lambda _, value: value,
) -> Iterator[tuple[Stage, object]]:
    """Each stage with what it made, or with what ``replaced`` puts in its place, which the next one gets."""
    for stage in stages:
        value = replaced(stage, run_stage(stage, value, compilation, backend))
        yield stage, value


def run_stage(stage: Stage, value: object, compilation: Compilation, backend: Backend) -> object:
    from tritonx.ir.pipeline import run_emit_stage, run_pass_stage

    if isinstance(stage, EmitStage):
        made = cast(object, run_emit_stage(stage, value, compilation))
        if not isinstance(made, str | bytes):
            raise BackendContractError(
                f"stage {stage.name!r} of backend {backend.name!r} made a {type(made).__name__}, not text or bytes"
            )
        return made
    run_pass_stage(cast("ModuleOp", value), stage, compilation)
    return value


@contextmanager
def _settings(wanted: Settings) -> Generator[None]:
    """Have the settings that change code as they are where the job comes from."""
    with ExitStack() as stack:
        for group_name, name, value in wanted:
            group = getattr(knobs, group_name)
            if getattr(group, name) != value:
                stack.enter_context(group.scope())
                setattr(group, name, value)
        yield
