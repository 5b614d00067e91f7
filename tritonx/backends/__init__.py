"""Backends: the contract, the registry, and those that tritonx brings. Calling the package lists what is installed:

>>> tritonx.backends()
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonx.backends.registry import BackendList


class _CallableModule(ModuleType):
    """The package is also the function ``tritonx.backends()``."""

    def __call__(self) -> BackendList:
        """Every installed backend, with the reason where one cannot be used."""
        from tritonx.backends.registry import installed

        return installed()

    @property
    def backends(self) -> dict[str, SimpleNamespace]:
        """name → (compiler, driver), as Triton's ``triton.backends.backends``, by Triton's names."""
        from tritonx.backends.registry import available
        from tritonx.runtime.driver import driver_class

        return {
            backend.triton_name or name: SimpleNamespace(compiler=backend, driver=driver_class(backend))
            for name, backend in available().items()
        }

    @property
    def BaseBackend(self) -> type:
        """Triton's base class."""
        from tritonx.backends.compiler import BaseBackend

        return BaseBackend


sys.modules[__name__].__class__ = _CallableModule
