"""Gluon, Triton's second language, in which a kernel says its layouts, copies and barriers itself.

Libraries import it whether they launch such kernels or not, so its names are here: kernels and functions are declared,
and refused when they are launched or called. Types that `tritonx.language` has are those.
"""

from typing import TYPE_CHECKING

from tritonx.experimental.gluon.kernels import GluonASTSource, GluonJITFunction, NoGluon, jit
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
