"""``tl.extra.cuda``: what only NVIDIA targets have. Inline PTX; the ISA sections are named beside each."""

from __future__ import annotations

from typing import Any

from tritonx.language import core
from tritonx.language.extra import libdevice
from tritonx.language.values.constexpr import constexpr

Semantics = Any
"""Of the code generator, or the interpreter, that calls a builtin: a backend does not see the front end."""

__all__ = [
    "convert_custom_float8_sm70",
    "convert_custom_float8_sm80",
    "gdc_launch_dependents",
    "gdc_wait",
    "globaltimer",
    "libdevice",
    "num_threads",
    "num_warps",
    "smid",
]

submodules = {
    "gdc": ("gdc_launch_dependents", "gdc_wait"),
    "utils": (
        *("convert_custom_float8", "convert_custom_float8_sm70", "convert_custom_float8_sm80"),
        *("convert_float16_to_fp8e4b15", "convert_fp8e4b15_to_float16"),
        *("globaltimer", "num_threads", "num_warps", "smid"),
    ),
}
"""The modules of ``tl.extra.cuda``, with their names."""


def _instruction(text: str, constraint: str, dtype: core.dtype, pure: bool, semantic: Semantics) -> object:
    return core.inline_asm_elementwise(text, constraint, [], dtype, pure, 1, _semantic=semantic)


@core.builtin
def globaltimer(_semantic: Semantics = None) -> object:
    """The nanosecond counter of the device, int64 (PTX: special register ``%globaltimer``).

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, tl.extra.cuda.globaltimer())
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*i64"})
    >>> "%globaltimer" in tritonx.compile(source, "cuda:80").asm["ptx"]
    True
    """
    return _instruction("mov.u64 $0, %globaltimer;", "=l", core.int64, False, _semantic)


@core.builtin
def smid(_semantic: Semantics = None) -> object:
    """The multiprocessor that this program runs on, int32 (PTX: special register ``%smid``).

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, tl.extra.cuda.smid())
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*i32"})
    >>> "%smid" in tritonx.compile(source, "cuda:80").asm["ptx"]
    True
    """
    return _instruction("mov.u32 $0, %smid;", "=r", core.int32, True, _semantic)


@core.builtin
def num_warps(_semantic: Semantics = None) -> constexpr:
    """Warps of a program, as compiled.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.static_assert(tl.extra.cuda.num_warps() == 8)
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*i32"})
    >>> compiled = tritonx.compile(source, "cuda:80", {"num_warps": 8})
    """
    return constexpr(_semantic.options.num_warps)


@core.builtin
def num_threads(_semantic: Semantics = None) -> constexpr:
    """Threads of a program, as compiled.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.static_assert(tl.extra.cuda.num_threads() == 256)
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*i32"})
    >>> compiled = tritonx.compile(source, "cuda:80", {"num_warps": 8})
    """
    return constexpr(_semantic.options.num_warps * 32)


@core.builtin
def gdc_wait(_semantic: Semantics = None) -> None:
    """Wait until the grid that this one depends on has finished and its memory is visible.

    PTX: ``griddepcontrol.wait``, compute capability 9.0; for launches with ``launch_pdl``.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.extra.cuda.gdc_wait()
    ...     tl.store(x, 1.0)
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*fp32"})
    >>> "griddepcontrol.wait" in tritonx.compile(source, "cuda:90").asm["ptx"]
    True
    """
    _instruction("griddepcontrol.wait; // dummy $0", "=r", core.int32, False, _semantic)


@core.builtin
def gdc_launch_dependents(_semantic: Semantics = None) -> None:
    """Let the grid that depends on this one start, once all programs have come here
    (``griddepcontrol.launch_dependents``).

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.extra.cuda.gdc_launch_dependents()
    ...     tl.store(x, 1.0)
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*fp32"})
    >>> "griddepcontrol.launch_dependents" in tritonx.compile(source, "cuda:90").asm["ptx"]
    True
    """
    _instruction("griddepcontrol.launch_dependents; // dummy $0", "=r", core.int32, False, _semantic)


@core.builtin
def convert_fp8e4b15_to_float16(arg: object, _semantic: Semantics = None) -> object:
    """The elements as ``float16``, exactly."""
    return core.cast(arg, core.float16, _semantic=_semantic)


@core.builtin
def convert_float16_to_fp8e4b15(arg: object, has_minx2: object, _semantic: Semantics = None) -> object:
    """The elements as ``float8e4b15``, as ``cast`` rounds them; ``has_minx2`` says what Triton writes it with."""
    return core.cast(arg, core.float8e4b15, _semantic=_semantic)


@core.builtin
def convert_custom_float8(
    arg: object, dst_ty: core.dtype, fp_downcast_rounding: object, has_minx2: object, _semantic: Semantics = None
) -> object:
    """``cast`` from or to ``float8e4b15``."""
    return core.cast(arg, dst_ty.scalar, _semantic=_semantic)


@core.builtin
def convert_custom_float8_sm80(
    arg: object, dst_ty: core.dtype, fp_downcast_rounding: object = None, _semantic: Semantics = None
) -> object:
    """``cast`` of a block or scalar from or to ``float8e4b15``; ``fp_downcast_rounding`` as there.

    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     narrow = tl.extra.cuda.convert_custom_float8_sm80(tl.load(x), tl.float8e4b15)
    ...     tl.static_assert(narrow.dtype == tl.float8e4b15)
    ...     tl.store(out, tl.extra.cuda.convert_custom_float8_sm80(narrow, tl.float16))
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*fp16", "out": "*fp16"})
    >>> compiled = tritonx.compile(source, "cuda:80")
    """
    return core.cast(arg, dst_ty.scalar, _semantic=_semantic)


@core.builtin
def convert_custom_float8_sm70(
    arg: object, dst_ty: core.dtype, fp_downcast_rounding: object = None, _semantic: Semantics = None
) -> object:
    """``cast`` of a block or scalar from or to ``float8e4b15``; ``fp_downcast_rounding`` as there.

    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     narrow = tl.extra.cuda.convert_custom_float8_sm70(tl.load(x), tl.float8e4b15)
    ...     tl.static_assert(narrow.dtype == tl.float8e4b15)
    ...     tl.store(out, tl.extra.cuda.convert_custom_float8_sm70(narrow, tl.float16))
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*fp16", "out": "*fp16"})
    >>> compiled = tritonx.compile(source, "cuda:80")
    """
    return core.cast(arg, dst_ty.scalar, _semantic=_semantic)
