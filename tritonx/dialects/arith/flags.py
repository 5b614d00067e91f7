"""The promises an arithmetic op can make: `fastmath<contract>`, `overflow<nsw>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer


class _FlagsAttr(Data[frozenset[str]]):
    """A set of words out of `words`, printed in their order; `none` stands for no word, `every` for all of them."""

    words: ClassVar[tuple[str, ...]]
    every: ClassVar[str | None] = None

    def verify(self) -> None:
        unknown = self.data - frozenset(self.words)
        if unknown:
            raise VerifyException(
                f"{self.name} has no flag {', '.join(sorted(unknown))}; it has {', '.join(self.words)}"
            )

    @classmethod
    def _expand(cls, word: str) -> frozenset[str]:
        if word == "none":
            return frozenset()
        return frozenset(cls.words) if word == cls.every else frozenset((word,))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> frozenset[str]:
        known = ("none", *cls.words, *((cls.every,) if cls.every else ()))

        def word() -> frozenset[str]:
            for spelled in known:
                if parser.parse_optional_keyword(spelled) is not None:
                    return cls._expand(spelled)
            parser.raise_error(f"expected one of {', '.join(known)}")

        return frozenset[str]().union(*parser.parse_comma_separated_list(parser.Delimiter.ANGLE, word))

    def print_parameter(self, printer: Printer) -> None:
        chosen = [word for word in self.words if word in self.data]
        if not chosen:
            chosen = ["none"]
        elif len(chosen) == len(self.words) and self.every is not None:
            chosen = [self.every]
        printer.print_string(f"<{','.join(chosen)}>")


@irdl_attr_definition
class FastMathFlagsAttr(_FlagsAttr):
    """What may be assumed of floating-point values, with LLVM's words; `fast` is all of them."""

    name = "arith.fastmath"
    words = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")
    every = "fast"


@irdl_attr_definition
class IntegerOverflowAttr(_FlagsAttr):
    """In which sense an integer op never overflows: signed (`nsw`), unsigned (`nuw`)."""

    name = "arith.overflow"
    words = ("nsw", "nuw")


NO_FAST_MATH = FastMathFlagsAttr(frozenset())
MAY_OVERFLOW = IntegerOverflowAttr(frozenset())
