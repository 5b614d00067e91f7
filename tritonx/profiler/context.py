"""Where a session is."""

from __future__ import annotations

from tritonx.profiler.flags import flags
from tritonx.profiler.recorder import RECORDER
from tritonx.profiler.stack import call_stack, current


def depth(session: int | None = 0) -> int | None:
    """How many scopes this thread is in or, in a session with the context "python", how many calls; None without a
    session.

    >>> tritonx.profiler.context.depth() is None
    True
    """
    if not flags.profiling_on:
        return None
    asked = RECORDER.session(0 if session is None else session).asked
    return len(call_stack()) if asked.context == "python" else len(current().entries)
