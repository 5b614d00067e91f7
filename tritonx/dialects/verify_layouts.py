"""Verification of layouts: every tile of a `ttg` module has one, it spreads the tile over the threads that the module
has, and the layouts of each op's operands and results hang together as the op declares (`LAYOUTS`).

In a module whose tiles have no layouts, which is `tt`, only buffers are checked. Tiles whose layouts passes determine
(`gluon`) have theirs determined together with the other tiles of an op.
"""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.gluon import undetermined
from tritonx.dialects.gpu_layout.types import MemDescType
from tritonx.dialects.layout_constraints import (
    AnyLayouts,
    CarriedTypes,
    LayoutConstraint,
    NoTensors,
    constraint_of,
    values_of,
)
from tritonx.ir.errors import VerifyFailure
from tritonx.ir.types import encoding_of, i32, is_tensor, shape_of, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts import LayoutError, linear_layout
from tritonx.layouts.lookup import is_distributed, is_shared

WARPS, LANES, BLOCKS = "ttg.num-warps", "ttg.threads-per-warp", "ttg.num-ctas"
"""Attributes of a module: how many warps a block has, lanes a warp, blocks a cluster."""

MOST = {WARPS: 1024, LANES: 64, BLOCKS: 16}
"""No target has more: 1024 threads of a block, which may be warps of one lane; 64 lanes of a warp; 16 blocks of a
cluster (CUDA programming guide)."""

MOST_REGISTERS = 1 << 16
"""Twice what the largest tile takes in a single warp; a layout that has more repeats elements without end."""


def verify_layouts(module: Operation) -> None:
    """Raises `VerifyFailure` at the first op whose layouts are wrong."""
    _check_launch_shape(module)
    if any(encoding_of(t) is not None for op in ops_in(module) for t in (*_types(op), *_argument_types(op))):
        _Check(module).op(module)
    else:
        _check_buffers(module)


def _check_buffers(module: Operation) -> None:
    for op in module.walk():
        for type_ in (*_types(op), *_argument_types(op)):
            if isinstance(type_, MemDescType) and (reason := _memory_fault(type_)) is not None:
                raise VerifyFailure(reason, op)


def _types(op: Operation) -> list[Attribute]:
    return [type_of(value) for value in (*op.operands, *op.results)]


def _argument_types(op: Operation) -> list[Attribute]:
    """The types of what its blocks take."""
    return [type_of(argument) for region in op.regions for block in region.blocks for argument in block.args]


def _check_launch_shape(module: Operation) -> None:
    """Threads come in powers of two: layouts number them by bits."""
    for name in (WARPS, LANES, BLOCKS):
        found = module.attributes.get(name)
        if found is None:
            continue
        count = _number(module, name)
        if count is None or count <= 0 or count & (count - 1) or count > MOST[name]:
            raise VerifyFailure(f"'{name}' must be a power of two up to {MOST[name]}, an i32, got {found}", module)


class _Check:
    """A walk that knows how many threads there are where it is."""

    def __init__(self, module: Operation) -> None:
        self.threads = {
            "lane": _number(module, LANES),
            "warp": _number(module, WARPS),
            "block": _number(module, BLOCKS),
        }
        self.good: set[tuple[Attribute, int | None]] = set()

    def op(self, op: Operation) -> None:
        try:
            self._check(op)
        except VerifyException as error:
            if isinstance(error, VerifyFailure):
                raise
            raise VerifyFailure(str(error), op) from error
        for number, region in enumerate(op.regions):
            self._region(op, number, region)

    def _check(self, op: Operation) -> None:
        types = [type_ for type_ in _types(op) if is_tensor(type_)]
        for type_ in types:
            self._tensor(type_)
        for type_ in _types(op):
            if isinstance(type_, MemDescType):
                _check_memory(type_)
        constraint = constraint_of(op)
        if constraint is None:
            if types:
                raise VerifyException("its class declares no LAYOUTS: how its layouts hang together")
            return
        if any(undetermined(type_) for type_ in types):
            _check_undetermined(op, constraint)
            return
        try:
            constraint.check(op)
        except LayoutError as error:
            raise VerifyException(str(error)) from error

    def _tensor(self, type_: Attribute) -> None:
        """The type has a layout for as many threads as there are, or passes determine it."""
        if undetermined(type_) is not None:
            return
        key = (type_, self.threads["warp"])
        if key in self.good:
            return
        encoding: object = getattr(encoding_of(type_), "data", None)
        if not is_distributed(encoding):
            raise VerifyException(f"every tensor needs a layout over threads where one has it, got {type_}")
        try:
            layout = linear_layout(encoding, shape_of(type_))
        except LayoutError as error:
            raise VerifyException(f"{type_}: {error}") from error
        if layout.in_size("register") > MOST_REGISTERS:
            raise VerifyException(f"{type_} has {layout.in_size('register')} registers in each thread")
        for dim, wanted in self.threads.items():
            if wanted is not None and layout.in_size(dim) != wanted:
                raise VerifyException(f"{type_} is spread over {layout.in_size(dim)} {dim}s, but there are {wanted}")
        self.good.add(key)

    def _region(self, op: Operation, number: int, region: Region) -> None:
        partitions = partition_warps(op)
        outside = self.threads["warp"]
        if partitions is not None and number < len(partitions):
            self.threads["warp"] = partitions[number]
        for block in region.blocks:
            self._block(op, block)
        self.threads["warp"] = outside

    def _block(self, op: Operation, block: Block) -> None:
        for argument in block.args:
            type_ = type_of(argument)
            try:
                if is_tensor(type_):
                    self._tensor(type_)
                elif isinstance(type_, MemDescType):
                    _check_memory(type_)
            except VerifyException as error:
                raise VerifyFailure(str(error), op) from error
        for inner in block.ops:
            self.op(inner)


def _check_undetermined(op: Operation, constraint: LayoutConstraint) -> None:
    """The layouts of an op's tensors are determined together: besides operands and results that may have any."""
    if isinstance(constraint, AnyLayouts | CarriedTypes):
        return
    if isinstance(constraint, NoTensors):
        constraint.check(op)
    free = {value for name in getattr(constraint, "besides", ()) for value in values_of(op, name)}
    types = [type_of(v) for v in (*op.operands, *op.results) if v not in free and is_tensor(type_of(v))]
    for type_ in types[1:]:
        if undetermined(types[0]) != undetermined(type_):
            raise VerifyException(f"the layouts of all tensors are determined or none is, got {types[0]} and {type_}")


@lru_cache(maxsize=1024)
def _memory_fault(type_: MemDescType) -> str | None:
    encoding: object = getattr(type_.encoding, "data", None)
    if is_distributed(encoding):
        return f"{type_}: a layout over threads lays out no memory"
    if not is_shared(encoding):  # tensor memory
        return None
    shape = type_.alloc_shape
    if len(shape) < encoding.rank:
        return f"a layout of rank {encoding.rank} cannot lay out {type_}"
    try:
        linear_layout(encoding, shape[len(shape) - encoding.rank :])
    except LayoutError as error:
        return f"{type_}: {error}"
    return None


def _check_memory(type_: MemDescType) -> None:
    """The layout of a buffer (of one entry, where there are several) is one of its shape."""
    reason = _memory_fault(type_)
    if reason is not None:
        raise VerifyException(reason)


def _number(module: Operation, name: str) -> int | None:
    found = module.attributes.get(name)
    if not isinstance(found, IntegerAttr):
        return None
    number = cast("IntegerAttr[IntegerType | IndexType]", found)
    return number.value.data if number.type == i32 else None


def partition_warps(op: Operation) -> tuple[int, ...] | None:
    """Warps of each region of an op whose regions are run by warps of their own; None for other ops."""
    around = op.parent_op() if op.name == "ttg.warp_specialize.partitions" else None
    found = None if around is None else around.properties.get("partitionNumWarps")
    return tuple(int(n) for n in found.get_values()) if isinstance(found, DenseArrayBase) else None
