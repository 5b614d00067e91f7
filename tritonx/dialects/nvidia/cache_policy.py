"""Cache policies of NVIDIA GPUs, `#ttng.cache_policy` (Triton 3.9): cache operators and eviction priorities of PTX.

PTX ISA 9.0, "Cache Eviction Priority Hints" and "createpolicy"."""

from __future__ import annotations

from dataclasses import dataclass, fields
from struct import pack, unpack
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, f32, i32
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.tile.cache_policy import TargetPolicy
from tritonx.dialects.tile.enums import CacheModifier, EvictionPolicy
from tritonx.ir.declaration import keyword
from tritonx.ir.text.floats import float_text

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

PRIMARY = ("evict_normal", "evict_unchanged", "evict_first", "evict_last")
"""Priorities of lines of the second-level cache."""
PREFETCHES = (64, 128, 256)
"""Bytes."""

_WORDS = {
    "cache_modifier": tuple(keyword(each) for each in CacheModifier),
    "l1": (*PRIMARY, "no_allocate"),
    "l2_primary": PRIMARY,
    "l2_secondary": ("evict_unchanged", "evict_first"),
}
"""The words of each key that has words."""


@dataclass(frozen=True)
class NvidiaCachePolicy:
    """A cache operator or a priority of the first-level cache; a share `l2_fraction` of the lines that has the priority
    `l2_primary` in the second-level cache, whose other lines have `l2_secondary`; bytes that are fetched at once."""

    cache_modifier: str | None = None
    l1: str | None = None
    l2_primary: str | None = None
    l2_secondary: str | None = None
    l2_fraction: float | None = None
    l2_prefetch_size: int | None = None


KEYS = tuple(field.name for field in fields(NvidiaCachePolicy))


@irdl_attr_definition
class NvidiaCachePolicyAttr(Data[NvidiaCachePolicy], TargetPolicy):
    """`#ttng.cache_policy<l1 = evict_first, l2_primary = evict_last, l2_secondary = evict_first, l2_fraction =
    5.000000e-01 : f32, l2_prefetch_size = 64 : i32>`: each part may be absent, the three of the second-level cache
    together."""

    name = "ttng.cache_policy"

    @property
    def properties(self) -> dict[str, Attribute] | None:
        data = self.data
        words = {keyword(each): each for each in EvictionPolicy}
        eviction = words.get(data.l1 or keyword(EvictionPolicy.NORMAL))
        if data.l2_fraction is not None or data.l2_prefetch_size is not None or eviction is None:
            return None
        cache = CacheModifier[(data.cache_modifier or "none").upper()]
        return {"cache": IntegerAttr(cache.value, i32), "evict": IntegerAttr(eviction.value, i32)}

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> NvidiaCachePolicy:
        found: dict[str, str | float | int | None] = {}

        def entry() -> None:
            key = parser.parse_identifier()
            if key not in KEYS or key in found:
                parser.raise_error(f"unexpected '{key}', the keys are {', '.join(KEYS)}")
            parser.parse_punctuation("=")
            if key in _WORDS:
                word = parser.parse_identifier()
                if word not in _WORDS[key]:
                    parser.raise_error(f"'{word}' is none of {', '.join(_WORDS[key])}")
                found[key] = None if word == "none" else word
                return
            number, type_ = (parser.parse_number, "f32") if key == "l2_fraction" else (parser.parse_integer, "i32")
            found[key] = number()
            parser.parse_punctuation(":")
            parser.parse_keyword(type_)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
        if (fraction := found.get("l2_fraction")) is not None:
            found["l2_fraction"] = unpack("f", pack("f", fraction))[0]
        return NvidiaCachePolicy(**found)  # pyright: ignore[reportArgumentType] -- each entry has its key's type

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            shown: list[str] = []
            for key in KEYS:
                value = getattr(self.data, key)
                if value is not None:
                    text = float_text(value, f32) + " : f32" if isinstance(value, float) else str(value)
                    shown.append(f"{key} = {text}" + (" : i32" if isinstance(value, int) else ""))
            printer.print_string(", ".join(shown))

    def verify(self) -> None:
        data = self.data
        if data.cache_modifier is not None and data.l1 is not None:
            raise VerifyException("a cache modifier stands beside no priority of the first-level cache")
        if len({part is None for part in (data.l2_primary, data.l2_secondary, data.l2_fraction)}) > 1:
            raise VerifyException("l2_primary, l2_secondary and l2_fraction stand together")
        if data.l2_fraction is not None and not 0 < data.l2_fraction <= 1:
            raise VerifyException(f"l2_fraction must be above 0 and at most 1, got {data.l2_fraction}")
        if data.l2_prefetch_size is not None and data.l2_prefetch_size not in PREFETCHES:
            raise VerifyException(
                f"l2_prefetch_size must be one of {', '.join(map(str, PREFETCHES))}, got {data.l2_prefetch_size}"
            )
