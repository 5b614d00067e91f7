"""LLVM text to a relocatable object, through llvmlite.

The optimisation pipeline runs without LLVM's vectorisers: the text is vectorised already, and they would only spend
time on its scalar remainders. Everything happens in this process; the text comes from `conversion/tile_to_loops`, whose
constructs are tested one by one, since LLVM ends the process on input that it cannot handle.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from tritonx.backends.cpu.binding import binding
from tritonx.conversion.tile_to_loops.isa import HostIsa

_LOCK = threading.Lock()


@cache
def _initialise() -> None:
    llvm = binding()

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def target_machine(isa: HostIsa) -> Any:
    """A machine that writes position-independent-enough code for the JIT linker."""
    llvm = binding()

    _initialise()
    target = llvm.Target.from_triple(isa.triple)
    return target.create_target_machine(
        cpu=isa.cpu, features=isa.features, opt=2, reloc="pic", codemodel="small", jit=True
    )


@cache
def _machine(isa: HostIsa) -> Any:
    return target_machine(isa)


@cache
def data_layout(isa: HostIsa) -> str:
    """The `target datalayout` that modules for this machine must carry."""
    return str(_machine(isa).target_data)


def compile_object(text: str, isa: HostIsa) -> bytes:
    """Optimise and assemble. Raises ``RuntimeError`` for text that does not parse."""
    llvm = binding()

    with _LOCK:
        machine = _machine(isa)
        module = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = False
        options.slp_vectorization = False
        options.loop_interleaving = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)


def optimised_text(text: str, isa: HostIsa) -> str:
    """The module after optimisation, for reading."""
    llvm = binding()

    with _LOCK:
        module = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = False
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(_machine(isa), options)
        builder.getModulePassManager().run(module, builder)
        return str(module)


def assembly(text: str, isa: HostIsa) -> str:
    """The machine code as text, for reading."""
    llvm = binding()

    optimised = optimised_text(text, isa)
    with _LOCK:
        return _machine(isa).emit_assembly(llvm.parse_assembly(optimised))
