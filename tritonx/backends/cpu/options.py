"""The CPU backend's compile options."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.backends.api import Options


@dataclass(frozen=True)
class CpuOptions(Options):
    """``num_threads``: how many cores one launch may use; 0 means ``TRITONX_CPU_THREADS``, or all that the process may
    use.

    ``num_warps``, ``num_stages`` and the like are accepted, as every backend must, and change nothing: a program is one
    thread, which runs its loops as they are written. Their defaults say so.
    """

    num_warps: int = 1
    num_stages: int = 1
    num_threads: int = 0
