"""Layouts through reshapes, joins and splits, by the names that Triton 3.9 gives them.

Several encodings can place every element alike. `infer` takes the simplest. Kernels of Gluon compare layouts, and
combine the results of shape ops with other blocks, so there it matters which one is taken:

* a split gives the slice of its operand's layout, and a join of such slices gives back what was split;
* a reshape of a blocked layout stays blocked if each group of dims that turn into each other is filled from its last
  dim on, and is linear otherwise. A reshape of any other layout is linear. Registers that repeat an element are left
  out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from tritonx.layouts.dims import REGISTER, tensor_dims
from tritonx.layouts.encodings import BlockedEncoding, DistributedEncoding, Ints, SliceEncoding
from tritonx.layouts.infer import joined as simply_joined
from tritonx.layouts.infer import linear_encoding, split_register
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.lookup import linear_layout


def split_from(encoding: DistributedEncoding, shape: Ints) -> SliceEncoding | None:
    """The results of splitting a tensor of `shape`; None when a thread does not hold both halves."""
    return None if split_register(encoding, shape) is None else SliceEncoding(len(shape) - 1, encoding)


def joined(encoding: DistributedEncoding, shape: Ints) -> DistributedEncoding:
    """The result of joining two tensors of `shape`."""
    if isinstance(encoding, SliceEncoding) and encoding.dim == len(shape):
        parent = encoding.parent
        if split_register(parent, (*shape, 2)) is not None:
            return parent
    return simply_joined(encoding, shape)


def reshaped(encoding: DistributedEncoding, shape: Ints, new_shape: Ints) -> DistributedEncoding:
    """The result of a row-major reshape from `shape` to `new_shape`."""
    if shape == new_shape and isinstance(encoding, BlockedEncoding):
        return encoding
    layout, old, new = linear_layout(encoding, shape), tensor_dims(len(shape)), tensor_dims(len(new_shape))
    sizes = [*zip(new, new_shape, strict=True)]
    flat = _without_copies(layout.order_outs(old[::-1]).reshape_outs(sizes[::-1]).order_outs(new))
    if isinstance(encoding, BlockedEncoding) and not encoding.cga:
        blocked = _filled(encoding, shape, new_shape)
        if blocked is not None and _without_copies(linear_layout(blocked, new_shape)) is flat:
            return blocked
    return linear_encoding(flat)


def _without_copies(layout: LinearLayout) -> LinearLayout:
    steps = layout.bases(REGISTER)
    return layout.select_bits(REGISTER, [bit for bit, step in enumerate(steps) if any(step)])


def _filled(encoding: BlockedEncoding, shape: Ints, new_shape: Ints) -> BlockedEncoding | None:
    """The blocked layout of `new_shape` that takes as many elements a thread, lanes and warps from each group of dims,
    and orders the groups alike."""
    groups = [*_groups(shape, new_shape)]
    levels = (encoding.size_per_thread, encoding.threads_per_warp, encoding.warps_per_cta)
    if any(prod(counts[dim] for counts in levels) > shape[dim] for before, _ in groups for dim in before[1:]):
        return None  # copies of an element only along the first dim
    left, parts = list(new_shape), list[Ints]()
    for counts in levels:
        part = [1] * len(new_shape)
        for before, after in groups:
            wanted = prod(counts[dim] for dim in before)
            for dim in reversed(after):
                part[dim] = min(wanted, left[dim])
                left[dim] //= part[dim]
                wanted //= part[dim]
            part[after[0]] *= wanted
        parts.append(tuple(part))
    rank = {dim: at for at, dim in enumerate(encoding.order)}
    groups.sort(key=lambda group: rank[group[0][0]])
    order = tuple(dim for _, after in groups for dim in reversed(after))
    per_thread, per_warp, warps = parts
    return BlockedEncoding(per_thread, per_warp, warps, order)


def _groups(shape: Sequence[int], new_shape: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Dims before and behind a reshape that have the same elements together, as few as can be. Dims of extent 1 are
    with those in front of them, or with the first."""
    sizes = (shape, new_shape)
    at = [0, 0]
    while at[0] < len(shape) and at[1] < len(new_shape):
        group: tuple[list[int], list[int]] = ([at[0]], [at[1]])
        held = [sizes[side][at[side]] for side in (0, 1)]
        at = [at[0] + 1, at[1] + 1]
        while True:
            more = [side for side in (0, 1) if at[side] < len(sizes[side])]
            side = int(held[1] < held[0])
            if held[0] == held[1]:
                ones = [each for each in more if sizes[each][at[each]] == 1]
                if not ones:
                    break
                side = ones[0]
            group[side].append(at[side])
            held[side] *= sizes[side][at[side]]
            at[side] += 1
        yield group
