"""Linear layouts: which element of a tensor is where in the machine.

A GPU keeps a tile in the registers of many threads, or in shared memory. A layout says which element each place
holds. All sizes here are powers of two, so a place (register r of lane l of warp w) and an index (row i, column j)
are strings of bits, and the layouts that hardware and compilers use share one property: *the index is a linear
function of the place over GF(2)*, that is, with XOR for addition,

    L(a ^ b) = L(a) ^ L(b),    L(0) = 0.

Such a function is known once it is known on the powers of two. A layout is therefore nothing but a short list for
each input dimension: the index that each single bit of it selects. The others follow by XOR. An example to recompute
by hand: an 8×4 tile, four lanes, eight registers, each thread holding two neighbouring elements of a row:

    register: (0,1) (2,0) (4,0)      lane: (0,2) (1,0)

Lane 3 = 0b11 starts at (0,2)^(1,0) = (1,2); its register 1 holds (1,3), its register 2 holds (3,2), its register 5 =
0b101 holds (0,1)^(4,0)^(1,2) = (5,3). Every one of the 32 places has an element and every element has a place.

*Why this direction, place → index?* Because data is often held more than once. If the four lanes above all kept the
same columns, lane bit 0 would have the basis (0,0): moving along that bit does not change the element. Copies are
zero (in general: dependent) bases, a plain fact about a matrix; the opposite direction would not be a function. A
layout of a tensor is always *surjective* (no element is missing) and *injective* exactly when nothing is held twice.

*Why is it worth it?* Because the questions that code generation asks become linear algebra, answered by one routine
for all layouts rather than by a case for every pair of them:

- Moving a tensor from layout A to B: for every place y of B, find a place x of A with A(x) = B(y). That is solving a
  linear system, `B.invert_and_compose(A)`. If the solution sends registers to registers, the move is a renaming; if
  lanes mix with registers, shuffles; if warps take part, shared memory. `tritonx.layouts.convert` reads this off.
- How many elements may one load instruction take? As many as the largest identity block on the register bits:
  `divide_left` of
  `tritonx.layouts.division`.
- Who should store, when several threads hold an element? Those whose redundant bits are zero: `free_masks`.
- Swizzled shared memory, which XORs the row into the column, is as linear as everything else: its row bases simply
  have a column part.

*Representation.* The indices of all output dims are packed into one Python int, the first output dim in the low
bits; a layout is a tuple of such columns for each input dim, each output dim with its number of bits. XOR,
composition and elimination are then operations on small ints. Layouts are frozen and interned: equal layouts are the
same object, so comparing and hashing cost nothing, and facts derived from them are memoised by their users.

The order of the dims is a part of the value. Operations that need two layouts to agree on it reorder the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import ClassVar, final

from tritonx.layouts.errors import LayoutError
from tritonx.layouts.gf2 import Echelon, combine, echelon, log2, rank

Columns = tuple[int, ...]


@final
class LinearLayout:
    """A linear map over GF(2) from named input dims to named output dims; see the module's essay.

    Build one with `from_bases`, `identity`, `zeros` or from an encoding; never by the constructor's raw tables
    unless they are already packed. `==` is identity, because values are interned.
    """

    __slots__ = ("__weakref__", "_columns", "_offsets", "ins", "outs")

    ins: tuple[tuple[str, Columns], ...]
    """Input dims in order, each with its packed bases from bit 0 up."""
    outs: tuple[tuple[str, int], ...]
    """Output dims in order, each with its number of bits; the first is in the low bits of a packed index."""

    _offsets: dict[str, int]
    _columns: Columns

    # The one instance of every layout. A compilation meets some hundreds; setdefault is atomic, so threads agree.
    _interned: ClassVar[dict[tuple[object, object], LinearLayout]] = {}

    def __new__(cls, ins: Iterable[tuple[str, Iterable[int]]], outs: Iterable[tuple[str, int]]) -> LinearLayout:
        frozen_ins = tuple((dim, tuple(bases)) for dim, bases in ins)
        frozen_outs = tuple(outs)
        found = cls._interned.get((frozen_ins, frozen_outs))
        if found is not None:
            return found
        self = object.__new__(cls)
        offsets = _positions(frozen_outs)
        columns = tuple(basis for _, bases in frozen_ins for basis in bases)
        total = sum(bits for _, bits in frozen_outs)
        if len(offsets) != len(frozen_outs) or len({dim for dim, _ in frozen_ins}) != len(frozen_ins):
            raise LayoutError("a dim is named twice")
        if any(basis >> total for basis in columns):
            raise LayoutError("a basis lies outside the output dims")
        self.ins = frozen_ins
        self.outs = frozen_outs
        self._offsets = offsets
        self._columns = columns
        return cls._interned.setdefault((frozen_ins, frozen_outs), self)

    def __reduce__(self) -> tuple[type[LinearLayout], tuple[object, object]]:
        return (LinearLayout, (self.ins, self.outs))

    # --- construction
    # -------------------------------------------------------------------------------------------------

    @staticmethod
    def from_bases(bases: Mapping[str, Iterable[Sequence[int]]], out_sizes: Mapping[str, int]) -> LinearLayout:
        """`bases[dim][bit]` is one coordinate for each output dim, in the order of `out_sizes` (sizes, powers of
        two).
        """
        bits = [log2(size) for size in out_sizes.values()]

        def pack(basis: Sequence[int]) -> int:
            if len(basis) != len(bits):
                raise LayoutError(f"basis {list(basis)} does not have one coordinate for each of {list(out_sizes)}")
            packed = shift = 0
            for coordinate, width in zip(basis, bits, strict=True):
                if coordinate < 0 or coordinate >> width:
                    raise LayoutError(f"basis {list(basis)} lies outside the sizes {list(out_sizes.values())}")
                packed |= coordinate << shift
                shift += width
            return packed

        return LinearLayout(
            [(dim, [pack(basis) for basis in dim_bases]) for dim, dim_bases in bases.items()],
            list(zip(out_sizes, bits, strict=True)),
        )

    @staticmethod
    def empty() -> LinearLayout:
        """No dims: the neutral element of the direct sum."""
        return LinearLayout((), ())

    @staticmethod
    def identity(size: int, in_dim: str, out_dim: str) -> LinearLayout:
        """`in_dim` → `out_dim`, i ↦ i, for i < size."""
        bits = log2(size)
        return LinearLayout([(in_dim, [1 << i for i in range(bits)])], [(out_dim, bits)])

    @staticmethod
    def zeros(size: int, in_dim: str, out_dim: str, out_size: int = 1) -> LinearLayout:
        """`in_dim` → `out_dim`, everything ↦ 0: `size` copies."""
        return LinearLayout([(in_dim, [0] * log2(size))], [(out_dim, log2(out_size))])

    # --- shape
    # --------------------------------------------------------------------------------------------------------

    @property
    def in_dims(self) -> tuple[str, ...]:
        return tuple(dim for dim, _ in self.ins)

    @property
    def out_dims(self) -> tuple[str, ...]:
        return tuple(dim for dim, _ in self.outs)

    def columns(self, in_dim: str) -> Columns:
        """Packed bases of one input dim; none when the layout has no such dim."""
        for dim, bases in self.ins:
            if dim == in_dim:
                return bases
        return ()

    @property
    def all_columns(self) -> Columns:
        """Packed bases of all input dims, in order."""
        return self._columns

    def in_bits(self, in_dim: str) -> int:
        return len(self.columns(in_dim))

    def in_size(self, in_dim: str) -> int:
        return 1 << len(self.columns(in_dim))

    def out_bits(self, out_dim: str) -> int:
        for dim, bits in self.outs:
            if dim == out_dim:
                return bits
        raise LayoutError(f"layout has no output dim {out_dim}")

    def out_size(self, out_dim: str) -> int:
        return 1 << self.out_bits(out_dim)

    @property
    def total_in_bits(self) -> int:
        return len(self._columns)

    @property
    def total_out_bits(self) -> int:
        return sum(bits for _, bits in self.outs)

    def offset_of(self, out_dim: str) -> int:
        """Position of an output dim's low bit in a packed index."""
        return self._offsets[out_dim]

    def unpack(self, packed: int) -> tuple[int, ...]:
        """Coordinates of a packed index, in the order of the output dims."""
        return tuple((packed >> self._offsets[dim]) & ((1 << bits) - 1) for dim, bits in self.outs)

    def coordinate(self, packed: int, out_dim: str) -> int:
        """One coordinate of a packed index."""
        return (packed >> self._offsets[out_dim]) & ((1 << self.out_bits(out_dim)) - 1)

    def bases(self, in_dim: str) -> tuple[tuple[int, ...], ...]:
        """Bases of one input dim as coordinates."""
        return tuple(self.unpack(basis) for basis in self.columns(in_dim))

    # --- evaluation
    # ---------------------------------------------------------------------------------------------------

    def apply_packed(self, inputs: Mapping[str, int]) -> int:
        """The packed index of one place; dims not mentioned are at 0."""
        result = 0
        for dim, value in inputs.items():
            result ^= combine(self.columns(dim), value)
        return result

    def apply(self, **inputs: int) -> tuple[int, ...]:
        """The coordinates of one place; dims not mentioned are at 0."""
        return self.unpack(self.apply_packed(inputs))

    # --- combination
    # --------------------------------------------------------------------------------------------------

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """Direct sum. `self` is the fast-moving tile, repeated as `other` says: in every input dim other's bits come
        after self's, in every output dim other's coordinates are counted in whole tiles of `self`."""
        if not other.ins and not other.outs:
            return self
        bits = dict(self.outs)
        for dim, width in other.outs:
            bits[dim] = bits.get(dim, 0) + width
        offsets = _positions(bits.items())
        ins: dict[str, list[int]] = {dim: [_move(basis, self, offsets) for basis in bases] for dim, bases in self.ins}
        shifted = {dim: offsets[dim] + (self.out_bits(dim) if dim in self._offsets else 0) for dim, _ in other.outs}
        for dim, bases in other.ins:
            ins.setdefault(dim, []).extend(_move(basis, other, shifted) for basis in bases)
        return LinearLayout(ins.items(), bits.items())

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """outer ∘ self: self's outputs are outer's inputs (self's may be smaller)."""
        columns: dict[str, Columns] = {}
        for dim, bits in self.outs:
            if bits > outer.in_bits(dim):
                raise LayoutError(f"cannot compose: {dim} has {bits} bits here and {outer.in_bits(dim)} there")
            columns[dim] = outer.columns(dim)[:bits]
        flat = tuple(column for dim, _ in self.outs for column in columns[dim])
        return LinearLayout([(d, [combine(flat, basis) for basis in bases]) for d, bases in self.ins], outer.outs)

    def sublayout(self, in_dims: Iterable[str], out_dims: Iterable[str]) -> LinearLayout:
        """Only these inputs (the others at 0), projected on these outputs; keeps the layout's own order of dims."""
        wanted_ins, wanted_outs = set(in_dims), set(out_dims)
        outs = [(dim, bits) for dim, bits in self.outs if dim in wanted_outs]
        offsets = _positions(outs)
        ins = [(dim, [_move(basis, self, offsets) for basis in bases]) for dim, bases in self.ins if dim in wanted_ins]
        return LinearLayout(ins, outs)

    # --- reordering
    # ---------------------------------------------------------------------------------------------------

    def order_outs(self, dims: Sequence[str]) -> LinearLayout:
        """The same map with its output dims in the given order."""
        if tuple(dims) == self.out_dims:
            return self
        if sorted(dims) != sorted(self.out_dims):
            raise LayoutError(f"{list(dims)} is not a permutation of the output dims {list(self.out_dims)}")
        outs = [(dim, self.out_bits(dim)) for dim in dims]
        offsets = _positions(outs)
        return LinearLayout([(d, [_move(basis, self, offsets) for basis in bases]) for d, bases in self.ins], outs)

    def order_ins(self, dims: Sequence[str]) -> LinearLayout:
        """The same map with its input dims in the given order."""
        if sorted(dims) != sorted(self.in_dims):
            raise LayoutError(f"{list(dims)} is not a permutation of the input dims {list(self.in_dims)}")
        return LinearLayout([(dim, self.columns(dim)) for dim in dims], self.outs)

    def rename_outs(self, names: Mapping[str, str]) -> LinearLayout:
        """Output dims renamed in place."""
        return LinearLayout(self.ins, [(names.get(dim, dim), bits) for dim, bits in self.outs])

    def reshape_ins(self, sizes: Sequence[tuple[str, int]]) -> LinearLayout:
        """All input bits in dim order, cut again into dims of these sizes."""
        result: list[tuple[str, Columns]] = []
        start = 0
        for dim, size in sizes:
            bits = log2(size)
            result.append((dim, self._columns[start : start + bits]))
            start += bits
        if start != len(self._columns):
            raise LayoutError("the new input dims do not have the same number of bits")
        return LinearLayout(result, self.outs)

    def reshape_outs(self, sizes: Sequence[tuple[str, int]]) -> LinearLayout:
        """All output bits in dim order, cut again into dims of these sizes."""
        outs = [(dim, log2(size)) for dim, size in sizes]
        if sum(bits for _, bits in outs) != self.total_out_bits:
            raise LayoutError("the new output dims do not have the same number of bits")
        return LinearLayout(self.ins, outs)

    def flatten_outs(self, name: str = "index") -> LinearLayout:
        """All output dims as one; the packed index itself."""
        return LinearLayout(self.ins, [(name, self.total_out_bits)])

    def with_columns(self, in_dim: str, columns: Iterable[int]) -> LinearLayout:
        """The bases of one input dim replaced (packed)."""
        return LinearLayout([(dim, columns if dim == in_dim else bases) for dim, bases in self.ins], self.outs)

    def select_bits(self, in_dim: str, bits: Sequence[int]) -> LinearLayout:
        """New bit i of `in_dim` is old bit `bits[i]`: a permutation or a subset. On registers this renames or drops
        values and moves no data."""
        bases = self.columns(in_dim)
        return self.with_columns(in_dim, [bases[bit] for bit in bits])

    def drop_zero_bases(self, in_dim: str) -> LinearLayout:
        """Without the bits of `in_dim` that change nothing."""
        return self.with_columns(in_dim, [basis for basis in self.columns(in_dim) if basis])

    # --- sizes
    # --------------------------------------------------------------------------------------------------------

    def grow_outs(self, sizes: Mapping[str, int], in_dim: str) -> LinearLayout:
        """Repeats the layout along `in_dim` until every output dim has at least its size, dims in the layout's own
        order.

        That order is the order of repetition: it numbers the registers of large tensors, so it is the same for
        everyone.
        """
        result = self
        for dim, bits in self.outs:
            missing = log2(sizes[dim]) - bits
            if missing > 0:
                result = result * LinearLayout.identity(1 << missing, in_dim, dim)
        return result

    def clip_outs(self, sizes: Mapping[str, int]) -> LinearLayout:
        """Output dims cut down to their sizes; a basis that would step outside steps nowhere, so its bit selects
        copies.
        """
        outs = [(dim, min(bits, log2(sizes[dim]))) for dim, bits in self.outs]
        offsets = _positions(outs)

        def clip(basis: int) -> int:
            result = 0
            for dim, bits in outs:
                coordinate = self.coordinate(basis, dim)
                if not coordinate >> bits:
                    result |= coordinate << offsets[dim]
            return result

        return LinearLayout([(dim, [clip(basis) for basis in bases]) for dim, bases in self.ins], outs)

    # --- linear algebra
    # -----------------------------------------------------------------------------------------------

    @property
    def is_surjective(self) -> bool:
        return rank(self._columns) == self.total_out_bits

    @property
    def is_injective(self) -> bool:
        return rank(self._columns) == self.total_in_bits

    @property
    def is_invertible(self) -> bool:
        return self.total_in_bits == self.total_out_bits and self.is_surjective

    def free_masks(self) -> dict[str, int]:
        """For each input dim, the bits whose basis depends on earlier ones (dims in order, bit 0 first): they select
        copies.
        """
        reduced = Echelon()
        masks: dict[str, int] = {}
        column = 0
        for dim, bases in self.ins:
            mask = 0
            for bit, basis in enumerate(bases):
                if not reduced.insert(basis, column):
                    mask |= 1 << bit
                column += 1
            masks[dim] = mask
        return masks

    def invert_and_compose(self, outer: LinearLayout) -> LinearLayout:
        """X with outer(X(y)) = self(y) for every y: from a place of `self` to a place of `outer` that holds the same
        element.

        Where outer holds copies there is a choice, made for each bit of y apart. A bit that has the same basis on
        both sides stays where it is (so two warps that hold the same copies each keep their own); otherwise earlier
        bits of outer are preferred, registers to lanes to warps, and free bits are 0.
        Raises LayoutError when self reaches an index that outer does not hold.
        """
        outer = outer.order_outs(self.out_dims)
        if any(bits > outer.out_bits(dim) for dim, bits in self.outs):
            raise LayoutError("the outer layout is smaller than the inner one")
        own = self if self.outs == outer.outs else self._repacked(outer)
        reduced = echelon(outer.all_columns)
        outs = [(dim, len(bases)) for dim, bases in outer.ins]
        positions = _positions(outs)
        ins: list[tuple[str, list[int]]] = []
        for dim, bases in own.ins:
            there = outer.columns(dim)
            solved: list[int] = []
            for bit, basis in enumerate(bases):
                if bit < len(there) and there[bit] == basis:
                    solved.append(1 << (positions[dim] + bit))
                    continue
                rest, combination = reduced.reduce(basis)
                if rest:
                    raise LayoutError("the outer layout does not hold every element of the inner one")
                solved.append(combination)
            ins.append((dim, solved))
        return LinearLayout(ins, outs)

    def _repacked(self, like: LinearLayout) -> LinearLayout:
        """The same map into the (larger) output dims of another layout."""
        offsets = _positions(like.outs)
        return LinearLayout(
            [(dim, [_move(basis, self, offsets) for basis in bases]) for dim, bases in self.ins], like.outs
        )

    def pseudo_inverse(self) -> LinearLayout:
        """Index → place: the place with free bits 0 that holds it. The inverse, when there is one."""
        identity = LinearLayout.empty()
        for dim, bits in self.outs:
            identity = identity * LinearLayout.identity(1 << bits, dim, dim)
        return identity.invert_and_compose(self)

    def invert(self) -> LinearLayout:
        """Index → place, for a layout without copies; raises LayoutError otherwise."""
        if not self.is_invertible:
            raise LayoutError("the layout is not invertible")
        return self.pseudo_inverse()

    def is_trivial_over(self, dims: Iterable[str]) -> bool:
        """Whether each of `dims`, present on both sides, maps to itself and no other input reaches it."""
        for dim in dims:
            if dim not in self._offsets:
                return False
            start, bits = self._offsets[dim], self.out_bits(dim)
            mask = ((1 << bits) - 1) << start
            for in_dim, bases in self.ins:
                if in_dim == dim:
                    if bases != tuple(1 << (start + i) for i in range(bits)):
                        return False
                elif any(basis & mask for basis in bases):
                    return False
        return True

    def quotient(self, dims: Iterable[str]) -> LinearLayout | None:
        """Without `dims`, when the map is the identity on them and keeps them apart from the rest; None otherwise."""
        dims = tuple(dims)
        if not self.is_trivial_over(dims):
            return None
        return self.sublayout(
            [dim for dim in self.in_dims if dim not in dims], [dim for dim in self.out_dims if dim not in dims]
        )

    # --- text
    # ---------------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[tuple[str, tuple[tuple[int, ...], ...]]]:
        return ((dim, self.bases(dim)) for dim, _ in self.ins)

    def _repr_html_(self) -> str:
        """A picture of who holds each element, for notebooks."""
        shown: str = import_module("tritonx.layouts.draw").draw_html(self)
        return shown

    def __repr__(self) -> str:
        lines = [f"{dim}: {' '.join(str(basis).replace(' ', '') for basis in bases) or '-'}" for dim, bases in self]
        sizes = ", ".join(f"{dim}: {1 << bits}" for dim, bits in self.outs)
        return "\n".join([*lines, f"-> ({sizes})"])


def _positions(outs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Where each output dim's low bit is in a packed index."""
    positions: dict[str, int] = {}
    total = 0
    for dim, bits in outs:
        positions[dim] = total
        total += bits
    return positions


def _move(basis: int, layout: LinearLayout, offsets: Mapping[str, int]) -> int:
    """A packed index of `layout` packed again with other positions of the dims; dims without a position are
    dropped.
    """
    result = shift = 0
    for dim, bits in layout.outs:
        offset = offsets.get(dim)
        if offset is not None:
            result |= ((basis >> shift) & ((1 << bits) - 1)) << offset
        shift += bits
    return result
