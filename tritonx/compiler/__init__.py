"""Triton's names for compiling, for code that imports them from ``triton.compiler``."""

from tritonx.frontend.errors import CompilationError
from tritonx.runtime.compiler import (
    ASTSource,
    CompiledKernel,
    IRSource,
    LazyDict,
    compile,
    make_backend,
)

__all__ = ["ASTSource", "CompilationError", "CompiledKernel", "IRSource", "LazyDict", "compile", "make_backend"]
