"""tritonx compiles kernels written in the Triton language.

    import tritonx
    import tritonx.language as tl

Every name below is loaded when it is first used: importing the package imports neither xDSL nor LLVM nor NumPy.
"""

from __future__ import annotations

from tritonx.ir.metaclass_annotations import watch_imports
from tritonx.version import VERSION, triton_version

TYPE_CHECKING = False  # what type checkers take for typing's, whose import takes a third of this package's
if TYPE_CHECKING:
    from typing import Any

    from tritonx import compiler as compiler
    from tritonx import errors as errors
    from tritonx import experimental as experimental
    from tritonx import jax as jax
    from tritonx import language as language
    from tritonx import runtime as runtime
    from tritonx import testing as testing
    from tritonx import tools as tools
    from tritonx.backends.registry import installed
    from tritonx.frontend.errors import CompilationError as CompilationError
    from tritonx.language.values.aggregate import aggregate as aggregate
    from tritonx.runtime import knobs as knobs
    from tritonx.runtime._allocation import set_allocator as set_allocator
    from tritonx.runtime.async_compile import AsyncCompileMode as AsyncCompileMode
    from tritonx.runtime.async_compile import FutureKernel as FutureKernel
    from tritonx.runtime.autotuner import Config as Config
    from tritonx.runtime.autotuner import autotune as autotune
    from tritonx.runtime.autotuner import heuristics as heuristics
    from tritonx.runtime.compiling.compiler import compile as compile
    from tritonx.runtime.errors import InterpreterError as InterpreterError
    from tritonx.runtime.errors import OutOfResources as OutOfResources
    from tritonx.runtime.errors import TritonError as TritonError
    from tritonx.runtime.integers import cdiv as cdiv
    from tritonx.runtime.integers import next_power_of_2 as next_power_of_2
    from tritonx.runtime.jit import JITFunction as JITFunction
    from tritonx.runtime.jit import KernelInterface as KernelInterface
    from tritonx.runtime.jit import MockTensor as MockTensor
    from tritonx.runtime.jit import constexpr_function as constexpr_function
    from tritonx.runtime.jit import jit as jit
    from tritonx.runtime.jit import must_use_result as must_use_result
    from tritonx.runtime.launch.tensor_wrapper import TensorWrapper as TensorWrapper
    from tritonx.runtime.launch.tensor_wrapper import reinterpret as reinterpret

    backends = installed

watch_imports()

__version__ = VERSION
"""The version of the distribution. Where `tritonx.compat` is installed this module is ``triton`` too, and `__version__`
is `__triton_version__`: what imports Triton by name branches on it."""

if TYPE_CHECKING:
    __triton_version__: str
    """The version of Triton whose language and host interface this is: see `tritonx.level`."""

_NAMES = {
    "AsyncCompileMode": "runtime.async_compile",
    "CompilationError": "frontend.errors",
    "Config": "runtime.autotuner",
    "FutureKernel": "runtime.async_compile",
    "InterpreterError": "runtime.errors",
    "JITFunction": "runtime.jit",
    "KernelInterface": "runtime.jit",
    "MockTensor": "runtime.jit",
    "OutOfResources": "runtime.errors",
    "TensorWrapper": "runtime.launch.tensor_wrapper",
    "TritonError": "runtime.errors",
    "aggregate": "language.values.aggregate",
    "autotune": "runtime.autotuner",
    "cdiv": "runtime.integers",
    "compile": "runtime.compiling.compiler",
    "constexpr_function": "runtime.jit",
    "heuristics": "runtime.autotuner",
    "jit": "runtime.jit",
    "must_use_result": "runtime.jit",
    "next_power_of_2": "runtime.integers",
    "reinterpret": "runtime.launch.tensor_wrapper",
    "set_allocator": "runtime._allocation",
}
"""public name → the module that defines it"""

_MODULES = {
    "_C": "_C",
    "_utils": "_utils",
    "backends": "backends",
    "compiler": "compiler",
    "errors": "errors",
    "experimental": "experimental",
    "jax": "jax",
    "knobs": "runtime.knobs",
    "language": "language",
    "runtime": "runtime",
    "testing": "testing",
    "tools": "tools",
}

__all__ = [*sorted({*_NAMES, *_MODULES} - {"_C", "_utils"}), "__triton_version__", "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]  # the names are the keys of the tables above


def _loaded(name: str) -> Any:
    from importlib import import_module

    if name in _NAMES:
        value = getattr(import_module(f"tritonx.{_NAMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"tritonx.{_MODULES[name]}")
    elif name == "__triton_version__":
        value = triton_version()
    else:
        raise AttributeError(f"module 'tritonx' has no attribute {name!r}")
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = _loaded


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
