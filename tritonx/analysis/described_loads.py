"""Which loads through pointers read a block of a tensor, as one through a descriptor does: a base, and along each
dimension a stride, where the block starts and where the tensor ends.

    address(i, j) = base + offset + stride₀ · (start₀ + i) + stride₁ · (start₁ + j)
    mask(i, j)    = start₀ + i < extent₀  and  start₁ + j < extent₁

Base, offset, strides and extents must be the same in all iterations of the enclosing loops, for there is one
descriptor; what changes is where a block starts. So the sum of the pointers' offsets is taken apart: what a mask says
of an index comes first, then what a stride divides. What is left, and the same in all iterations, moves the base.

Where a launch makes the descriptor, what moves the base must be of the kernel's arguments. A part that depends on the
program, as a batch's number times its stride, is a leading dimension of its own, along which a block has one element.

A descriptor gives zeros outside the tensor, so starts must not be below zero, where a pointer would read what lies in
front, unless the mask keeps these out as well. It needs strides above zero, in whole pieces of 16 bytes, and elements
that are neighbours along one dimension. What can only be seen at run time is asked there (`BlockLoad.positive`,
`BlockLoad.non_negative`)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import gcd, prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.analysis.access_width import pointer_alignment
from tritonx.analysis.launch_bounds import LaunchBounds
from tritonx.analysis.polynomials import Polynomial, atom, number
from tritonx.analysis.tile_indices import (
    INDEX_BITS,
    Bound,
    Confined,
    Indices,
    Lane,
    Round,
    Trips,
    lanes_of,
    scalar_of,
    varies,
)
from tritonx.analysis.unread_elements import asked_for_beyond
from tritonx.dialects import tile
from tritonx.ir.edit import is_defined_inside
from tritonx.ir.fold.constants import constant_of, width_of
from tritonx.ir.types import bit_width, element_type, shape_of, type_of

PIECE = 16
"""Bytes of which base, strides and the starts of blocks in a row are multiples (`transforms/tile/copied_descriptors`).
"""

FURTHEST = 1 << 30
"""Where a block may begin whose start is computed in 64 bits; iterations of a loop may continue from there."""

LARGEST_RANK = 5
"""Dimensions of a tensor map (CUDA driver API, cuTensorMapEncodeTiled)."""

LAUNCHED_BITS = 32
"""Of the widest elements that are worth a launch's tensor map: threads read blocks of wider ones slower than what they
copied themselves (0.94 of the speed of a product in f64, docs/history/measurements.md)."""

ZERO, ONE = number(0), number(1)


class NotABlock(Exception):
    """A load does not read a block of a tensor; the message says why."""


@dataclass(frozen=True)
class Dimension:
    """Of a tensor and a block of it, in elements. `extent` is None where no element is masked along it."""

    stride: Polynomial
    start: Polynomial
    extent: Polynomial | None


@dataclass(frozen=True)
class BlockLoad:
    """A load as a block's: the tensor's element 0 is `offset` elements behind `base`; of `dims`, which are the tile's,
    the one with number `contiguous` has neighbours; `leading` ones are in front of them. At run time `positive` must
    be above 0 and `non_negative` at least 0."""

    load: tile.LoadOp
    base: SSAValue
    offset: Polynomial
    dims: tuple[Dimension, ...]
    contiguous: int
    positive: frozenset[Polynomial]
    non_negative: frozenset[Polynomial]
    leading: tuple[Dimension, ...] = ()


def block_load(
    load: tile.LoadOp,
    around: Operation,
    indices: Indices,
    positive: frozenset[SSAValue],
    block_bytes: int | None,
    launched: LaunchBounds | None = None,
) -> BlockLoad:
    """What a load in the outermost loop `around` reads; scalars known to be above zero are `positive`. With `launched`,
    what a launch can compute and bound, it makes the descriptor. Raises NotABlock."""
    _check_type(load, block_bytes)
    found = indices.address(load.ptr)
    if found is None:
        raise NotABlock("its addresses are no sum of indices times strides")
    if is_defined_inside(found.base, around):
        raise NotABlock("its base changes in the loop")
    parts = _Parts(load, around, indices, positive, at_launch=launched is not None)
    parts.split(found.offset)
    parts.limit()
    parts.share_out(launched.values if launched is not None else None)
    if launched is not None:
        parts.lift(launched.values)
    made = parts.made(found.base)
    if launched is not None:
        _check_launched(made, launched)
    return made


def _check_launched(block: BlockLoad, launched: LaunchBounds) -> None:
    """Raises NotABlock where a launch cannot make the tensor map, or cannot tell that blocks begin at 0 or above."""
    if bit_width(element_type(type_of(block.load.result))) > LAUNCHED_BITS:
        raise NotABlock(f"blocks of elements of more than {LAUNCHED_BITS} bits are slower to read")
    numbers = [block.offset]
    for dim in (*block.leading, *block.dims):
        numbers += [dim.stride, *([dim.extent] if dim.extent is not None else [])]
    known = launched.values
    if block.base not in known or not all(_is_launched(each, known) for n in numbers for each in n.atoms()):
        raise NotABlock("its base, extents or strides are not of the kernel's arguments alone")
    question = launched.question(block.non_negative)
    if question is None:
        raise NotABlock("its blocks are not known to begin at 0 or above (tl.assume)")
    if not launched.is_usual(question):
        raise NotABlock("its blocks begin below 0 in a usual launch")


def _is_launched(each: object, launched: Container[SSAValue]) -> bool:
    value = scalar_of(each)
    return value is not None and value in launched


def _check_type(load: tile.LoadOp, block_bytes: int | None) -> None:
    type_ = type_of(load.result)
    shape, bits = shape_of(type_), bit_width(element_type(type_))
    if not 1 <= len(shape) <= LARGEST_RANK:
        raise NotABlock(f"a descriptor has 1 to {LARGEST_RANK} dimensions")
    if bits not in (8, 16, 32, 64):
        raise NotABlock("its elements are not of 8 to 64 bits")
    if block_bytes is not None and prod(shape) * bits // 8 > block_bytes:
        raise NotABlock("its tile is larger than a block may be")
    if load.other is not None and not _is_zero(load.other):
        raise NotABlock("where its mask is false it gives something else than zero")


def _is_zero(value: SSAValue) -> bool:
    constant = constant_of(value)
    return constant == 0 and str(constant) != "-0.0"


@dataclass
class _Parts:
    """The sum of a load's offsets, being taken apart."""

    load: tile.LoadOp
    around: Operation
    indices: Indices
    known_positive: frozenset[SSAValue]
    at_launch: bool
    """Whether the launch is asked, which bounds what changes between programs and iterations."""
    rest: Polynomial = ZERO
    strides: list[Polynomial] = field(default_factory=list[Polynomial])
    starts: list[Polynomial] = field(default_factory=list[Polynomial])
    extents: list[Polynomial | None] = field(default_factory=list[Polynomial | None])
    confined: dict[int, Polynomial] = field(default_factory=dict[int, Polynomial])
    """Dimensions whose index is the plain one from 0 on only, and where that begins."""
    below_zero: set[int] = field(default_factory=set[int])
    """Dimensions along which the mask is false below 0."""
    leading: dict[Polynomial, Polynomial] = field(default_factory=dict[Polynomial, Polynomial])
    """Of dimensions in front, by their strides, where the block begins."""
    positive: set[Polynomial] = field(default_factory=set[Polynomial])
    non_negative: set[Polynomial] = field(default_factory=set[Polynomial])

    @property
    def shape(self) -> Sequence[int]:
        return shape_of(type_of(self.load.result))

    @property
    def element_bytes(self) -> int:
        return bit_width(element_type(type_of(self.load.result))) // 8

    def split(self, offset: Polynomial) -> None:
        """What goes by the place along each dimension, and the rest."""
        factors: list[dict[Lane | Confined, Polynomial]] = [{} for _ in self.shape]
        for term in offset.each():
            lanes = lanes_of(term)
            if not lanes:
                self.rest = self.rest + term
                continue
            lane = next(iter(lanes))
            factor, left = term.over(atom(lane))
            if len(lanes) > 1 or left != ZERO or lanes_of(factor):
                raise NotABlock("its addresses are no sum of indices times strides")
            factors[lane.dim][lane] = factors[lane.dim].get(lane, ZERO) + factor
        for dim, found in enumerate(factors):
            self._take(dim, found)
        if not any(stride == ONE and size > 1 for stride, size in zip(self.strides, self.shape, strict=True)):
            raise NotABlock("its elements are neighbours along no dimension")

    def _take(self, dim: int, found: dict[Lane | Confined, Polynomial]) -> None:
        if self.shape[dim] == 1:
            found = found or {Lane(dim): number(PIECE // self.element_bytes)}
        if not found:
            raise NotABlock(f"its elements along dimension {dim} are all the same")
        if len(found) > 1:
            raise NotABlock(f"dimension {dim} goes by two indices")
        ((lane, stride),) = found.items()
        if len(stride.terms) != 1 or varies(stride, self.around):
            raise NotABlock(f"the stride of dimension {dim} is not one for all rounds")
        self.strides.append(stride)
        if isinstance(lane, Confined):
            self.starts.append(lane.start)
            self.extents.append(lane.bound)
            self.confined[dim] = lane.start
            self._check_confined(dim, lane)
        else:
            self.starts.append(ZERO)
            self.extents.append(None)
        self.rest = self.rest + stride * self.starts[-1]

    def _check_confined(self, dim: int, lane: Confined) -> None:
        """Where an index is not the plain one, nothing may be asked for."""
        mask = self.indices.mask(self.load.mask)
        if any(each == Bound(dim, lane.start, lane.bound) for each in mask.bounds):
            return
        reason = asked_for_beyond(self.load.result, dim, lane.start, lane.bound, self.indices)
        if reason is not None:
            raise NotABlock(f"its index along dimension {dim} wraps, and {reason}")

    def limit(self) -> None:
        """What the mask says."""
        mask = self.indices.mask(self.load.mask)
        if not mask.complete:
            raise NotABlock("its mask is no box")
        for bound in mask.bounds:
            if not bound.at_least:
                self._end(bound)
        for bound in mask.bounds:
            if bound.at_least:
                self._begin(bound)
        for start, stride in zip(self.starts, self.strides, strict=True):
            self.rest = self.rest - stride * start

    def _end(self, bound: Bound) -> None:
        """`start` + place < bound, where only the start changes between iterations."""
        changing = bound.bound.where(lambda term: varies(term, self.around))
        start, extent, old = bound.start - changing, bound.bound - changing, self.extents[bound.dim]
        if old is not None and (old, self.starts[bound.dim]) != (extent, start):
            raise NotABlock(f"dimension {bound.dim} has two bounds")
        self.starts[bound.dim], self.extents[bound.dim] = start, extent

    def _begin(self, bound: Bound) -> None:
        """`start` + place >= bound: at least 0 of the index, or what is so for every place."""
        if bound.start - bound.bound == self.starts[bound.dim]:
            self.below_zero.add(bound.dim)
        elif not self._is_known(bound.start - bound.bound):
            raise NotABlock(f"its mask begins elsewhere than at 0 along dimension {bound.dim}")

    def share_out(self, launched: Container[SSAValue] | None) -> None:
        """What is left of the sum to the dimensions whose strides divide it, and to the base. Where a mask keeps out
        what is below 0 the tensor begins there, and what moves it is the base. What a launch does not know moves no
        bound: a batch of matrices without anything between them is none of their rows."""
        moved = ZERO
        for dim in sorted(range(len(self.strides)), key=self._precedence):
            stride = self.strides[dim]
            if stride.value is None:
                more, self.rest = self.rest.over(stride)
            else:
                wanted = self.rest.where(self._is_index)
                more, left = wanted.over(stride)
                self.rest = self.rest - wanted + left
            if more == ZERO:
                continue
            extent = self.extents[dim]
            if extent is not None and launched is not None:
                apart = more.where(lambda term: not all(_is_launched(each, launched) for each in term.atoms()))
                if not varies(apart, self.around):
                    more, moved = more - apart, moved + apart * stride
            if varies(more, self.around) and (extent is not None or dim in self.below_zero):
                raise NotABlock(f"the mask does not move with the index along dimension {dim}")
            if dim in self.below_zero:
                moved = moved + more * stride
                continue
            self.starts[dim] = self.starts[dim] + more
            if extent is not None:
                self.extents[dim] = extent + more
        self.rest = self.rest + moved
        if varies(self.rest, self.around):
            raise NotABlock("its base changes in the loop")
        if any(extent is not None and varies(extent, self.around) for extent in self.extents):
            raise NotABlock("its mask's bound is not one for all rounds")

    def lift(self, launched: Container[SSAValue]) -> None:
        """What a launch does not know of what moves the base to dimensions in front, by the part that it does know."""
        for term in list(self.rest.each()):
            ((monomial, factor),) = term.terms
            index = Polynomial(frozenset({(frozenset(p for p in monomial if not _is_launched(p[0], launched)), 1)}))
            if index == ONE:
                continue
            if factor < 0:
                raise NotABlock("its base changes from program to program")
            stride, _ = term.over(index)
            self.leading[stride] = self.leading.get(stride, ZERO) + index
            self.rest = self.rest - term

    def _precedence(self, dim: int) -> tuple[bool, int]:
        """Strides that are arguments first, then numbers from the largest down: 1 divides everything."""
        known = self.strides[dim].value
        return (False, dim) if known is None else (True, -known)

    def _is_index(self, term: Polynomial) -> bool:
        """Whether a term is an index by its looks: it changes, or no argument of the kernel is a factor of it."""
        return varies(term, self.around) or not any(_is_argument(each) for each in term.atoms())

    def made(self, base: SSAValue) -> BlockLoad:
        """The block, if all of its numbers are as a descriptor's must be."""
        contiguous = max(dim for dim, stride in enumerate(self.strides) if stride == ONE and self.shape[dim] > 1)
        if self.shape[contiguous] * self.element_bytes < PIECE:
            raise NotABlock(f"its rows are shorter than {PIECE} bytes")
        alignment = gcd(pointer_alignment(self.indices.facts, base), self._divisor(self.rest) * self.element_bytes)
        if alignment % PIECE:
            raise NotABlock(f"its base is not known to be a multiple of {PIECE} bytes")
        for dim, stride in enumerate(self.strides):
            if dim != contiguous:
                self._check_stride(dim, stride)
        if self._divisor(self.starts[contiguous]) * self.element_bytes % PIECE:
            raise NotABlock(f"its blocks are not known to begin at multiples of {PIECE} bytes")
        for dim, start in enumerate(self.starts):
            if dim not in self.below_zero:
                self._ask_start(dim, start)
                self._ask_start(dim, self.confined.get(dim, ZERO))
            self._check_width(start, self.extents[dim])
        for stride, start in self.leading.items():
            self._check_leading(stride, start)
        dims = tuple(map(Dimension, self.strides, self.starts, self.extents))
        positive, non_negative = frozenset(self.positive), frozenset(self.non_negative)
        leading = tuple(Dimension(stride, start, None) for stride, start in self.leading.items())
        return BlockLoad(self.load, base, self.rest, dims, contiguous, positive, non_negative, leading)

    def _check_leading(self, stride: Polynomial, start: Polynomial) -> None:
        if len(self.strides) + len(self.leading) > LARGEST_RANK:
            raise NotABlock(f"a descriptor has 1 to {LARGEST_RANK} dimensions")
        if self._divisor(stride) * self.element_bytes % PIECE:
            raise NotABlock(f"what moves its base is not known to be a multiple of {PIECE} bytes")
        if not self._is_narrow(start):
            self.non_negative.add(number(FURTHEST) - start)
        if not self._is_known(start):
            self.non_negative.add(start)

    def _check_stride(self, dim: int, stride: Polynomial) -> None:
        if self._divisor(stride) * self.element_bytes % PIECE:
            raise NotABlock(f"the stride of dimension {dim} is not known to be a multiple of {PIECE} bytes")
        if stride.value is not None and stride.value <= 0:
            raise NotABlock(f"the stride of dimension {dim} is not positive")
        ((_, factor),) = stride.terms
        if factor < 0 or not all(each in self.known_positive for each in stride.atoms()):
            self.positive.add(stride)

    def _ask_start(self, dim: int, start: Polynomial) -> None:
        """A block does not begin below 0: known, or asked of the launch or in front of the loop."""
        if self.at_launch:
            if not self._is_known(start):
                self.non_negative.add(start)
            return
        changing = start.where(lambda term: varies(term, self.around))
        before = start - changing
        for term in changing.each():
            ((_, factor),) = term.terms
            for each in term.atoms():
                if not self._is_natural(each):
                    if factor < 0 or varies(atom(each), self.around):
                        raise NotABlock(f"its blocks are not known to begin at 0 or above along dimension {dim}")
                    self.non_negative.add(atom(each))
            if factor < 0:
                raise NotABlock(f"its blocks are not known to begin at 0 or above along dimension {dim}")
        if not self._is_known(before):
            self.non_negative.add(before)

    def _check_width(self, start: Polynomial, extent: Polynomial | None) -> None:
        """The copy engine counts in 32 bits. What was computed in more is asked of the launch or in front of the
        loop."""
        if extent is not None and not self._is_narrow(extent):
            self.non_negative.add(number(2 * FURTHEST - 1) - extent)
            if self.at_launch:
                self.non_negative.add(number(2 * FURTHEST) + extent)
        if self.at_launch:
            if not self._is_narrow(start):
                self.non_negative.add(number(FURTHEST) - start)
            return
        if any(_is_wide(each) for index in (start, extent or ZERO) for each in index.atoms()):
            raise NotABlock("an index of it is of 64 bits")
        wide = [term for term in start.each() if not self.indices.is_narrow(term)]
        if any(varies(term, self.around) for term in wide):
            raise NotABlock("an index of it is of 64 bits")
        if wide:
            self.non_negative.add(number(FURTHEST) - start.where(lambda term: not varies(term, self.around)))

    def _is_narrow(self, value: Polynomial) -> bool:
        """Whether each term is known to be of 32 bits."""
        return all(
            self.indices.is_narrow(term) or any(term == atom(each) and not _is_wide(each) for each in term.atoms())
            for term in value.each()
        )

    def _is_known(self, value: Polynomial) -> bool:
        """Whether a number is known not to be below 0."""
        return all(factor > 0 and all(self._is_natural(each) for each, _ in term) for term, factor in value.terms)

    def _is_natural(self, each: object) -> bool:
        value = scalar_of(each)
        if value is None:
            return isinstance(each, Round | Trips)
        return value in self.known_positive or self.indices.facts.of(value).non_negative

    def _divisor(self, value: Polynomial) -> int:
        """A power of two that divides a number; of zero a large one."""
        largest = 1 << 30
        each = (reduce(lambda x, y: x * y, map(self._divides, term), factor) for term, factor in value.terms)
        return min((gcd(product, largest) for product in each), default=largest)

    def _divides(self, power: tuple[object, int]) -> int:
        each, exponent = power
        value = scalar_of(each)
        return 1 if value is None else self.indices.facts.of(value).divisibility[0] ** exponent


def _is_wide(each: object) -> bool:
    value = scalar_of(each)
    return value is not None and (width_of(type_of(value)) or 64) > INDEX_BITS


def _is_argument(value: object) -> bool:
    """Whether a kernel is given it."""
    return isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), tile.FuncOp)
