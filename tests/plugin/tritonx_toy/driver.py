"""Runs the programs, one program instance after the other, in this process."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tritonx.backends.api import KernelImage, LoadedKernel, Target
from tritonx.backends.tile import HostDriver
from tritonx_toy.core import Core


class ToyKernel:
    n_regs = 0
    n_spills = 0
    n_max_threads = 1

    def __init__(self, image: KernelImage) -> None:
        scope: dict[str, Any] = {}
        exec(compile(image.binary.decode(), f"<toy program of {image.name}>", "exec"), scope)
        self.function = scope["kernel"]

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[Any]) -> None:
        with np.errstate(all="ignore"):
            for program in itertools.product(*map(range, grid)):
                core = Core(program, grid)
                self.function(core, *args)
                core.end()


class ToyDriver(HostDriver):
    def current_target(self, device: int | None = None) -> Target:
        return Target("toy", "v1")

    def known_properties(self) -> Mapping[str, int]:
        return {"multiprocessor_count": 1, "warpSize": 1}

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        return ToyKernel(image)
