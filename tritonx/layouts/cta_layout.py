"""`ctaLayout` of wave-matrix encodings: how warps lie over tiles of the instruction, as Triton writes it since 3.8.

The bases say which tile the bits of a register's and of a warp's number step to. Those of `warpsPerCTA` and
`tilesPerWarp` count along the last dim first, and the tiles of a warp lie next to each other:

    warpsPerCTA = [2, 2], tilesPerWarp = [1, 2]    ctaLayout = {register = [[0, 1]], warp = [[0, 2], [1, 0]]}

Other bases are those of an encoding's `tile_bases`, and so are those of warps that have several tiles: with
`ctaLayout` registers number a warp's tiles before anything is repeated, with `tilesPerWarp` along a row, or along K of
an operand, tiles are repeated first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tritonx.layouts.encodings import AmdWmmaEncoding, Bases, Ints


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
    register, warp = encoding.tile_bases or (_steps(tiles, (1,) * len(tiles)), _steps(warps, tiles))
    return {name: bases for name, bases in (("register", register), ("warp", warp)) if bases}


def encoding_of(
    version: int, is_transposed: bool, register: Bases, warp: Bases, instr_shape: Ints, cga: Bases, rank: int
) -> AmdWmmaEncoding:
    """The encoding whose bases these are. Raises LayoutError where a basis has not `rank` entries."""
    tiles, warps = (
        tuple(1 << sum(bool(basis[dim]) for basis in bases if len(basis) == rank) for dim in range(rank))
        for bases in (register, warp)
    )
    found = AmdWmmaEncoding(version, is_transposed, warps, instr_shape, cga, tiles, (register, warp))
    return replace(found, tile_bases=None) if is_counted(found) and set(tiles) <= {1} else found


def is_counted(encoding: AmdWmmaEncoding) -> bool:
    """Whether the bases count as `warpsPerCTA` and `tilesPerWarp` do, but for the order of registers."""
    tiles, warps = encoding.tiles_per_warp, encoding.warps_per_cta
    return encoding.tile_bases in (None, (_steps(tiles, (1,) * len(tiles)), _steps(warps, tiles)))
