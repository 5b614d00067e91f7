"""Unstructured control flow, `cf`, with fast creation. See `tritonx.ir.derive`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import cf as base
from xdsl.ir import Attribute, Block, Dialect, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.derive import derive


def _check_arguments(what: str, values: tuple[SSAValue, ...], block: Block) -> None:
    given: list[Attribute] = [value.type for value in values]
    taken: list[Attribute] = [argument.type for argument in block.args]
    if given != taken:
        raise VerifyException(
            f"{what} passes ({', '.join(map(str, given))}), the block takes ({', '.join(map(str, taken))})"
        )


def _check_branch(op: BranchOp) -> None:
    _check_arguments("the branch", tuple(op.arguments), op.successor)


def _check_conditional_branch(op: ConditionalBranchOp) -> None:
    _check_arguments("the branch taken when true", tuple(op.then_arguments), op.then_block)
    _check_arguments("the branch taken when false", tuple(op.else_arguments), op.else_block)


@derive(check=_check_branch)
class BranchOp(base.BranchOp):
    """Goes to another block."""

    FORMAT: ClassVar[str] = "$successor (`(` $arguments^ `:` type($arguments) `)`)? attr-dict"


@derive(check=_check_conditional_branch, any_types=False)
class ConditionalBranchOp(base.ConditionalBranchOp):
    """Goes to one of two blocks."""

    FORMAT: ClassVar[str] = (
        "$cond `,` $then_block (`(` $then_arguments^ `:` type($then_arguments) `)`)? `,`"
        " $else_block (`(` $else_arguments^ `:` type($else_arguments) `)`)? attr-dict"
    )


@derive(any_types=False)
class AssertOp(base.AssertOp):
    """Stops with a message unless a condition holds."""

    FORMAT: ClassVar[str] = "$arg `,` $msg attr-dict"


_OPS: tuple[type[IRDLOperation], ...] = (BranchOp, ConditionalBranchOp, AssertOp)
_REPLACED = {op.name for op in _OPS}

Cf = Dialect("cf", [*_OPS, *(op for op in base.Cf.operations if op.name not in _REPLACED)], [])

__all__ = ["AssertOp", "BranchOp", "Cf", "ConditionalBranchOp"]
