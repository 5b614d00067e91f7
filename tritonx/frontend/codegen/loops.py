"""Loops: ``for`` over ranges (``scf.for``), over compile-time sequences (unrolled), and ``while`` (``scf.while``).

What a loop carries from one iteration to the next is found as ``carried`` describes. A loop with ``break`` or
``continue`` has its body as ``leaving`` structures it; a ``for`` that the running kernel may break is an ``scf.while``
that carries its counter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from tritonx.dialects.llvm import LICM_DISABLED
from tritonx.dialects.scf import ConditionOp, ForOp, WhileOp, YieldOp
from tritonx.frontend import errors
from tritonx.frontend.codegen.branches import create_if, poison
from tritonx.frontend.codegen.carried import (
    Carried,
    bind_results,
    build_carrying,
    check_static,
    drop_unchanged,
    next_handles,
)
from tritonx.frontend.codegen.conditions import static_condition, truth
from tritonx.frontend.codegen.counter import Counter, counter_of
from tritonx.frontend.codegen.detached_blocks import discard, unpack
from tritonx.frontend.codegen.flow import Arm, Ended, MayReturn
from tritonx.frontend.codegen.leaving import StructuredBody, structured_body, unless
from tritonx.frontend.codegen.names import MISSING, Deferred, Undefined
from tritonx.frontend.codegen.syntax import asked_inside, assigned_names, is_path, may_return
from tritonx.frontend.codegen.values import suggest_name, wrap_plain
from tritonx.frontend.semantics.types import ir_type
from tritonx.ir.location import block_at
from tritonx.ir.types import i32
from tritonx.language import core
from tritonx.language.types.dtypes import int1
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as tl_tuple

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator


# Which loop.


class BindTarget(ast.stmt):
    """Not Python's: gives a loop's target its value at the head of one unrolled iteration."""

    _fields = ()

    target: ast.expr
    value: Any

    @staticmethod
    def of(target: ast.expr, value: object) -> BindTarget:
        node = ast.copy_location(BindTarget(), target)
        node.target, node.value = target, value
        return node


def bind_target(gen: FunctionGenerator, node: BindTarget) -> None:
    gen.module.assign(gen, node.target, wrap_plain(node.value))
    if isinstance(node.target, ast.Name):
        gen.unrolled_targets.add(node.target.id)


class BeginRound(ast.stmt):
    """Not Python's: the head of one unrolled iteration of a loop that may be left."""

    _fields = ()

    body: StructuredBody

    @staticmethod
    def of(body: StructuredBody, position: ast.stmt) -> BeginRound:
        node = ast.copy_location(BeginRound(), position)
        node.body = body
        return node


def begin_round(gen: FunctionGenerator, node: BeginRound) -> None:
    node.body.begin(gen)


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
    """What the loop goes over; Python's ``range`` becomes ``tl.range``, without options: Triton takes no notice of
    keywords that are given to Python's."""
    call = node.iter
    if not isinstance(call, ast.Call) or not is_path(call.func) or unwrap(gen.expression(call.func)) is not range:
        return gen.expression(call)
    args = [gen.expression(argument) for argument in call.args]
    if not 1 <= len(args) <= 3:
        raise gen.error(errors.InvalidCall, call, f"range expected 1 to 3 positional arguments, got {len(args)}")
    return core.range(*args)


def _unrolled(
    gen: FunctionGenerator, node: ast.For, values: Iterable[object], rest: Sequence[ast.stmt], tail: bool
) -> Ended | None:
    """The body once for each value, one after the other; behind a ``break`` under a test of its flag."""
    structured = structured_body(node)
    body = node.body if structured is None else structured.statements
    rounds: list[list[ast.stmt]] = [[BindTarget.of(node.target, value), *body] for value in values]
    if structured is not None:
        rounds = [[BeginRound.of(structured, node), *one] for one in rounds]
        if structured.breaks:
            rounds[1:] = [[unless(structured.broke, one)] for one in rounds[1:]]
    if may_return(body):
        return Ended(gen.statements([*chain.from_iterable(rounds), *rest], tail))
    for one in rounds:
        gen.statements(one)
    if structured is not None:
        structured.end(gen)
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
    structured = structured_body(node)
    if structured is not None:
        structured.begin(gen)
    gen.loops += 1
    outcome = gen.statements(node.body if structured is None else structured.statements)
    gen.loops -= 1
    assert not isinstance(outcome, MayReturn), "a return in a loop is an error"


def _breaks(gen: FunctionGenerator, node: ast.For | ast.While) -> bool:
    """Whether the body that was generated last may break the loop: not where every ``break`` was pruned."""
    structured = structured_body(node)
    return structured is not None and structured.breaks and unwrap(gen.scope[structured.broke]) is not False


# for.


def counted_for(gen: FunctionGenerator, node: ast.For, iterable: object) -> None:
    """A loop over a range that is run at run time, whatever its bounds."""
    if not isinstance(node.target, ast.Name):
        raise gen.error(errors.InvalidIterable, node.target, "the variable of a range loop is one name")
    gen.locate(node)
    counter = counter_of(gen, node, iterable)
    target = node.target.id
    assigned = assigned_names(node)
    previous = gen.scope.get(target, MISSING)
    if target in assigned and not (isinstance(previous, tensor) and previous.type == counter.type):
        gen.scope[target] = tensor(poison(gen, ir_type(counter.type)), counter.type)
    before = dict(gen.scope)
    try:
        build_carrying(gen, node, assigned, lambda carried: _build_for(gen, node, iterable, counter, carried))
        if target not in assigned:
            gen.scope[target] = Deferred(lambda: counter.last_value(gen, previous))
    except _Breaks:
        gen.scope = before
        _breaking_for(gen, node, iterable, counter, previous)
    structured = structured_body(node)
    if structured is not None:
        structured.end(gen)


class _Breaks(Exception):
    """The body of a ``for`` may break it, so that it is no ``scf.for``."""


def _build_for(gen: FunctionGenerator, node: ast.For, iterable: object, counter: Counter, carried: Carried) -> None:
    assert isinstance(node.target, ast.Name)
    initial = carried.handles()
    counter_type = ir_type(counter.type)
    body = Arm(
        block_at(gen.location_of(node), [counter_type, *(handle.type for handle in initial)]), dict(gen.scope), None
    )
    suggest_name(body.block.args[0], node.target.id)
    with gen.inside(body):
        carried.bind(gen.scope, body.block.args[1:])
        gen.scope[node.target.id] = tensor(counter.value(gen, body.block.args[0]), counter.type)
        _generate_body(gen, node)
        if _breaks(gen, node):
            discard(body.block)
            raise _Breaks
        check_static(gen, node, carried)
        gen.locate(node)
        following = next_handles(gen, node, carried)
        kept, _ = drop_unchanged([body.block.args[1:]], initial, following)
        gen.builder.create(YieldOp, [following[i] for i in kept])
    gen.locate(node)
    operands = (counter.lower, counter.upper, counter.step, *(initial[i] for i in kept))
    types = [initial[i].type for i in kept]
    properties, attributes = counter.properties, loop_attributes(iterable)
    op = gen.builder.create(ForOp, operands, types, properties, attributes, (Region(body.block),))
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


# while.


@dataclass(frozen=True, slots=True)
class _Conditional:
    """What an ``scf.while`` does: its condition (None: false at compile time) and its body, each generated where the
    generator stands. ``node`` is the loop that it is made of."""

    node: ast.For | ast.While
    condition: Callable[[], tensor | None]
    body: Callable[[], None]
    attributes: dict[str, Attribute]


def while_statement(gen: FunctionGenerator, node: ast.While, rest: Sequence[ast.stmt], tail: bool) -> Ended | None:
    if node.orelse:
        raise gen.error(errors.UnsupportedLanguageConstruct, node, "`else` after a loop is not supported")
    node = asked_inside(node)
    gen.locate(node)
    attributes: dict[str, Attribute] = {}
    loop = _Conditional(
        node, lambda: _while_condition(gen, node, attributes), lambda: _generate_body(gen, node), attributes
    )
    _conditional(gen, loop, assigned_names(node))
    return None


def _conditional(gen: FunctionGenerator, loop: _Conditional, assigned: frozenset[str]) -> None:
    """A loop that is left by its condition and, where its body may break it, by that."""
    structured = structured_body(loop.node)
    if structured is not None and structured.breaks:
        gen.scope[structured.broke] = gen.semantic.to_tensor(False)
        assigned |= {structured.broke}
    build_carrying(gen, loop.node, assigned, lambda carried: _build_while(gen, loop, carried))
    if structured is not None:
        structured.end(gen)


def _while_condition(gen: FunctionGenerator, node: ast.While, attributes: dict[str, Attribute]) -> tensor | None:
    """The condition of a ``while``, as a scalar int1."""
    condition = unwrap(gen.expression(node.test))
    if isinstance(condition, core.condition):
        if unwrap(condition.disable_licm):
            attributes.update(licm_disabled())
        condition = unwrap(condition.condition)
    if isinstance(condition, tensor):
        return truth(gen, node, node.test, condition)
    if not static_condition(gen, node, condition):
        return None
    structured = structured_body(node)
    if structured is None or not structured.breaks:
        raise gen.error(errors.EndlessLoop, node, _ENDLESS)
    return gen.semantic.to_tensor(True)


_ENDLESS = "the condition of this loop is true at compile time, and nothing in it breaks"


def _goes_on(gen: FunctionGenerator, loop: _Conditional) -> tensor | None:
    """The condition of a loop, which is not asked again once the loop is broken."""
    structured = structured_body(loop.node)
    if structured is None or not structured.breaks:
        return loop.condition()
    broke = gen.scope[structured.broke].handle
    asked, broken = Arm(Block(), dict(gen.scope), None), Arm(Block(), dict(gen.scope), None)
    with gen.inside(asked):
        condition = loop.condition()
    if condition is None:
        unpack(gen.builder, asked.block)
        return None
    with gen.inside(broken):
        no = gen.semantic.to_tensor(False)
    gen.locate(loop.node)
    (decides,) = create_if(gen, broke, broken.block, asked.block, [no.handle], [condition.handle])
    return tensor(decides, int1)


def _build_while(gen: FunctionGenerator, loop: _Conditional, carried: Carried) -> None:
    node, initial = loop.node, carried.handles()
    types = [handle.type for handle in initial]
    test = Arm(block_at(gen.location_of(node), types), dict(gen.scope), None)
    with gen.inside(test):
        carried.bind(gen.scope, test.block.args)
        scalar = _goes_on(gen, loop)
    if scalar is None:  # false at compile time: what the condition does is done once, the body never
        unpack(gen.builder, test.block, initial)
        return
    body = Arm(block_at(gen.location_of(node), types), dict(gen.scope), None)
    with gen.inside(body):
        carried.bind(gen.scope, body.block.args)
        structured = structured_body(node)
        flag = gen.scope.get(structured.broke) if structured is not None else None
        loop.body()
        _settle_flag(gen, loop, flag)
        check_static(gen, node, carried)
        gen.locate(node)
        following = next_handles(gen, node, carried)
        kept, replaced = drop_unchanged([test.block.args, body.block.args], initial, following)
        gen.builder.create(YieldOp, [following[i] for i in kept])
    with gen.inside(test):
        decides: SSAValue = scalar.handle
        gen.builder.create(ConditionOp, (replaced.get(decides, decides), *test.block.args))
    gen.locate(node)
    op = gen.builder.create(
        WhileOp,
        [initial[i] for i in kept],
        [initial[i].type for i in kept],
        attributes=loop.attributes,
        regions=(Region(test.block), Region(body.block)),
    )
    bind_results(gen, carried, initial, kept, op.results)
    _after_loop(gen, node, body, None)


def _settle_flag(gen: FunctionGenerator, loop: _Conditional, before: object) -> None:
    """A flag that no ``break`` set, as all were pruned, is passed on as it was; then the condition has to end the
    loop."""
    structured = structured_body(loop.node)
    if structured is None or not structured.breaks or _breaks(gen, loop.node):
        return
    gen.scope[structured.broke] = before
    if isinstance(loop.node, ast.While):
        condition = unwrap(gen.aside(loop.node.test)[0])
        if not isinstance(unwrap(getattr(condition, "condition", condition)), tensor):
            raise gen.error(errors.EndlessLoop, loop.node, _ENDLESS)


# A for that is broken.

_COUNT = ".count"


def _breaking_for(gen: FunctionGenerator, node: ast.For, iterable: Any, counter: Counter, previous: object) -> None:
    """``for`` as a ``while`` that counts."""
    assert isinstance(node.target, ast.Name)
    target, type_ = node.target.id, ir_type(counter.type)
    name = f"{_COUNT} {node.lineno}:{node.col_offset}"

    def condition() -> tensor:
        return tensor(counter.is_below(gen, gen.scope[name].handle, counter.upper), int1)

    def body() -> None:
        count = gen.scope[name].handle
        gen.scope[target] = tensor(counter.value(gen, count), counter.type)
        _generate_body(gen, node)
        gen.locate(node)
        gen.scope[name] = tensor(counter.following(gen, count), counter.type)

    if not (isinstance(previous, tensor) and previous.type == counter.type):
        gen.scope[target] = tensor(poison(gen, type_), counter.type)
    gen.scope[name] = tensor(counter.lower, counter.type)
    attributes = licm_disabled() if unwrap(iterable.disable_licm) else {}
    _conditional(gen, _Conditional(node, condition, body, attributes), assigned_names(node) | {target, name})
    del gen.scope[name]
