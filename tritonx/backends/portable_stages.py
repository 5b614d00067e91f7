"""The stages of a GPU backend that brings a machine and little else: ttir → ttgir → llir, and SPIR-V behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tritonx.analysis.shared_budget import largest_buffers
from tritonx.analysis.written import written_arguments
from tritonx.backends.api import Compilation, EmitStage, Stage
from tritonx.backends.portable_passes import layout_passes, memory_passes, tile_passes
from tritonx.conversion.gpu_options import gpu_options
from tritonx.conversion.gpu_to_llvm.function import Emit
from tritonx.conversion.gpu_to_llvm.machine import Machine
from tritonx.conversion.gpu_to_llvm.module import ModuleEmitter
from tritonx.conversion.gpu_to_llvm.table import TABLE
from tritonx.conversion.tile_to_gpu.pipeline import gpu_stage, tile_stage
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.runtime.errors import OutOfResources, TritonError
from tritonx.runtime.isolation.translate import translate

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class Insert:
    """A pass of a backend's own, and the class of the one in front of which it runs; None for the end of its stage.

    >>> from tritonx.backends.gpu import DeadCodeElimination, Fold, inserted
    >>> [one.name for one in inserted((DeadCodeElimination(),), [Insert(Fold(), before=DeadCodeElimination)])]
    ['fold', 'dce']
    """

    one: ModulePass
    before: type[ModulePass] | None = None


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

    layouts, memory = layout_passes(gpu), memory_passes(gpu)
    early = [i for i in on_layouts if any(type(one) is i.before for one in layouts)]
    return (
        tile_stage(inserted(tile_passes(), on_tiles)),
        gpu_stage(inserted(layouts, early), inserted(memory, [i for i in on_layouts if i not in early])),
        EmitStage("llir", emit),
        *behind,
    )


def inserted(passes: tuple[ModulePass, ...], new: Sequence[Insert]) -> tuple[ModulePass, ...]:
    """``passes`` with those of ``new``, each in front of the first of its class. Raises ``ValueError`` where there is
    none.

    >>> from tritonx.backends.gpu import DeadCodeElimination, Fold, Insert
    >>> [one.name for one in inserted((DeadCodeElimination(),), [Insert(Fold())])]
    ['dce', 'fold']
    """
    made = list(passes)
    for insert in new:
        found = [at for at, one in enumerate(made) if type(one) is insert.before]
        if insert.before is not None and not found:
            raise ValueError(f"{insert.one.name}: no {insert.before.__name__} to run in front of")
        made.insert(found[0] if found else len(made), insert.one)
    return tuple(made)


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
    name = compilation.metadata["name"] = kernel_name(text, machine.kernel_convention)
    compilation.metadata["written"] = written_arguments(module, name)
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
