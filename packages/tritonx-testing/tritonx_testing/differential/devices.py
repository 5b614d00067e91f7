"""Where kernels run: the current device of a backend, or the interpreter on the kernel's own Python lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from tritonx.backends import registry
from tritonx.interpreter.function import interpreted
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device
from tritonx.runtime.devices.drivers import driver_of
from tritonx_testing.conformance.case import Array
from tritonx_testing.conformance.device import HOST
from tritonx_testing.differential.run import PYTHON, Launch


def names() -> list[str]:
    """What can run here."""
    found = [n for n, backend in registry.available().items() if driver.ActiveDriver(backend).is_active()]
    return [PYTHON, *found]


def supports(device: str, types: frozenset[str]) -> bool:
    """Whether the device has these fp8 types."""
    if device == PYTHON or not types:
        return True
    backend = registry.get_backend(device)
    target = driver_of(backend).current_target()
    return types <= set(backend.parse_options(target, {}).supported_fp8_dtypes)


def launcher(device: str) -> Launch:
    """Raises ``NoBackend`` for an unknown one and ``NoDevice`` where it does not start."""
    return _lines if device == PYTHON else _on(device)


def _lines(kernel: Any, arrays: list[Array]) -> list[Array]:
    interpreted(kernel)[(1,)](*arrays)
    return arrays


def _on(name: str) -> Launch:
    backend = registry.get_backend(name)
    driver_of(backend).current_target()
    on_host = HOST in backend.dlpack_device_types

    def launch(kernel: Any, arrays: list[Array]) -> list[Array]:
        driver.set_active(backend)
        try:
            args: list[Any] = list(arrays) if on_host else [to_device(a, backend=name) for a in arrays]
            kernel[(1,)](*args, enable_fp_fusion=False)
            return [np.asarray(a) if on_host else a.numpy() for a in args]
        finally:
            driver.reset_active()

    return launch
