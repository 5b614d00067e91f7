"""From a call of a kernel to its execution: binding, specialisation, compiling, the cache, launching, tuning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonx.runtime import arrays as arrays
    from tritonx.runtime import autotuner as autotuner
    from tritonx.runtime import build as build
    from tritonx.runtime import cache as cache
    from tritonx.runtime import errors as errors
    from tritonx.runtime import interpreter as interpreter
    from tritonx.runtime import jit as jit
    from tritonx.runtime import knobs as knobs
    from tritonx.runtime import launch as launch
    from tritonx.runtime.autotuner import Autotuner as Autotuner
    from tritonx.runtime.autotuner import Config as Config
    from tritonx.runtime.autotuner import Heuristics as Heuristics
    from tritonx.runtime.autotuner import autotune as autotune
    from tritonx.runtime.autotuner import heuristics as heuristics
    from tritonx.runtime.cache import RemoteCacheBackend as RemoteCacheBackend
    from tritonx.runtime.driver import driver as driver
    from tritonx.runtime.errors import InterpreterError as InterpreterError
    from tritonx.runtime.errors import OutOfResources as OutOfResources
    from tritonx.runtime.jit import JITFunction as JITFunction
    from tritonx.runtime.jit import KernelInterface as KernelInterface
    from tritonx.runtime.jit import MockTensor as MockTensor
    from tritonx.runtime.launch.tensor_wrapper import TensorWrapper as TensorWrapper
    from tritonx.runtime.launch.tensor_wrapper import reinterpret as reinterpret
    from tritonx.runtime.store.remote_cache import RedisRemoteCacheBackend as RedisRemoteCacheBackend

_HOME = {
    "Autotuner": "autotuner",
    "Config": "autotuner",
    "Heuristics": "autotuner",
    "autotune": "autotuner",
    "heuristics": "autotuner",
    "InterpreterError": "errors",
    "OutOfResources": "errors",
    "JITFunction": "jit",
    "KernelInterface": "jit",
    "MockTensor": "jit",
    "TensorWrapper": "launch.tensor_wrapper",
    "reinterpret": "launch.tensor_wrapper",
    "driver": "driver",
    "RedisRemoteCacheBackend": "cache",
    "RemoteCacheBackend": "cache",
}


def _loaded(name: str) -> Any:
    import importlib

    if name == "driver":  # the object, as in Triton; the module of the same name stays importable
        return importlib.import_module("tritonx.runtime.driver").driver
    if name in _HOME:
        return getattr(importlib.import_module(f"tritonx.runtime.{_HOME[name]}"), name)
    if name in (
        "_allocation",
        "autotuner",
        "cache",
        "errors",
        "jit",
        "knobs",
        "launch",
        "arrays",
        "interpreter",
        "build",
    ):
        return importlib.import_module(f"tritonx.runtime.{name}")
    raise AttributeError(f"module 'tritonx.runtime' has no attribute {name!r}")


if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = _loaded


def __dir__() -> list[str]:
    return sorted(_HOME)
