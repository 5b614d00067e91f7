"""Instances of Triton's classes whose attributes are set when they are made, of Triton or of tritonx."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def _kernel(x):  # pyright: ignore  # a kernel: Triton would look its annotations up
    """The kernel of the samples; it does nothing."""


def _jit(package: str) -> Any:
    return importlib.import_module(package).jit(_kernel)


def _autotuner(package: str) -> Any:
    root = importlib.import_module(package)
    return root.autotune([root.Config({})], key=[])(root.jit(_kernel))


def _heuristics(package: str) -> Any:
    root = importlib.import_module(package)
    return root.heuristics({})(root.jit(_kernel))


def _source(package: str) -> Any:
    compiler = importlib.import_module(f"{package}.compiler")
    return compiler.ASTSource(fn=_jit(package), signature={"x": "*fp32"}, constexprs={})


def _compiled(package: str) -> Any:
    root = importlib.import_module(package)
    target = importlib.import_module(f"{package}.backends.compiler").GPUTarget("cuda", 80, 32)
    return root.compile(_source(package), target=target)


def _language(make: Callable[[Any], Any]) -> Callable[[str], Any]:
    return lambda package: make(importlib.import_module(f"{package}.language"))


SAMPLES: dict[str, Callable[[str], Any]] = {
    "ASTSource": _source,
    "Autotuner": _autotuner,
    "CompiledKernel": _compiled,
    "Config": lambda package: importlib.import_module(package).Config({}),
    "Heuristics": _heuristics,
    "JITFunction": _jit,
    "block_type": _language(lambda tl: tl.block_type(tl.float32, [16])),
    "constexpr": _language(lambda tl: tl.constexpr(1)),
    "dtype": _language(lambda tl: tl.float32),
    "runtime_knobs": lambda package: importlib.import_module(f"{package}.knobs").runtime,
    "pointer_type": _language(lambda tl: tl.pointer_type(tl.float32)),
}
"""Class name → an instance, given the package's name (``triton`` or ``tritonx``)."""
