"""The compile options that GPUs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tritonx.backends.api import Compilation, Options


@dataclass(frozen=True)
class GpuOptions(Options):
    """What every GPU's options have beside those of all backends.

    ``launch_cooperative_grid`` asks for all blocks to run at once, so that they may wait for each other.
    ``max_instructions`` are those of one thread, as LLVM IR; a kernel that would be unrolled into more is refused.
    Where code is that long LLVM takes from half a minute to several (docs/history/measurements.md).

    >>> GpuOptions(launch_cooperative_grid=True).is_cooperative
    True
    """

    launch_cooperative_grid: bool = False
    max_instructions: int = 60_000

    PORTABLE: ClassVar[frozenset[str]] = frozenset({"launch_cooperative_grid"})

    @property
    def is_cooperative(self) -> bool:
        return self.launch_cooperative_grid

    def neighbours(self, most_warps: int) -> list[dict[str, int]]:
        """One step to either side, as what it changes: half and twice the warps, a pipeline stage less and one more.
        What ``Backend.propose`` gives where nothing better is known."""
        warps = [count for count in (self.num_warps // 2, 2 * self.num_warps) if 1 <= count <= most_warps]
        stages = [count for count in (self.num_stages - 1, self.num_stages + 1) if count >= 1]
        return [*({"num_warps": count} for count in warps), *({"num_stages": count} for count in stages)]


def gpu_options(compilation: Compilation) -> GpuOptions:
    """The options of a compile for a GPU. Raises ``TypeError`` where its backend has others."""
    if not isinstance(compilation.options, GpuOptions):
        kind = type(compilation.options).__name__
        raise TypeError(f"the options of {compilation.target} ({kind}) are not derived from GpuOptions, as a GPU's are")
    return compilation.options
