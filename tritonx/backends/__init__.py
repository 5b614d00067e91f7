"""Backends: the contract, the registry, and those that tritonx brings. Calling the package lists what is installed:

>>> tritonx.backends()
cpu: cpu, ... (tritonx.backends.cpu:BACKEND from tritonx ...)
...
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from tritonx.runtime.submodules import loading

if TYPE_CHECKING:
    from tritonx.backends.registry import BackendList


@dataclass(frozen=True)
class Backend:
    """An installed backend as Triton shows it: ``compiler`` is tritonx's `Backend`, ``driver`` the class of what
    ``driver.active`` is.

    >>> tritonx.backends.backends["cpu"].compiler.name
    'cpu'
    """

    compiler: object
    driver: type


class _CallableModule(ModuleType):
    """The package is also the function ``tritonx.backends()``."""

    def __call__(self) -> BackendList:
        """Every installed backend, with the reason where one cannot be used."""
        from tritonx.backends.registry import installed

        return installed()

    @property
    def backends(self) -> dict[str, Backend]:
        """name → (compiler, driver), as Triton's ``triton.backends.backends``, by Triton's names."""
        from tritonx.backends.registry import available
        from tritonx.runtime.driver import driver_class

        found: dict[str, Backend] = {}
        for name, backend in available().items():
            found.setdefault(backend.triton_name or name, Backend(compiler=backend, driver=driver_class(backend)))
        return found

    @property
    def BaseBackend(self) -> type:
        """Triton's base class of compilers."""
        return import_module("tritonx.backends.compiler").BaseBackend

    @property
    def DriverBase(self) -> type:
        """Triton's base class of drivers."""
        return import_module("tritonx.backends.driver").DriverBase

    @property
    def Backend(self) -> type:
        """Triton's pair of a compiler and a driver: what `backends` holds."""
        return Backend


sys.modules[__name__].__class__ = _CallableModule

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = loading(__name__)
