"""A kernel compiled for a compute capability and executed from its PTX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tritonx.runtime.arrays import to_device
from tritonx.tools.tensor_descriptor import TensorDescriptor
from tritonx_testing.conformance.case import Array, Case, Output, Trial
from tritonx_testing.conformance.device import host_arguments, unsupported
from tritonx_testing.emulators.ptx.backend import active, emulated


class PtxDevice:
    """For the conformance suite, and for kernels on NumPy's arrays: they are executed on copies in the device's memory,
    where whatever leads beside an array is a fault."""

    def __init__(self, arch: str, seed: int) -> None:
        self.name = f"ptx:{arch}"
        self.backend = emulated(arch)
        self.backend.cuda.seed = seed
        self.target = self.backend.parse_target(arch)

    def run(self, case: Case, trial: Trial) -> list[Array]:
        args = host_arguments(trial)
        self.launch(case.kernel, args, trial.constants, trial.grid, case.options)
        return [a for a, given in zip(args, trial.args, strict=True) if isinstance(given, Output)]

    def launch(
        self, kernel: Any, args: Sequence[Any], constants: Mapping[str, Any], grid: Any, options: Mapping[str, Any]
    ) -> str:
        """Returns the PTX."""
        with active(self.backend):
            copies: dict[int, Any] = {}
            placed = [self.placed(a, copies) for a in args]
            kernel[(grid,) if isinstance(grid, int) else grid](*placed, **constants, **options)
            for array in args:
                base = array.base if isinstance(array, TensorDescriptor) else array
                if isinstance(base, np.ndarray):
                    base[...] = copies[id(base)].numpy()
        return self.backend.cuda.executed

    def placed(self, value: Any, copies: dict[int, Any]) -> Any:
        """On the device; of an array that is given twice there is one copy."""
        if isinstance(value, TensorDescriptor):
            base, how = self.placed(value.base, copies), (value.padding, value.round_f32_to_tf32)
            return TensorDescriptor(base, value.shape, value.strides, value.block_shape, *how)
        if not isinstance(value, np.ndarray):
            return value
        if id(value) not in copies:
            copies[id(value)] = to_device(value, backend=self.backend.name)
        return copies[id(value)]

    def unsupported(self, case: Case) -> str | None:
        return unsupported(case, self.backend, self.target)

    def usable(self) -> bool:
        return True
