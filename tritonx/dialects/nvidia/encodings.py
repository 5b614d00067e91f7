"""Tensor memory: its space and how a tile lies in it."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from xdsl.ir import Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.alias import Aliased
from tritonx.ir.spelling import LevelError, Spellings, TextLevel, level_of
from tritonx.layouts.tensor_memory import TensorMemoryEncoding, TensorMemoryScalesEncoding, bases_of_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.parser import AttrParser
    from xdsl.printer import Printer


@irdl_attr_definition
class TensorMemoryAttr(ParametrizedAttribute):
    """`#ttng.tensor_memory`: the memory that the tensor cores of Blackwell accumulate in."""

    name = "ttng.tensor_memory"


Encoding = TypeVar("Encoding", TensorMemoryEncoding, TensorMemoryScalesEncoding)

_WORDS = {
    "block_m": "blockM",
    "block_n": "blockN",
    "col_stride": "colStride",
    "cta_split_m": "CTASplitM",
    "cta_split_n": "CTASplitN",
    "two_ctas": "twoCTAs",
    "fp4_padded": "fp4Padded",
    "order": "blockRepOrder",
}
CGA = "CGALayout"
"""What since 3.8 stands for the two numbers of parts: the coordinates that each bit of a block's number adds."""

ORDERS = ("mnThenK", "kThenMn")


def _parts(parser: AttrParser) -> dict[str, int | bool | str]:
    """The numbers of parts that the bits of a block's number make, which must count parts of rows first."""
    start = parser.pos

    def basis() -> tuple[int, ...]:
        numbers = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False, allow_negative=False)
        )
        return tuple(numbers)

    bases = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, basis)
    m, n = 1 << sum(bool(b and b[0]) for b in bases), 1 << sum(len(b) > 1 and bool(b[1]) for b in bases)
    if list(bases) != bases_of_parts(m, n):
        parser.raise_error(f"tensor memory is split in rows, then in columns: {bases_of_parts(m, n)}", start)
    return {"cta_split_m": m, "cta_split_n": n}


def _parse(parser: AttrParser, kind: type[Encoding], name: str) -> Encoding:
    """`<key = value, ...>`, the whole of it absent where every field has a default."""
    by_word = {_WORDS[field.name]: field for field in fields(kind)}
    given: dict[str, int | bool | str] = {}
    start = parser.pos

    def entry() -> None:
        word = parser.parse_identifier()
        parser.parse_punctuation("=")
        found = _parts(parser) if word == CGA else {by_word[word].name: _value(parser)} if word in by_word else {}
        if not found or found.keys() & given.keys():
            parser.raise_error(f"unexpected '{word}', the keys are {', '.join((*by_word, CGA))}", start)
        given.update(found)

    parser.parse_optional_comma_separated_list(parser.Delimiter.ANGLE, entry)
    missing = [word for word, field in by_word.items() if field.default is MISSING and field.name not in given]
    if missing:
        parser.raise_error(f"#{name} lacks {', '.join(missing)}", start)
    return cast("Callable[..., Encoding]", kind)(**given)


def _value(parser: AttrParser) -> int | bool | str:
    for order in ORDERS:
        if parser.parse_optional_keyword(order):
            return "" if order == ORDERS[0] else order
    truth = parser.parse_optional_boolean()
    return parser.parse_integer(allow_boolean=False) if truth is None else truth


def _print(printer: Printer, data: TensorMemoryEncoding | TensorMemoryScalesEncoding) -> None:
    level = level_of(printer)
    shown: list[str] = []
    for field in fields(data):
        value = getattr(data, field.name)
        if value == field.default:
            continue
        if field.name in ("fp4_padded", "order") and level is not None and level < TextLevel.V3_9:
            raise LevelError(f"Triton {level} has no '{_WORDS[field.name]}' of tensor memory")
        if field.name.startswith("cta_split") and level is not None and level >= TextLevel.V3_8:
            text = f"{CGA} = {[list(basis) for basis in bases_of_parts(data.cta_split_m, data.cta_split_n)]}"
        else:
            text = f"{_WORDS[field.name]} = {value if field.name == 'order' else str(value).lower()}"
        if text not in shown:
            shown.append(text)
    if shown:
        printer.print_string(f"<{', '.join(shown)}>")


@irdl_attr_definition
class TensorMemoryEncodingAttr(Data[TensorMemoryEncoding], Aliased):
    """`#ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>`"""

    name = "ttng.tensor_memory_encoding"
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {
            TextLevel.V3_6: "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitN = 2>",
            TextLevel.V3_8: "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1,"
            " CGALayout = [[0, 1]]>",
        }
    )
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
