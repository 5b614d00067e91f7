"""Versions of Triton's text, and how an op, attribute or type declares what they write differently.

The IR has one form of everything. Triton's versions spell some of it differently: `ttg.local_barrier` of 3.6 is
`ttg.barrier local` since 3.8, and the caching of a load, `cacheModifier = ca` up to 3.8, is an attribute
`#tt.cache_policy<...>` in 3.9. The parser reads every spelling. The printer writes the one of the level that it is
asked for; without a level it writes 3.6's, and the newest version's where 3.6 has none, whatever the level of programs
(`tritonx.level`).

An op, attribute or type class that is concerned declares `SPELLINGS`:

- `texts`: for each level from which on it is written differently, an example. None: versions from there on lack it.
  Tests print and parse these examples, and the pages of `docs/ir` show them.
- `read`: what the parser makes of an op that it has read, of whatever level. It changes the op, or gives another one
  without results for it. (What differs in a type or an attribute is read and printed by its own class.)
- `write`: what becomes of an op, in a copy of the module, before it is printed at a level.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar, cast

from xdsl.dialect_interfaces import DialectInterface
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

Op = TypeVar("Op", bound=Operation)


class TextLevel(IntEnum):
    """A version of Triton whose text is written. (`tritonx.level.Level` is what programs mean.)

    >>> TextLevel.named("3.9") > TextLevel.V3_6, str(TextLevel.V3_8)
    (True, '3.8')
    """

    V3_6 = 6
    V3_8 = 8
    V3_9 = 9

    @classmethod
    def named(cls, text: str) -> TextLevel:
        """The level of a version's number; `ValueError` for one that has no level."""
        for level in cls:
            if str(level) == text:
                return level
        raise ValueError(f"'{text}' is no level of text: there are {', '.join(map(str, cls))}")

    def __str__(self) -> str:
        return f"3.{self.value}"


class LevelError(VerifyException):
    """Something that the text of a level cannot say."""

    def __init__(self, message: str, op: Operation | None = None) -> None:
        super().__init__(message)
        self.op = op


@dataclass(frozen=True)
class Spellings:
    """What `SPELLINGS` of a class holds; see the module's docstring."""

    texts: Mapping[TextLevel, str | None]
    read: Callable[[Operation], Operation] | None = None
    write: Callable[[Operation, TextLevel], None] | None = None

    @property
    def shown(self) -> bool:
        """Whether there is an example."""
        return any(self.texts.values())

    def text(self, level: TextLevel) -> str | None:
        """The example of a level; None where it lacks the op."""
        found = [since for since in self.texts if since <= level]
        return self.texts[max(found)] if found else None


NO_VERSION = Spellings({TextLevel.V3_6: None})
"""Of an op that tritonx alone has."""


def spellings(
    texts: Mapping[TextLevel, str | None],
    *,
    read: Callable[[Op], Operation] | None = None,
    write: Callable[[Op, TextLevel], None] | None = None,
) -> Spellings:
    """A declaration, whose functions take ops of the class that makes it."""
    reader, writer = cast("Callable[[Operation], Operation] | None", read), cast("object", write)
    return Spellings(texts, reader, cast("Callable[[Operation, TextLevel], None] | None", writer))


def spellings_of(kind: type[Operation] | type[Attribute]) -> Spellings | None:
    """What a class declares; None for one that all versions write alike."""
    return getattr(kind, "SPELLINGS", None)


def level_of(printer: object) -> TextLevel | None:
    """The level that a printer writes; None where it was not asked for one."""
    return getattr(printer, "level", None)


def since(printer: object, level: TextLevel) -> bool:
    """Whether a printer was asked for this level or a later one."""
    asked = level_of(printer)
    return asked is not None and asked >= level


def replace(op: Operation, made: Operation) -> None:
    """Put an op with the same results in the place of another one; for `write`, before anything is printed."""
    block = op.parent
    assert block is not None
    made.location = op.location
    block.insert_op_before(made, op)
    for old, new in zip(op.results, made.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    block.erase_op(op)


class Respelling(DialectInterface):
    """What a dialect does, in a copy of a module, before it is printed at a level: for ops of other dialects."""

    @abstractmethod
    def write(self, module: Operation, level: TextLevel) -> None:
        """Changes the module to what the level's text can say."""


def respell(module: Operation, level: TextLevel) -> None:
    """Make what is below an op what the level's text can say. Raises `LevelError`, with the op that it cannot."""
    for op in list(module.walk()):
        declared = spellings_of(type(op))
        if declared is None:
            continue
        if declared.write is not None:
            declared.write(op, level)
        elif declared.text(level) is None:
            raise LevelError(f"Triton {level} has no {op.name}", op)
