"""What each kind of statement means, but for branches and loops: assignments, expressions, assertions, ``return``,
``with``."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tritonx import level
from tritonx.frontend import errors
from tritonx.frontend.codegen import branches, calls, leaving, loops
from tritonx.frontend.codegen.expressions import to_keep
from tritonx.frontend.codegen.flow import Ended, Returned
from tritonx.frontend.codegen.names import MISSING
from tritonx.frontend.codegen.syntax import expanded_assignment, is_path, may_return
from tritonx.frontend.codegen.values import NUMBERS, describe, is_known, materialize, python_value, suggest_name, wrap
from tritonx.language import core
from tritonx.language.types.dtypes import void
from tritonx.language.values.aggregate import is_constant_field
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as tl_tuple
from tritonx.language.values.tuples import tuple_type

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator, StatementRule


def assign_statement(gen: FunctionGenerator, node: ast.Assign) -> None:
    """``target = value``: compile-time numbers become tensors here."""
    first = node.targets[0]
    if isinstance(first, ast.Name):
        gen.assigned_name = first.id
    given = gen.expression(node.value)
    value = to_keep(gen, node, given, first)
    gen.assigned_name = None
    for target in node.targets:
        assign(gen, target, given if _is_constant_field(gen, target) else value)


def _is_constant_field(gen: FunctionGenerator, target: ast.expr) -> bool:
    """Whether ``target`` is a field that is declared ``tl.constexpr``, of what is constructed here."""
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name) or gen.constructed is None:
        return False
    instance = gen.constructed[0]
    return gen.scope.get(target.value.id) is instance and is_constant_field(instance, target.attr)


def assign(gen: FunctionGenerator, target: ast.expr, value: Any) -> None:
    """Give a name its value, or several names those of a tuple."""
    if isinstance(target, ast.Name):
        name = target.id
        gen.scope[name] = value
        gen.constexpr_owners.pop(name, None)
        gen.unrolled_targets.discard(name)
        if isinstance(value, tensor):
            suggest_name(value.handle, name)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(gen, target, value)
    elif isinstance(target, ast.Attribute):
        _assign_attribute(gen, target, value)
    else:
        raise gen.error(errors.ImmutableValue, target, "__setitem__ is not supported in triton")


def _unpack(gen: FunctionGenerator, target: ast.Tuple | ast.List, value: object) -> None:
    values = unwrap(value)
    if not isinstance(values, tl_tuple | tuple | list):
        raise gen.error(errors.UnpackMismatch, target, f"cannot unpack non-iterable value of type {describe(value)}")
    elements: list[Any] = list(values)  # pyright: ignore[reportUnknownArgumentType]  # of anything
    names = target.elts
    star = next((i for i, name in enumerate(names) if isinstance(name, ast.Starred)), None)
    if star is not None and level.active().refuses_starred:
        message = "starred assignment targets are not supported"
        raise gen.error(errors.UnsupportedLanguageConstruct, names[star], message, hint=f"slice: {_SLICED}")
    if star is not None and len(elements) >= len(names) - 1:
        behind = len(names) - star - 1
        middle = tl_tuple(elements[star : len(elements) - behind])
        elements = [*elements[:star], middle, *elements[len(elements) - behind :]]
    if len(elements) != len(names):
        message = f"too many values to unpack (expected {len(names)}, got {len(elements)})"
        if len(elements) < len(names):
            message = f"not enough values to unpack (expected {len(names)}, got {len(elements)})"
        raise gen.error(errors.UnpackMismatch, target, message)
    for name, element in zip(names, elements, strict=True):
        assign(gen, name.value if isinstance(name, ast.Starred) else name, element)


_SLICED = "a, rest = values[0], values[1:]"
"""What does the same as a starred target."""


def _assign_attribute(gen: FunctionGenerator, target: ast.Attribute, value: object) -> None:
    """Only the constructor of an aggregate assigns attributes, those of what it constructs, and outside run-time
    branches."""
    receiver = gen.expression(target.value)
    if gen.constructed is not None and receiver is gen.constructed[0]:
        if gen.builder.block is not gen.constructed[1]:
            message = f"{target.attr} is assigned under run-time control flow"
            hint = "compute the value in a variable, and assign the field once at the end"
            raise gen.error(errors.ImmutableValue, target, message, hint=hint)
        setattr(receiver, target.attr, value)
        return
    raise gen.error(errors.ImmutableValue, target, "Attribute assignment is not supported in triton")


def augmented_assign(gen: FunctionGenerator, node: ast.AugAssign) -> None:
    if isinstance(node.target, ast.Attribute) and not is_path(node.target):
        raise gen.error(errors.ImmutableValue, node.target, "Attribute assignment is not supported in triton")
    assign_statement(gen, expanded_assignment(node))


def annotated_assign(gen: FunctionGenerator, node: ast.AnnAssign) -> None:
    """``name: tl.constexpr = value`` stays a compile-time value and cannot be assigned again; other annotations mean
    nothing. Without a value, it says so of the next assignment."""
    annotation = unwrap(gen.aside(node.annotation)[0])  # which Python does not evaluate in a function
    declares = annotation is constexpr or (isinstance(annotation, str) and annotation.rpartition(".")[2] == "constexpr")
    if node.value is None:
        if declares and isinstance(node.target, ast.Name):
            gen.declared_constants.add(node.target.id)
        return
    if not declares or not isinstance(node.target, ast.Name):
        plain = ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)
        assign_statement(gen, plain)
        return
    name = node.target.id
    value = gen.expression(node.value)
    # The same declaration runs again in each iteration of an unrolled loop.
    if gen.scope.get(name, MISSING) is not MISSING and gen.constexpr_owners.get(name) is not node:
        message = repr(ValueError(f"{name} is already defined. constexpr cannot be reassigned."))
        raise gen.error(errors.ConstexprReassigned, node, message)
    gen.scope[name] = constexpr(python_value(value)) if is_known(value) else value
    gen.constexpr_owners[name] = node


def expression_statement(gen: FunctionGenerator, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return  # a docstring
    gen.unused = node.value
    gen.expression(node.value)


def assert_statement(gen: FunctionGenerator, node: ast.Assert) -> None:
    """``assert`` is ``tl.device_assert``: checked at run time where the kernel is compiled with ``debug``. What the
    condition does besides is done always, as everywhere; a message is computed while the kernel is compiled."""
    test = gen.expression(node.test)
    message, effects = gen.aside(node.msg) if node.msg is not None else ("", False)
    if effects:
        hint = "the message is a string that is known while the kernel is compiled"
        raise gen.error(errors.UnsupportedLanguageConstruct, node, "the message of an assertion stores", hint=hint)
    calls.call(gen, node, core.device_assert, [test, message], {})


def pass_statement(gen: FunctionGenerator, node: ast.Pass) -> None:
    """Nothing."""


def with_statement(gen: FunctionGenerator, node: ast.With) -> None:
    """Context managers that are functions of the language, entered and left around the body while it is generated."""
    if may_return(node.body):
        message = "Cannot have `return` statements inside `with` statements in triton "
        raise gen.error(errors.UnsupportedLanguageConstruct, node, message)
    managers: list[Any] = []
    for item in node.items:
        manager = unwrap(gen.expression(item.context_expr))
        if not hasattr(manager, "__enter__"):
            raise gen.error(errors.LanguageError, item.context_expr, f"{describe(manager)} is not a context manager")
        managers.append(manager)
        entered = manager.__enter__()
        if item.optional_vars is not None:
            assign(gen, item.optional_vars, entered)
    gen.statements(node.body)
    for manager in reversed(managers):
        manager.__exit__(None, None, None)


def return_statement(gen: FunctionGenerator, node: ast.Return, rest: Sequence[ast.stmt], tail: bool) -> Ended:
    """``return``: all returns of a function have one type. Below `Level.returns_constants` numbers become tensors here,
    else where branches of the running kernel meet that return different ones."""
    if gen.loops:
        message = "Cannot have `return` statements inside `while` or `for` statements in triton."
        raise gen.error(errors.ReturnInLoop, node, message)
    value = None
    if node.value is not None:
        value = gen.expression(node.value)
        gen.locate(node)
        value = wrap(value) if level.active().returns_constants else materialize(value, gen.semantic.to_tensor)
        if unwrap(value) is None:
            value = None
    if value is not None and not isinstance(value, core.base_value):
        value = constexpr(value)
    type_ = void if value is None else returned_type(gen, value)
    if gen.return_type is MISSING:
        gen.return_type = type_
    elif gen.return_type != type_:
        message = f"Return type mismatch: {gen.return_type} and {type_}"
        raise gen.error(errors.ReturnMismatch, node, message)
    return Ended(Returned(value))


def returned_type(gen: FunctionGenerator, value: core.base_value) -> core.base_type:
    """The type that a value has where it meets other returned ones: a number that of the tensor it would become."""
    if isinstance(value, tl_tuple):
        return tuple_type([returned_type(gen, part) for part in value.values], value.fields)
    number = unwrap(value)
    return gen.semantic.number_type(number) if isinstance(number, NUMBERS) else value.type


STATEMENTS: Mapping[type[ast.stmt], StatementRule] = {
    ast.Assign: assign_statement,
    ast.AugAssign: augmented_assign,
    ast.AnnAssign: annotated_assign,
    ast.Expr: expression_statement,
    ast.Assert: assert_statement,
    ast.Pass: pass_statement,
    ast.With: with_statement,
    loops.BindTarget: loops.bind_target,
    loops.BeginRound: loops.begin_round,
    leaving.SetFlag: leaving.set_flag,
}

FLOW: Mapping[type[ast.stmt], Any] = {
    ast.If: branches.if_statement,
    ast.For: loops.for_statement,
    ast.While: loops.while_statement,
    ast.Return: return_statement,
}
"""Statements that decide what becomes of those behind them: called with (generator, node, rest, tail)."""
