"""llvmlite's binding of LLVM, as far as it is used here, with types: the package has none.

Whoever compiles asks ``binding()`` for it, so that LLVM is loaded when it is needed. This module imports nothing of
ours: helper processes come up with it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast


class Function(Protocol):
    """A function of a module, or a variable."""

    linkage: str

    @property
    def name(self) -> str: ...
    @property
    def is_declaration(self) -> bool: ...
    @property
    def global_value_type(self) -> object: ...


class Module(Protocol):
    """A module in memory; ``str`` gives its text."""

    triple: str
    data_layout: str

    @property
    def functions(self) -> Iterable[Function]: ...
    @property
    def global_variables(self) -> Iterable[Function]: ...
    def verify(self) -> None:
        """Raises ``RuntimeError``."""

    def link_in(self, other: Module) -> None: ...
    def clone(self) -> Module: ...


class TargetMachine(Protocol):
    """Writes code for one processor."""

    @property
    def target_data(self) -> object: ...
    def emit_assembly(self, module: Module) -> str: ...
    def emit_object(self, module: Module) -> bytes: ...


class Target(Protocol):
    """A processor's family."""

    def from_triple(self, triple: str) -> Target: ...
    def from_default_triple(self) -> Target: ...
    def create_target_machine(
        self,
        *,
        cpu: str = "",
        features: str = "",
        opt: int = 2,
        reloc: str = "",
        codemodel: str = "",
        jit: bool = False,
    ) -> TargetMachine: ...


class PipelineOptions(Protocol):
    """What the passes of a level do."""

    loop_vectorization: bool
    slp_vectorization: bool
    loop_interleaving: bool
    loop_unrolling: bool


class ModulePasses(Protocol):
    """Passes over a module."""

    def run(self, module: Module, builder: PassBuilder) -> None: ...
    def add_always_inliner_pass(self) -> None: ...
    def add_global_dead_code_eliminate_pass(self) -> None: ...


class FunctionPasses(Protocol):
    """Passes over a function."""

    def run(self, function: Function, builder: PassBuilder) -> None: ...


class PassBuilder(Protocol):
    """Makes the passes of a level for a machine; under llvmlite's names."""

    def getModulePassManager(self) -> ModulePasses: ...
    def getFunctionPassManager(self) -> FunctionPasses: ...


class Jit(Protocol):
    """What libraries are linked by."""


class Library(Protocol):
    """Code in this process: symbol → address."""

    def __getitem__(self, symbol: str, /) -> int: ...


class LibraryBuilder(Protocol):
    """Objects to link, and the symbols that they take and give."""

    def add_object_img(self, data: bytes) -> LibraryBuilder: ...
    def add_current_process(self) -> LibraryBuilder: ...
    def import_symbol(self, name: str, address: int) -> LibraryBuilder: ...
    def export_symbol(self, name: str) -> LibraryBuilder: ...
    def link(self, lljit: Jit, library_name: str) -> Library: ...


class Binding(Protocol):
    """``llvmlite.binding``."""

    Target: Target
    llvm_version_info: tuple[int, ...]

    def initialize_all_targets(self) -> None: ...
    def initialize_all_asmprinters(self) -> None: ...
    def initialize_native_target(self) -> None: ...
    def initialize_native_asmprinter(self) -> None: ...
    def set_option(self, name: str, option: str) -> None: ...
    def get_process_triple(self) -> str: ...
    def get_host_cpu_name(self) -> str: ...
    def get_host_cpu_features(self) -> Mapping[str, bool]: ...
    def parse_assembly(self, llvmir: str) -> Module:
        """Raises ``RuntimeError`` for text that does not parse."""
        ...

    def parse_bitcode(self, bitcode: bytes) -> Module: ...
    def create_pipeline_tuning_options(self, *, speed_level: int) -> PipelineOptions: ...
    def create_pass_builder(self, machine: TargetMachine, options: PipelineOptions) -> PassBuilder: ...
    def create_new_module_pass_manager(self) -> ModulePasses: ...
    def create_lljit_compiler(self, machine: TargetMachine, *, use_jit_link: bool = False) -> Jit: ...
    def JITLibraryBuilder(self) -> LibraryBuilder: ...


_REUSE_GUARD = "--enable-poison-reuse-guard=false"
"""Strength reduction of straight lines takes an index from one that is there by an addition. It does so without asking
whether that one might be poison where the new one is not: flags are only on what is proven not to wrap, by emitters or
by LLVM, so none is. Asking takes longer than all other passes together where a thread has a hundred rows, and refuses
every index that LLVM has made an ``or disjoint`` of, which is most of them."""


@cache
def binding() -> Binding:
    """``llvmlite.binding``, imported when it is first asked for; its options are those of the process."""
    import llvmlite.binding as found

    made = cast(Binding, found)
    made.set_option("", _REUSE_GUARD)
    return made


@dataclass(frozen=True)
class Limit:
    """How far a pass looks: what is given for it, and LLVM's own."""

    option: str
    given: int
    default: int


_RUNNING = threading.Lock()


def run_passes(passes: ModulePasses, module: Module, builder: PassBuilder, limits: Sequence[Limit] = ()) -> None:
    """Run a module's passes with limits of their own.

    LLVM's options are the process's, where others may use LLVM as well, and other targets of ours: so LLVM's own limits
    hold again behind the passes. What another thread's passes find in between changes how much they find to improve,
    not what their program does; ours wait for each other, so that code never depends on what else is compiled."""
    with _RUNNING:
        try:
            for limit in limits:
                binding().set_option("", f"{limit.option}={limit.given}")
            passes.run(module, builder)
        finally:
            for limit in limits:
                binding().set_option("", f"{limit.option}={limit.default}")
