"""Tensor memory: its space and how a tile lies in it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from xdsl.ir import Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.alias import Aliased

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.parser import AttrParser
    from xdsl.printer import Printer


@irdl_attr_definition
class TensorMemoryAttr(ParametrizedAttribute, Aliased):
    """`#ttng.tensor_memory`: the memory that the tensor cores of Blackwell accumulate in."""

    name = "ttng.tensor_memory"
    ALIAS: ClassVar[str] = "ttng.tensor_memory"


@dataclass(frozen=True)
class TensorMemoryEncoding:
    """Blocks of `block_m` rows by `block_n` columns; `col_stride`: 32-bit columns (as a multiple of the element)
    between columns.
    """

    block_m: int
    block_n: int
    col_stride: int
    cta_split_m: int = 1
    cta_split_n: int = 1
    two_ctas: bool = False


@dataclass(frozen=True)
class TensorMemoryScalesEncoding:
    """How the scales of a scaled matrix product lie in tensor memory."""

    cta_split_m: int = 1
    cta_split_n: int = 1


Encoding = TypeVar("Encoding", TensorMemoryEncoding, TensorMemoryScalesEncoding)

_WORDS = {
    "block_m": "blockM",
    "block_n": "blockN",
    "col_stride": "colStride",
    "cta_split_m": "CTASplitM",
    "cta_split_n": "CTASplitN",
    "two_ctas": "twoCTAs",
}


def _parse(parser: AttrParser, kind: type[Encoding], name: str) -> Encoding:
    """`<key = value, ...>`, the whole of it absent where every field has a default."""
    by_word = {_WORDS[field.name]: field for field in fields(kind)}
    given: dict[str, int | bool] = {}
    start = parser.pos

    def entry() -> None:
        word = parser.parse_identifier()
        if word not in by_word or by_word[word].name in given:
            parser.raise_error(f"unexpected '{word}', the keys are {', '.join(by_word)}")
        parser.parse_punctuation("=")
        truth = parser.parse_optional_boolean()
        given[by_word[word].name] = parser.parse_integer(allow_boolean=False) if truth is None else truth

    parser.parse_optional_comma_separated_list(parser.Delimiter.ANGLE, entry)
    missing = [word for word, field in by_word.items() if field.default is MISSING and field.name not in given]
    if missing:
        parser.raise_error(f"#{name} lacks {', '.join(missing)}", start)
    return cast("Callable[..., Encoding]", kind)(**given)


def _print(printer: Printer, data: TensorMemoryEncoding | TensorMemoryScalesEncoding) -> None:
    shown: list[str] = []
    for field in fields(data):
        value = getattr(data, field.name)
        if value != field.default:
            shown.append(f"{_WORDS[field.name]} = {str(value).lower()}")
    if shown:
        printer.print_string(f"<{', '.join(shown)}>")


@irdl_attr_definition
class TensorMemoryEncodingAttr(Data[TensorMemoryEncoding], Aliased):
    """`#ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>`"""

    name = "ttng.tensor_memory_encoding"
    ALIAS: ClassVar[str] = "tmem"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorMemoryEncoding:
        return _parse(parser, TensorMemoryEncoding, cls.name)

    def print_parameter(self, printer: Printer) -> None:
        _print(printer, self.data)

    def verify(self) -> None:
        if self.data.block_m not in (64, 128):
            raise VerifyException(f"blockM must be 64 or 128, got {self.data.block_m}")
        if self.data.block_n < 1 or self.data.block_n & (self.data.block_n - 1):
            raise VerifyException(f"blockN must be a power of two, got {self.data.block_n}")


@irdl_attr_definition
class TensorMemoryScalesEncodingAttr(Data[TensorMemoryScalesEncoding], Aliased):
    """`#ttng.tensor_memory_scales_encoding<>`"""

    name = "ttng.tensor_memory_scales_encoding"
    ALIAS: ClassVar[str] = "tmem_scales"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorMemoryScalesEncoding:
        return _parse(parser, TensorMemoryScalesEncoding, cls.name)

    def print_parameter(self, printer: Printer) -> None:
        if self.data == TensorMemoryScalesEncoding():
            printer.print_string("<>")
        else:
            _print(printer, self.data)


TENSOR_MEMORY = TensorMemoryAttr()
