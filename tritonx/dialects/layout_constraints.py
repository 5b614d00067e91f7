"""How the layouts of an op's operands and results hang together: each op declares it, as `LAYOUTS`.

A tile in `ttg` is spread over registers, lanes, warps and blocks by its layout, and an op is emitted for one thread:
it works on the registers that this thread holds. `arith.addf` adds register to register, so that its tensors must
have one layout; the result of `tt.reduce` lies in the slice that the reduction leaves; `tt.trans` renumbers registers,
which is right only if the thread that holds an element of the result holds the element of the operand that it is made
of. An op that is emitted although its layouts do not hang together as it declares computes wrong numbers without a
word, since every register exists.

The constraints:

- `NoTensors`: no operand or result is a tensor.
- `AnyLayouts`: tensors come in any layout, because elements pass through memory or are looked at one by one.
- `SameLayout`: all tensors have one layout, besides those it names. `Elementwise` says moreover that an element of a
  result is computed from the elements of the operands in its place and from nothing else, `FromScalars` that it is
  computed from none.
- `LookedUp`: the same, and the operands it names are tables, from any place of which an element of a result is taken.
- `ThreadLocal`: no data moves between threads, although the shape changes. Its subclasses say where an element comes
  from; both sides are compared in one space of coordinates (see the class).
- `Reduced`, `Reordered`, `DotOperands`: what their names say.
- `CarriedTypes`: what leaves one block enters another as it is; verifiers of control flow compare the types.

Layout assignment propagates through each constraint by `tritonx.conversion.tile_to_gpu.propagation`, and refuses what
it does not know. A constraint is checked where tensors carry layouts, by `tritonx.dialects.verify_layouts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.properties import integer_property, integers_property
from tritonx.ir.types import encoding_of, is_tensor, shape_of, type_of

if TYPE_CHECKING:
    from tritonx.layouts import LinearLayout
    from tritonx.layouts.encodings import DistributedEncoding

Ints = tuple[int, ...]


@dataclass(frozen=True)
class LayoutConstraint:
    """What `LAYOUTS` of an op holds.

    >>> from tritonx.backends.tile import ELEMENTWISE
    >>> isinstance(ELEMENTWISE, LayoutConstraint)
    True
    """

    def check(self, op: Operation) -> None:
        """Raises `VerifyException` unless the layouts of the op's tensors, which all have one, hang together."""
        raise NotImplementedError


@dataclass(frozen=True)
class NoTensors(LayoutConstraint):
    """No operand or result is a tensor."""

    def check(self, op: Operation) -> None:
        for value in (*op.operands, *op.results):
            if is_tensor(type_of(value)):
                raise VerifyException(f"no operand or result can be a tensor, got {type_of(value)}")


@dataclass(frozen=True)
class AnyLayouts(LayoutConstraint):
    """Tensors in any layouts."""

    def check(self, op: Operation) -> None:
        return


@dataclass(frozen=True)
class CarriedTypes(LayoutConstraint):
    """Control flow: what goes in and out has the types of the values that it becomes, which the op's own verifier
    compares."""

    def check(self, op: Operation) -> None:
        return


@dataclass(frozen=True)
class SameLayout(LayoutConstraint):
    """One layout for all tensors besides the operands and results called `besides`, which may have any."""

    besides: tuple[str, ...] = ()

    def check(self, op: Operation) -> None:
        free = {value for name in self.besides for value in values_of(op, name)}
        types = [type_of(v) for v in (*op.operands, *op.results) if v not in free and is_tensor(type_of(v))]
        for type_ in types[1:]:
            if not _placed_alike(types[0], type_):
                raise VerifyException(f"tensors must have one layout, got {types[0]} and {type_}")


@dataclass(frozen=True)
class Elementwise(SameLayout):
    """Element by element: besides the layout, each element of a result depends on the elements in its place only."""


@dataclass(frozen=True)
class FromScalars(SameLayout):
    """Tensors made of scalars and attributes: in any layout, at the same cost."""


@dataclass(frozen=True)
class LookedUp(SameLayout):
    """One layout for all tensors but the operands called `besides`: those are tables. An element of a result is taken
    from any place of a table, whatever thread holds it, so each lies in the op's scratch memory meanwhile, row-major
    and one behind the other (`analysis.buffers`), and is in memory where a host runs the op."""


@dataclass(frozen=True)
class Scanned(SameLayout):
    """A scan along `axis`: operands and results have one layout."""


@dataclass(frozen=True)
class DotOperands(SameLayout):
    """A matrix product: accumulator and result have one layout, and an operand in registers the one that the unit,
    whose layout that is, reads operands in. A unit for whose layouts there are no names writes all of them out as
    linear ones: then only it can tell whether they belong together."""

    besides: tuple[str, ...] = ("a", "b")

    def check(self, op: Operation) -> None:
        super().check(op)
        from tritonx.layouts.encodings import DotOperandEncoding, LinearEncoding

        unit = _encoding(type_of(op.results[0]))
        for number, operand in enumerate(op.operands[:2]):
            if not is_tensor(type_of(operand)):
                continue
            encoding = _encoding(type_of(operand))
            if isinstance(unit, LinearEncoding) and isinstance(encoding, LinearEncoding):
                continue
            if not isinstance(encoding, DotOperandEncoding):
                raise VerifyException(f"operand {number} must have a layout of dot operands, got {type_of(operand)}")
            if encoding.op_idx != number or encoding.parent != unit:
                raise VerifyException(
                    f"operand {number} must have the layout of operand {number} of {type_of(op.results[0])}, got"
                    f" {type_of(operand)}"
                )


@dataclass(frozen=True)
class Reduced(LayoutConstraint):
    """A reduction along `axis`: the operands have one layout, the results its slice."""

    def check(self, op: Operation) -> None:
        SameLayout(besides=("result",)).check(op)
        from tritonx.layouts import infer

        source = type_of(op.operands[0])
        axis = integer_property(op, "axis")
        sliced = infer.reduced(_encoding(source), axis)
        for result in op.results:
            type_ = type_of(result)
            if is_tensor(type_) and not infer.equivalent(sliced, _encoding(type_), shape_of(type_)):
                raise VerifyException(
                    f"the result must have the slice of {source} along dim {axis} as its layout, got {type_}"
                )


@dataclass(frozen=True)
class Reordered(LayoutConstraint):
    """The result takes over the registers of its operand, of several those of one after the other: elements come in an
    order that is not defined, but each once. So what are copies of one element must be so on both sides."""

    def check(self, op: Operation) -> None:
        source, result = type_of(op.operands[0]), type_of(op.results[0])
        SameLayout(besides=("result",)).check(op)
        from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
        from tritonx.layouts.gf2 import rank

        before, after = _layout(source), _layout(result)
        more = len(op.operands).bit_length() - 1
        taken = {dim: list(before.columns(dim)) for dim in (REGISTER, LANE, WARP, BLOCK)}
        taken[REGISTER] += [1 << (before.total_out_bits + bit) for bit in range(more)]
        if any(len(columns) != after.in_bits(dim) for dim, columns in taken.items()):
            raise VerifyException(f"the registers of {result} are not those of {source}")
        old = [column for columns in taken.values() for column in columns]
        new = [column for dim in taken for column in after.columns(dim)]
        width = before.total_out_bits + more
        together = rank(a | b << width for a, b in zip(old, new, strict=True))
        if not together == rank(old) == rank(new):  # the same combinations vanish
            raise VerifyException(f"what are copies in {source} are none in {result}, or the other way round")


@dataclass(frozen=True)
class ThreadLocal(LayoutConstraint):
    """The thread that holds an element of the result holds the elements of the operands that it is made of.

    `result_place` and `operand_place` take the coordinates of a result and of an operand into one space, in which an
    element and what it is made of are at one point: for `tt.trans` that of the operand, with the result's coordinates
    permuted. Both are linear over GF(2), as layouts are, so that bases suffice: lanes, warps and blocks must step alike
    on both sides, and the registers of the operand reach all steps of the result's. `joined` are steps between the
    operands of one op, or inside one element of an operand; `taken` are steps that the results of one op lie apart.
    """

    def result_place(self, op: Operation, at: Ints) -> Ints:
        return at

    def operand_place(self, op: Operation, at: Ints) -> Ints:
        return at

    def joined(self, op: Operation) -> Iterable[Ints]:
        return ()

    def taken(self, op: Operation) -> Iterable[Ints]:
        return ()

    def check(self, op: Operation) -> None:
        from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
        from tritonx.layouts.gf2 import Echelon

        source, result = type_of(op.operands[0]), type_of(op.results[0])
        operand, made = _layout(source), _layout(result)
        for dim in (LANE, WARP, BLOCK):
            ours = [self.operand_place(op, basis) for basis in operand.bases(dim)]
            theirs = [self.result_place(op, basis) for basis in made.bases(dim)]
            if ours != theirs:
                raise VerifyException(
                    f"data would have to move between {dim}s: the layouts of {source} and {result} do not go together"
                )
        held = Echelon()
        ours = [self.operand_place(op, basis) for basis in operand.bases(REGISTER)]
        for column, step in enumerate((*ours, *self.joined(op))):
            held.insert(_packed(step), column)
        for step in (*(self.result_place(op, basis) for basis in made.bases(REGISTER)), *self.taken(op)):
            if held.reduce(_packed(step))[0]:
                raise VerifyException(
                    f"a thread does not hold what its registers of the result are made of: {source} and {result}"
                )


@dataclass(frozen=True)
class ExpandDims(ThreadLocal):
    """A dim of extent 1 more, at `axis`."""

    def result_place(self, op: Operation, at: Ints) -> Ints:
        axis = integer_property(op, "axis")
        return at[:axis] + at[axis + 1 :]


@dataclass(frozen=True)
class Broadcast(ThreadLocal):
    """All of the result's elements along a dim are the operand's only one there."""

    def result_place(self, op: Operation, at: Ints) -> Ints:
        return tuple(0 if n == 1 else x for x, n in zip(at, shape_of(type_of(op.operands[0])), strict=True))


@dataclass(frozen=True)
class Transposed(ThreadLocal):
    """Dim i of the result is dim `order[i]` of the operand."""

    def result_place(self, op: Operation, at: Ints) -> Ints:
        order = integers_property(op, "order")
        return tuple(at[order.index(axis)] for axis in range(len(order)))


@dataclass(frozen=True)
class Reshaped(ThreadLocal):
    """The same elements in row-major order; with `allow_reorder` the same registers."""

    def result_place(self, op: Operation, at: Ints) -> Ints:
        return _row_major(at, shape_of(type_of(op.results[0])))

    def operand_place(self, op: Operation, at: Ints) -> Ints:
        return _row_major(at, shape_of(type_of(op.operands[0])))

    def check(self, op: Operation) -> None:
        if "allow_reorder" in op.properties:
            Reordered().check(op)
        else:
            super().check(op)


@dataclass(frozen=True)
class Joined(ThreadLocal):
    """Operands side by side along a new last dim, which a register chooses from."""

    def operand_place(self, op: Operation, at: Ints) -> Ints:
        return (*at, 0)

    def joined(self, op: Operation) -> Iterable[Ints]:
        return [(*(0,) * len(shape_of(type_of(op.operands[0]))), 1)]

    def check(self, op: Operation) -> None:
        SameLayout(besides=("result",)).check(op)
        super().check(op)


@dataclass(frozen=True)
class SplitApart(ThreadLocal):
    """Results that were side by side along the operand's last dim, which a register chooses from."""

    def result_place(self, op: Operation, at: Ints) -> Ints:
        return (*at, 0)

    def taken(self, op: Operation) -> Iterable[Ints]:
        return [(*(0,) * len(shape_of(type_of(op.results[0]))), 1)]

    def check(self, op: Operation) -> None:
        SameLayout(besides=("src",)).check(op)
        super().check(op)


@dataclass(frozen=True)
class PairsUnpacked(ThreadLocal):
    """Two elements of the result, neighbours along `axis`, from each of the operand."""

    def operand_place(self, op: Operation, at: Ints) -> Ints:
        axis = integer_property(op, "axis")
        return tuple(2 * x if d == axis else x for d, x in enumerate(at))

    def joined(self, op: Operation) -> Iterable[Ints]:
        axis = integer_property(op, "axis")
        return [tuple(int(d == axis) for d in range(len(shape_of(type_of(op.operands[0])))))]

    def check(self, op: Operation) -> None:
        super().check(op)
        scales = [type_of(value) for value in op.operands[1:]]
        for scale in scales:
            if not _placed_alike(scale, type_of(op.results[0])):
                raise VerifyException(f"the scales must have the layout of the result, got {scale}")


@dataclass(frozen=True)
class SameThreads(ThreadLocal):
    """The same tile in other registers of the same threads."""


@dataclass(frozen=True)
class BoxTaken(ThreadLocal):
    """The box of the operand from `static_offsets` on."""

    def taken(self, op: Operation) -> Iterable[Ints]:
        return [integers_property(op, "static_offsets")]


@dataclass(frozen=True)
class Tiled(ThreadLocal):
    """The result is tiled by the operands, of which a register chooses."""

    def joined(self, op: Operation) -> Iterable[Ints]:
        part, whole = shape_of(type_of(op.operands[0])), shape_of(type_of(op.results[0]))
        for axis, (small, large) in enumerate(zip(part, whole, strict=True)):
            while small < large:
                yield tuple(small if d == axis else 0 for d in range(len(whole)))
                small *= 2

    def check(self, op: Operation) -> None:
        SameLayout(besides=("result",)).check(op)
        super().check(op)


NO_TENSORS = NoTensors()
ANY_LAYOUTS = AnyLayouts()
CARRIED_TYPES = CarriedTypes()
SAME_LAYOUT = SameLayout()
ELEMENTWISE = Elementwise()
FROM_SCALARS = FromScalars()


def constraint_of(op: Operation) -> LayoutConstraint | None:
    """What an op declares; None for one that declares nothing (of a dialect that knows no layouts)."""
    return layouts_of(type(op))


def layouts_of(cls: type[Operation]) -> LayoutConstraint | None:
    """What a class of ops declares."""
    return getattr(cls, "LAYOUTS", None)


def is_elementwise(op: Operation) -> bool:
    """Whether each element of the results is a function of the operands' elements in its place. It may have effects."""
    return isinstance(constraint_of(op), Elementwise)


def values_of(op: Operation, name: str) -> Sequence[SSAValue]:
    """The operands or results that an op's declaration calls `name`."""
    found: SSAValue | Sequence[SSAValue] | None = getattr(op, name)
    if found is None:
        return ()
    return (found,) if isinstance(found, SSAValue) else tuple(found)


def _encoding(type_: Attribute) -> DistributedEncoding:
    """The layout of a tensor, which it has and which spreads it over threads: that is checked before this is."""
    from tritonx.layouts.lookup import is_distributed

    found: object = getattr(encoding_of(type_), "data", None)
    assert is_distributed(found), f"{type_} has no layout over threads"
    return found


def _layout(type_: Attribute) -> LinearLayout:
    from tritonx.layouts import linear_layout

    return linear_layout(_encoding(type_), shape_of(type_))


def _placed_alike(a: Attribute, b: Attribute) -> bool:
    """Whether two tensors have one layout. Of tensors of different shapes the encodings are compared, of others where
    each element is."""
    if encoding_of(a) == encoding_of(b):
        return True
    return shape_of(a) == shape_of(b) and _layout(a) == _layout(b)


def _row_major(at: Ints, shape: Ints) -> Ints:
    flat = 0
    for x, extent in zip(at, shape, strict=True):
        flat = flat * extent + x
    return (flat,)


def _packed(step: Ints) -> int:
    """Coordinates as one vector over GF(2)."""
    packed = 0
    for x in step:
        packed = packed << 32 | x
    return packed
