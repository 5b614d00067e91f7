"""Triton's names for compiling, for code that imports them from ``triton.compiler``."""

from tritonx.backends.compiler import make_backend
from tritonx.frontend.errors import CompilationError
from tritonx.runtime.cache import get_cache_key
from tritonx.runtime.compiler import (
    ASTSource,
    CompiledKernel,
    IRSource,
    LazyDict,
    compile,
)

__all__ = [
    "ASTSource",
    "CompilationError",
    "CompiledKernel",
    "IRSource",
    "LazyDict",
    "compile",
    "get_cache_key",
    "make_backend",
]
