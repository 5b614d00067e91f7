"""Conditions: which are decided at compile time, and the run-time ones as a scalar int1."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from tritonx.frontend import errors
from tritonx.frontend.codegen.values import is_many
from tritonx.language.types.dtypes import int1
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator

CONDITION_TYPES = (bool, int, type(None))


def static_condition(gen: FunctionGenerator, node: ast.AST, value: object) -> bool:
    """The truth of a condition that is known at compile time; only real bools, ints and None have one."""
    plain = unwrap(value)
    if type(plain) not in CONDITION_TYPES:
        raise gen.error(
            errors.InvalidCondition,
            node,
            "`if` conditionals can only accept values of type {bool, int, NoneType}, not objects of type "
            + type(plain).__name__,
        )
    return bool(plain)


def truth(gen: FunctionGenerator, node: ast.AST, test: ast.expr, value: tensor) -> tensor:
    """A run-time condition as a scalar int1; a block of one element is unpacked, a larger one is an error at
    ``node``."""
    if is_many(value):
        message = "Boolean value of Tensor with more than one value is ambiguous"
        raise gen.error(errors.AmbiguousCondition, node, message)
    gen.locate(test)
    if value.type.is_block():
        warnings.warn(
            "If conditional called with multidimensional Tensor instead of scalar; "
            f'please use "if ({ast.unparse(test)}).item()" instead',
            stacklevel=2,
        )
        value = gen.semantic.unsplat(value)
    return value if value.type == int1 else gen.semantic.cast(value, int1)
