"""What an access says of caches, as modifiers of PTX instructions and the policy that one of them takes as an operand.

PTX ISA 9.0, "ld", "st", "cp.async" and "createpolicy"."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from tritonx.dialects.nvidia import NvidiaCachePolicy, NvidiaCachePolicyAttr
from tritonx.dialects.tile.enums import CacheModifier, EvictionPolicy

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.machine import Access

LOAD_CACHE = {CacheModifier.CA: ".ca", CacheModifier.CG: ".cg", CacheModifier.CS: ".cs", CacheModifier.CV: ".cv"}
STORE_CACHE = {CacheModifier.WB: ".wb", CacheModifier.CG: ".cg", CacheModifier.CS: ".cs", CacheModifier.WT: ".wt"}
_EVICT = {EvictionPolicy.EVICT_FIRST: ".L1::evict_first", EvictionPolicy.EVICT_LAST: ".L1::evict_last"}


def modifiers(access: Access, table: dict[CacheModifier, str], capability: int) -> str:
    """The modifiers of a load or a store, `table` being what it has of operators: the operator, or the eviction
    priority, of which PTX has one; the default operator gives way."""
    if isinstance(access.policy, NvidiaCachePolicyAttr):
        return _detailed(access.policy.data, table, capability)
    cache, evict = CacheModifier(access.cache), _EVICT.get(EvictionPolicy(access.evict), "")
    default = CacheModifier.CA if table is LOAD_CACHE else CacheModifier.WB
    if evict and cache in (CacheModifier.NONE, default):
        return evict
    return table.get(cache, "")


def _detailed(policy: NvidiaCachePolicy, table: dict[CacheModifier, str], capability: int) -> str:
    text = f".L1::{policy.l1}" if policy.l1 is not None else ""
    if policy.cache_modifier is not None:
        text = table.get(CacheModifier[policy.cache_modifier.upper()], "")
    if policy.l2_fraction is not None and capability >= 80:
        text += ".L2::cache_hint"
    return text + (prefetch(policy, capability) if table is LOAD_CACHE else "")


def prefetch(policy: NvidiaCachePolicy, capability: int) -> str:
    """The modifier that fetches more than is read."""
    return f".L2::{policy.l2_prefetch_size}B" if policy.l2_prefetch_size is not None and capability >= 80 else ""


def created(f: FunctionEmitter, access: Access, capability: int) -> str | None:
    """The i64 of the priorities in the second-level cache; None where there are none. Equal ones are made once."""
    policy = access.policy.data if isinstance(access.policy, NvidiaCachePolicyAttr) else NvidiaCachePolicy()
    if policy.l2_fraction is None or capability < 80:
        return None
    others = "" if policy.l2_secondary == "evict_unchanged" else f".L2::{policy.l2_secondary}"
    number = f"0f{pack('>f', policy.l2_fraction).hex().upper()}"
    text = f"createpolicy.fractional.L2::{policy.l2_primary}{others}.b64 $0, {number};"
    return f.inst(f'call i64 asm "{text}", "=l"() memory(none)')
