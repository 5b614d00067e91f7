"""How caches treat an access, in the text of Triton 3.9: an attribute, `cachePolicy`.

The IR has two properties, `cache` and `evict`, which are also the words of the text up to 3.8. What a policy says is a
hint. NVIDIA's `#ttng.cache_policy`, of the second-level cache, is not defined yet: an error at its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Data, Operation
from xdsl.irdl import IRDLOperation, irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.tile.enums import CacheModifier, EvictionPolicy
from tritonx.ir.declaration import keyword
from tritonx.ir.spelling import Spellings, TextLevel, spellings

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

POLICY = "cachePolicy"


class CachePolicy(Data[tuple[CacheModifier, EvictionPolicy]]):
    """What attributes of cache policies have in common: what they say in the words of `cache` and `evict`."""

    @property
    def properties(self) -> dict[str, Attribute]:
        """The properties of an access that say it."""
        modifier, eviction = self.data
        return {"cache": IntegerAttr(modifier.value, i32), "evict": IntegerAttr(eviction.value, i32)}


def parse_words(parser: AttrParser, kinds: Mapping[str, type[IntEnum]]) -> dict[str, IntEnum]:
    """`<key = word, ...>`, each word a case of its key's enumeration."""
    found: dict[str, IntEnum] = {}

    def entry() -> None:
        key = parser.parse_identifier()
        if key not in kinds or key in found:
            parser.raise_error(f"unexpected '{key}', the keys are {', '.join(kinds)}")
        parser.parse_punctuation("=")
        words = {keyword(case): case for case in kinds[key]}
        word = parser.parse_identifier()
        if word not in words:
            parser.raise_error(f"'{word}' is none of {', '.join(words)}")
        found[key] = words[word]

    parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
    return found


@irdl_attr_definition
class CachePolicyAttr(CachePolicy):
    """`#tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>`"""

    name = "tt.cache_policy"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[CacheModifier, EvictionPolicy]:
        start = parser.pos
        kinds: dict[str, type[IntEnum]] = {"cache_modifier": CacheModifier, "eviction_policy": EvictionPolicy}
        found = parse_words(parser, kinds)
        if missing := [key for key in kinds if key not in found]:
            parser.raise_error(f"#{cls.name} lacks {', '.join(missing)}", start)
        return CacheModifier(found["cache_modifier"]), EvictionPolicy(found["eviction_policy"])

    def print_parameter(self, printer: Printer) -> None:
        modifier, eviction = self.data
        words = f"cache_modifier = {keyword(modifier)}, eviction_policy = {keyword(eviction)}"
        printer.print_string(f"<{words}>")


def _read(op: Operation) -> Operation:
    """`cache` and `evict` in the place of a policy."""
    policy = op.properties.pop(POLICY, None) or op.attributes.pop(POLICY, None)
    if policy is None:
        return op
    if not isinstance(policy, CachePolicy):
        raise VerifyException(f"'{POLICY}' must be a cache policy, got {policy}")
    if any(name in op.properties and op.properties[name] != default for name, default in _DEFAULT.items()):
        raise VerifyException(f"'{POLICY}' stands beside other words for it")
    assert isinstance(op, IRDLOperation)
    known = op.get_irdl_definition().properties
    op.properties.update({name: value for name, value in policy.properties.items() if name in known})
    return op


def _write(op: Operation, level: TextLevel) -> None:
    """A policy in the place of `cache` and `evict`, since 3.9."""
    if level < TextLevel.V3_9:
        return
    found = {name: op.properties.pop(name, default) for name, default in _DEFAULT.items()}
    if found != _DEFAULT:
        cache, evict = (value.value.data for value in found.values() if isinstance(value, IntegerAttr))
        op.attributes[POLICY] = CachePolicyAttr((CacheModifier(cache), EvictionPolicy(evict)))


_DEFAULT: dict[str, Attribute] = CachePolicyAttr((CacheModifier.NONE, EvictionPolicy.NORMAL)).properties


WORDS, ATTRIBUTE = (
    "cacheModifier = cg evictionPolicy = evict_first",
    "{cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>}",
)
"""One policy, in the words up to 3.8 and since."""

EVICTION = tuple(words.replace("cacheModifier = cg ", "").replace("= cg,", "= none,") for words in (WORDS, ATTRIBUTE))
"""Another one, for accesses that no modifier is for."""


def cached(example: str) -> Spellings:
    """What an access declares; `example` has `WORDS` in place of a policy."""
    assert EVICTION[0] in example, "the example of an access that caches has a policy"
    words, attribute = (WORDS, ATTRIBUTE) if WORDS in example else EVICTION
    later = re.sub(r"(tensordesc)<tensor<([^<>]*)>>", r"\1<\2>", example)
    texts = {TextLevel.V3_6: example, TextLevel.V3_8: later, TextLevel.V3_9: later.replace(words, attribute)}
    return spellings(texts, read=_read, write=_write)
