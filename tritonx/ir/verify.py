"""Verification of a module: xDSL's checks of each op, and what xDSL leaves out.

xDSL checks structure, constraints and the ops' own rules. It knows neither SSA dominance nor whether a multi-block
region's blocks end in terminators that pass what their successors take. It is for tests and for a debug switch: it
costs 20 µs an op.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.ir.core import ErasedSSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from tritonx.dialects.tile_elements import check_elements
from tritonx.dialects.tile_sizes import check_sizes
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
    try:
        op.verify(verify_nested_ops=False)
    except VerifyFailure:
        raise
    except DiagnosticException as error:
        raise VerifyFailure(_reason(error), op) from error
    except Exception as error:  # xDSL's own verifiers let ValueError, IndexError and others out of malformed ops
        raise VerifyFailure(f"{error}" or type(error).__name__, op) from error
    check_elements(op)
    check_sizes(op)
    _check_successors(op)
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


def _check_successors(op: Operation) -> None:
    """Ops other than those of `cf`, which check what they pass themselves, pass nothing to their successors."""
    if op.successors and not op.name.startswith("cf."):
        for successor in op.successors:
            if successor.args and not op.operands:
                raise VerifyFailure("the successor block takes arguments that the op does not pass", op)


def _verify_region(op: Operation, region: Region, visible: set[SSAValue]) -> None:
    first = region.blocks.first
    if first is None:
        return
    if first.next_block is None:
        _verify_block(op, first, set(visible))
        return
    if any(first is successor for block in region.blocks for end in _end(block) for successor in end.successors):
        raise VerifyFailure("a branch goes back to the entry block of its region", op)
    idom = _dominators(first)
    defined: dict[Block, set[SSAValue]] = {}
    # Blocks in an order in which a block's immediate dominator comes first; unreachable blocks may use anything.
    for block in idom:
        parent = idom[block]
        start = visible if parent is None else defined[parent]
        defined[block] = _verify_block(op, block, set(start))
    everything = set(visible)
    for block in region.blocks:
        everything.update(block.args)
        for inner in block.ops:
            everything.update(inner.results)
    for block in region.blocks:
        if block not in idom:
            _verify_block(op, block, set(everything))


def _verify_block(op: Operation, block: Block, visible: set[SSAValue]) -> set[SSAValue]:
    visible.update(block.args)
    for inner in block.ops:
        _verify_op(inner, visible)
        visible.update(inner.results)
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
    return visible


def _end(block: Block) -> tuple[Operation, ...]:
    return () if block.last_op is None else (block.last_op,)


def _dominators(entry: Block) -> dict[Block, Block | None]:
    """Reachable block → its immediate dominator, in reverse postorder (Cooper, Harvey, Kennedy: A Simple, Fast
    Dominance Algorithm).
    """
    order = _reverse_postorder(entry)
    number = {block: i for i, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for end in _end(block):
            for successor in end.successors:
                predecessors[successor].append(block)
    idom: dict[Block, Block] = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p for p in predecessors[block] if p in idom]
            new = known[0]
            for other in known[1:]:
                a, b = new, other
                while a is not b:
                    while number[a] > number[b]:
                        a = idom[a]
                    while number[b] > number[a]:
                        b = idom[b]
                new = a
            if idom.get(block) is not new:
                idom[block] = new
                changed = True
    return {block: None if block is entry else idom[block] for block in order}


def _reverse_postorder(entry: Block) -> list[Block]:
    done: list[Block] = []
    seen = {entry}
    stack: list[tuple[Block, list[Block]]] = [(entry, [s for end in _end(entry) for s in end.successors])]
    while stack:
        block, left = stack[-1]
        if not left:
            done.append(block)
            stack.pop()
            continue
        successor = left.pop()
        if successor not in seen:
            seen.add(successor)
            stack.append((successor, [s for end in _end(successor) for s in end.successors]))
    return done[::-1]
