"""``compile``: from a source to a compiled kernel, through the cache on disk.

A hit reads two files and imports neither xDSL nor LLVM. A miss asks the front end for the module, runs the backend's
stages in order and stores each stage's result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import tritonx.backends.registry as registry
from tritonx.backends.api import Backend, Compilation, Options, Parameter, PassStage, Stage, Target
from tritonx.runtime import driver, knobs
from tritonx.runtime.cache import CacheManager, get_cache_manager, get_dump_manager, get_override_manager, triton_key
from tritonx.runtime.compiling import sealed
from tritonx.runtime.compiling.asm_dict import AsmDict, StoredFile
from tritonx.runtime.compiling.collection import without_collection
from tritonx.runtime.compiling.compile_job import CompileJob, Made, begun, job_of, kept, run_stages
from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
from tritonx.runtime.compiling.kernel_metadata import common_fields, make_metadata
from tritonx.runtime.compiling.keys import compile_key, compiler_key
from tritonx.runtime.compiling.same_code import SameCode, same_code, stages_behind_text
from tritonx.runtime.compiling.sealed_files import SealedFolder, SealedMember
from tritonx.runtime.compiling.sources import (
    ASTSource,
    IRSource,
    Source,
    SourceError,
    files_of,
    placed,
    printed,
    source_of,
)
from tritonx.runtime.compiling.targets import target_named
from tritonx.runtime.devices.drivers import find_backend
from tritonx.runtime.errors import BackendContractError
from tritonx.runtime.launch.descriptor_parameters import FlatParameters, is_descriptor
from tritonx.runtime.launch.launch_hooks import LazyDict
from tritonx.runtime.settings.knob_types import CompileTimes

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
FILE_NAME_LIMIT = 150


def _times(front_end: float, stages: Mapping[str, float], store: float) -> CompileTimes:
    """What the listener hears, from seconds."""
    whole = [(name, round(seconds * 1e6)) for name, seconds in stages.items()]
    return CompileTimes(round(front_end * 1e6), whole, round(store * 1e6))


def _resolve_target(target: Target | str | None) -> Target:
    if target is None:
        return driver.get_active().get_current_target()
    if isinstance(target, str):
        return registry.parse_target(target)[1]
    return target


def _resolve_options(backend: Backend, target: Target, given: Any, source: Source) -> Options:
    if isinstance(given, Options):
        if not isinstance(given, backend.options_type):
            raise TypeError(f"{target} takes {backend.options_type.__name__}, not {type(given).__name__}")
        return given
    options: Mapping[str, Any] = given or {}
    return registry.parse_options(backend, target, {**source.parse_options(), **options})


def compile(
    src: object, target: Target | str | None = None, options: Mapping[str, Any] | Options | None = None
) -> CompiledKernel:
    """Compile an ASTSource, an IRSource or the file of a path for ``target`` (the active device's).

    Touches no device when ``target`` is given. Raises the front end's CompilationError, PassFailure, KeyError for an
    option that the backend does not know, NoBackend, SourceError.

    >>> source = tritonx.compiler.ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 8})
    >>> sorted(tritonx.compile(source, target="cuda:90").asm)[-2:]
    ['ttgir', 'ttir']
    """
    begun = begin(src, target, options)
    return begun if isinstance(begun, CompiledKernel) else begun.here()


CompiledKernel.compile_source = compile


def _tells(name: str) -> bool:
    """Whether a setting asks for what only a compile prints of the kernel."""
    if not any(map(knobs.getenv, ("TRITON_EXPLAIN", "MLIR_ENABLE_DIAGNOSTICS", "MLIR_ENABLE_DUMP"))):
        return False
    from tritonx.ir.explain import is_anything_asked
    from tritonx.ir.pipeline import is_dumped

    return is_anything_asked() or is_dumped(name)


def begin(
    src: object, target: Target | str | None = None, options: Mapping[str, Any] | Options | None = None
) -> CompiledKernel | Compile:
    """As ``compile``, but a compile that the cache does not have is only prepared: the caller decides where it runs."""
    start = time.perf_counter()
    source = source_of(src)
    wanted = _resolve_target(target)
    backend = find_backend(wanted.backend)
    if not isinstance(options, Options):
        wanted = target_named(backend, wanted, options or {})
    resolved = _resolve_options(backend, wanted, options, source)
    file_name = source.name.removeprefix("@")[:FILE_NAME_LIMIT]
    settings = knobs.compilation
    missing = Compile(source, backend, wanted, resolved, source.hash(), file_name)
    is_sealed = settings.sealed is not None
    if not is_sealed and (settings.always_compile or settings.override or resolved.ir_override or _tells(file_name)):
        missing.shares = False
        return missing
    found = missing.kept()
    if found is not None and found.metadata.source_files not in ((), files_of(source)):
        # The code names the files of a copy of this source: this one has an entry of its own.
        missing = Compile(source, backend, wanted, resolved, placed(source), file_name)
        found = missing.kept()
    if found is None:
        if is_sealed:
            raise sealed.refusal(source, wanted, resolved, missing.key)
        return missing
    if not is_sealed:
        missing.taken(found)
    if settings.listener is not None:
        settings.listener(
            src=source,
            metadata=found.metadata._asdict(),
            metadata_group=found.metadata_group,
            times=_times(time.perf_counter() - start, {}, 0),
            cache_hit=True,
        )
    return found


def _tuples(value: Any) -> Any:
    """What JSON made lists, as tuples again."""
    if isinstance(value, list):
        if _NESTED.isdisjoint(map(type, value)):  # pyright: ignore[reportUnknownArgumentType]  # what JSON holds
            return tuple(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # what JSON holds
        return tuple([_tuples(v) if type(v) in _NESTED else v for v in value])  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # what JSON holds
    if isinstance(value, dict):
        return {k: _tuples(v) if type(v) in _NESTED else v for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # what JSON holds
    return value


_NESTED = frozenset({list, dict})


def fields_of(stored: dict[str, Any]) -> tuple[dict[str, Any], tuple[Parameter, ...]]:
    """A kernel's metadata and parameters, of what the text holds that its entry in the cache has. Raises for what is
    another."""
    parameters = tuple([Parameter(*p) for p in stored["parameters"]])
    target = Target(**stored["target"])
    others = {name: value for name, value in stored.items() if name not in ("parameters", "target")}
    return {**_tuples(others), "target": target}, parameters


def _check(fields: Mapping[str, object], key: str) -> None:
    """Raises ``ValueError`` unless these are the metadata of the entry ``key``, of this version of the compiler."""
    if fields["hash"] != key or fields["triton_version"] != compiler_key()[:16]:
        raise ValueError("the metadata of another entry")
    for names, kind in ((("name",), str), (_NUMBERS, int), (_NAMES, tuple)):
        for name in names:
            if not isinstance(fields[name], kind):
                raise ValueError(f"{name} is {fields[name]!r}")


_NUMBERS = ("num_warps", "num_ctas", "shared", "warp_size", "global_scratch_size", "global_scratch_align")
"""What every kernel's metadata say and launching reads."""

_NAMES = ("stages", "binary_stages", "source_files")


@dataclass(frozen=True)
class _Stored:
    """What is stored of a kernel: the paths of its files, its metadata, and of a sealed one the files."""

    paths: Mapping[str, str]
    metadata: dict[str, object]
    sealed: SealedMember | None = None

    def stage(self, name: str, binary: bool, code: str) -> StoredFile | str | bytes:
        if self.sealed is None:
            return StoredFile(self.paths[name], binary)
        if name != code:
            return StoredFile(self.paths[name], binary, self.sealed.file(name).content)
        return self.sealed.code if binary else self.sealed.code.decode()


def _stored(manager: CacheManager, metadata: str, code: str) -> _Stored | None:
    """What the files named ``metadata`` and ``code`` and those that were stored with them hold; None where they are
    not there. Raises OSError, ValueError."""
    if isinstance(manager, SealedFolder):
        member = manager.member(metadata, code)
        if member is None:
            return None
        return _Stored(member.paths, member.metadata, member)
    group = manager.get_group(metadata)
    if not group or metadata not in group:
        return None
    with open(group[metadata], "rb") as file:
        return _Stored(group, json.loads(file.read()))


def _from_cache(
    manager: CacheManager, file_name: str, source: Source, key: str, backend: Backend
) -> CompiledKernel | None:
    try:
        code = f"{file_name}.{backend.binary_stage}"
        found = _stored(manager, f"{file_name}.json", code)
        if found is None:
            return None
        fields, parameters = fields_of(found.metadata)
        stages: tuple[str, ...] = fields["stages"]
        binary = set(fields["binary_stages"])
        group = found.paths
        asm = AsmDict(
            {s: found.stage(f"{file_name}.{s}", s in binary, code) for s in stages if f"{file_name}.{s}" in group}
        )
        _check(fields, key)
        kernel = _kernel(source, backend, fields, asm, parameters, key, group)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):  # a foreign file under our key
        return None
    return kernel if backend.binary_stage in asm else None


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
        if stage in backend.libraries:
            return backend.library(stage, kernel.image())
        return backend.disassemble(stage, kernel.image())

    asm.disassemble, asm.libraries = disassemble, backend.libraries
    return kernel


def _enters_later(source: Source) -> bool:
    """Whether it makes a module for another stage than the first: a file, and a kernel of Gluon."""
    return isinstance(source, IRSource) or type(source).ext != ASTSource.ext


class Compile:
    """One compile that the cache did not have."""

    def __init__(
        self,
        source: Source,
        backend: Backend,
        target: Target,
        options: Options,
        digest: str,
        file_name: str,
    ) -> None:
        """``digest`` is of the source, with or without its location."""
        self.source = source
        self.backend = backend
        self.target = target
        self.options = options
        self.digest = digest
        folders = sealed.folders()
        for folder in folders:
            sealed.record_compiler(folder)
        self.key = compile_key(digest, backend, target, options)
        self.manager = sealed.sealed_files(self.key, folders) or get_cache_manager(self.key)
        self.file_name = file_name
        self.front_end = 0.0
        """Seconds."""
        self.shares = True
        """Whether code that another compile made of the same text will do."""

    def kept(self) -> CompiledKernel | None:
        """What the cache has of it."""
        return _from_cache(self.manager, self.file_name, self.source, self.key, self.backend)

    def here(self) -> CompiledKernel:
        """In this process, with Python's collector at rest."""
        with without_collection():
            return self.run()

    def run(self) -> CompiledKernel:
        if knobs.compilation.isolate:
            from tritonx.runtime.isolation.pool import pool

            pool().prepare()  # it comes up while the front end works
        module: Any = self._module()
        compilation = begun(module, self.source.name.removeprefix("@"), self.target, self.options)

        def replaced(stage: Stage, value: Any) -> Any:
            return self._replaced(stage, value, compilation)

        made = Made(metadata=compilation.metadata)
        stages = self._remaining_stages(module)
        behind = stages_behind_text(stages)
        same: SameCode | None = None
        results = run_stages(module, stages, compilation, self.backend, replaced)
        for stage, value in kept(made, results, time.perf_counter()):
            if behind and stage is stages[-len(behind) - 1]:
                same = same_code(self.file_name, stage, value, compilation, self.backend, behind)
                if same is not None and self.shares and same.find(made):
                    return self.taken(self.finish(made))
        kernel = self.finish(made)
        if same is not None:
            same.keep(made, self.key)
        return kernel

    def taken(self, found: CompiledKernel) -> CompiledKernel:
        """``found``, whose code comes from the cache; should that be of no use, all stages make it."""
        self.shares = False
        found.replaceable(self.run)
        return found

    def job(self) -> CompileJob | None:
        """What a worker can do of it, with the front end's work done here; None where the user puts stages of their own
        in, or the module is read from a file. Raises the front end's errors."""
        if _enters_later(self.source) or knobs.compilation.override or self.options.ir_override:
            return None
        with without_collection():
            return job_of(self.source.name, self._module(), self.target, self.options, self.digest, self.key)

    def _module(self) -> Any:
        """What the front end makes; how long it took is for the listener."""
        start = time.perf_counter()
        module = self.source.make_module(self.target, self.options)
        self.front_end = time.perf_counter() - start
        return module

    def finish(self, made: Made) -> CompiledKernel:
        """The kernel of what the stages made, here or in a worker; stored."""
        self._require_binary(made)
        start = time.perf_counter()
        fields, parameters, group = self._store(made)
        self.backend.prepare_launch()
        if knobs.compilation.listener is not None:
            knobs.compilation.listener(
                src=self.source,
                metadata=fields,
                metadata_group=group,
                times=_times(self.front_end, made.seconds, time.perf_counter() - start),
                cache_hit=False,
            )
        return _kernel(self.source, self.backend, fields, AsmDict(made.asm), parameters, self.key, group)

    def _remaining_stages(self, module: Any) -> tuple[Stage, ...]:
        """All stages; for a file, and what is not written in the tile language, those from its own level on, of which
        it needs what it says itself."""
        stages, source = self.backend.stages(self.target, self.options), self.source
        if not _enters_later(source):
            return stages
        names = [s.name for s in stages]
        own = stages[names.index(source.ext)] if source.ext in names else None
        if not isinstance(own, PassStage):
            known = ", ".join(f".{s.name}" for s in stages if isinstance(s, PassStage))
            which = source.path if isinstance(source, IRSource) else source.name
            raise SourceError(f"{which}: {self.backend.name} cannot start from .{source.ext}; it starts from {known}")
        first = PassStage(own.name, (*source.passes(), *own.remaining(module).passes))
        return (first, *stages[names.index(source.ext) + 1 :])

    def _replaced(self, stage: Stage, value: object, compilation: Compilation) -> Any:
        """The stage's result, or what the user put in its place."""
        path: str | None = None
        if knobs.compilation.override:
            path = get_override_manager(self.source.hash()).get_file(f"{self.file_name}.{stage.name}")
        if self.options.ir_override and self.options.ir_override.endswith(f".{stage.name}"):
            path = self.options.ir_override
        if path is None:
            return value
        print(f"\nOverriding kernel with file {path}")
        compilation.origin = None
        compilation.metadata["replaced"] = stage.name
        with open(path, "rb") as file:
            content = file.read()
        if isinstance(stage, PassStage):
            from tritonx.ir.text import parse_module

            return parse_module(content.decode(), path)
        return content if isinstance(value, bytes) else content.decode()

    def _require_binary(self, made: Made) -> None:
        if self.backend.binary_stage not in made.asm:
            raise BackendContractError(
                f"backend {self.backend.name!r} says that its last stage is {self.backend.binary_stage!r}, "
                f"but its stages are {', '.join(made.asm) or 'none'}"
            )

    def _names_files(self, made: Made) -> bool:
        """Whether the code says in which files its source is, as messages of assertions do. The first stage still
        has those as ops."""
        first = next(iter(made.asm.values()))
        return self.options.names_files or (isinstance(first, str) and "tt.assert" in first)

    def _written(self, made: Made) -> tuple[int, ...]:
        """The parameters of the source that the kernel may store through. The front end passes a descriptor's extents
        and strides behind it."""
        arguments = cast("Sequence[int]", made.metadata["written"])
        parameters = self.source.parameters()
        return FlatParameters(parameters, tuple(is_descriptor(p) or None for p in parameters)).owners(arguments)

    def _metadata(self, made: Made) -> dict[str, Any]:
        return {
            **common_fields(self.options, self.target),
            "triton_version": compiler_key()[:16],
            **made.metadata,
            "written": self._written(made),
            "hash": self.key,
            "source_files": files_of(self.source) if self._names_files(made) else (),
            "target": asdict(self.target),
            "stages": list(made.asm),
            "binary_stages": made.binary,
        }

    def _store(self, made: Made) -> tuple[dict[str, Any], tuple[Parameter, ...], dict[str, str]]:
        metadata = self._metadata(made)
        metadata["parameters"] = [[p.name, p.type] for p in self.source.parameters()]
        try:
            text = json.dumps(metadata)
        except TypeError as error:
            raise BackendContractError(
                f"backend {self.backend.name!r} put something into the metadata that JSON cannot hold: {error}"
            ) from error
        fields, parameters = fields_of(json.loads(text))
        group: dict[str, str] = {}
        only_binary = knobs.compilation.store_binary_only
        for stage, content in made.asm.items():
            name = f"{self.file_name}.{stage}"
            if not only_binary or stage == self.backend.binary_stage:
                group[name] = self.manager.put(content, name, binary=isinstance(content, bytes))
            if knobs.compilation.dump_ir:
                get_dump_manager(self.source.hash()).put(content, name, binary=isinstance(content, bytes))
        metadata_name = f"{self.file_name}.json"
        group[metadata_name] = self.manager.put(text, metadata_name, binary=False)
        self.manager.put_group(metadata_name, group)
        return fields, parameters, group
