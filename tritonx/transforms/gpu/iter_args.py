"""Loops that carry more, branches with more results: an op of `scf` has as many as it was made with, so that
another one takes its place, with its regions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from tritonx.dialects import scf
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase, replace, terminator_of


def with_carried(loop: scf.ForOp, initial: Sequence[SSAValue], yielded: Sequence[SSAValue]) -> scf.ForOp:
    """The loop that carries more: the body has its arguments already."""
    end = terminator_of(loop.body.block)
    end.operands = [*end.operands, *yielded]
    made = Builder.before(loop).create(
        scf.ForOp,
        (*loop.operands, *initial),
        [*(result.type for result in loop.results), *(value.type for value in initial)],
        loop.properties,
        loop.attributes,
        [loop.detach_region(0)],
    )
    for old, new in zip(loop.results, made.results, strict=False):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(loop)
    return made


def with_result(branch: scf.IfOp, taken: SSAValue, otherwise: SSAValue) -> scf.IfOp:
    """The branch with another result, the last one: what each of its regions yields for it."""
    regions = list(branch.regions)
    if not regions[1].blocks:
        regions[1].add_block(Block())
        regions[1].block.add_op(scf.YieldOp.create(operands=(), location=branch.location))
    for region, value in zip(regions, (taken, otherwise), strict=True):
        end = terminator_of(region.block)
        end.operands = (*end.operands, value)
    made = Builder.before(branch).create(
        scf.IfOp,
        branch.operands,
        [*(result.type for result in branch.results), taken.type],
        branch.properties,
        branch.attributes,
        [branch.detach_region(region) for region in regions],
    )
    replace(branch, made.results[:-1])
    return made
