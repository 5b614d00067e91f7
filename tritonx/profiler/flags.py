"""Whether this process is profiled: Triton's names, which libraries read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ProfilerFlags:
    """``profiling_on``: there is a session. ``instrumentation_on``: kernels record their regions. ``command_line``: the
    command ``proton`` runs the program, whose own ``start`` does nothing.

    >>> from tritonx.profiler.flags import flags
    >>> flags.command_line
    False
    """

    profiling_on: bool = False
    instrumentation_on: bool = False
    command_line: bool = False


flags = ProfilerFlags()
