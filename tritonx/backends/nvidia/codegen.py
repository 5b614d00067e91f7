"""LLVM text to PTX, through llvmlite.

Imports neither xDSL nor an emitter: a helper process comes up with this."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tritonx.backends.nvidia.libdevice import device_library, library_excerpt
from tritonx.backends.nvidia.targets import PTX_VERSION
from tritonx.conversion import linked_libraries
from tritonx.conversion.llvm_binding import Limit, Module, TargetMachine, binding, run_passes

llvm = binding()

TRIPLE = "nvptx64-nvidia-cuda"

# Shared-memory addresses in 32 bits: one register an address instead of two. The layout string must say so too.
_SHORT_POINTERS = "--nvptx-short-ptr"

_LIMITS = (Limit("-dse-memoryssa-walklimit", 4, 90),)
"""How many stores back LLVM looks for one that is overwritten. Of a thread that writes 128 elements one by one it asks
for each whether 90 others go to the same place, which takes a third of all its passes; kernels seldom do."""


@lru_cache(maxsize=1)
def _initialise() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.set_option("", _SHORT_POINTERS)


@lru_cache(maxsize=16)
def target_machine(processor: str) -> TargetMachine:
    """LLVM's target machine for ``sm_90a`` and the like; made once."""
    _initialise()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=processor, features=f"+ptx{PTX_VERSION}", opt=3)


@lru_cache(maxsize=16)
def data_layout(processor: str) -> str:
    return str(target_machine(processor).target_data)


def to_ptx(
    text: str,
    processor: str,
    library: str = "",
    *,
    linked: Sequence[str] = (),
    fuse: bool = True,
    verify: bool = False,
) -> dict[str, str | bytes]:
    """Optimise a module and write its PTX, as ``ptx``. It is linked with the files ``linked``, which a user names, and
    with the functions that it or these call of the bitcode file ``library``, libdevice, where one is given. ``fuse``:
    libdevice's products and sums may become fused multiply-adds.

    LLVM ends the process on malformed text: what is not wholly written by our emitters comes here through
    ``tritonx.runtime.isolation``, with ``verify`` on, which raises ``RuntimeError`` for what LLVM's verifier finds.
    """
    machine = target_machine(processor)
    module = llvm.parse_assembly(text)
    if verify:
        module.verify()
    if linked:
        linked_libraries.link(module, [*map(linked_libraries.parsed, linked)], TRIPLE, data_layout(processor))
        text = str(module)
        if verify:
            module.verify()
    if library and device_library.PREFIX in text:
        library_excerpt.link(module, text, library, TRIPLE, data_layout(processor), fuse=fuse)
    _optimise(module, machine)
    return {"ptx": machine.emit_assembly(module)}


def _optimise(module: Module, machine: TargetMachine) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    run_passes(builder.getModulePassManager(), module, builder, _LIMITS)


def kernel_name(ptx: str) -> str:
    """The entry symbol of a PTX module. Raises ``PassFailure`` where no function is a kernel."""
    found = re.search(r"\.visible \.entry (\w+)", ptx)
    if found is None:
        from tritonx.ir.failure import PassFailure

        raise PassFailure("ptx", "the module has no kernel: none of its functions is public", what="stage")
    return found.group(1)
