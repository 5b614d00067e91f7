"""LLVM text to AMDGCN assembly and to an object, through llvmlite.

Imports neither xDSL nor an emitter: a helper process comes up with this."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tritonx.backends.amd import device_library
from tritonx.conversion import linked_libraries
from tritonx.conversion.llvm_binding import Module, TargetMachine, binding, run_passes

llvm = binding()

TRIPLE = "amdgcn-amd-amdhsa"


@lru_cache(maxsize=1)
def _initialise() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@lru_cache(maxsize=16)
def target_machine(processor: str, wave: int) -> TargetMachine:
    """LLVM's target machine for a processor in waves of 32 or 64 lanes; made once."""
    _initialise()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=processor, features=features(processor, wave), opt=3, reloc="pic")


def features(processor: str, wave: int) -> str:
    """LLVM's subtarget features.

    Halves of registers are not allocated on their own (``real-true16``, on by default for gfx11): LLVM 22's DPP
    combiner folds a lane permutation into the arithmetic that reads it and drops its other use as half of a register,
    so that a flip of 256 int16 in one wave stores elements of the wrong register. Triton turns it off on gfx11 too."""
    return f"+wavefrontsize{wave},-real-true16" if processor.startswith("gfx1") else ""


@lru_cache(maxsize=16)
def data_layout(processor: str, wave: int) -> str:
    return str(target_machine(processor, wave).target_data)


def compile_text(
    text: str, processor: str, wave: int, libraries: Sequence[str] = (), *, verify: bool = False
) -> dict[str, str | bytes]:
    """Optimise a module, linked with the bitcode files ``libraries``: its assembly as ``amdgcn`` and its relocatable
    object as ``object``.

    LLVM ends the process on malformed text: what is not wholly written by our emitters comes here through
    ``tritonx.runtime.isolation``, with ``verify`` on, which raises ``RuntimeError`` for what LLVM's verifier finds."""
    module = optimised(text, processor, wave, libraries, verify=verify)
    written = assembly(module.clone(), processor, wave)
    return {"amdgcn": written, "object": object_code(module, processor, wave)}


def optimised(text: str, processor: str, wave: int, libraries: Sequence[str] = (), *, verify: bool = False) -> Module:
    """The parsed and optimised module, linked with the libraries."""
    machine = target_machine(processor, wave)
    module = llvm.parse_assembly(text)
    if verify:
        module.verify()
    if libraries:
        link_libraries(module, libraries, processor, wave, flush="preserve-sign" in text)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    run_passes(builder.getModulePassManager(), module, builder)
    if libraries and (missing := linked_libraries.declared(str(module))):
        raise RuntimeError(f"no library of extern_libs defines the function {min(missing)!r}")
    return module


def link_libraries(module: Module, paths: Sequence[str], processor: str, wave: int, *, flush: bool) -> None:
    """Put the libraries' functions into the module, as its own; the unused ones go in optimising."""
    controls = llvm.parse_assembly(device_library.controls(isa_version(processor), wave, flush=flush))
    libraries = [*map(linked_libraries.parsed, paths), controls]
    linked_libraries.link(module, libraries, TRIPLE, data_layout(processor, wave))


def isa_version(processor: str) -> int:
    """9402 for gfx942, 9010 for gfx90a, 11000 for gfx1100: what device libraries call the instruction set."""
    digits = processor.removeprefix("gfx")
    return int(digits[:-2]) * 1000 + int(digits[-2], 16) * 100 + int(digits[-1], 16)


def assembly(module: Module, processor: str, wave: int) -> str:
    return target_machine(processor, wave).emit_assembly(module)


def object_code(module: Module, processor: str, wave: int) -> bytes:
    return target_machine(processor, wave).emit_object(module)
