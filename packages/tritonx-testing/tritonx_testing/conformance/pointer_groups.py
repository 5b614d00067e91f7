"""Which pointers of a kernel point into which of its arrays, and what is done with them.

Pointers that may be one another, by arithmetic, changes of shape, selections, loops, branches and calls, are a group.
Mostly a group has one array. Where pointers into several arrays meet, as in ``tl.where(c, x_ptr + i, y_ptr + i)``, the
arrays are of one group and must lie alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tritonx.analysis.pointer_sources import sources
from tritonx.dialects import arith, cf, scf, tile
from tritonx.dialects.layout_constraints import LookedUp, layouts_of
from tritonx.ir.fold import constant_of
from tritonx.ir.types import bit_width, element_type, pointee_of, type_of


class Use(IntEnum):
    """What is done with the pointers of a group; of several the highest."""

    ELEMENTS = 0
    """Elements are read and written."""
    BLOCKS = 1
    """Blocks are, through block pointers."""
    ROWS = 2
    """Blocks are, through descriptors: of rows that have no gaps between their elements."""
    MIXED = 3
    """They may point into several arrays, or are handed to other functions."""
    ADDRESSES = 4
    """Something else is made of them, or they are made of something else."""


@dataclass(frozen=True)
class Group:
    """``parameters``: numbers of the kernel's arguments. ``values``: every pointer, block pointer and descriptor."""

    parameters: tuple[int, ...]
    use: Use
    values: tuple[SSAValue, ...]

    @property
    def views(self) -> list[Any]:
        """The ops that make block pointers and descriptors."""
        owners = [value.owner for value in self.values]
        return [op for op in owners if isinstance(op, tile.MakeTensorPtrOp | tile.MakeTensorDescOp)]

    def columns(self, arguments: Sequence[object]) -> int | None:
        """The length of the rows that all block pointers and descriptors step by, where the kernel gets these
        arguments: they have rows of so many elements or whole ones of them. None where they do not, or it is unknown.
        """
        dims = [
            (known(shape, arguments), known(stride, arguments))
            for op in self.views
            for shape, stride in zip(op.shape, op.strides, strict=True)
        ]
        if any(shape is None or stride is None or stride < 1 for shape, stride in dims):
            return None
        sizes = cast(list[tuple[int, int]], dims)
        columns = min((stride for _, stride in sizes if stride > 1), default=0)
        inside = all(shape <= columns if stride == 1 else stride % columns == 0 for shape, stride in sizes if columns)
        return columns if columns and inside else None


@dataclass(frozen=True)
class Parameter:
    """What a kernel does with an array: ``columns`` is the length of the rows that its block pointers and descriptors
    step by, ``leader`` an earlier parameter whose array must lie like this one's.
    """

    use: Use = Use.ELEMENTS
    columns: int | None = None
    leader: str | None = None


def parameters(module: ModuleOp, names: Sequence[str], arguments: Sequence[object]) -> dict[str, Parameter]:
    """What the kernel does with each of its arrays where it gets these arguments, by the parameter's name."""
    made: dict[str, Parameter] = {}
    for group in pointer_groups(module):
        first, *others = (names[number] for number in group.parameters)
        columns = group.columns(arguments) if group.views else None
        made[first] = Parameter(group.use, columns)
        made.update((name, Parameter(group.use, columns, first)) for name in others)
    return made


def entry_of(module: ModuleOp) -> tile.FuncOp:
    """The kernel of a module."""
    return next(op for op in module.ops if isinstance(op, tile.FuncOp) and op.is_kernel)


def known(value: SSAValue, arguments: Sequence[object]) -> int | None:
    """A whole number that the kernel is given, or a constant of the kernel."""
    constant = constant_of(value)
    if isinstance(constant, int):
        return constant
    owner = value.owner
    if isinstance(owner, arith.ExtSIOp | arith.ExtUIOp | arith.TruncIOp):
        return known(owner.operands[0], arguments)
    if isinstance(owner, Block):
        given = arguments[cast(BlockArgument, value).index] if isinstance(owner.parent_op(), tile.FuncOp) else None
        return given if isinstance(given, int) else None
    return None


def pointer_groups(module: ModuleOp) -> list[Group]:
    """The groups that have arrays of the kernel, in the order of these."""
    entry = entry_of(module)
    parameters = [a for a in entry.body.blocks[0].args if _points(a)]
    links = _Links()
    uses: dict[SSAValue, Use] = {}
    for value in _values(module):
        if not _points(value):
            continue
        links.add(value)
        origins = list(sources(value))
        for origin in origins:
            links.join(value, origin)
        if not origins and value not in parameters:
            uses[value] = Use.MIXED if _is_handed_over(value) else Use.ADDRESSES
        for use in value.uses:
            uses[value] = max(uses.get(value, Use.ELEMENTS), _use(use.operation, use.index))
    for value, other in _calls(module):
        links.join(value, other)
    made: list[Group] = []
    for values in links.groups():
        numbers = tuple(sorted(p.index for p in parameters if p in values))
        worst = max(uses.get(value, Use.ELEMENTS) for value in values)
        if len(numbers) > 1:
            worst = Use.ADDRESSES if worst == Use.ROWS else max(worst, Use.MIXED)
        if numbers:
            made.append(Group(numbers, worst, tuple(values)))
    return sorted(made, key=lambda group: group.parameters)


class _Links:
    """Values and which of them belong together."""

    def __init__(self) -> None:
        self._members: dict[SSAValue, dict[SSAValue, None]] = {}

    def add(self, value: SSAValue) -> None:
        self._members.setdefault(value, {value: None})

    def join(self, a: SSAValue, b: SSAValue) -> None:
        self.add(a)
        self.add(b)
        first, second = self._members[a], self._members[b]
        if first is not second:
            first.update(second)
            for value in second:
                self._members[value] = first

    def groups(self) -> list[dict[SSAValue, None]]:
        return list({id(members): members for members in self._members.values()}.values())


def _values(module: ModuleOp) -> Iterator[SSAValue]:
    for op in module.walk():
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def _points(value: SSAValue) -> bool:
    return isinstance(element_type(type_of(value)), tile.PointerType | tile.TensorDescType)


TABLES = tuple(op for op in tile.Tile.operations if isinstance(layouts_of(op), LookedUp))
CARRY = (
    *TABLES,
    tile.AddPtrOp, tile.SplatOp, tile.UnsplatOp, tile.ExpandDimsOp, tile.BroadcastOp, tile.ReshapeOp, tile.TransOp,
    tile.SplitOp, tile.BitcastOp, tile.MakeTensorPtrOp, tile.AdvanceOp, tile.MakeTensorDescOp,
    tile.CatOp, tile.JoinOp, arith.SelectOp,
    cf.BranchOp, cf.ConditionalBranchOp, scf.ForOp, scf.WhileOp, scf.IfOp, scf.YieldOp, scf.ConditionOp,
    scf.ExecuteRegionOp,
)  # fmt: skip
"""Ops that make pointers of pointers, or hand them on."""
_ACCESS = (
    tile.LoadOp, tile.StoreOp, tile.AtomicRMWOp, tile.AtomicCASOp, tile.AtomicLoadOp, tile.AtomicStoreOp,
    tile.AtomicPollOp, tile.DescriptorLoadOp, tile.DescriptorStoreOp,
    tile.DescriptorReduceOp, tile.DescriptorGatherOp, tile.DescriptorScatterOp,
)  # fmt: skip


def _use(op: Operation, place: int) -> Use:
    """What an op does with the pointer that is its operand at this place."""
    if isinstance(op, tile.MakeTensorPtrOp):
        return Use.BLOCKS
    if isinstance(op, tile.MakeTensorDescOp):
        return Use.ROWS
    if isinstance(op, tile.BitcastOp):
        return Use.ELEMENTS if _bytes(op.src) == _bytes(op.result) else Use.ADDRESSES
    if isinstance(op, tile.CallOp | tile.ReturnOp):
        return Use.MIXED
    carried = isinstance(op, CARRY) or (isinstance(op, _ACCESS) and place == 0)
    return Use.ELEMENTS if carried else Use.ADDRESSES


def _bytes(pointer: SSAValue) -> int:
    return max(1, bit_width(pointee_of(type_of(pointer))) // 8)


def _is_handed_over(value: SSAValue) -> bool:
    """Whether the value is a call's result or an argument of a function."""
    owner = value.owner
    return isinstance(owner.parent_op() if isinstance(owner, Block) else owner, tile.FuncOp | tile.CallOp)


def _calls(module: ModuleOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    """What calls hand over: operands and arguments, and results."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tile.FuncOp)}
    for call in module.walk():
        if not isinstance(call, tile.CallOp):
            continue
        callee = functions[call.callee.root_reference.data]
        pairs: list[tuple[SSAValue, SSAValue]] = [*zip(call.operands, callee.body.blocks[0].args, strict=True)]
        for inner in callee.walk():
            if isinstance(inner, tile.ReturnOp):
                pairs.extend(zip(call.results, inner.operands, strict=True))
        yield from ((a, b) for a, b in pairs if _points(a))
