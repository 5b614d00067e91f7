"""How caches treat an access, in the text of Triton 3.9: an attribute, `cachePolicy`.

The IR has two properties, `cache` and `evict`, which are also the words of the text up to 3.8. What a policy says is a
hint. A policy of a target that says more than these words stays on the op as it is, an attribute beside properties that
have their defaults: `#ttng.cache_policy` (`dialects/nvidia/cache_policy.py`)."""

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
from tritonx.ir.spelling import LevelError, Spellings, TextLevel, spellings

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

POLICY = "cachePolicy"


class TargetPolicy:
    """What attributes have in common that are policies in the words of one target."""

    @property
    def properties(self) -> dict[str, Attribute] | None:
        """`cache` and `evict` of the same meaning; None where these words do not say it."""
        raise NotImplementedError


def policy_of(op: Operation) -> TargetPolicy | None:
    """What a target's policy says of an access, besides `cache` and `evict`."""
    found = op.attributes.get(POLICY)
    return found if isinstance(found, TargetPolicy) else None


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
class CachePolicyAttr(Data[tuple[CacheModifier, EvictionPolicy]]):
    """`#tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>`"""

    name = "tt.cache_policy"

    @property
    def properties(self) -> dict[str, Attribute]:
        """The properties of an access that say it."""
        modifier, eviction = self.data
        return {"cache": IntegerAttr(modifier.value, i32), "evict": IntegerAttr(eviction.value, i32)}

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
    if not isinstance(policy, CachePolicyAttr | TargetPolicy):
        raise VerifyException(f"'{POLICY}' must be a cache policy, got {policy}")
    if any(name in op.properties and op.properties[name] != default for name, default in _DEFAULT.items()):
        raise VerifyException(f"'{POLICY}' stands beside other words for it")
    if isinstance(policy, TargetPolicy):
        op.attributes[POLICY] = policy
        return op
    assert isinstance(op, IRDLOperation)
    known = op.get_irdl_definition().properties
    op.properties.update({name: value for name, value in policy.properties.items() if name in known})
    return op


def _write(op: Operation, level: TextLevel) -> None:
    """A policy in the place of `cache` and `evict`, since 3.9. Before, words in the place of a policy."""
    if level < TextLevel.V3_9:
        policy = policy_of(op)
        if policy is not None:
            if policy.properties is None:
                raise LevelError(f"Triton {level} has no words for {policy}", op)
            op.properties.update(policy.properties)
            del op.attributes[POLICY]
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
