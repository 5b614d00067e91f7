"""Triton's module ``triton.compiler.compiler``."""

from tritonx.backends.compiler import make_backend
from tritonx.runtime.compiler import (
    AsmDict,
    ASTSource,
    CompiledKernel,
    GPUTarget,
    IRSource,
    LazyDict,
    compile,
    triton_key,
)

__all__ = [
    "ASTSource",
    "AsmDict",
    "CompiledKernel",
    "GPUTarget",
    "IRSource",
    "LazyDict",
    "compile",
    "make_backend",
    "triton_key",
]
