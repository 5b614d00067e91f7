"""Triton's module ``triton.compiler.errors``."""

from tritonx.frontend.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct
from tritonx.runtime.errors import TritonError

__all__ = ["CompilationError", "CompileTimeAssertionFailure", "TritonError", "UnsupportedLanguageConstruct"]
