"""Layouts through the ops that change a tensor's shape: chosen so that no data moves.

Each op has the encoding of its result given that of its operand, and the other way round. Blocked encodings stay
blocked where they can; otherwise the answer is a `LinearEncoding`, which can say everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import permutations

from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP, tensor_dims
from tritonx.layouts.distributed import layout_order
from tritonx.layouts.encodings import (
    Bases,
    BlockedEncoding,
    DistributedEncoding,
    DotOperandEncoding,
    Ints,
    LinearEncoding,
    SliceEncoding,
)
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.lookup import linear_layout
from tritonx.layouts.tiling import storage_shape


def linear_encoding(layout: LinearLayout) -> LinearEncoding:
    """The encoding that holds a layout's bases."""
    return LinearEncoding(*(layout.bases(dim) for dim in (REGISTER, LANE, WARP, BLOCK)))


@lru_cache(maxsize=1024)
def simplest_encoding(layout: LinearLayout) -> DistributedEncoding:
    """An encoding of a layout for its own shape: blocked when one exists, else linear."""
    return _as_blocked(layout) or linear_encoding(layout)


def equivalent(a: DistributedEncoding, b: DistributedEncoding, shape: Ints) -> bool:
    """Whether two encodings place every element of a tensor alike."""
    return a == b or linear_layout(a, shape) is linear_layout(b, shape)


# --- reduce and expand_dims
# -------------------------------------------------------------------------------------------


def reduced(encoding: DistributedEncoding, axis: int) -> DistributedEncoding:
    """The result of a reduction along `axis`."""
    return SliceEncoding(axis, encoding)


def expanded(encoding: DistributedEncoding, axis: int, shape: Ints) -> DistributedEncoding:
    """The result of inserting a dim of extent 1 at `axis`; `shape` is the operand's."""
    if isinstance(encoding, SliceEncoding) and encoding.dim == axis:
        return encoding.parent
    layout = linear_layout(encoding, shape)
    dims = tensor_dims(len(shape))
    wide = tensor_dims(len(shape) + 1)
    names = {dim: wide[i + (i >= axis)] for i, dim in enumerate(dims)}
    layout = LinearLayout(layout.rename_outs(names).ins, [*layout.rename_outs(names).outs, (wide[axis], 0)])
    return simplest_encoding(layout.order_outs(wide))


def expanded_source(encoding: DistributedEncoding, axis: int) -> DistributedEncoding:
    """The operand of `expand_dims` whose result has this encoding."""
    return SliceEncoding(axis, encoding)


# --- trans
# ------------------------------------------------------------------------------------------------------------


def transposed(encoding: DistributedEncoding, order: Sequence[int], shape: Ints) -> DistributedEncoding:
    """The result of a permutation: result dim i is operand dim `order[i]`; `shape` is the operand's."""
    if list(order) == list(range(len(order))):
        return encoding
    inverse = inverse_permutation(order)

    def permute(values: Ints) -> Ints:
        return tuple(values[d] for d in order)

    if isinstance(encoding, BlockedEncoding):
        return BlockedEncoding(
            permute(encoding.size_per_thread),
            permute(encoding.threads_per_warp),
            permute(encoding.warps_per_cta),
            tuple(inverse[d] for d in encoding.order),
            tuple(permute(basis) for basis in encoding.cga),
        )
    layout = linear_layout(encoding, shape)
    names = {dim: f"dim{inverse[i]}" for i, dim in enumerate(tensor_dims(len(order)))}
    return linear_encoding(layout.rename_outs(names).order_outs(tensor_dims(len(order))))


def inverse_permutation(order: Sequence[int]) -> Ints:
    """p with order[p[i]] == i."""
    result = [0] * len(order)
    for i, d in enumerate(order):
        result[d] = i
    return tuple(result)


def transposed_source(encoding: DistributedEncoding, order: Sequence[int], shape: Ints) -> DistributedEncoding:
    """The operand of a permutation whose result has this encoding; `shape` is the result's."""
    return transposed(encoding, inverse_permutation(order), shape)


# --- reshape
# ----------------------------------------------------------------------------------------------------------


def reshaped(encoding: DistributedEncoding, shape: Ints, new_shape: Ints) -> DistributedEncoding:
    """The result of a row-major reshape from `shape` to `new_shape`. Both directions are this function."""
    if tuple(shape) == tuple(new_shape):
        return encoding
    layout = linear_layout(encoding, tuple(shape))
    old, new = tensor_dims(len(shape)), tensor_dims(len(new_shape))
    sizes = list(zip(new, storage_shape(new_shape), strict=True))
    # Row-major: the last dim is in the low bits.
    flat = layout.order_outs(tuple(reversed(old))).reshape_outs(list(reversed(sizes)))
    return simplest_encoding(flat.order_outs(new))


# --- join and split
# ---------------------------------------------------------------------------------------------------


def joined(encoding: DistributedEncoding, shape: Ints) -> DistributedEncoding:
    """The result of joining two tensors of `shape` along a new last dim of extent 2, held in a register bit."""
    rank = len(shape)
    if isinstance(encoding, BlockedEncoding):
        return BlockedEncoding(
            (*encoding.size_per_thread, 2),
            (*encoding.threads_per_warp, 1),
            (*encoding.warps_per_cta, 1),
            (rank, *encoding.order),
            tuple((*basis, 0) for basis in encoding.cga),
        )
    pair = LinearLayout.identity(2, REGISTER, f"dim{rank}")
    layout = pair * linear_layout(encoding, shape)
    return linear_encoding(layout.order_outs(tensor_dims(rank + 1)).order_ins((REGISTER, LANE, WARP, BLOCK)))


def split_from(encoding: DistributedEncoding, shape: Ints) -> DistributedEncoding | None:
    """The results of splitting a tensor of `shape` (last extent 2), or None when the last dim is not a register bit
    alone.
    """
    layout = linear_layout(encoding, shape)
    last = tensor_dims(len(shape))[-1]
    bit = split_register(encoding, shape)
    if bit is None:
        return None
    if isinstance(encoding, BlockedEncoding) and encoding.order[0] == len(shape) - 1:
        return BlockedEncoding(
            encoding.size_per_thread[:-1],
            encoding.threads_per_warp[:-1],
            encoding.warps_per_cta[:-1],
            encoding.order[1:],
            tuple(basis[:-1] for basis in encoding.cga),
        )
    kept = [i for i in range(layout.in_bits(REGISTER)) if i != bit]
    return simplest_encoding(
        layout.select_bits(REGISTER, kept).sublayout(layout.in_dims, [d for d in layout.out_dims if d != last])
    )


def split_register(encoding: DistributedEncoding, shape: Ints) -> int | None:
    """The register bit that steps along the last dim (extent 2) and nothing else does."""
    layout = linear_layout(encoding, shape)
    last = tensor_dims(len(shape))[-1]
    if shape[-1] != 2:
        raise LayoutError(f"split needs a last extent of 2, got {list(shape)}")
    steps = [
        (dim, i, basis) for dim, bases in layout.ins for i, basis in enumerate(bases) if layout.coordinate(basis, last)
    ]
    if len(steps) != 1 or steps[0][0] != REGISTER or steps[0][2] != 1 << layout.offset_of(last):
        return None
    return steps[0][1]


# --- two elements from one
# ---------------------------------------------------------------------------------------------------


def unpacked(encoding: DistributedEncoding, axis: int, shape: Ints) -> DistributedEncoding:
    """The result of taking two neighbours along `axis` from each element of a tensor of `shape`: both in one thread."""
    if (run := _run(encoding, axis)) is not None:
        return _with_run(encoding, axis, 2 * run)
    layout = linear_layout(encoding, shape)
    pair = LinearLayout.identity(2, REGISTER, tensor_dims(len(shape))[axis])
    return linear_encoding((pair * layout).order_outs(layout.out_dims).order_ins((REGISTER, LANE, WARP, BLOCK)))


def unpacked_source(encoding: DistributedEncoding, axis: int, shape: Ints) -> DistributedEncoding | None:
    """The operand whose result of `shape` has this encoding; None where the first register bit does not choose between
    the two neighbours alone."""
    if (run := _run(encoding, axis)) is not None:
        return _with_run(encoding, axis, run // 2) if run > 1 else None
    layout = linear_layout(encoding, shape)
    steps = [(dim, i, basis) for dim, bases in layout for i, basis in enumerate(bases) if basis[axis] & 1]
    if steps != [(REGISTER, 0, tuple(int(d == axis) for d in range(len(shape))))]:
        return None
    kept = {
        dim: tuple(tuple(x >> (d == axis) for d, x in enumerate(basis)) for basis in bases) for dim, bases in layout
    }
    return LinearEncoding(kept[REGISTER][1:], kept[LANE], kept[WARP], kept[BLOCK])


def _run(encoding: DistributedEncoding, axis: int) -> int | None:
    """Neighbours along `axis` that a thread has, where it is the fastest dim of an encoding that has their number."""
    if isinstance(encoding, BlockedEncoding) and encoding.order[0] == axis:
        return encoding.size_per_thread[axis]
    if isinstance(encoding, DotOperandEncoding) and axis == encoding.rank - 1 - encoding.op_idx:
        return encoding.k_width or None
    return None


def _with_run(encoding: DistributedEncoding, axis: int, run: int) -> DistributedEncoding:
    if isinstance(encoding, BlockedEncoding):
        sizes = tuple(run if d == axis else size for d, size in enumerate(encoding.size_per_thread))
        return replace(encoding, size_per_thread=sizes)
    assert isinstance(encoding, DotOperandEncoding)
    return replace(encoding, k_width=run)


# --- recognising blocked
# ----------------------------------------------------------------------------------------------


def _as_blocked(layout: LinearLayout) -> BlockedEncoding | None:
    """A blocked encoding with this layout on its own shape, found by trying every cut of the register bits and
    order.
    """
    rank = len(layout.outs)
    shape = tuple(1 << bits for _, bits in layout.outs)
    if rank > 4 or any(sum(1 for c in basis if c) > 1 for _, bases in layout for basis in bases):
        return None
    lanes, warps, blocks = (layout.bases(dim) for dim in (LANE, WARP, BLOCK))
    if blocks or not all(any(basis) for basis in (*lanes, *warps)):
        return None  # copies do not show along which dim they repeat
    counts_lane, counts_warp = _counts(lanes, rank), _counts(warps, rank)
    first = layout_order(layout)
    orders = sorted(permutations(range(rank)), key=lambda order: order != first)
    registers = layout.bases(REGISTER)
    for cut in range(len(registers), -1, -1):
        counts = _counts(registers[:cut], rank)
        for order in orders:
            candidate = BlockedEncoding(counts, counts_lane, counts_warp, tuple(order))
            if linear_layout(candidate, shape) is layout:
                return candidate
    return None


def _counts(bases: Bases, rank: int) -> Ints:
    counts = [1] * rank
    for basis in bases:
        for d, coordinate in enumerate(basis):
            if coordinate:
                counts[d] *= 2
    return tuple(counts)


# --- cat
# --------------------------------------------------------------------------------------------------------------


def concatenated(encoding: DistributedEncoding, shape: Ints) -> DistributedEncoding:
    """The result of putting the registers of two tensors of `shape` one after another along dim 0."""
    layout = linear_layout(encoding, shape)
    second = LinearLayout.identity(2, REGISTER, "dim0")
    return linear_encoding((layout * second).order_ins((REGISTER, LANE, WARP, BLOCK)))


def concatenated_source(encoding: DistributedEncoding, shape: Ints) -> DistributedEncoding | None:
    """The operands' encoding of such a concatenation with a result of `shape`; None when the last register bit does
    not select the operand."""
    layout = linear_layout(encoding, shape)
    half = storage_shape(shape)[0] // 2
    bits = layout.in_bits(REGISTER)
    last = layout.bases(REGISTER)[-1:] if bits else ()
    expected = (half, *(0,) * (len(shape) - 1))
    others = [basis for dim, bases in layout for basis in (bases[:-1] if dim == REGISTER else bases)]
    if last != (expected,) or any(basis[0] & half for basis in others):
        return None
    kept = layout.select_bits(REGISTER, range(bits - 1))
    return simplest_encoding(
        kept.clip_outs({dim: (half if d == 0 else 1 << b) for d, (dim, b) in enumerate(layout.outs)})
    )
