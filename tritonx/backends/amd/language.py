"""``tl.extra.hip``: what only AMD targets have."""

from __future__ import annotations

from typing import Any

from tritonx.language import core
from tritonx.language.extra import libdevice

__all__ = ["libdevice", "memrealtime"]

submodules = {"utils": ("memrealtime",)}
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
