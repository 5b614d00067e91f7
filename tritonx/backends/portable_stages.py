"""The stages of a GPU backend that brings a machine and little else: ttir → ttgir → llir, and SPIR-V behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.analysis.shared_budget import largest_buffers
from tritonx.backends.api import Compilation, EmitStage, Stage
from tritonx.backends.gpu_passes import gpu_stages
from tritonx.conversion.gpu_options import gpu_options
from tritonx.conversion.gpu_to_llvm.function import Emit
from tritonx.conversion.gpu_to_llvm.machine import Machine
from tritonx.conversion.gpu_to_llvm.module import ModuleEmitter
from tritonx.conversion.gpu_to_llvm.table import TABLE
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.runtime.errors import OutOfResources, TritonError
from tritonx.runtime.isolation.translate import translate
from tritonx.transforms.pass_list import Insert

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def portable_stages(
    gpu: GpuTarget,
    machine: Machine,
    *behind: Stage,
    on_tiles: Sequence[Insert] = (),
    on_layouts: Sequence[Insert] = (),
    table: Mapping[type[Operation], Emit] | None = None,
) -> tuple[Stage, ...]:
    """`ttir`, `ttgir` and `llir` with the passes that any GPU needs, and ``behind`` them what makes code. ``on_tiles``
    and ``on_layouts`` are inserted, emitters of ``table`` replace the shared ones."""

    def emit(module: ModuleOp, compilation: Compilation) -> str:
        return emit_llvm(module, compilation, machine, {**TABLE, **(table or {})}, gpu.shared_memory)

    return (
        *gpu_stages(gpu, on_tiles, on_layouts),
        EmitStage("llir", emit),
        *behind,
    )


def emit_llvm(
    module: ModuleOp,
    compilation: Compilation,
    machine: Machine,
    table: Mapping[type[Operation], Emit],
    shared_memory: int,
) -> str:
    """One thread's program as LLVM text; fills in what a launch must know. Raises ``OutOfResources`` where a block has
    not ``shared_memory`` bytes enough."""
    emitter = ModuleEmitter(module, machine, gpu_options(compilation), table)
    text = emitter.emit()
    compilation.origin = emitter.origin()
    if emitter.shared_bytes > shared_memory:
        raise OutOfResources(emitter.shared_bytes, shared_memory, "shared memory", largest_buffers(module))
    compilation.metadata.update(emitter.launch_metadata())
    compilation.metadata["name"] = kernel_name(text, machine.kernel_convention)
    return text


def kernel_name(text: str, convention: str) -> str:
    """The symbol of the kernel in LLVM text. Raises ``CannotTranslate`` where there is none."""
    found = re.search(rf"define {convention} void @([\w.$-]+)", text)
    if found is None:
        raise CannotTranslate("the module has no kernel")
    return found.group(1)


class CannotTranslate(TritonError):
    """The module has something that the compiler behind it cannot take.

    >>> issubclass(CannotTranslate, tritonx.TritonError)
    True
    """


def spirv_stage(
    name: str, triple: str, *, extensions: str = "", vector: int = 16, guard_shared: bool = False
) -> EmitStage:
    """LLVM text to SPIR-V for the ``triple``, with ``extensions`` (``+SPV_…``) and vectors of at most ``vector``
    elements; the machine's ``legal`` is then `spirv_legal`. With ``guard_shared`` no access leaves a block's shared
    memory.

    >>> spirv_stage("spv", "spirv64-unknown-unknown").name
    'spv'
    """

    def emit(text: str, compilation: Compilation) -> bytes:
        compilation.metadata.setdefault("name", kernel_name(text, "spir_kernel"))
        made = translate(
            name,
            "tritonx.conversion.spirv.write:module_of",
            text,
            compilation,
            apart=True,
            triple=triple,
            extensions=extensions,
            vector=vector,
            guard_shared=guard_shared,
        )
        if cannot := made.get("cannot"):
            raise CannotTranslate(cannot)
        binary = made["spv"]
        assert isinstance(binary, bytes)
        return binary

    return EmitStage(name, emit, kind="binary")
