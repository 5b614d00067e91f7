"""Triton's names for compiling, for code that imports them from ``triton.compiler``."""

from typing import TYPE_CHECKING

from tritonx.backends.compiler import make_backend
from tritonx.compiler.compiler import max_shared_mem
from tritonx.frontend.errors import CompilationError
from tritonx.runtime.cache import get_cache_key
from tritonx.runtime.compiling.compiler import (
    ASTSource,
    CompiledKernel,
    IRSource,
    LazyDict,
    compile,
)
from tritonx.runtime.submodules import loading

__all__ = [
    "ASTSource",
    "CompilationError",
    "CompiledKernel",
    "IRSource",
    "LazyDict",
    "compile",
    "get_cache_key",
    "make_backend",
    "max_shared_mem",
]

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = loading(__name__, ("compiler", "errors"))
