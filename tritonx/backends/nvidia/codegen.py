"""LLVM text to PTX, in process through llvmlite."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import llvmlite.binding as _llvmlite

from tritonx.backends.nvidia import device_library
from tritonx.backends.nvidia.targets import PTX_VERSION, Capability

llvm: Any = _llvmlite  # the package has no types

TRIPLE = "nvptx64-nvidia-cuda"

# Shared-memory addresses in 32 bits: one register an address instead of two. The layout string must say so too.
_SHORT_POINTERS = "--nvptx-short-ptr"


@lru_cache(maxsize=1)
def _initialise() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.set_option("", _SHORT_POINTERS)


@lru_cache(maxsize=16)
def target_machine(processor: str) -> Any:
    """LLVM's target machine for ``sm_90a`` and the like; made once."""
    _initialise()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=processor, features=f"+ptx{PTX_VERSION}", opt=3)


@lru_cache(maxsize=16)
def data_layout(processor: str) -> str:
    return str(target_machine(processor).target_data)


def to_ptx(text: str, capability: Capability, *, optimise: bool = True) -> str:
    """Optimise a module, linked with libdevice where it calls it, and write its PTX.

    LLVM ends the process on malformed text, so what comes here has been written by the tested emitters only.
    """
    machine = target_machine(capability.processor)
    module = llvm.parse_assembly(text)
    if device_library.PREFIX in text:
        library = llvm.parse_bitcode(device_library.bitcode())
        library.triple = TRIPLE
        library.data_layout = data_layout(capability.processor)
        kernels = {f.name for f in module.functions if not f.is_declaration}
        module.link_in(library)
        for function in module.functions:
            if not function.is_declaration and function.name not in kernels:
                function.linkage = "internal"
    if optimise:
        _optimise(module, machine)
    return machine.emit_assembly(module)


def _optimise(module: Any, machine: Any) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def kernel_name(ptx: str) -> str:
    """The entry symbol of a PTX module."""
    found = re.search(r"\.visible \.entry (\w+)", ptx)
    if found is None:
        raise ValueError("the PTX has no entry")
    return found.group(1)
