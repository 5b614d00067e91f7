"""Division of layouts: undoing the direct sum.

When a layout is a small tile repeated, the tile says what one instruction can do and the quotient says how often: a
load of four elements is possible when the layout divides by the identity of four on its registers.
"""

from __future__ import annotations

from tritonx.layouts.linear import LinearLayout


def divide_left(whole: LinearLayout, tile: LinearLayout) -> LinearLayout | None:
    """C with `whole == tile * C` up to the order of dims, or None. C keeps all dims of `whole`."""
    return _divide(whole, tile, left=True)


def divide_right(whole: LinearLayout, tile: LinearLayout) -> LinearLayout | None:
    """C with `whole == C * tile` up to the order of dims, or None. C keeps all dims of `whole`."""
    return _divide(whole, tile, left=False)


def _divide(whole: LinearLayout, tile: LinearLayout, *, left: bool) -> LinearLayout | None:
    if any(dim not in whole.in_dims for dim in tile.in_dims) or any(dim not in whole.out_dims for dim in tile.out_dims):
        return None
    outs: list[tuple[str, int]] = []
    tile_bits = dict(tile.outs)
    for dim, bits in whole.outs:
        rest = bits - tile_bits.get(dim, 0)
        if rest < 0:
            return None
        outs.append((dim, rest))
    ins: list[tuple[str, tuple[tuple[int, ...], ...]]] = []
    for dim, bases in whole:
        own = tile.in_bits(dim)
        if own > len(bases):
            return None
        ins.append((dim, (bases[own:] if left else bases[: len(bases) - own])))
    quotient_sizes = {dim: 1 << bits for dim, bits in outs}
    shifts = [tile_bits.get(dim, 0) if left else 0 for dim, _ in outs]
    reduced: dict[str, list[tuple[int, ...]]] = {}
    for dim, bases in ins:
        reduced[dim] = []
        for basis in bases:
            smaller: list[int] = []
            for coordinate, shift, (_, bits) in zip(basis, shifts, outs, strict=True):
                if coordinate & ((1 << shift) - 1) or (coordinate >> shift) >> bits:
                    return None
                smaller.append(coordinate >> shift)
            reduced[dim].append(tuple(smaller))
    result = LinearLayout.from_bases(reduced, quotient_sizes)
    product = tile * result if left else result * tile
    # The candidate is built from the whole's other bases; that the tile's own bases agree is checked by multiplying
    # out.
    if product.order_outs(whole.out_dims).order_ins(whole.in_dims) is not whole:
        return None
    return result
