"""The two symbol hash tables of a shared object, with the sizes that lld gives them."""

from __future__ import annotations

import struct

from tritonx.backends.amd.link.elf import Symbol

_SHIFT = 26
"""The second hash of the GNU table's Bloom filter; lld's constant."""


def sysv_hash(name: bytes) -> int:
    h = 0
    for c in name:
        h = (h << 4) + c
        high = h & 0xF0000000
        h = (h ^ high >> 24) & ~high & 0xFFFFFFFF
    return h


def gnu_hash(name: bytes) -> int:
    h = 5381
    for c in name:
        h = (h * 33 + c) & 0xFFFFFFFF
    return h


def gnu_buckets(count: int) -> int:
    return max(count // 4, 1)


def gnu_order(symbols: list[Symbol]) -> list[Symbol]:
    """The order that .dynsym must have: by bucket, otherwise as they came."""
    buckets = gnu_buckets(len(symbols))
    return sorted(symbols, key=lambda s: gnu_hash(s.name) % buckets)


def _bloom_words(count: int) -> int:
    words = 1
    while words * 64 < count * 12:
        words *= 2
    return words


def gnu_size(count: int) -> int:
    return 16 + 8 * _bloom_words(count) + 4 * gnu_buckets(count) + 4 * count


def gnu_table(symbols: list[Symbol]) -> bytes:
    """.gnu.hash of exported symbols in ``gnu_order``; .dynsym starts with one null symbol before them."""
    words, buckets = _bloom_words(len(symbols)), gnu_buckets(len(symbols))
    bloom, first, chain = [0] * words, [0] * buckets, list[int]()
    for k, symbol in enumerate(symbols):
        h = gnu_hash(symbol.name)
        bloom[h // 64 % words] |= 1 << h % 64 | 1 << (h >> _SHIFT) % 64
        bucket = h % buckets
        if not first[bucket]:
            first[bucket] = k + 1
        last = k + 1 == len(symbols) or gnu_hash(symbols[k + 1].name) % buckets != bucket
        chain.append(h & ~1 | last)
    head = struct.pack("<IIII", buckets, 1, words, _SHIFT)
    return head + struct.pack(f"<{words}Q", *bloom) + struct.pack(f"<{buckets + len(chain)}I", *first, *chain)


def sysv_size(count: int) -> int:
    return 8 + 8 * (count + 1)


def sysv_table(symbols: list[Symbol]) -> bytes:
    total = len(symbols) + 1
    buckets, chain = [0] * total, [0] * total
    for k, symbol in enumerate(symbols):
        h = sysv_hash(symbol.name) % total
        chain[k + 1] = buckets[h]
        buckets[h] = k + 1
    return struct.pack(f"<{2 + 2 * total}I", total, total, *buckets, *chain)
