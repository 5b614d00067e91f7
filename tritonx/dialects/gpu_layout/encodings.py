"""Encodings as attributes: `#ttg.blocked<{sizePerThread = [1, 8], ...}>` around the plain values of
`tritonx.layouts.encodings`.

An attribute's `data` is the encoding; `attribute_of` goes the other way. Equal encodings give the same attribute
object, so that comparing two layouts is usually an identity check and its hash is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from dataclasses import fields as dataclass_fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.alias import Aliased
from tritonx.ir.spelling import LevelError, Spellings, TextLevel, level_of, since
from tritonx.layouts import encodings as E
from tritonx.layouts.cta_layout import bases_of, encoding_of, is_counted
from tritonx.layouts.errors import LayoutError

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

_DISTRIBUTED = (
    E.BlockedEncoding,
    E.SliceEncoding,
    E.NvidiaMmaEncoding,
    E.AmdMfmaEncoding,
    E.AmdWmmaEncoding,
    E.DotOperandEncoding,
    E.LinearEncoding,
)

Elided = Callable[[Any], bool]


def _never(encoding: object) -> bool:
    return False


def _is_false(field: str) -> Elided:
    """Not printed while the field is empty, zero or false."""
    return lambda encoding: not getattr(encoding, field)


def _no_tiles(encoding: Any) -> bool:
    return set(encoding.tiles_per_warp) <= {1}


class EncodingAttr(Data[E.Encoding]):
    """What all encoding attributes share: the text `<{key = value, ...}>`, one key for each field of the value's
    class.
    """

    ENCODING: ClassVar[type[E.Encoding]]
    """Class of the value."""
    KEYS: ClassVar[tuple[tuple[str, str, Elided], ...]]
    """Word in the text, name of the field, and when it is left out (only fields that have a default may be)."""

    def __hash__(self) -> int:
        cached = self.__dict__.get("_hash")
        if cached is None:
            cached = hash((type(self), self.data))
            object.__setattr__(self, "_hash", cached)
        return cached

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.data == cast(EncodingAttr, other).data)

    def parts(self) -> tuple[Attribute, ...]:
        """Attributes that this one is made of: the parent of a slice or dot operand."""
        parent = getattr(self.data, "parent", None)
        return () if parent is None else (attribute_of(parent),)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> E.Encoding:
        start = parser.pos
        with parser.in_angle_brackets():
            given = {key: to_python(value) for key, value in parser.parse_optional_dictionary_attr_dict().items()}
        return cls.from_text(parser, start, given)

    @classmethod
    def from_text(cls, parser: AttrParser, start: int, given: Mapping[str, object]) -> E.Encoding:
        """The value that a dictionary describes; a parse error where it describes none."""
        fields = {key: field for key, field, _ in cls.KEYS}
        for key in given:
            if key not in fields:
                parser.raise_error(f"#{cls.name} has no '{key}', only {', '.join(fields)}", start)
        required = {field.name for field in dataclass_fields(cls.ENCODING) if field.default is MISSING}
        missing = [key for key, field in fields.items() if field in required and key not in given]
        if missing:
            parser.raise_error(f"#{cls.name} lacks {', '.join(missing)}", start)
        try:
            build = cast("Callable[..., E.Encoding]", cls.ENCODING)  # `verify` looks at what a text gives
            return build(**{fields[key]: value for key, value in given.items()})
        except LayoutError as error:
            parser.raise_error(f"#{cls.name}: {error}", start)
        except (TypeError, ValueError, IndexError, AttributeError, AssertionError) as error:
            parser.raise_error(f"#{cls.name}: unsuitable values ({error})", start)

    def verify(self) -> None:
        if not isinstance(self.data, self.ENCODING):
            raise VerifyException(f"#{self.name} holds a {self.ENCODING.__name__}, got {self.data!r}")
        if not _well_typed(self.data):
            raise VerifyException(f"#{self.name} has unsuitable values: {self.data!r}")

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_fields(printer)

    def print_fields(self, printer: Printer) -> None:
        """`{key = value, ...}`."""
        data = self.data
        shown = [(key, getattr(data, field)) for key, field, elided in self.KEYS if not elided(data)]
        with printer.in_braces():
            for index, (key, value) in enumerate(shown):
                printer.print_string(f"{', ' if index else ''}{key} = ")
                print_python(printer, value)


def _well_typed(encoding: E.Encoding) -> bool:
    """Whether every field has the kind of value its default or its meaning asks for: numbers are non-negative, lists
    hold numbers.
    """

    def good(value: object) -> bool:
        if isinstance(value, tuple):
            return all(good(entry) for entry in cast("tuple[object, ...]", value))
        if isinstance(value, int):
            return value >= 0
        return value is None or isinstance(value, _DISTRIBUTED)

    return all(good(value) for value in encoding.__dict__.values())


def to_python(attribute: Attribute) -> object:
    """Numbers, truth values and nested lists of them as Python values; encodings as encodings; anything else as it
    is.
    """
    match attribute:
        case IntegerAttr():
            return bool(attribute.value.data) if attribute.type == IntegerType(1) else attribute.value.data
        case ArrayAttr():
            return tuple(to_python(entry) for entry in attribute.data)
        case DictionaryAttr():
            return {key: to_python(value) for key, value in attribute.data.items()}
        case EncodingAttr():
            return attribute.data
        case _:
            return attribute


def print_python(printer: Printer, value: object) -> None:
    """The inverse of `to_python`."""
    if isinstance(value, bool):
        printer.print_string("true" if value else "false")
    elif isinstance(value, int):
        printer.print_string(str(value))
    elif isinstance(value, tuple):
        entries = cast("tuple[object, ...]", value)
        with printer.in_square_brackets():
            printer.print_list(entries, lambda entry: print_python(printer, entry))
    else:
        printer.print_attribute(attribute_of(value))


@irdl_attr_definition
class BlockedEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.blocked`"""

    name = "ttg.blocked"
    ALIAS: ClassVar[str] = "blocked"
    ENCODING: ClassVar = E.BlockedEncoding
    KEYS: ClassVar = (
        ("sizePerThread", "size_per_thread", _never),
        ("threadsPerWarp", "threads_per_warp", _never),
        ("warpsPerCTA", "warps_per_cta", _never),
        ("order", "order", _never),
        ("CGALayout", "cga", _is_false("cga")),
    )


@irdl_attr_definition
class SliceEncodingAttr(EncodingAttr):
    """`#ttg.slice`"""

    name = "ttg.slice"
    ENCODING: ClassVar = E.SliceEncoding
    KEYS: ClassVar = (("dim", "dim", _never), ("parent", "parent", _never))


@irdl_attr_definition
class DotOperandEncodingAttr(EncodingAttr):
    """`#ttg.dot_op`"""

    name = "ttg.dot_op"
    ENCODING: ClassVar = E.DotOperandEncoding
    KEYS: ClassVar = (
        ("opIdx", "op_idx", _never),
        ("parent", "parent", _never),
        ("kWidth", "k_width", _is_false("k_width")),
    )


@irdl_attr_definition
class NvidiaMmaEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.nvidia_mma`"""

    name = "ttg.nvidia_mma"
    ALIAS: ClassVar[str] = "mma"
    ENCODING: ClassVar = E.NvidiaMmaEncoding
    KEYS: ClassVar = (
        ("versionMajor", "version_major", _never),
        ("versionMinor", "version_minor", _never),
        ("warpsPerCTA", "warps_per_cta", _never),
        ("CGALayout", "cga", _is_false("cga")),
        ("instrShape", "instr_shape", _never),
    )

    @classmethod
    def from_text(cls, parser: AttrParser, start: int, given: Mapping[str, object]) -> E.Encoding:
        return super().from_text(parser, start, {"versionMinor": 0, **given})


@irdl_attr_definition
class AmdMfmaEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.amd_mfma`"""

    name = "ttg.amd_mfma"
    ALIAS: ClassVar[str] = "mma"
    ENCODING: ClassVar = E.AmdMfmaEncoding
    KEYS: ClassVar = (
        ("version", "version", _never),
        ("warpsPerCTA", "warps_per_cta", _never),
        ("instrShape", "instr_shape", _never),
        ("isTransposed", "is_transposed", _never),
        ("CGALayout", "cga", _is_false("cga")),
        ("tilesPerWarp", "tiles_per_warp", _no_tiles),
        ("elementBitWidth", "element_bit_width", lambda e: e.element_bit_width == 32),
    )


@irdl_attr_definition
class AmdWmmaEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.amd_wmma`"""

    name = "ttg.amd_wmma"
    ALIAS: ClassVar[str] = "mma"
    ENCODING: ClassVar = E.AmdWmmaEncoding
    KEYS: ClassVar = (
        ("version", "version", _never),
        ("isTranspose", "is_transposed", _never),
        ("warpsPerCTA", "warps_per_cta", _never),
        ("CGALayout", "cga", _is_false("cga")),
        ("tilesPerWarp", "tiles_per_warp", _no_tiles),
        ("instrShape", "instr_shape", lambda e: e.instr_shape == (16, 16, 16)),
    )
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {
            TextLevel.V3_6: "#ttg.amd_wmma<{version = 2, isTranspose = false,"
            " warpsPerCTA = [2, 2], tilesPerWarp = [1, 2]}>",
            TextLevel.V3_8: "#ttg.amd_wmma<{version = 2, isTranspose = false,"
            " ctaLayout = {register = [[0, 1]], warp = [[0, 2], [1, 0]]}}>",
        }
    )

    @classmethod
    def from_text(cls, parser: AttrParser, start: int, given: Mapping[str, object]) -> E.Encoding:
        layout, rank = given.get("ctaLayout"), given.get("rank")
        if isinstance(layout, dict):
            bases = cast("dict[str, tuple[tuple[int, ...], ...]]", layout)
            register, warp = bases.get("register", ()), bases.get("warp", ())
            lengths = [len(basis) for basis in (*register, *warp)]
            rest = {key: value for key, value in given.items() if key not in ("ctaLayout", "rank")}
            plain = cast(E.AmdWmmaEncoding, super().from_text(parser, start, {**rest, "warpsPerCTA": ()}))
            try:
                rank = max(lengths, default=rank if isinstance(rank, int) else 2)
                shape, cga = plain.instr_shape, plain.cga
                return encoding_of(plain.version, plain.is_transposed, register, warp, shape, cga, rank)
            except LayoutError as error:
                parser.raise_error(f"#{cls.name}: {error}", start)
        return super().from_text(parser, start, given)

    def print_fields(self, printer: Printer) -> None:
        data = cast(E.AmdWmmaEncoding, self.data)
        level = level_of(printer)
        if not since(printer, TextLevel.V3_8) and (data.tile_bases is None or (level is not None and is_counted(data))):
            super().print_fields(printer)
            return
        if level is not None and level < TextLevel.V3_8:
            raise LevelError(f"Triton {level} has no words for warps over tiles as in {bases_of(data)}")
        with printer.in_braces():
            printer.print_string(
                f"version = {data.version}, isTranspose = {str(data.is_transposed).lower()}, ctaLayout = "
            )
            with printer.in_braces():
                parts = [f"{name} = {[list(basis) for basis in bases]}" for name, bases in bases_of(data).items()]
                printer.print_string(", ".join(parts))
            for key, field, elided in self.KEYS:
                if field in ("cga", "instr_shape") and not elided(data):
                    printer.print_string(f", {key} = ")
                    print_python(printer, getattr(data, field))
            if data.rank != 2:
                printer.print_string(f", rank = {data.rank}")


@irdl_attr_definition
class LinearEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.linear`"""

    name = "ttg.linear"
    ALIAS: ClassVar[str] = "linear"
    ENCODING: ClassVar = E.LinearEncoding
    KEYS: ClassVar = (
        ("register", "register", _never),
        ("lane", "lane", _never),
        ("warp", "warp", _never),
        ("block", "block", _never),
    )


@irdl_attr_definition
class GenericLinearEncodingAttr(EncodingAttr):
    """`#ttg.generic_linear` (Triton 3.8), read as `#ttg.linear`: warps may step along several dims, as here."""

    name = "ttg.generic_linear"
    ENCODING: ClassVar = E.LinearEncoding
    KEYS: ClassVar = LinearEncodingAttr.KEYS

    @classmethod
    def new(cls, params: E.Encoding) -> EncodingAttr:  # pyright: ignore[reportIncompatibleMethodOverride] -- another class stands for it
        return attribute_of(params)


@irdl_attr_definition
class SwizzledSharedEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.swizzled_shared`"""

    name = "ttg.swizzled_shared"
    ALIAS: ClassVar[str] = "shared"
    ENCODING: ClassVar = E.SwizzledSharedEncoding
    KEYS: ClassVar = (
        ("vec", "vec", _never),
        ("perPhase", "per_phase", _never),
        ("maxPhase", "max_phase", _never),
        ("order", "order", _never),
        ("CGALayout", "cga", _is_false("cga")),
    )


@irdl_attr_definition
class RotatingSharedEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.amd_rotating_shared`"""

    name = "ttg.amd_rotating_shared"
    ALIAS: ClassVar[str] = "shared"
    ENCODING: ClassVar = E.RotatingSharedEncoding
    KEYS: ClassVar = SwizzledSharedEncodingAttr.KEYS


@irdl_attr_definition
class NvmmaSharedEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.nvmma_shared`"""

    name = "ttg.nvmma_shared"
    ALIAS: ClassVar[str] = "shared"
    ENCODING: ClassVar = E.NvmmaSharedEncoding
    KEYS: ClassVar = (
        ("swizzlingByteWidth", "swizzling_byte_width", _never),
        ("transposed", "transposed", _never),
        ("elementBitWidth", "element_bit_width", _never),
        ("fp4Padded", "fp4_padded", _is_false("fp4_padded")),
        ("CGALayout", "cga", _is_false("cga")),
        ("rank", "rank", lambda e: e.rank == 2 or bool(e.cga)),
    )

    @classmethod
    def from_text(cls, parser: AttrParser, start: int, given: Mapping[str, object]) -> E.Encoding:
        cga = given.get("CGALayout")
        first = cast("tuple[object, ...]", cga)[0] if cga and isinstance(cga, tuple) else None
        if "rank" not in given and isinstance(first, tuple):
            given = {**given, "rank": len(cast("tuple[object, ...]", first))}
        return super().from_text(parser, start, given)


@irdl_attr_definition
class PaddedSharedEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.padded_shared<[512:+16] {order = [1, 0], shape = [64, 64]}>`, or with `offset` and `block` bases."""

    name = "ttg.padded_shared"
    ALIAS: ClassVar[str] = "shared"
    ENCODING: ClassVar = E.PaddedSharedEncoding
    KEYS: ClassVar = (
        ("intervals", "intervals", lambda e: True),
        ("paddings", "paddings", lambda e: True),
        ("offset", "offset", lambda e: e.offset is None),
        ("block", "block", lambda e: e.offset is None),
        ("order", "order", lambda e: e.offset is not None),
        ("shape", "shape", lambda e: e.offset is not None),
        ("CGALayout", "cga", lambda e: e.offset is not None or not e.cga),
    )

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> E.Encoding:
        start = parser.pos

        def step() -> tuple[int, int]:
            interval = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_punctuation(":")
            parser.parse_punctuation("+")
            return interval, parser.parse_integer(allow_boolean=False, allow_negative=False)

        with parser.in_angle_brackets():
            steps = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, step)
            given = {key: to_python(value) for key, value in parser.parse_optional_dictionary_attr_dict().items()}
        intervals, paddings = tuple(interval for interval, _ in steps), tuple(padding for _, padding in steps)
        return cls.from_text(parser, start, {**given, "intervals": intervals, "paddings": paddings})

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            data = cast(E.PaddedSharedEncoding, self.data)
            steps = zip(data.intervals, data.paddings, strict=True)
            printer.print_string("[" + ", ".join(f"{interval}:+{padding}" for interval, padding in steps) + "] ")
            self.print_fields(printer)


@irdl_attr_definition
class SharedLinearEncodingAttr(EncodingAttr, Aliased):
    """`#ttg.shared_linear<{offset = [...], block = [...]}, alignment = 16>`"""

    name = "ttg.shared_linear"
    ALIAS: ClassVar[str] = "shared"
    ENCODING: ClassVar = E.SharedLinearEncoding
    KEYS: ClassVar = (
        ("offset", "offset", _never),
        ("block", "block", _is_false("block")),
        ("alignment", "alignment", lambda e: True),
    )

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> E.Encoding:
        start = parser.pos
        with parser.in_angle_brackets():
            given = {key: to_python(value) for key, value in parser.parse_optional_dictionary_attr_dict().items()}
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("alignment")
                parser.parse_punctuation("=")
                given["alignment"] = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return cls.from_text(parser, start, given)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_fields(printer)
            printer.print_string(f", alignment = {cast(E.SharedLinearEncoding, self.data).alignment}")


ENCODING_ATTRIBUTES: tuple[type[EncodingAttr], ...] = (
    BlockedEncodingAttr,
    SliceEncodingAttr,
    DotOperandEncodingAttr,
    NvidiaMmaEncodingAttr,
    AmdMfmaEncodingAttr,
    AmdWmmaEncodingAttr,
    LinearEncodingAttr,
    GenericLinearEncodingAttr,
    SwizzledSharedEncodingAttr,
    RotatingSharedEncodingAttr,
    NvmmaSharedEncodingAttr,
    PaddedSharedEncodingAttr,
    SharedLinearEncodingAttr,
)

_BY_ENCODING: dict[type[object], type[EncodingAttr]] = {
    cls.ENCODING: cls for cls in ENCODING_ATTRIBUTES if cls is not GenericLinearEncodingAttr
}


@lru_cache(maxsize=4096)
def attribute_of(encoding: object) -> EncodingAttr:
    """The attribute of an encoding; equal encodings give the same object. Raises `TypeError` for anything else."""
    kind = _BY_ENCODING.get(type(encoding))
    if kind is None:
        raise TypeError(f"no attribute holds {encoding!r}")
    return kind(cast(E.Encoding, encoding))
