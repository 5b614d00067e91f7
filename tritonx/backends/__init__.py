"""Backends: the contract, the registry, and those that tritonx brings. Calling the package lists what is installed:

>>> tritonx.backends()
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonx.backends.registry import BackendList


class _CallableModule(ModuleType):
    """The package is also the function ``tritonx.backends()``."""

    def __call__(self) -> BackendList:
        """Every installed backend, with the reason where one cannot be used."""
        from tritonx.backends.registry import installed

        return installed()

    @property
    def backends(self) -> dict[str, Any]:
        """name → (compiler, driver), as Triton's ``triton.backends.backends``."""
        from tritonx.backends.registry import available

        return {name: SimpleNamespace(compiler=b, driver=_driver_class(b)) for name, b in available().items()}


def _driver_class(backend: Any) -> Any:
    """Something to call for the driver, with Triton's ``is_active``: whether there is a device."""

    def is_active() -> bool:
        from tritonx.runtime.errors import TritonError

        try:
            return backend.driver().device_count() > 0
        except (TritonError, ImportError, OSError):
            return False

    def make() -> Any:
        from tritonx.runtime.driver import ActiveDriver

        return ActiveDriver(backend)

    make.is_active = is_active  # pyright: ignore[reportFunctionMemberAccess]
    return make


sys.modules[__name__].__class__ = _CallableModule
