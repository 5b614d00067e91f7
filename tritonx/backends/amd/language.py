"""``tl.extra.hip``: what only AMD targets have."""

from __future__ import annotations

from typing import Any

from tritonx.language import core
from tritonx.language.extra import libdevice

__all__ = ["libdevice", "memrealtime", "num_threads", "num_warps", "smid"]

submodules = {"utils": ("memrealtime", "num_threads", "num_warps", "smid")}
"""The modules of ``tl.extra.hip``, with their names."""


@core.builtin
def memrealtime(_semantic: Any = None) -> Any:
    """The constant-rate counter of the device, int64. CDNA reads it as memory, RDNA 3 and later by a message.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, tl.extra.hip.memrealtime())
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*i64"})
    >>> "s_memrealtime" in tritonx.compile(source, "hip:gfx942").asm["amdgcn"]
    True
    """
    if _semantic.target.warp_size == 64:
        text = "s_memrealtime $0\n\ts_waitcnt lgkmcnt(0)"
    else:
        text = "s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)\n\ts_waitcnt lgkmcnt(0)"
    return core.inline_asm_elementwise(text, "=s", [], core.int64, False, 1, _semantic=_semantic)


@core.builtin
def num_warps(_semantic: Any = None) -> core.constexpr:
    """The warps of a block.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, tl.extra.hip.num_warps() + tl.extra.hip.num_threads())
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*i32"})
    >>> "260 : i32" in tritonx.compile(source, "hip:gfx942").asm["ttir"]
    True
    """
    return core.constexpr(_semantic.options.num_warps)


@core.builtin
def num_threads(_semantic: Any = None) -> core.constexpr:
    """The threads of a block: see `num_warps`."""
    return core.constexpr(_semantic.options.num_warps * _semantic.target.warp_size)


@core.builtin
def smid(_semantic: Any = None) -> Any:
    """Where the wave runs, int32: shader engine, array and compute unit of it on CDNA (AMD Instinct MI300 ISA, section
    3.5.4, HW_ID), the workgroup processor on RDNA 3 and later (RDNA3 ISA, HW_ID1). Unique in one accelerator die, or
    in one shader array. Raises ValueError for another processor.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, tl.extra.hip.smid())
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*i32"})
    >>> "s_getreg_b32" in tritonx.compile(source, "hip:gfx942").asm["amdgcn"]
    True
    """
    arch = str(_semantic.target.arch)
    fields = {"gfx9": "hwreg(4, 8, 8)", "gfx11": "hwreg(23, 10, 4)", "gfx12": "hwreg(23, 10, 4)"}
    field = next((text for family, text in fields.items() if arch.startswith(family)), None)
    if field is None:
        raise ValueError(f"smid is not supported on {arch}")
    return core.inline_asm_elementwise(f"s_getreg_b32 $0, {field}", "=s", [], core.int32, True, 1, _semantic=_semantic)
