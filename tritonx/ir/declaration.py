"""The words of an op's declaration that its text format reads as well: rules of types, properties that are cases of an
enum, the sizes of operand segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i32
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, VerificationContext, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

if TYPE_CHECKING:
    from xdsl.parser import AttrParser

TypeRule = Callable[[Attribute], Attribute]
"""Computes a type from another one; raises `VerifyException` when it has no answer."""


TypeRules = Mapping[str, tuple[str, TypeRule]]
"""`name: (source, rule)`: the type of operand or result `name` is `rule(type of source)`."""


def same(type_: Attribute) -> Attribute:
    """The rule of an operand or result whose type is that of another one.

    >>> from xdsl.dialects.builtin import f32
    >>> same(f32) is f32
    True
    """
    return type_


class EnumConstraint(AttrConstraint[IntegerAttr[IntegerType]]):
    """An integer attribute (`i32` unless told otherwise) that holds a case of `enum`; the text has the case's
    keyword.
    """

    def __init__(self, enum: type[IntEnum], type_: IntegerType = i32) -> None:
        self.enum = enum
        self.type = type_
        self.by_value: dict[int, str] = {case.value: keyword(case) for case in enum}
        self.by_keyword: dict[str, IntegerAttr[IntegerType]] = {
            keyword(case): IntegerAttr(case.value, type_) for case in enum
        }

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not isinstance(attr, IntegerAttr) or cast("IntegerAttr[IntegerType]", attr).type != self.type:
            raise VerifyException(f"expected an {self.type} that holds a {self.enum.__name__}, got {attr}")
        value = cast("IntegerAttr[IntegerType]", attr).value.data
        if value not in self.by_value:
            cases = ", ".join(f"{word} = {number}" for number, word in self.by_value.items())
            raise VerifyException(f"{value} is no {self.enum.__name__} (the cases are {cases})")

    def mapping_type_vars(self, type_var_mapping: object) -> EnumConstraint:
        return self


def keyword(case: IntEnum) -> str:
    """The word that stands for an enum case in the text: the case's name in lower case, unless the enum says
    otherwise.
    """
    spelled = getattr(case, "keyword", None)
    return spelled if isinstance(spelled, str) else case.name.lower()


FlagT = TypeVar("FlagT", bound=IntFlag)


def parse_flags(parser: AttrParser, kind: type[FlagT]) -> FlagT:
    """Cases of a flag in lower case, joined by `|`."""
    known = {name.lower(): case for name, case in kind.__members__.items()}
    found = kind(0)
    while True:
        start, word = parser.pos, parser.parse_identifier()
        if word not in known:
            parser.raise_error(f"expected one of {', '.join(known)}, got '{word}'", start)
        found |= known[word]
        if parser.parse_optional_punctuation("|") is None:
            return found


def enum_prop(enum: type[IntEnum], *, default: IntEnum | None = None) -> IntegerAttr[IntegerType]:
    """A property that holds a case of `enum` as an `i32` attribute."""
    if default is None:
        return prop_def(EnumConstraint(enum))
    return prop_def(EnumConstraint(enum), default_value=IntegerAttr(default.value, i32))


def opt_enum_prop(enum: type[IntEnum]) -> IntegerAttr[IntegerType] | None:
    """Like `enum_prop`, for a property that may be absent."""
    return opt_prop_def(EnumConstraint(enum))


def sizes_of_segments(sizes: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """The value of `operandSegmentSizes`; equal ones are the same object."""
    key = tuple(sizes)
    attr = _SEGMENTS.get(key)
    if attr is None:
        attr = _SEGMENTS[key] = DenseArrayBase.from_list(i32, key)
    return attr


_SEGMENTS: dict[tuple[int, ...], DenseArrayBase[IntegerType]] = {}
"""A cache of immutable values, not state: clearing it changes nothing but time."""

SEGMENTS = "operandSegmentSizes"
