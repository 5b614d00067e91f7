"""What a compiled format is made of, and the small functions that its pieces share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerType, i32
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import EqAttrConstraint, IRDLOperation, OperandDef, OptionalDef, ResultDef, VariadicDef
from xdsl.irdl.constraints import RangeLengthConstraint, RangeOf
from xdsl.utils.mlir_lexer import MLIRTokenKind

if TYPE_CHECKING:
    from xdsl.parser import Parser, UnresolvedOperand
    from xdsl.printer import Printer
    from xdsl.utils.mlir_lexer import MLIRToken


class FormatError(Exception):
    """A format that cannot be compiled: a mistake in an op's declaration."""


@dataclass
class State:
    """What has been read of an op so far."""

    operands: dict[str, list[UnresolvedOperand]] = field(default_factory=dict[str, list["UnresolvedOperand"]])
    all_operands: list[UnresolvedOperand] | None = None
    types: dict[str, list[Attribute]] = field(default_factory=dict[str, list[Attribute]])
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    successors: dict[str, Block] = field(default_factory=dict[str, Block])


ParseStep = Callable[["Parser", State], None]
PrintStep = Callable[["Printer", IRDLOperation], None]
StartTest = Callable[["Parser"], bool]


@dataclass(frozen=True)
class Piece:
    """One compiled piece of a format."""

    parse: ParseStep
    print: PrintStep
    starts: StartTest
    """Whether the parser is at this piece; what an optional group asks its first piece."""
    present: Callable[[IRDLOperation], bool]
    """Whether there is something to print; what an optional group asks its anchor."""
    after_open: bool = False
    """Ends in an opening bracket or in ``: no space follows."""


def arity_of(definition: object) -> int:
    """1 for a single value, 0 for an optional one, -1 for any number."""
    if isinstance(definition, OptionalDef):
        return 0
    return -1 if isinstance(definition, VariadicDef) else 1


def fixed_type(definition: OperandDef | ResultDef) -> Attribute | None:
    """The only type that a definition allows, if there is just one."""
    constraint: object = definition.constr
    for wrapper, inner in ((RangeLengthConstraint, "constraint"), (RangeOf, "constr")):
        if isinstance(constraint, wrapper):
            constraint = getattr(cast(object, constraint), inner)
    return cast("EqAttrConstraint[Attribute]", constraint).attr if isinstance(constraint, EqAttrConstraint) else None


def integer_type(constraint: object) -> IntegerType:
    """The integer type that an `IntegerAttr.constr(type)` names."""
    for part in getattr(constraint, "param_constrs", ()):
        type_ = getattr(part, "attr", None)
        if isinstance(type_, IntegerType):
            return cast(IntegerType, type_)
    return i32


def property_present(name: str, default: Attribute | None) -> Callable[[IRDLOperation], bool]:
    def present(op: IRDLOperation) -> bool:
        value = op.properties.get(name)
        return value is not None and value != default

    return present


def current_token(parser: Parser) -> MLIRToken:
    """What the parser reads next."""
    return parser._current_token  # pyright: ignore[reportPrivateUsage]  # xDSL's private fields are touched in tritonx/ir


def operands_of(op: IRDLOperation) -> Sequence[SSAValue]:
    """`op.operands` without the object that makes them assignable."""
    return op._operands  # pyright: ignore[reportPrivateUsage]  # xDSL's private fields are touched in tritonx/ir


def operand_list(parser: Parser) -> list[UnresolvedOperand]:
    if not at_operand(parser):
        return []
    operands = [parser.parse_unresolved_operand()]
    while parser.parse_optional_punctuation(",") is not None:
        operands.append(parser.parse_unresolved_operand())
    return operands


def at_operand(parser: Parser) -> bool:
    return current_token(parser).kind is MLIRTokenKind.PERCENT_IDENT


def at_integer(parser: Parser) -> bool:
    return current_token(parser).kind in (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.MINUS)


def no_parse(parser: Parser, state: State) -> None:
    return None


def no_print(printer: Printer, op: IRDLOperation) -> None:
    return None


def never(parser: Parser) -> bool:
    return False


def always(op: IRDLOperation) -> bool:
    return True
