"""Changing IR in place: what passes do to ops besides creating them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tritonx.ir.define import append

ValueMap = dict[SSAValue, SSAValue]
Relocate = Callable[[LocationAttr], LocationAttr]


def replace(op: Operation, values: Sequence[SSAValue]) -> None:
    r"""Give every use of ``op``'s results the corresponding value, and erase ``op``. Name hints go along.

    >>> from tritonx.backends.tile import parse_module, print_module
    >>> ops = "%0 = arith.constant 1 : i32\n%1 = arith.addi %0, %0 : i32\n%2 = arith.muli %1, %1 : i32"
    >>> module = parse_module(f"module {{\n{ops}\n}}")
    >>> one, two, four = module.body.block.ops
    >>> replace(two, [one.result])
    >>> print(print_module(module).strip())
    module {
      %0 = arith.constant 1 : i32
      %1 = arith.muli %0, %0 : i32
    }
    """
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(op)


def erase(op: Operation) -> None:
    r"""Remove an op whose results have no uses (any more), with everything inside it.

    >>> from tritonx.backends.tile import parse_module, print_module
    >>> module = parse_module("module {\n  %0 = arith.constant 1 : i32\n}")
    >>> erase(module.body.block.first_op)
    >>> print(print_module(module).strip())
    module {
    }
    """
    if op.parent is not None:
        op.detach()
    op.erase(safe_erase=False)


def insert_before(op: Operation, place: Operation) -> None:
    r"""Put a detached op in front of `place`.

    >>> from tritonx.backends.tile import parse_module
    >>> module = parse_module("module {\n  %0 = arith.constant 1 : i32\n  %1 = arith.constant 2 : i32\n}")
    >>> one, two = module.body.block.ops
    >>> one.detach()
    >>> insert_before(one, two)
    >>> [op is one for op in module.body.block.ops]
    [True, False]
    """
    block = place.parent
    assert block is not None
    block.insert_op_before(op, place)


def move_before(op: Operation, place: Operation) -> None:
    """Take `op` from where it is and put it in front of `place`."""
    op.detach()
    insert_before(op, place)


def move_after(op: Operation, place: Operation) -> None:
    """Take ``op`` from where it is and put it behind ``place``."""
    block = place.parent
    assert block is not None
    op.detach()
    block.insert_op_after(op, place)


def splice(block: Block, before: Operation, skip_last: bool = True) -> None:
    """Move the ops of ``block`` in front of ``before``, in order; its terminator stays behind under ``skip_last``."""
    target = before.parent
    if target is None:
        raise ValueError(f"{before.name} is in no block, so nothing can stand before it")
    op = block.first_op
    end = block.last_op if skip_last else None
    while op is not None and op is not end:
        following = op.next_op
        op.detach()
        target.insert_op_before(op, before)
        op = following


def terminator_of(block: Block) -> Operation:
    """The last op of a block. ``ValueError`` for an empty block."""
    last = block.last_op
    if last is None:
        raise ValueError("the block is empty: it has no terminator")
    return last


def only_block(region: Region) -> Block | None:
    """The block of a region that has exactly one."""
    block = region.blocks.first
    return block if block is not None and block.next_block is None else None


def set_type(value: SSAValue, type_: Attribute) -> None:
    """Change the type of a value in place; its uses stay, and whoever changes it sees to it that they still fit."""
    cast(Any, value)._type = type_


def is_defined_inside(value: SSAValue, op: Operation) -> bool:
    """Whether ``value`` is defined in a region of ``op``."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None:
        around = block.parent_op()
        if around is op:
            return True
        block = None if around is None else around.parent
    return False


def clone(op: Operation, values: ValueMap, relocate: Relocate | None = None) -> Operation:
    """A detached copy of ``op`` with operands mapped through ``values``, which then also maps its results.

    ``relocate`` makes the copies' locations out of the originals'. Successors stay as they are; see ``clone_region``.
    """
    mapped = [values.get(operand, operand) for operand in op.operands]
    location = op.location
    copy = op.__class__.create(
        operands=mapped,
        result_types=op.result_types,
        properties=op.properties.copy(),
        attributes=op.attributes.copy(),
        location=location if relocate is None else relocate(location),
        successors=op.successors,
        regions=[clone_region(region, values, relocate) for region in op.regions],
    )
    for old, new in zip(op.results, copy.results, strict=True):
        values[old] = new
        if old.name_hint is not None:
            new.name_hint = old.name_hint
    return copy


def clone_region(region: Region, values: ValueMap, relocate: Relocate | None = None) -> Region:
    """A copy of ``region``; ``values`` then also maps everything defined in it."""
    blocks: dict[Block, Block] = {}
    for block in region.blocks:
        copy = Block(arg_types=[argument.type for argument in block.args])
        blocks[block] = copy
        for old, new in zip(block.args, copy.args, strict=True):
            values[old] = new
            new.name_hint = old.name_hint
            location = old.location
            new.location = location if relocate is None else relocate(location)
    for block, copy in blocks.items():
        for op in block.ops:
            append(copy, clone(op, values, relocate))
    if len(blocks) > 1:
        _connect(blocks, values)
    return Region(list(blocks.values()))


def _connect(blocks: dict[Block, Block], values: ValueMap) -> None:
    """Point copied branches at copied blocks, and uses at copies of definitions that came later in the text."""
    original: set[SSAValue] = set()
    for block in blocks:
        original.update(block.args)
        for op in block.walk():
            original.update(op.results)
    for copy in blocks.values():
        for op in copy.walk():
            for index, operand in enumerate(op.operands):
                if operand in original:
                    op.operands[index] = values[operand]
        last = copy.last_op
        if last is not None and last.successors:
            last.successors = [blocks.get(successor, successor) for successor in last.successors]
