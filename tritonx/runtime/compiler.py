"""``compile``: from a source to a compiled kernel, through the cache on disk.

A hit reads two files and imports neither xDSL nor LLVM. A miss asks the front end for the module, runs the backend's
stages in order and stores each stage's result.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import tritonx.backends.registry as registry
from tritonx.backends.api import Backend, Compilation, EmitStage, Options, Parameter, PassStage, Stage, Target
from tritonx.runtime import driver, knobs
from tritonx.runtime.cache import CacheManager, get_cache_manager, get_dump_manager, get_override_manager
from tritonx.runtime.compiled_kernel import AsmDict, CompiledKernel, StoredFile
from tritonx.runtime.drivers import find_backend
from tritonx.runtime.errors import BackendContractError
from tritonx.runtime.kernel_metadata import common_fields, make_metadata
from tritonx.runtime.keys import compile_key, compiler_key
from tritonx.runtime.launch_hooks import LazyDict
from tritonx.runtime.sources import ASTSource, IRSource, Source, SourceError, entry_symbol, printed, source_of

__all__ = [
    "ASTSource",
    "AsmDict",
    "CompiledKernel",
    "GPUTarget",
    "IRSource",
    "LazyDict",
    "SourceError",
    "compile",
    "make_metadata",
    "triton_key",
]

GPUTarget = Target
triton_key = compiler_key
FILE_NAME_LIMIT = 150


@dataclass
class CompileTimes:
    """Seconds of one compile: the front end, each stage by name, storing."""

    front_end: float
    stages: dict[str, float]
    store: float

    @property
    def total(self) -> float:
        return self.front_end + sum(self.stages.values()) + self.store


def _resolve_target(target: Target | str | None) -> Target:
    if target is None:
        return driver.get_active().get_current_target()
    if isinstance(target, str):
        return registry.parse_target(target)[1]
    return target


def _resolve_options(backend: Backend, target: Target, given: Any, source: Source) -> Options:
    if isinstance(given, Options):
        return given
    options: Mapping[str, Any] = given or {}
    return backend.parse_options(target, {**source.parse_options(), **options})


def compile(
    src: object, target: Target | str | None = None, options: Mapping[str, Any] | Options | None = None
) -> CompiledKernel:
    """Compile an ASTSource, an IRSource or the file of a path for ``target`` (the active device's).

    Touches no device when ``target`` is given. Raises the front end's CompilationError, PassFailure, KeyError for an
    option that the backend does not know, NoBackend, SourceError.
    """
    source = source_of(src)
    wanted = _resolve_target(target)
    backend = find_backend(wanted.backend)
    resolved = _resolve_options(backend, wanted, options, source)
    key = compile_key(source.hash(), backend, wanted, resolved)
    manager = get_cache_manager(key)
    file_name = source.name[:FILE_NAME_LIMIT]
    settings = knobs.compilation
    if not (settings.always_compile or settings.override or resolved.ir_override):
        found = _from_cache(manager, file_name, source, key, backend)
        if found is not None:
            found.replaceable(_Compile(source, backend, wanted, resolved, key, manager, file_name).run)
            if settings.listener is not None:
                settings.listener(
                    src=source,
                    metadata=found.metadata._asdict(),
                    metadata_group=found.metadata_group,
                    times=CompileTimes(0.0, {}, 0.0),
                    cache_hit=True,
                )
            return found
    with _without_collection():
        return _Compile(source, backend, wanted, resolved, key, manager, file_name).run()


@contextmanager
def _without_collection() -> Generator[None]:
    """Python's collector of cycles rests: a compile makes many objects and little garbage (7 % of a first compile).

    The first compile of a process imports the compiler. What there is behind it grows old without being visited, since
    modules and classes stay; the collection that would otherwise follow takes another 5 %.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            _grow_old()
            gc.enable()


@cache
def _grow_old() -> None:
    """Moves all objects to the collector's oldest generation, once in a process; what others froze stays frozen."""
    if sys.implementation.name == "cpython" and gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()


def _tuples(value: Any) -> Any:
    """What JSON made lists, as tuples again."""
    if isinstance(value, list):
        return tuple(_tuples(v) for v in value)  # pyright: ignore[reportUnknownVariableType]  # what JSON holds
    if isinstance(value, dict):
        return {k: _tuples(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]  # what JSON holds
    return value


def _fields_of(text: str | bytes) -> tuple[dict[str, Any], tuple[Parameter, ...]]:
    stored = json.loads(text)
    parameters = tuple(Parameter(*p) for p in stored.pop("parameters"))
    target = Target(**stored.pop("target"))
    return {**_tuples(stored), "target": target}, parameters


def _check(fields: Mapping[str, object], key: str) -> None:
    """Raises ``ValueError`` unless these are the metadata of the entry ``key``, of this version of the compiler."""
    if fields["hash"] != key or fields["triton_version"] != compiler_key()[:16]:
        raise ValueError("the metadata of another entry")
    for names, kind in ((("name",), str), (_NUMBERS, int), (("stages", "binary_stages"), tuple)):
        for name in names:
            if not isinstance(fields[name], kind):
                raise ValueError(f"{name} is {fields[name]!r}")


_NUMBERS = ("num_warps", "num_ctas", "shared", "warp_size", "global_scratch_size", "global_scratch_align")
"""What every kernel's metadata say and launching reads."""


def _from_cache(
    manager: CacheManager, file_name: str, source: Source, key: str, backend: Backend
) -> CompiledKernel | None:
    metadata_name = f"{file_name}.json"
    group = manager.get_group(metadata_name)
    if not group or metadata_name not in group:
        return None
    try:
        with open(group[metadata_name], "rb") as file:
            fields, parameters = _fields_of(file.read())
        stages: tuple[str, ...] = fields["stages"]
        binary = set(fields["binary_stages"])
        asm = AsmDict(
            {s: StoredFile(group[f"{file_name}.{s}"], s in binary) for s in stages if f"{file_name}.{s}" in group}
        )
        _check(fields, key)
        found = _kernel(source, backend, fields, asm, parameters, key, group)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):  # a foreign file under our key
        return None
    return found if backend.binary_stage in asm else None


def _kernel(
    source: Source,
    backend: Backend,
    fields: Mapping[str, object],
    asm: AsmDict,
    parameters: tuple[Parameter, ...],
    key: str,
    group: Mapping[str, str],
) -> CompiledKernel:
    kernel = CompiledKernel(source, fields, asm, parameters, key, backend.binary_stage, group)

    def disassemble(stage: str) -> Any:
        if stage == "source":
            return printed(source.make_module(kernel.target, backend.parse_options(kernel.target, {})))
        return backend.disassemble(stage, kernel.image())

    asm.disassemble = disassemble
    return kernel


class _Compile:
    """One compile that the cache did not have."""

    def __init__(
        self,
        source: Source,
        backend: Backend,
        target: Target,
        options: Options,
        key: str,
        manager: CacheManager,
        file_name: str,
    ) -> None:
        self.source = source
        self.backend = backend
        self.target = target
        self.options = options
        self.key = key
        self.manager = manager
        self.file_name = file_name
        self.compilation = Compilation(target, options, {"name": source.name})
        self.asm = AsmDict()
        self.binary: list[str] = []

    def run(self) -> CompiledKernel:
        if knobs.compilation.isolate:
            from tritonx.runtime.isolation.pool import pool

            pool().prepare()  # it comes up while the front end works
        start = time.perf_counter()
        value: Any = self.source.make_module(self.target, self.options)
        front_end = time.perf_counter() - start
        self.compilation.metadata["name"] = entry_symbol(value, self.source.name)
        stages = self._remaining_stages(value)
        times: dict[str, float] = {}
        for stage in stages:
            start = time.perf_counter()
            value = self._run_stage(stage, value)
            value = self._replaced(stage, value)
            text = printed(value) if isinstance(stage, PassStage) else value
            if isinstance(text, bytes):
                self.binary.append(stage.name)
            self.asm[stage.name] = text
            times[stage.name] = time.perf_counter() - start
        self._require_binary()
        start = time.perf_counter()
        fields, parameters, group = self._store()
        self.backend.prepare_launch()
        if knobs.compilation.listener is not None:
            knobs.compilation.listener(
                src=self.source,
                metadata=fields,
                metadata_group=group,
                times=CompileTimes(front_end, times, time.perf_counter() - start),
                cache_hit=False,
            )
        return _kernel(self.source, self.backend, fields, self.asm, parameters, self.key, group)

    def _remaining_stages(self, module: Any) -> tuple[Stage, ...]:
        """All stages; for a file those from its own level on, of which it needs what it says itself."""
        stages = self.backend.stages(self.target, self.options)
        if not isinstance(self.source, IRSource):
            return stages
        names = [s.name for s in stages]
        own = stages[names.index(self.source.ext)] if self.source.ext in names else None
        if not isinstance(own, PassStage):
            known = ", ".join(f".{s.name}" for s in stages if isinstance(s, PassStage))
            raise SourceError(
                f"{self.source.path}: {self.backend.name} cannot start from .{self.source.ext}; it starts from {known}"
            )
        return (own.remaining(module), *stages[names.index(self.source.ext) + 1 :])

    def _run_stage(self, stage: Stage, value: Any) -> Any:
        from tritonx.ir.pipeline import run_emit_stage, run_pass_stage

        if isinstance(stage, EmitStage):
            made: Any = run_emit_stage(stage, value, self.compilation)
            if not isinstance(made, str | bytes):
                raise BackendContractError(
                    f"stage {stage.name!r} of backend {self.backend.name!r} made a {type(made).__name__}, "
                    f"not text or bytes"
                )
            return made
        run_pass_stage(value, stage, self.compilation)
        return value

    def _replaced(self, stage: Stage, value: object) -> Any:
        """The stage's result, or what the user put in its place."""
        path: str | None = None
        if knobs.compilation.override:
            path = get_override_manager(self.source.hash()).get_file(f"{self.file_name}.{stage.name}")
        if self.options.ir_override and self.options.ir_override.endswith(f".{stage.name}"):
            path = self.options.ir_override
        if path is None:
            return value
        print(f"\nOverriding kernel with file {path}")
        self.compilation.origin = None
        with open(path, "rb") as file:
            content = file.read()
        if isinstance(stage, PassStage):
            from tritonx.ir.text import parse_module

            return parse_module(content.decode(), path)
        return content if isinstance(value, bytes) else content.decode()

    def _require_binary(self) -> None:
        if self.backend.binary_stage not in self.asm:
            raise BackendContractError(
                f"backend {self.backend.name!r} says that its last stage is {self.backend.binary_stage!r}, "
                f"but its stages are {', '.join(self.asm) or 'none'}"
            )

    def _metadata(self) -> dict[str, Any]:
        return {
            **common_fields(self.options, self.target),
            "triton_version": compiler_key()[:16],
            **self.compilation.metadata,
            "hash": self.key,
            "target": asdict(self.target),
            "stages": list(self.asm),
            "binary_stages": self.binary,
        }

    def _store(self) -> tuple[dict[str, Any], tuple[Parameter, ...], dict[str, str]]:
        metadata = self._metadata()
        metadata["parameters"] = [[p.name, p.type] for p in self.source.parameters()]
        try:
            text = json.dumps(metadata)
        except TypeError as error:
            raise BackendContractError(
                f"backend {self.backend.name!r} put something into the metadata that JSON cannot hold: {error}"
            ) from error
        fields, parameters = _fields_of(text)
        group: dict[str, str] = {}
        only_binary = knobs.compilation.store_binary_only
        for stage in self.asm:
            content = self.asm[stage]
            name = f"{self.file_name}.{stage}"
            if not only_binary or stage == self.backend.binary_stage:
                group[name] = self.manager.put(content, name, binary=isinstance(content, bytes))
            if knobs.compilation.dump_ir:
                get_dump_manager(self.source.hash()).put(content, name, binary=isinstance(content, bytes))
        metadata_name = f"{self.file_name}.json"
        group[metadata_name] = self.manager.put(text, metadata_name, binary=False)
        self.manager.put_group(metadata_name, group)
        return fields, parameters, group
