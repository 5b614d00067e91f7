"""``tl.extra.cuda``: what only NVIDIA targets have. Inline PTX; the ISA sections are named beside each."""

from __future__ import annotations

from typing import Any

from tritonx.language import core
from tritonx.language.constexpr import constexpr
from tritonx.language.extra import libdevice

__all__ = ["gdc_launch_dependents", "gdc_wait", "globaltimer", "libdevice", "num_threads", "num_warps", "smid"]


def _instruction(text: str, constraint: str, dtype: core.dtype, pure: bool, semantic: Any) -> Any:
    return core.inline_asm_elementwise(text, constraint, [], dtype, pure, 1, _semantic=semantic)


@core.builtin
def globaltimer(_semantic: Any = None) -> Any:
    """The nanosecond counter of the device, int64 (PTX: special register ``%globaltimer``)."""
    return _instruction("mov.u64 $0, %globaltimer;", "=l", core.int64, False, _semantic)


@core.builtin
def smid(_semantic: Any = None) -> Any:
    """The multiprocessor that this program runs on, int32 (PTX: special register ``%smid``)."""
    return _instruction("mov.u32 $0, %smid;", "=r", core.int32, True, _semantic)


@core.builtin
def num_warps(_semantic: Any = None) -> constexpr:
    """Warps of a program, as compiled."""
    return constexpr(_semantic.options.num_warps)


@core.builtin
def num_threads(_semantic: Any = None) -> constexpr:
    """Threads of a program, as compiled."""
    return constexpr(_semantic.options.num_warps * 32)


@core.builtin
def gdc_wait(_semantic: Any = None) -> None:
    """Wait until the grid that this one depends on has finished and its memory is visible.

    PTX: ``griddepcontrol.wait``, compute capability 9.0; for launches with ``launch_pdl``.
    """
    _instruction("griddepcontrol.wait; // dummy $0", "=r", core.int32, False, _semantic)


@core.builtin
def gdc_launch_dependents(_semantic: Any = None) -> None:
    """Let the grid that depends on this one start, once all programs have come here
    (``griddepcontrol.launch_dependents``).
    """
    _instruction("griddepcontrol.launch_dependents; // dummy $0", "=r", core.int32, False, _semantic)
