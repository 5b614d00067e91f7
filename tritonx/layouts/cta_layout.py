"""`ctaLayout` of wave-matrix encodings: how warps lie over tiles of the instruction, as Triton writes it since 3.8.

The bases say which tile the bits of a register's and of a warp's number step to. Those of `warpsPerCTA` and
`tilesPerWarp` count along the last dim first, and the tiles of a warp lie next to each other:

    warpsPerCTA = [2, 2], tilesPerWarp = [1, 2]    ctaLayout = {register = [[0, 1]], warp = [[0, 2], [1, 0]]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from tritonx.layouts.encodings import AmdWmmaEncoding
from tritonx.layouts.errors import LayoutError

Bases = tuple[tuple[int, ...], ...]


def _steps(counts: Sequence[int], unit: Sequence[int]) -> Bases:
    """Bases that count `counts` times along each dim in steps of `unit`, the last dim first."""
    rank = len(counts)
    return tuple(
        tuple(unit[dim] << bit if at == dim else 0 for at in range(rank))
        for dim in reversed(range(rank))
        for bit in range(counts[dim].bit_length() - 1)
    )


def bases_of(encoding: AmdWmmaEncoding) -> dict[str, Bases]:
    """`register` and `warp` of an encoding, as far as there are any."""
    tiles, warps = encoding.tiles_per_warp, encoding.warps_per_cta
    found = {"register": _steps(tiles, (1,) * len(tiles)), "warp": _steps(warps, tiles)}
    return {name: bases for name, bases in found.items() if bases}


def counts_of(layout: Mapping[str, object], rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(`tilesPerWarp`, `warpsPerCTA`) that a `ctaLayout` says; raises `LayoutError` where it says what they cannot."""
    register, warp = (cast("Bases", layout.get(name, ())) for name in ("register", "warp"))
    tiles, warps = (tuple(1 << sum(bool(basis[dim]) for basis in b) for dim in range(rank)) for b in (register, warp))
    if (tuple(register), tuple(warp)) != (_steps(tiles, (1,) * rank), _steps(warps, tiles)):
        raise LayoutError(f"warps that lie over tiles as in {dict(layout)} are not supported")
    return tiles, warps
