"""Loops: ``for`` over ranges (``scf.for``), over compile-time sequences (unrolled), and ``while`` (``scf.while``).

What a loop carries from one iteration to the next is found as ``carried`` describes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from tritonx.dialects.arith import AddiOp, CmpiOp, RemSIOp, SelectOp, SubiOp
from tritonx.dialects.llvm import LICM_DISABLED
from tritonx.dialects.scf import ConditionOp, ForOp, WhileOp, YieldOp
from tritonx.frontend import errors
from tritonx.frontend.codegen.branches import poison
from tritonx.frontend.codegen.carried import (
    Carried,
    NeedsTensor,
    bind_results,
    build_carrying,
    check_static,
    drop_unchanged,
    next_handles,
)
from tritonx.frontend.codegen.conditions import static_condition, truth
from tritonx.frontend.codegen.detached_blocks import discard, unpack
from tritonx.frontend.codegen.flow import Arm, Ended, MayReturn
from tritonx.frontend.codegen.names import MISSING, Deferred, Undefined
from tritonx.frontend.codegen.syntax import assigned_names, is_path, may_return
from tritonx.frontend.codegen.values import is_many, suggest_name, wrap_plain
from tritonx.frontend.semantics.promotion import promote_integers
from tritonx.frontend.semantics.types import ir_type
from tritonx.ir.types import i1, i32
from tritonx.language import core
from tritonx.language.base import base_value
from tritonx.language.constexpr import constexpr, unwrap
from tritonx.language.dtypes import dtype
from tritonx.language.values import tensor
from tritonx.language.values import tuple as tl_tuple

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator

CMP_SLT = IntegerAttr(2, 64)


# Which loop.


class BindTarget(ast.stmt):
    """Not Python's: gives a loop's target its value at the head of one unrolled iteration."""

    _fields = ()

    def __init__(self, target: ast.expr, value: Any) -> None:
        super().__init__()
        self.target = target
        self.value = value
        ast.copy_location(self, target)


def bind_target(gen: FunctionGenerator, node: BindTarget) -> None:
    gen.module.assign(gen, node.target, wrap_plain(node.value))
    if isinstance(node.target, ast.Name):
        gen.unrolled_targets.add(node.target.id)


def for_statement(gen: FunctionGenerator, node: ast.For, rest: Sequence[ast.stmt], tail: bool) -> Ended | None:
    if node.orelse:
        raise gen.error(errors.UnsupportedLanguageConstruct, node, "`else` after a loop is not supported")
    iterable = unwrap(_iterable(gen, node))
    if isinstance(iterable, core.static_range):
        start, end, step = (int(unwrap(v)) for v in (iterable.start, iterable.end, iterable.step))
        return _unrolled(gen, node, range(start, end, step), rest, tail)
    if isinstance(iterable, core.range):
        counted_for(gen, node, iterable)
        return None
    if isinstance(iterable, range):
        bounds = (iterable.start, iterable.stop, iterable.step)
        counted_for(gen, node, core.range(*map(constexpr, bounds)))
        return None
    if isinstance(iterable, tl_tuple | tuple | list):
        return _unrolled(gen, node, iterable, rest, tail)  # pyright: ignore[reportUnknownArgumentType]  # of anything
    message = "Only `range` and `static_range` iterators are currently supported"
    raise gen.error(errors.InvalidIterable, node.iter, message)


def _iterable(gen: FunctionGenerator, node: ast.For) -> Any:
    """What the loop goes over; Python's ``range`` becomes ``tl.range``."""
    call = node.iter
    if not isinstance(call, ast.Call) or not is_path(call.func) or unwrap(gen.expression(call.func)) is not range:
        return gen.expression(call)
    args = [gen.expression(argument) for argument in call.args]
    if not 1 <= len(args) <= 3 or call.keywords:
        raise gen.error(errors.InvalidCall, call, f"range expected 1 to 3 positional arguments, got {len(args)}")
    return core.range(*args)


def _unrolled(
    gen: FunctionGenerator, node: ast.For, values: Iterable[object], rest: Sequence[ast.stmt], tail: bool
) -> Ended | None:
    """The body once for each value, one after the other."""
    if may_return(node.body):
        body = [(BindTarget(node.target, value), *node.body) for value in values]
        return Ended(gen.statements([*chain.from_iterable(body), *rest], tail))
    for value in values:
        bind_target(gen, BindTarget(node.target, value))
        gen.statements(node.body)
    return None


def _after_loop(gen: FunctionGenerator, node: ast.AST, body: Arm, target: str | None) -> None:
    """Names that only the body knows are undefined behind the loop, which may not run at all."""
    line = gen.position(node).line
    for name in body.scope.keys() - gen.scope.keys():
        if name != target:
            gen.scope[name] = Undefined(
                f"{name} is assigned only inside the loop on line {line}; assign it in front of it too"
            )


def _generate_body(gen: FunctionGenerator, node: ast.For | ast.While) -> None:
    gen.loops += 1
    outcome = gen.statements(node.body)
    gen.loops -= 1
    assert not isinstance(outcome, MayReturn), "a return in a loop is an error"


# for.


@dataclass(frozen=True, slots=True)
class _Counter:
    """The bounds of a loop that counts up, as handles of one integer type; ``down``: the loop variable counts the
    other way."""

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    type: dtype
    down: bool


def counted_for(gen: FunctionGenerator, node: ast.For, iterable: object) -> None:
    """A loop over a range that is run at run time, whatever its bounds."""
    if not isinstance(node.target, ast.Name):
        raise gen.error(errors.InvalidIterable, node.target, "the variable of a range loop is one name")
    gen.locate(node)
    counter = _counter(gen, node, iterable)
    target = node.target.id
    assigned = assigned_names(node)
    previous = gen.scope.get(target, MISSING)
    if target in assigned and not (isinstance(previous, tensor) and previous.type == counter.type):
        gen.scope[target] = tensor(poison(gen, ir_type(counter.type)), counter.type)
    build_carrying(gen, node, assigned, lambda carried: _build_for(gen, node, iterable, counter, carried))
    if target not in assigned:
        gen.scope[target] = Deferred(lambda: _last_value(gen, counter, previous))


def _counter(gen: FunctionGenerator, node: ast.For, iterable: Any) -> _Counter:
    start, end, step = iterable.start, iterable.end, iterable.step
    down = not isinstance(unwrap(step), base_value) and isinstance(unwrap(step), int) and unwrap(step) < 0
    if down:
        start, end, step = end, start, constexpr(-unwrap(step))
    bounds = [gen.semantic.to_tensor(value) for value in (start, end, step)]
    if not all(bound.dtype.is_int() for bound in bounds):
        types = ", ".join(str(bound.dtype) for bound in bounds)
        raise gen.error(errors.LoopBoundsError, node.iter, f"For loop bounds and step must all be ints, are ({types})")
    for what, bound in zip(("lower bound", "upper bound", "step"), bounds, strict=True):
        if is_many(bound):
            raise gen.error(errors.LoopBoundsError, node.iter, f"For {what} must be a scalar, got {bound.type}")
    type_ = promote_integers(promote_integers(bounds[0].dtype, bounds[1].dtype), bounds[2].dtype)
    lower, upper, step = (gen.semantic.cast(bound, type_).handle for bound in bounds)
    return _Counter(lower, upper, step, type_, down)


def _build_for(gen: FunctionGenerator, node: ast.For, iterable: object, counter: _Counter, carried: Carried) -> None:
    assert isinstance(node.target, ast.Name)
    initial = carried.handles()
    counter_type = ir_type(counter.type)
    body = Arm(Block(arg_types=[counter_type, *(handle.type for handle in initial)]), dict(gen.scope), None)
    suggest_name(body.block.args[0], node.target.id)
    with gen.inside(body):
        value: SSAValue = body.block.args[0]
        carried.bind(gen.scope, body.block.args[1:])
        if counter.down:
            value = gen.builder.emit(SubiOp, (counter.upper, value), (counter_type,))
            value = gen.builder.emit(AddiOp, (value, counter.lower), (counter_type,))
        gen.scope[node.target.id] = tensor(value, counter.type)
        _generate_body(gen, node)
        try:
            check_static(gen, node, carried)
        except NeedsTensor:
            discard(body.block)
            raise
        gen.locate(node)
        following = next_handles(gen, node, carried)
        kept, _ = drop_unchanged([body.block.args[1:]], initial, following)
        gen.builder.create(YieldOp, [following[i] for i in kept])
    gen.locate(node)
    operands = (counter.lower, counter.upper, counter.step, *(initial[i] for i in kept))
    types = [initial[i].type for i in kept]
    op = gen.builder.create(ForOp, operands, types, attributes=loop_attributes(iterable), regions=(Region(body.block),))
    gen.semantic.place_hints(op)
    bind_results(gen, carried, initial, kept, op.results)
    _after_loop(gen, node, body, node.target.id)


def loop_attributes(iterable: Any) -> dict[str, Attribute]:
    """The options of a ``tl.range`` as Triton names them on the ``scf.for``."""
    attributes: dict[str, Attribute] = {}
    for option, name in (("num_stages", "tt.num_stages"), ("loop_unroll_factor", "tt.loop_unroll_factor")):
        value = unwrap(getattr(iterable, option))
        if value is not None:
            attributes[name] = IntegerAttr(int(value), i32)
    for option in ("disallow_acc_multi_buffer", "flatten", "warp_specialize"):
        if unwrap(getattr(iterable, option)):
            attributes[f"tt.{option}"] = UnitAttr()
    if unwrap(iterable.disable_licm):
        attributes |= licm_disabled()
    return attributes


def licm_disabled() -> dict[str, Attribute]:
    """Keeps loop-invariant code in its loop."""
    return {"llvm.loop_annotation": LICM_DISABLED}


def _last_value(gen: FunctionGenerator, counter: _Counter, previous: object) -> tensor:
    """The loop variable after the loop: its value in the last iteration; without one, what it was before, if
    anything."""
    emit, type_ = gen.builder.emit, ir_type(counter.type)
    before_end = emit(SubiOp, (counter.upper, gen.builder.constant(1, type_)), (type_,))
    distance = emit(SubiOp, (before_end, counter.lower), (type_,))
    last = emit(SubiOp, (before_end, emit(RemSIOp, (distance, counter.step), (type_,))), (type_,))
    if counter.down:
        last = emit(AddiOp, (emit(SubiOp, (counter.upper, last), (type_,)), counter.lower), (type_,))
    if isinstance(previous, tensor) and previous.type == counter.type:
        runs = emit(CmpiOp, (counter.lower, counter.upper), (i1,), {"predicate": CMP_SLT})
        last = emit(SelectOp, (runs, last, previous.handle), (type_,))
    return tensor(last, counter.type)


# while.


def while_statement(gen: FunctionGenerator, node: ast.While, rest: Sequence[ast.stmt], tail: bool) -> Ended | None:
    if node.orelse:
        raise gen.error(errors.UnsupportedLanguageConstruct, node, "`else` after a loop is not supported")
    gen.locate(node)
    build_carrying(gen, node, assigned_names(node), lambda carried: _build_while(gen, node, carried))
    return None


def _build_while(gen: FunctionGenerator, node: ast.While, carried: Carried) -> None:
    initial = carried.handles()
    types = [handle.type for handle in initial]
    test = Arm(Block(arg_types=types), dict(gen.scope), None)
    with gen.inside(test):
        carried.bind(gen.scope, test.block.args)
        condition = unwrap(gen.expression(node.test))
        annotated = condition if isinstance(condition, core.condition) else None
        if annotated is not None:
            condition = unwrap(annotated.condition)
        if not isinstance(condition, tensor):
            if static_condition(gen, node, condition):
                message = "the condition of this loop is true at compile time, and kernels have no `break`"
                raise gen.error(errors.EndlessLoop, node, message)
        scalar = truth(gen, node, node.test, condition) if isinstance(condition, tensor) else None
    if scalar is None:  # false at compile time: what the condition does is done once, the body never
        unpack(gen.builder, test.block, initial)
        return
    body = Arm(Block(arg_types=types), dict(gen.scope), None)
    with gen.inside(body):
        carried.bind(gen.scope, body.block.args)
        _generate_body(gen, node)
        try:
            check_static(gen, node, carried)
        except NeedsTensor:
            discard(body.block)
            discard(test.block)
            raise
        gen.locate(node)
        following = next_handles(gen, node, carried)
        kept, replaced = drop_unchanged([test.block.args, body.block.args], initial, following)
        gen.builder.create(YieldOp, [following[i] for i in kept])
    with gen.inside(test):
        decides: SSAValue = scalar.handle
        gen.builder.create(ConditionOp, (replaced.get(decides, decides), *test.block.args))
    gen.locate(node)
    attributes = licm_disabled() if annotated is not None and unwrap(annotated.disable_licm) else None
    op = gen.builder.create(
        WhileOp,
        [initial[i] for i in kept],
        [initial[i].type for i in kept],
        attributes=attributes,
        regions=(Region(test.block), Region(body.block)),
    )
    bind_results(gen, carried, initial, kept, op.results)
    _after_loop(gen, node, body, None)
