"""Loops: ``for`` over ranges (``scf.for``), over compile-time sequences (unrolled), and ``while`` (``scf.while``).

Which values a loop carries is found without a trial run: a syntactic look at the body gives the names that it may
assign, and those that are values before the loop become its block arguments. The body is then generated once; what it
turns out not to change is dropped again before the op is created. A compile-time number that the body assigns has to
become a tensor before the loop, which is known only afterwards: then, rarely, the body is generated a second time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from tritonx.dialects.arith import AddiOp, CmpiOp, RemSIOp, SelectOp, SubiOp
from tritonx.dialects.scf import ConditionOp, ForOp, WhileOp, YieldOp
from tritonx.frontend import errors
from tritonx.frontend.codegen.branches import poison
from tritonx.frontend.codegen.conditions import static_condition, truth
from tritonx.frontend.codegen.flow import Arm, Ended, MayReturn
from tritonx.frontend.codegen.names import MISSING, Deferred, Undefined
from tritonx.frontend.codegen.syntax import assigned_names, may_return
from tritonx.frontend.codegen.values import NUMBERS, describe, is_dynamic, is_many, wrap_plain
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
    gen.module.assign(gen, node.target, node.value)


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
    if not isinstance(call, ast.Call) or unwrap(gen.expression(call.func)) is not range:
        return gen.expression(call)
    args = [gen.expression(argument) for argument in call.args]
    if not 1 <= len(args) <= 3 or call.keywords:
        raise gen.error(errors.InvalidCall, call, f"range expected 1 to 3 positional arguments, got {len(args)}")
    return core.range(*args)


def _unrolled(
    gen: FunctionGenerator, node: ast.For, values: Iterable[Any], rest: Sequence[ast.stmt], tail: bool
) -> Ended | None:
    """The body once for each value, one after the other."""
    if may_return(node.body):
        body = [(BindTarget(node.target, wrap_plain(value)), *node.body) for value in values]
        return Ended(gen.statements([*chain.from_iterable(body), *rest], tail))
    for value in values:
        gen.module.assign(gen, node.target, wrap_plain(value))
        gen.statements(node.body)
    return None


# Carried values.


@dataclass(slots=True)
class Carried:
    """The values that a loop carries: names, their types and initial handles; and names that it may assign but cannot
    carry."""

    names: list[str] = field(default_factory=list[str])
    types: list[Any] = field(default_factory=list[Any])
    values: list[Any] = field(default_factory=list[Any])
    static: dict[str, Any] = field(default_factory=dict[str, Any])
    declared: frozenset[str] = frozenset()
    """Those of ``static`` that were declared ``tl.constexpr``, which is a promise not to assign them again."""

    def add(self, name: str, value: Any) -> None:
        self.names.append(name)
        self.types.append(value.type)
        self.values.append(value)

    def handles(self) -> list[SSAValue]:
        return [handle for value in self.values for handle in value.handles()]

    def bind(self, scope: dict[str, Any], handles: Iterable[SSAValue]) -> None:
        """Give the names the values that ``handles`` make up."""
        remaining = iter(handles)
        for name, type_ in zip(self.names, self.types, strict=True):
            value = scope[name] = type_.rebuild(remaining)
            if isinstance(value, tensor) and value.handle.name_hint is None:
                value.handle.name_hint = name


def _carried(gen: FunctionGenerator, assigned: frozenset[str], numbers: set[str]) -> Carried:
    """The values before the loop of the names that it assigns; compile-time ``numbers`` as tensors."""
    carried = Carried(declared=frozenset(gen.constexpr_owners))
    for name, value in gen.scope.items():
        if name not in assigned:
            continue
        if isinstance(value, Undefined | Deferred):
            # What a loop before left of its variable: inside it is the value of the iteration before, or nothing.
            gen.scope[name] = Undefined(f"{name} is assigned in a loop and read before; assign it in front of the loop")
        elif is_dynamic(value):
            carried.add(name, value)
        elif name in numbers:
            carried.add(name, gen.semantic.to_tensor(value))
        else:
            carried.static[name] = value
    return carried


class _NeedsTensor(Exception):
    """Compile-time numbers that the body of a loop assigned."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(names)
        self.names = names


def _check_static(gen: FunctionGenerator, node: ast.AST, carried: Carried) -> None:
    """Names that were no tensors before the loop must not have been assigned in it, unless they can be made tensors."""
    numbers: set[str] = set()
    for name, before in carried.static.items():
        after = gen.scope.get(name, MISSING)
        if after is before or (not is_dynamic(after) and _same_constant(before, after)):
            continue
        if isinstance(unwrap(before), NUMBERS) and is_dynamic(after) and name not in carried.declared:
            numbers.add(name)
        else:
            message = f"Loop carried variable {name} is not a triton value: it is {describe(before)} before the loop"
            if name in carried.declared or isinstance(unwrap(before), NUMBERS):
                message = f"cannot reassign constexpr {name} in the loop"
            raise gen.error(errors.LoopCarriedMismatch, node, message)
    if numbers:
        raise _NeedsTensor(numbers)


def _same_constant(left: Any, right: Any) -> bool:
    a, b = unwrap(left), unwrap(right)
    return a is b or (type(a) is type(b) and bool(a == b))


def _next_handles(gen: FunctionGenerator, node: ast.AST, carried: Carried) -> list[SSAValue]:
    """The handles that the body passes to its next iteration; a changed type is an error."""
    handles: list[SSAValue] = []
    for name, before in zip(carried.names, carried.values, strict=True):
        after = gen.scope[name]
        if isinstance(after, Undefined | Deferred):
            after = gen.lookup(name, node)
        if isinstance(before, tensor) and not is_dynamic(after) and isinstance(unwrap(after), NUMBERS):
            after = gen.semantic.to_tensor(after)
        if not is_dynamic(after) or type(after) is not type(before):
            message = f"Loop carried variable {name} changed type, was {describe(before)} but is now {describe(after)}"
            raise gen.error(errors.LoopCarriedMismatch, node, message)
        if after.type != before.type:
            message = (
                f"Loop-carried variable {name} has initial type {before.type} "
                f"but is re-assigned to {after.type} in loop! Please make sure that the type stays consistent."
            )
            raise gen.error(errors.LoopCarriedMismatch, node, message)
        handles += after.handles()
    return handles


def _retrying(
    gen: FunctionGenerator, node: ast.For | ast.While, assigned: frozenset[str], build: Callable[[Carried], None]
) -> None:
    """``build(carried)``, again with compile-time numbers as tensors where the body turns out to assign them."""
    numbers: set[str] = set()
    before = dict(gen.scope)
    while True:
        try:
            build(_carried(gen, assigned, numbers))
            return
        except _NeedsTensor as found:
            numbers |= found.names
            gen.scope = dict(before)


def _after_loop(gen: FunctionGenerator, node: ast.AST, body: Arm, target: str | None) -> None:
    """Names that only the body knows are undefined behind the loop, which may not run at all."""
    line = gen.place(node).line
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


def counted_for(gen: FunctionGenerator, node: ast.For, iterable: Any) -> None:
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
    _retrying(gen, node, assigned, lambda carried: _build_for(gen, node, iterable, counter, carried))
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


def _build_for(gen: FunctionGenerator, node: ast.For, iterable: Any, counter: _Counter, carried: Carried) -> None:
    assert isinstance(node.target, ast.Name)
    initial = carried.handles()
    counter_type = ir_type(counter.type)
    body = Arm(Block(arg_types=[counter_type, *(handle.type for handle in initial)]), dict(gen.scope), None)
    body.block.args[0].name_hint = node.target.id
    with gen.inside(body):
        value: SSAValue = body.block.args[0]
        carried.bind(gen.scope, body.block.args[1:])
        if counter.down:
            value = gen.builder.emit(SubiOp, (counter.upper, value), (counter_type,))
            value = gen.builder.emit(AddiOp, (value, counter.lower), (counter_type,))
        gen.scope[node.target.id] = tensor(value, counter.type)
        _generate_body(gen, node)
        try:
            _check_static(gen, node, carried)
        except _NeedsTensor:
            _discard(body.block)
            raise
        gen.locate(node)
        following = _next_handles(gen, node, carried)
        kept, _ = _drop_unchanged([body.block.args[1:]], initial, following)
        gen.builder.create(YieldOp, [following[i] for i in kept])
    gen.locate(node)
    operands = (counter.lower, counter.upper, counter.step, *(initial[i] for i in kept))
    types = [initial[i].type for i in kept]
    op = gen.builder.create(ForOp, operands, types, attributes=loop_attributes(iterable), regions=(Region(body.block),))
    _bind_results(gen, carried, initial, kept, op.results)
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
    from tritonx.dialects.llvm import LICM_DISABLED

    return {"llvm.loop_annotation": LICM_DISABLED}


def _drop_unchanged(
    arguments: Sequence[Sequence[BlockArgument]], initial: Sequence[SSAValue], following: list[SSAValue]
) -> tuple[list[int], dict[SSAValue, SSAValue]]:
    """Remove the block arguments of values that the loop passes on unchanged: the positions of those that stay, and
    what each removed argument is replaced with (in ``following`` too).

    ``arguments`` are the arguments of each block of the loop, the last being the one in which ``following`` was
    computed.
    """
    kept: list[int] = []
    replaced: dict[SSAValue, SSAValue] = {}
    for index, before in enumerate(initial):
        if following[index] is not arguments[-1][index] and following[index] is not before:
            kept.append(index)
        else:
            replaced |= {args[index]: before for args in arguments}
    for argument, value in replaced.items():
        assert isinstance(argument, BlockArgument)
        argument.replace_all_uses_with(value)
        argument.block.erase_arg(argument)
    following[:] = [replaced.get(value, value) for value in following]
    return kept, replaced


def _discard(block: Block) -> None:
    """Drop what was generated for nothing, so that values outside lose these uses."""
    block.erase(safe_erase=False)


def _bind_results(
    gen: FunctionGenerator,
    carried: Carried,
    initial: Sequence[SSAValue],
    kept: Sequence[int],
    results: Sequence[SSAValue],
) -> None:
    """Behind the loop each carried name is a result, or what it was before where the loop left it alone."""
    handles = list(initial)
    for index, result in zip(kept, results, strict=True):
        handles[index] = result
    carried.bind(gen.scope, handles)


def _last_value(gen: FunctionGenerator, counter: _Counter, previous: Any) -> Any:
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
    _retrying(gen, node, assigned_names(node), lambda carried: _build_while(gen, node, carried))
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
            _discard(test.block)
            return
        scalar = truth(gen, node, node.test, condition)
    body = Arm(Block(arg_types=types), dict(gen.scope), None)
    with gen.inside(body):
        carried.bind(gen.scope, body.block.args)
        _generate_body(gen, node)
        try:
            _check_static(gen, node, carried)
        except _NeedsTensor:
            _discard(body.block)
            _discard(test.block)
            raise
        gen.locate(node)
        following = _next_handles(gen, node, carried)
        kept, replaced = _drop_unchanged([test.block.args, body.block.args], initial, following)
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
    _bind_results(gen, carried, initial, kept, op.results)
    _after_loop(gen, node, body, None)
