"""The context in which tritonx's text is parsed: every dialect, each loaded when its first op or type is met."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.context import Context
from xdsl.ir import Dialect

DIALECTS: dict[str, tuple[str, str]] = {
    "builtin": ("xdsl.dialects.builtin", "Builtin"),
    "tt": ("tritonx.dialects.tile", "Tile"),
    "ttg": ("tritonx.dialects.gpu_layout", "GPULayout"),
    "ttng": ("tritonx.dialects.nvidia", "Nvidia"),
    "amdg": ("tritonx.dialects.amd", "Amd"),
    "rocdl": ("tritonx.dialects.amd", "Rocdl"),
    "arith": ("tritonx.dialects.arith", "Arith"),
    "math": ("tritonx.dialects.math", "Math"),
    "scf": ("tritonx.dialects.scf", "Scf"),
    "cf": ("tritonx.dialects.cf", "Cf"),
    "ub": ("tritonx.dialects.ub", "Ub"),
    "gpu": ("tritonx.dialects.gpu", "Gpu"),
    "llvm": ("tritonx.dialects.llvm", "Llvm"),
    "func": ("xdsl.dialects.func", "Func"),
    "test": ("xdsl.dialects.test", "Test"),
}
"""Name of a dialect in the text → module and attribute that hold it."""


def _loader(module: str, attribute: str) -> Callable[[], Dialect]:
    def load() -> Dialect:
        return getattr(import_module(module), attribute)

    return load


def dialect_loaders() -> dict[str, Callable[[], Dialect]]:
    """Name → function that imports the dialect; for drivers that register dialects themselves."""
    return {name: _loader(*place) for name, place in DIALECTS.items()}


def new_context(*, allow_unregistered: bool = False) -> Context:
    """A context with every dialect of tritonx registered and none but `builtin` loaded."""
    context = Context(allow_unregistered=allow_unregistered)
    for name, load in dialect_loaders().items():
        context.register_dialect(name, load)
    context.load_registered_dialect("builtin")
    return context
