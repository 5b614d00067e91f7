"""LLVM text to a relocatable object, through llvmlite.

The text comes from `conversion/tile_to_loops`, whose constructs are tested one by one, since LLVM ends the process on
input that it cannot handle; other text is compiled in a helper process (`tritonx.runtime.isolation`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from tritonx.conversion.llvm_binding import Module, TargetMachine, binding
from tritonx.conversion.tile_to_loops.entry import PROGRAM
from tritonx.conversion.tile_to_loops.isa import HostIsa

_LOCK = threading.Lock()


@cache
def _initialise() -> None:
    llvm = binding()

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def target_machine(isa: HostIsa) -> TargetMachine:
    """A machine that writes position-independent-enough code for the JIT linker."""
    llvm = binding()

    _initialise()
    target = llvm.Target.from_triple(isa.triple)
    return target.create_target_machine(
        cpu=isa.cpu, features=isa.features, opt=2, reloc="pic", codemodel="small", jit=True
    )


@cache
def _machine(isa: HostIsa) -> TargetMachine:
    return target_machine(isa)


@cache
def data_layout(isa: HostIsa) -> str:
    """The `target datalayout` that modules for this machine must carry."""
    return str(_machine(isa).target_data)


def _optimise(module: Module, machine: TargetMachine) -> None:
    """Inline the vector functions, then simplify the kernel's program once, as O1 does.

    A whole O2 pipeline takes two to four times as long (of a compile of 0.1 s, half) and gains nothing measurable: the
    text is vectorised and unrolled where it matters, and the rest of the module runs once a launch or once a program.
    """
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_interleaving = False
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    inline = llvm.create_new_module_pass_manager()
    inline.add_always_inliner_pass()
    inline.add_global_dead_code_eliminate_pass()
    inline.run(module, builder)
    defined = [f for f in module.functions if not f.is_declaration]
    simplify = builder.getFunctionPassManager()
    for function in [f for f in defined if f.name == PROGRAM] or defined:
        simplify.run(function, builder)


def compile_object(text: str, isa: HostIsa) -> bytes:
    """Optimise and assemble. Raises ``RuntimeError`` for text that does not parse."""
    made = object_of(text, asdict(isa))["obj"]
    assert isinstance(made, bytes)
    return made


def object_of(text: str, isa: Mapping[str, Any], *, verify: bool = False) -> dict[str, str | bytes]:
    """The relocatable object of a module, as ``obj``; ``isa`` are the fields of a ``HostIsa``. With ``verify`` what
    LLVM's verifier finds is a ``RuntimeError``."""
    machine = _machine(HostIsa(**isa))
    with _LOCK:
        module = binding().parse_assembly(text)
        if verify:
            module.verify()
        _optimise(module, machine)
        return {"obj": machine.emit_object(module)}


def embedded_assembly(text: str, isa: HostIsa, name: str) -> str:
    """The machine code as text for a C source: what C calls is ``NAME_tx_run`` and so on, what Python calls is left
    out, and labels are of this kernel alone."""
    kept = {f"{name}_tx_{each}" for each in EMBEDDED}
    with _LOCK:
        module = binding().parse_assembly(re.sub(r"@tx\.", f"@{name}_tx_", text))
        for value in (*module.functions, *module.global_variables):
            if not value.is_declaration and value.name not in kept:
                value.linkage = "internal"
        _optimise(module, _machine(isa))
        made = _machine(isa).emit_assembly(module)
    return re.sub(r"(?<![\w.$])\.L(?=\w)", f".L{name}_", made)


EMBEDDED = ("run", "threads", "parallel", "record")
"""What of a kernel's module a C source names."""


def assembly(text: str, isa: HostIsa) -> str:
    """The machine code as text, for reading."""
    with _LOCK:
        module = binding().parse_assembly(text)
        _optimise(module, _machine(isa))
        return _machine(isa).emit_assembly(module)
