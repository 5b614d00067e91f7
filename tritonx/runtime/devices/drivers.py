"""The drivers of this process: each backend's is made once, when something first runs on it."""

from __future__ import annotations

import threading

import tritonx.backends.registry as registry
from tritonx.backends.api import Backend, Driver

_drivers: dict[str, Driver] = {}
_adopted: dict[str, Backend] = {}
_lock = threading.RLock()


def driver_of(backend: Backend) -> Driver:
    """The backend's driver, made once. Raises NoDevice."""
    found = _drivers.get(backend.name)
    if found is None:
        with _lock:
            found = _drivers.get(backend.name)
            if found is None:
                found = _drivers[backend.name] = backend.driver()
    return found


def owner_of(driver: Driver) -> str | None:
    """The name of the backend whose driver it is; None where it is of none in use."""
    return next((name for name, made in _drivers.items() if made is driver), None)


def adopt(backend: Backend) -> None:
    """Let a backend that is not installed be found by its name."""
    _adopted[backend.name] = backend


def find_backend(name: str) -> Backend:
    """A backend by name, also one that was only handed to ``driver.set_active``."""
    return _adopted.get(name) or registry.get_backend(name)
