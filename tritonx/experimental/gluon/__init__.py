"""Gluon, Triton's second language, in which a kernel says its layouts, copies and barriers itself.

A kernel's source becomes `ttg` at once (`generator`, `semantics`). The backend's stage finds the layouts that it leaves
open, and emits it as any other module. Names that are not there yet can be imported, and refuse to be called
(`modules`).
"""

from typing import TYPE_CHECKING

from tritonx.experimental.gluon.errors import NoGluon
from tritonx.experimental.gluon.kernels import GluonASTSource, GluonJITFunction, jit
from tritonx.experimental.gluon.modules import add_modules
from tritonx.language.builtins.builtin import must_use_result
from tritonx.language.values.aggregate import aggregate
from tritonx.runtime.jit import constexpr_function

__all__ = [
    "GluonASTSource",
    "GluonJITFunction",
    "NoGluon",
    "aggregate",
    "constexpr_function",
    "jit",
    "must_use_result",
]

if not TYPE_CHECKING:
    add_modules(__name__)
