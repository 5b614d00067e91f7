"""Verification of a module: xDSL's checks of each op, and what xDSL leaves out.

xDSL checks structure, constraints and the ops' own rules. It knows neither SSA dominance nor whether a multi-block
region's blocks end in terminators that pass what their successors take. It is for tests and for a debug switch: it
costs 20 µs an op.
"""

from __future__ import annotations

from collections.abc import Container

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.ir.core import ErasedSSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from tritonx.dialects.tile_elements import check_elements
from tritonx.dialects.tile_sizes import check_sizes
from tritonx.ir.dominance import dominators, successors_of
from tritonx.ir.errors import VerifyFailure


def verify(module: Operation) -> None:
    r"""Raises `VerifyFailure`, which names the op and its source line, unless everything below `module` is valid.

    >>> from tritonx.backends.tile import parse_module
    >>> verify(parse_module("module {\n  %0 = arith.constant 1 : i32\n}"))
    """
    from tritonx.dialects.verify_layouts import verify_layouts

    _verify_op(module, set())
    verify_layouts(module)


def _verify_op(op: Operation, visible: set[SSAValue]) -> None:
    _check_operands(op, visible)
    _check_place(op)
    try:
        op.verify_()
    except VerifyFailure:
        raise
    except VerifyException as error:
        raise VerifyFailure(str(error), op) from error
    except DiagnosticException as error:
        raise VerifyFailure(_reason(error), op) from error
    except Exception as error:  # xDSL's own verifiers let ValueError, IndexError and others out of malformed ops
        raise VerifyFailure(f"{error}" or type(error).__name__, op) from error
    check_elements(op)
    check_sizes(op)
    if op.successors:
        _check_successors(op)
    if op.regions:
        inner = set[SSAValue]() if op.has_trait(IsolatedFromAbove, value_if_unregistered=False) else visible
        for region in op.regions:
            _verify_region(op, region, inner)


def _reason(error: DiagnosticException) -> str:
    """The sentence that says what is wrong; xDSL wraps it in a printout of the op."""
    cause = error.__cause__
    if isinstance(cause, VerifyException):
        return str(cause)
    return str(error)


def _check_operands(op: Operation, visible: set[SSAValue]) -> None:
    for index, operand in enumerate(op.operands):
        if operand in visible:
            continue
        if isinstance(operand, ErasedSSAValue):
            raise VerifyFailure(f"operand {index} has been erased", op)
        raise VerifyFailure(f"operand {index} ({_describe(operand)}) does not dominate its use", op)


def _describe(value: SSAValue) -> str:
    if isinstance(value, OpResult):
        return f"a result of '{value.op.name}'"
    if isinstance(value, BlockArgument):
        return "a block argument"
    return "a value that nothing defines"


def _check_place(op: Operation) -> None:
    """Whether the op's block and region are such as its successors, and its being the last one, need."""
    block = op.parent
    region = None if block is None else block.parent
    if op.successors:
        if block is None or region is None:
            raise VerifyFailure("it has successors, but is in no block of a region", op)
        if block.last_op is not op:
            raise VerifyFailure("it has successors, and so must terminate its parent block", op)
        if any(successor.parent is not region for successor in op.successors):
            raise VerifyFailure("it branches to a block of another region", op)
    if block is None or region is None or block.last_op is not op:
        return
    around = region.parent
    alone = region.first_block is region.last_block
    needs_end = not alone or (around is not None and not around.has_trait(NoTerminator))
    if needs_end and not op.has_trait(IsTerminator):
        raise VerifyFailure("it ends a block, but is not a terminator", op)


def _check_successors(op: Operation) -> None:
    """Ops other than those of `cf`, which check what they pass themselves, pass nothing to their successors."""
    if not op.name.startswith("cf."):
        for successor in op.successors:
            if successor.args and not op.operands:
                raise VerifyFailure("the successor block takes arguments that the op does not pass", op)


def _verify_region(op: Operation, region: Region, visible: set[SSAValue]) -> None:
    """Verify the blocks of a region of ``op``; ``visible`` is the same before and after."""
    first = region.blocks.first
    if first is None:
        return
    if first.next_block is None:
        visible.difference_update(_verify_block(op, first, visible))
        return
    if any(first is successor for block in region.blocks for successor in successors_of(block)):
        raise VerifyFailure("a branch goes back to the entry block of its region", op)
    reachable = _verify_dominance_tree(op, first, visible)
    everything = set(visible)
    for block in region.blocks:
        everything.update(block.args)
        for inner in block.ops:
            everything.update(inner.results)
    for block in region.blocks:
        if block not in reachable:  # what cannot be reached may use anything
            _verify_block(op, block, everything)


def _verify_dominance_tree(op: Operation, entry: Block, visible: set[SSAValue]) -> Container[Block]:
    """Verify each block that ``entry`` reaches below its immediate dominator: what both define is visible there, and
    no longer when the blocks below it are done.
    """
    idom = dominators(entry)
    below: dict[Block, list[Block]] = {block: [] for block in idom}
    for block, parent in idom.items():
        if parent is not None:
            below[parent].append(block)
    stack: list[Block | list[SSAValue]] = [entry]
    while stack:
        at = stack.pop()
        if isinstance(at, list):
            visible.difference_update(at)
            continue
        stack.append(_verify_block(op, at, visible))
        stack.extend(reversed(below[at]))
    return idom


def _verify_block(op: Operation, block: Block, visible: set[SSAValue]) -> list[SSAValue]:
    """Verify the ops of a block of ``op``; what they and the block define, now visible, is returned."""
    defined: list[SSAValue] = list(block.args)
    visible.update(defined)
    for inner in block.ops:
        _verify_op(inner, visible)
        visible.update(inner.results)
        defined.extend(inner.results)
    last = block.last_op
    needs_end = not op.has_trait(NoTerminator, value_if_unregistered=False) and not isinstance(op, ModuleOp)
    if last is None:
        if needs_end:
            raise VerifyFailure("a block of its region is empty; it needs a terminator", op)
    elif needs_end and not last.has_trait(IsTerminator):
        raise VerifyFailure("it ends a block, but it is no terminator", last)
    for inner in block.ops:
        if inner is not last and inner.has_trait(IsTerminator, value_if_unregistered=False):
            raise VerifyFailure("a terminator stands in the middle of a block", inner)
    return defined
