"""What ops do for iterations that there are not: in a pipeline, some run ahead of the loop's last one.

What only computes may. What reads or copies is masked, and fills its place as if its mask were false; a descriptor's
block is read where nothing of the tensor is; what tells others something is given a predicate. A group of copies is
made all the same, though it is empty, because waits count groups.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.buffers import aliases_of
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.effects import Completion, Effect, Kind, effects_of, viewed
from tritonx.dialects.gpu_layout import (
    AsyncCommitGroupOp,
    AsyncCopyGlobalToLocalOp,
    AsyncWaitOp,
    LocalAllocOp,
    LocalDeallocOp,
    LocalStoreOp,
)
from tritonx.dialects.interfaces import has_predicate, predicate_of
from tritonx.dialects.llvm import AssumeOp
from tritonx.dialects.tile.descriptor import OUTSIDE
from tritonx.dialects.tile.rules import mask_of
from tritonx.ir.builder import Builder
from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.edit import erase
from tritonx.ir.effects import is_terminator, may_trap, may_write
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import encoding_of, i1, i32, is_tensor, type_as, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.licm import harmless_divisor

_MASKED = (tile.LoadOp, AsyncCopyGlobalToLocalOp)
UNREAD = "tritonx.unread"
"""Marks a copy where nothing reads what it writes if its mask is false."""


def may_run_ahead(op: Operation, loop: scf.ForOp) -> bool:
    """Whether `op`, without what is in its regions, does nothing for an iteration of the loop that there is not, or can
    be kept from it."""
    if has_predicate(op):
        return predicate_of(op) is not None
    match op:
        case tile.LoadOp():
            return not op.isVolatile.value.data
        case AsyncCopyGlobalToLocalOp() | AsyncCommitGroupOp() | AsyncWaitOp():
            return True
        case tile.MakeTensorDescOp():  # in memory of which there is one
            return encoding_of(type_as(op.result, tile.TensorDescType).block_type) is None
        case LocalStoreOp():  # for a reader of an iteration that there is not either
            return _is_read_inside(op.dst, loop)
        case scf.WhileOp() | tile.CallOp():
            return False
        case _:
            return bool(op.regions) or is_terminator(op) or not may_write(op) or _only_for_itself(op)


def _is_read_inside(memory: SSAValue, loop: scf.ForOp) -> bool:
    """Whether memory is taken in front of a loop, and given back behind it, and used by nothing else outside."""
    while isinstance(op := memory.owner, Operation) and (whole := viewed(op, memory)) is not None:
        memory = whole
    if not isinstance(op, LocalAllocOp):
        return False
    users = (use.operation for alias in aliases_of(memory) for use in alias.uses)
    return all(isinstance(user, LocalDeallocOp) or loop.is_ancestor(user) for user in users)


def _only_for_itself(op: Operation) -> bool:
    """Whether an op writes nothing but a buffer that it takes itself, and waits for nothing but products."""
    effects = effects_of(op)
    return effects is not None and all(_is_own(effect, takes=_takes(effects)) for effect in effects)


def _takes(effects: tuple[Effect, ...]) -> bool:
    return any(effect.kind is Kind.ALLOCATE for effect in effects)


def _is_own(effect: Effect, *, takes: bool) -> bool:
    match effect.kind:
        case Kind.READ | Kind.ALLOCATE | Kind.FREE | Kind.FENCE | Kind.TRAP | Kind.HINT:
            return True
        case Kind.WRITE:
            return takes
        case Kind.COMMIT | Kind.WAIT:
            return effect.completion is Completion.PRODUCT_GROUP
        case _:
            return False


def predicate(op: Operation, holds: SSAValue, *, marks: bool) -> Operation:
    """Keep `op`, with what is in its regions, from doing anything where `holds` is false. Returns `op`, or what stands
    in its place. A copy that had no mask is marked `UNREAD` where it `marks` such."""
    if constant_of(holds) == 1:
        return op
    for inner in ops_in(op):
        builder = Builder.before(inner)
        if isinstance(inner, AssumeOp):  # true of iterations that there are
            there_is_none = builder.emit(arith.XOrIOp, (holds, builder.constant(1, i1)), (i1,))
            inner.operands[0] = builder.emit(arith.OrIOp, (inner.cond, there_is_none), (i1,))
            continue
        if isinstance(inner, _MASKED):
            marked = marks and inner.mask is None and isinstance(inner, AsyncCopyGlobalToLocalOp)
            made = _mask(inner, holds, builder)
            if marked:
                made.attributes[UNREAD] = UnitAttr()
            op = made if inner is op else op
        elif (given := predicate_of(inner)) is not None:
            number = next(i for i, value in enumerate(inner.operands) if value is given)
            inner.operands[number] = builder.emit(arith.AndIOp, (holds, inner.operands[number]), (i1,))
        elif isinstance(inner, tile.DescriptorLoadOp):
            outside = builder.constant(OUTSIDE, i32)
            inner.operands[1] = builder.emit(arith.SelectOp, (holds, inner.indices[0], outside), (i32,))
        elif may_trap(inner):
            divisor = inner.operands[1]
            harmless = harmless_divisor(divisor, builder)
            inner.operands[1] = builder.emit(arith.SelectOp, (holds, divisor, harmless), (divisor.type,))
    return op


def _mask(op: tile.LoadOp | AsyncCopyGlobalToLocalOp, holds: SSAValue, builder: Builder) -> Operation:
    """Puts the load or copy with a narrower mask in its place."""
    pointers = op.operands[0]
    type_ = mask_of(pointers.type)
    mask = builder.emit(tile.SplatOp, (holds,), (type_,)) if is_tensor(type_of(pointers)) else holds
    if op.mask is not None:
        mask = builder.emit(arith.AndIOp, (mask, op.mask), (type_,))
    before = (op.ptr,) if isinstance(op, tile.LoadOp) else (op.src, op.result)
    properties = {name: value for name, value in op.properties.items() if name != SEGMENTS}
    operands = (*before, mask, *(() if op.other is None else (op.other,)))
    types = [result.type for result in op.results]
    made = builder.create(op.__class__, operands, types, properties, op.attributes)
    for old, new in zip(op.results, made.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(op)
    return made
