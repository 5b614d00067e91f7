"""Tracebacks that end at the user's launch.

A mistake in a kernel is found deep in the compiler. Its message shows the kernel's own lines, and the compiler's frames
above it say nothing to the kernel's author: fifteen of them, 90 lines in a notebook. The functions that users call
therefore raise an error of the user anew, without the frames that it passed through. An internal error, which is a
defect of the compiler, keeps them, and ``TRITONX_FRONT_END_DEBUGGING=1`` (Triton's setting) keeps all.
"""

from __future__ import annotations

from tritonx.runtime import knobs
from tritonx.runtime.errors import TritonError


def without_frames(error: TritonError) -> TritonError:
    """``error``, to be raised from its own cause: without a traceback, unless it is internal or the frames are asked
    for."""
    if getattr(error, "internal", False) or knobs.compilation.front_end_debugging:
        return error
    return error.with_traceback(None)
