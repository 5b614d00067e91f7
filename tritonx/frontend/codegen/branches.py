"""Run-time branches: ``if`` statements, early returns, conditional expressions.

Both branches are generated into blocks of their own, each with a copy of the names. What they changed becomes the
results of an ``scf.if``.

**Early returns are structured too.** Where a branch returns, the statements behind the ``if`` move into the branch
  that does not, and the ``scf.if`` gives the function's result::

    if pid >= n:            scf.if (pid < n) {
        return                store ...
    store ...               }

Where both branches may go on (a ``return`` in an inner ``if``), the ``scf.if`` gives a flag besides, and the rest is
put under a test of it. So a function is always a single block, which is why a callee with early returns can be
generated inside a loop of its caller, and why no later pass has to recover structure from branches.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from tritonx.dialects.arith import ConstantOp, SelectOp, XOrIOp
from tritonx.dialects.scf import IfOp, YieldOp
from tritonx.dialects.tile import TensorDescType
from tritonx.dialects.ub import PoisonOp
from tritonx.frontend import errors
from tritonx.frontend.codegen.conditions import static_condition, truth
from tritonx.frontend.codegen.detached_blocks import unpack
from tritonx.frontend.codegen.flow import Arm, Ended, MayReturn, Outcome, Returned
from tritonx.frontend.codegen.leaving import is_flag
from tritonx.frontend.codegen.names import MISSING, Deferred, Undefined, carrying, is_absent
from tritonx.frontend.codegen.syntax import may_return, named_in
from tritonx.frontend.codegen.values import (
    NUMBERS,
    describe,
    is_dynamic,
    materialize,
    same_constant,
    same_handles,
    suggest_name,
)
from tritonx.ir.types import i1
from tritonx.language.types.dtypes import int1
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as tl_tuple
from tritonx.language.values.tuples import tuple_type

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator


def if_statement(gen: FunctionGenerator, node: ast.If, rest: Sequence[ast.stmt], tail: bool) -> Ended | None:
    """An ``if``; where it returns, also the statements behind it (``rest``)."""
    condition = gen.expression(node.test)
    if not isinstance(condition, tensor):
        body = node.body if static_condition(gen, node, condition) else node.orelse
        if may_return(body):
            return Ended(gen.statements([*body, *rest], tail))
        gen.statements(body)
        return None
    scalar = truth(gen, node, node.test, condition)
    last = tail and not rest
    then, otherwise = gen.arm(node.body, last), gen.arm(node.orelse, last)
    if then.outcome is None and otherwise.outcome is None:
        _join(gen, node, scalar, then, otherwise, tail=False)
        return None
    return Ended(_join_returning(gen, node, scalar, then, otherwise, rest, tail))


def _join_returning(
    gen: FunctionGenerator,
    node: ast.If,
    condition: tensor,
    then: Arm,
    otherwise: Arm,
    rest: Sequence[ast.stmt],
    tail: bool,
) -> Outcome:
    """Join branches of which one at least returns or may return, and generate ``rest`` where control goes on."""
    if isinstance(then.outcome, Returned) is not isinstance(otherwise.outcome, Returned):
        going = otherwise if isinstance(then.outcome, Returned) else then
        with gen.inside(going):
            going.outcome = _continue(gen, node, going.outcome, rest, tail)
        return _join(gen, node, condition, then, otherwise, tail)
    outcome = _join(gen, node, condition, then, otherwise, tail and not rest)
    return _continue(gen, node, outcome, rest, tail)


def _continue(gen: FunctionGenerator, node: ast.If, outcome: Outcome, rest: Sequence[ast.stmt], tail: bool) -> Outcome:
    """Generate ``rest`` behind statements that ended with ``outcome``."""
    if outcome is None:
        return gen.statements(rest, tail)
    if isinstance(outcome, Returned) or not rest:
        return outcome
    left = Arm(Block(), dict(gen.scope), Returned(outcome.value))
    return _join(gen, node, tensor(outcome.flag, int1), left, gen.arm(rest, tail), tail)


@dataclass(slots=True)
class _Columns:
    """What an ``scf.if`` gives: pairs of handles, and the names or roles that they are put together to, in order."""

    then: list[SSAValue] = field(default_factory=list[SSAValue])
    otherwise: list[SSAValue] = field(default_factory=list[SSAValue])

    def add(self, then: Sequence[SSAValue], otherwise: Sequence[SSAValue]) -> None:
        self.then += then
        self.otherwise += otherwise


def _join(gen: FunctionGenerator, node: ast.AST, condition: tensor, then: Arm, otherwise: Arm, tail: bool) -> Outcome:
    """Create the ``scf.if`` of two arms: names, the returned value and the flag that are needed behind it."""
    columns = _Columns()
    outcomes = [_leaving(arm.outcome) if tail else arm.outcome for arm in (then, otherwise)]
    going = [not isinstance(outcome, Returned) for outcome in outcomes]
    joined: list[tuple[str, Any]] = []
    if all(going):
        joined = _join_names(gen, node, then, otherwise, columns)
    elif any(going):
        joined = _names_of_one(gen, then if going[0] else otherwise, otherwise if going[0] else then, columns, going[0])
    value_type = _join_values(gen, then, otherwise, outcomes, columns)
    flagged = any(going) and any(outcome is not None for outcome in outcomes)
    if flagged:
        flags = [_flag(gen, arm, outcome) for arm, outcome in zip((then, otherwise), outcomes, strict=True)]
        columns.add([flags[0]], [flags[1]])
    gen.locate(node)
    results = iter(create_if(gen, condition.handle, then.block, otherwise.block, columns.then, columns.otherwise))
    for name, type_ in joined:
        joined_value = gen.scope[name] = type_.rebuild(results)
        if isinstance(joined_value, tensor):
            suggest_name(joined_value.handle, name)
    value = value_type.rebuild(results) if value_type is not None else None
    if flagged:
        return MayReturn(next(results), value)
    return None if any(going) else Returned(value)


def _leaving(outcome: Outcome) -> Returned:
    """How an arm at the end of a function ends: falling off the end leaves as well."""
    return Returned(outcome.value if outcome is not None else None)


def _flag(gen: FunctionGenerator, arm: Arm, outcome: Outcome) -> SSAValue:
    if isinstance(outcome, MayReturn):
        return outcome.flag
    with gen.inside(arm):
        return gen.builder.constant(outcome is not None, i1)


def _join_values(
    gen: FunctionGenerator, then: Arm, otherwise: Arm, outcomes: Sequence[Outcome], columns: _Columns
) -> Any:
    """Add the returned values to ``columns``; their type, or None where nothing is returned.

    An arm that returns nothing gives poison: either the flag says so, or the function ends without a value, which is
    undefined behaviour as in Triton.
    """
    values = [outcome.value if outcome is not None else None for outcome in outcomes]
    left, right = values
    if left is not None and right is not None:
        values = left, right = _met(gen, then, otherwise, left, right)
    present = left if left is not None else right
    if present is None:
        return None
    types = [handle.type for handle in present.handles()]
    handles = [
        value.handles() if value is not None else _poison(gen, arm, types)
        for arm, value in zip((then, otherwise), values, strict=True)
    ]
    columns.add(handles[0], handles[1])
    return present.type


def _met(
    gen: FunctionGenerator, then: Arm, otherwise: Arm, left: base_value, right: base_value
) -> tuple[base_value, base_value]:
    """Two returned values of one type: numbers that differ are tensors from here on, each made in its arm."""
    if isinstance(left, tl_tuple) and isinstance(right, tl_tuple) and len(left) == len(right):
        pairs = [_met(gen, then, otherwise, a, b) for a, b in zip(left.values, right.values, strict=True)]
        fields = left.fields
        return _tuple_of([a for a, _ in pairs], fields), _tuple_of([b for _, b in pairs], fields)
    if not is_dynamic(left) and not is_dynamic(right) and same_constant(left, right):
        return left, right
    return _as_tensor(gen, then, left), _as_tensor(gen, otherwise, right)


def _tuple_of(values: list[base_value], fields: Sequence[str] | None) -> tl_tuple:
    return tl_tuple(values, tuple_type([value.type for value in values], fields))


def _poison(gen: FunctionGenerator, arm: Arm, types: Sequence[Attribute]) -> list[SSAValue]:
    with gen.inside(arm):
        return [poison(gen, type_) for type_ in types]


def poison(gen: FunctionGenerator, type_: Attribute) -> SSAValue:
    """A value that nothing may depend on."""
    return gen.builder.create(PoisonOp, (), (type_,)).results[0]


# Names.


def _names_of_one(
    gen: FunctionGenerator, going: Arm, left: Arm, columns: _Columns, going_is_then: bool
) -> list[tuple[str, Any]]:
    """The names after an ``if`` that only ``going`` comes out of: they are what they are there."""
    joined: list[tuple[str, Any]] = []
    for name, value in going.scope.items():
        if gen.scope.get(name, MISSING) is value:
            continue
        if not is_dynamic(value):
            gen.scope[name] = (
                Undefined(f"{name} is read after a loop and an early return", carrying(value))
                if is_absent(value)
                else value
            )
            continue
        handles = value.handles()
        other = _poison(gen, left, [handle.type for handle in handles])
        columns.add(*((handles, other) if going_is_then else (other, handles)))
        joined.append((name, value.type))
    return joined


def _join_names(
    gen: FunctionGenerator, node: ast.AST, then: Arm, otherwise: Arm, columns: _Columns
) -> list[tuple[str, Any]]:
    """Give ``gen.scope`` the names that both branches agree on; those that differ go to ``columns`` and are
    returned."""
    joined: list[tuple[str, Any]] = []
    base = gen.scope
    for name in _changed_names(base, then.scope, otherwise.scope):
        before = base.get(name, MISSING)
        pair = _common(gen, node, name, before, then, otherwise)
        if isinstance(pair, Undefined):
            base[name] = pair
            continue
        left, right = pair
        if not is_dynamic(left) or same_handles(left, right):
            base[name] = left
            continue
        columns.add(left.handles(), right.handles())
        joined.append((name, left.type))
    return joined


def _changed_names(base: dict[str, Any], then: dict[str, Any], otherwise: dict[str, Any]) -> list[str]:
    """Names that a branch assigned: those from before in their order, then new ones sorted."""
    changed = [name for name, value in base.items() if then[name] is not value or otherwise[name] is not value]
    return changed + sorted((then.keys() | otherwise.keys()) - base.keys())


def _common(
    gen: FunctionGenerator, node: ast.AST, name: str, before: object, then: Arm, otherwise: Arm
) -> tuple[Any, Any] | Undefined:
    """The values of ``name`` at the end of each branch, of one type; or why there is none. Types that clash are an
    error."""
    values = [arm.scope.get(name, MISSING) for arm in (then, otherwise)]
    deferred = isinstance(before, Deferred)  # the variable of a loop before the `if`
    for index, arm in enumerate((then, otherwise)):
        if isinstance(values[index], Deferred) and (deferred or is_dynamic(before)):
            with gen.inside(arm):
                values[index] = gen.lookup(name, node)
    left, right = values
    line = gen.position(node).line
    if is_absent(left) or is_absent(right):
        reason = f"{name} is assigned in one branch only of the run-time `if` on line {line}; assign it before"
        return Undefined(reason, carrying(before, left, right))
    if not is_dynamic(left) and not is_dynamic(right):
        if same_constant(left, right):
            return left, right
        if is_flag(name):
            return _as_tensor(gen, then, left), _as_tensor(gen, otherwise, right)
        return Undefined(f"{name} has another compile-time value in each branch of the run-time `if` on line {line}")
    left, right = _as_tensor(gen, then, left), _as_tensor(gen, otherwise, right)
    if not is_dynamic(left) or not is_dynamic(right):
        kinds = f"{describe(left)} after one branch and {describe(right)} after the other"
        return Undefined(f"{name} is {kinds} of the run-time `if` on line {line}")
    if type(left) is not type(right) or left.type != right.type:
        if deferred:
            return Undefined(f"{name} is {describe(left)} after one branch and {describe(right)} after the other")
        raise gen.error(errors.BranchMismatch, node, _mismatch(name, before, values, left, right))
    return left, right


def _as_tensor(gen: FunctionGenerator, arm: Arm, value: object) -> Any:
    """A compile-time number as the tensor that an assignment would have made of it."""
    if is_dynamic(value) or not isinstance(unwrap(value), NUMBERS):
        return value
    with gen.inside(arm):
        return gen.semantic.to_tensor(value)


def _mismatch(name: str, before: Any, values: Sequence[Any], left: Any, right: Any) -> str:
    for value, new, branch in ((values[0], right, "else"), (values[1], left, "then")):
        if value is before:
            initial = f"initial value for `{name}` is of type {describe(before)}"
            return f"{initial}, but the {branch} block redefines it as {new.type}"
    return f"Mismatched type for {name} between then block ({left.type}) and else block ({right.type})"


# Conditional expressions.


def select_expression(gen: FunctionGenerator, node: ast.IfExp, condition: tensor) -> Any:
    """``a if condition else b`` at run time: only the chosen side is executed. Its value is the same compile-time value
    of both sides, or a run-time value of one type; in a statement of its own it has none."""
    unused = gen.unused is node
    if names := sorted(named_in(node.body) | named_in(node.orelse)):
        message = f"{names[0]} is assigned in one side of a conditional expression that is decided at run time"
        raise gen.error(errors.UnsupportedLanguageConstruct, node, message, hint="assign it before, or in an `if`")
    arms: list[Arm] = []
    values: list[Any] = []
    for side in (node.body, node.orelse):
        arm = Arm(Block(), dict(gen.scope), None)
        with gen.inside(arm):
            if unused:
                gen.unused = side
            values.append(materialize(gen.expression(side), gen.semantic.to_tensor))
        arms.append(arm)
    left, right = values
    static = not is_dynamic(left) and not is_dynamic(right) and same_constant(left, right)
    if unused or static:
        gen.locate(node)
        create_if(gen, condition.handle, arms[0].block, arms[1].block, (), ())
        return left if static else constexpr(None)
    if type(left) is not type(right) or not is_dynamic(left) or left.type != right.type:
        message = (
            f"Ternary expression with dynamic condition has inconsistent types {describe(left)} and {describe(right)}"
        )
        raise gen.error(errors.BranchMismatch, node, message)
    gen.locate(node)
    results = create_if(gen, condition.handle, arms[0].block, arms[1].block, left.handles(), right.handles())
    return left.type.rebuild(iter(results))


# The op.


def create_if(
    gen: FunctionGenerator,
    condition: SSAValue,
    then: Block,
    otherwise: Block,
    then_values: Sequence[SSAValue],
    else_values: Sequence[SSAValue],
) -> list[SSAValue]:
    """An ``scf.if`` of finished blocks; an ``arith.select`` a value where the blocks compute nothing."""
    builder = gen.builder
    if _only_constants(then) and _only_constants(otherwise):
        for block in (then, otherwise):
            unpack(builder, block)
        if all(a is b or _is_scalar(a.type) for a, b in zip(then_values, else_values, strict=True)):
            pairs = zip(then_values, else_values, strict=True)
            return [a if a is b else builder.emit(SelectOp, (condition, a, b), (a.type,)) for a, b in pairs]
    types = [value.type for value in then_values]
    if not types and then.first_op is None:
        condition = builder.emit(XOrIOp, (condition, builder.constant(True, i1)), (i1,))
        then, otherwise = otherwise, then
    needs_else = bool(types) or otherwise.first_op is not None
    for block, values in ((then, then_values), (otherwise, else_values)):
        with builder.at(block):
            builder.create(YieldOp, values)
    regions = (Region(then), Region(otherwise) if needs_else else Region())
    return list(builder.create(IfOp, (condition,), types, regions=regions).results)


def _only_constants(block: Block) -> bool:
    return all(isinstance(op, ConstantOp) for op in block.ops)


def _is_scalar(type_: Attribute) -> bool:
    return not isinstance(type_, TensorType | TensorDescType)
