"""Calls: jit functions are generated in place, language functions run on the semantics, other Python runs at compile
time.

A jit callee becomes part of its caller (there is no inliner pass); each call interprets its body again for its own
arguments. A callee marked ``noinline`` becomes a function of its own and a ``tt.call``, see ``module``. An error
inside a callee is raised again at the call, so that the user's error shows the way to it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from xdsl.ir import Block

from tritonx.frontend import errors
from tritonx.frontend.codegen import mistakes
from tritonx.frontend.codegen.call_stack import CALLS_NESTED
from tritonx.frontend.codegen.compile_time_limits import excess_of_call
from tritonx.frontend.codegen.detached_blocks import discard, unpack
from tritonx.frontend.codegen.flow import Arm
from tritonx.frontend.codegen.python_builtins import BUILTINS, CONVERSIONS
from tritonx.frontend.codegen.values import is_dynamic, is_many, is_named_tuple, wrap
from tritonx.frontend.errors import CompilationError
from tritonx.kernel.declaration import KernelDeclaration
from tritonx.kernel.identity import loose
from tritonx.kernel.source import JITCallable
from tritonx.language import core
from tritonx.language.values.aggregate import AGGREGATE, require_fields
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.constexpr_function import ConstexprFunction
from tritonx.language.values.tensor import BoundMember
from tritonx.language.values.tuples import tuple as tl_tuple

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator, Outcome


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A jit function as a method of a value: ``receiver`` is its first argument."""

    receiver: base_value
    function: KernelDeclaration


def attribute_of(value: object, name: str) -> Any:
    """``value.name``; a jit function found on a value of the language becomes its method."""
    found = getattr(value, name)
    if isinstance(found, KernelDeclaration) and isinstance(value, base_value):
        if not isinstance(inspect.getattr_static(value, name), staticmethod):
            return BoundMethod(value, found)
    return found


def call_expression(gen: FunctionGenerator, node: ast.Call) -> Any:
    function = unwrap(gen.expression(node.func))
    try:
        static = STATIC_FUNCTIONS.get(function)
    except TypeError:  # unhashable, so none of ours
        static = None
    if static is not None:
        return static(gen, node)
    if gen.unused is node:
        _check_result_may_be_dropped(gen, node, function)
    args: list[Any] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            args += unpacked(gen, argument)
        else:
            args.append(gen.expression(argument))
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            message = "keyword arguments cannot be unpacked with ** in a kernel"
            raise gen.error(errors.UnsupportedLanguageConstruct, node, message, hint="name each argument")
        kwargs[keyword.arg] = gen.expression(keyword.value)
    return call(gen, node, function, args, kwargs)


def unpacked(gen: FunctionGenerator, node: ast.Starred) -> list[base_value]:
    """The elements of ``*values``, which has to be a tuple."""
    values = unwrap(gen.expression(node.value))
    if not isinstance(values, tl_tuple | tuple | list):
        raise gen.error(errors.LanguageError, node, f"only tuples can be unpacked with *, not {values}")
    return [wrap(value) for value in values]  # pyright: ignore[reportUnknownVariableType]  # elements of any kind


def _check_result_may_be_dropped(gen: FunctionGenerator, node: ast.Call, function: object) -> None:
    if isinstance(function, BoundMember | BoundMethod):
        function = function.function
    marked = getattr(function, "_must_use_result", False)
    if marked:
        message = f"The result of {ast.unparse(node.func)} is not being used."
        raise gen.error(errors.UnusedResult, node, f"{message} {marked}" if isinstance(marked, str) else message)


def call(gen: FunctionGenerator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of calling whatever ``function`` is with evaluated arguments."""
    if isinstance(function, BoundMember | BoundMethod):
        args, function = [function.receiver, *args], function.function
    if isinstance(function, KernelDeclaration):
        return call_jit(gen, node, function, args, kwargs)
    wanted = _hooks_of(function)
    if wanted is None:
        return _call_python(gen, node, function, args, kwargs)
    hooks: dict[str, Any] = {}
    if wanted.semantic:
        hooks["_semantic"] = gen.semantic
    if wanted.generator:
        hooks["_generator"] = gen
    gen.locate(node)
    outer, gen.module.current = gen.module.current, gen
    gen.node = node
    try:
        result = function(*args, **kwargs, **hooks)
    except CompilationError as error:  # in a function that the builtin called: a reduction's combine function
        gen.raise_in_call(error, node)
    except Exception as error:
        if gen.module.raw_errors:
            raise
        raise mistakes.refused(gen, node, function, args, kwargs, error) from error
    finally:
        gen.module.current = outer
    return tl_tuple(result) if isinstance(result, tuple | list) else result  # pyright: ignore[reportUnknownArgumentType]  # a tuple of a user holds anything


@dataclass(frozen=True, slots=True)
class _Hooks:
    """Which of the compiler's keyword arguments a builtin takes."""

    semantic: bool
    generator: bool


_HOOKS: WeakKeyDictionary[Any, _Hooks] = WeakKeyDictionary()
"""A cache of facts about functions, which inspecting takes longer than calling them."""


def _hooks_of(function: object) -> _Hooks | None:
    """The hooks of a language function, of a method of a value or of a constexpr function; None for other Python."""
    owner = getattr(function, "__self__", None)
    method = isinstance(owner, base_value)
    if not (method or getattr(function, "__triton_builtin__", False) or isinstance(function, ConstexprFunction)):
        return None
    key: Any = getattr(function, "__func__", function) if method else function
    try:
        known = _HOOKS.get(key)
    except TypeError:
        return _inspect_hooks(function)
    if known is None:
        known = _HOOKS[key] = _inspect_hooks(function)
    return known


def _inspect_hooks(function: Any) -> _Hooks:
    if isinstance(function, JITCallable):
        return _Hooks(semantic=True, generator=False)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return _Hooks(semantic=False, generator=False)
    any_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    takes_only_keywords = any_keyword and "_semantic" not in parameters
    return _Hooks("_semantic" in parameters or takes_only_keywords, "_generator" in parameters)


def _call_python(
    gen: FunctionGenerator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> base_value:
    """Plain Python at compile time: Python's builtins and functions of modules get unwrapped constexprs."""
    if not callable(function):
        raise gen.error(errors.InvalidCall, node, f"'{type(function).__name__}' object is not callable")
    if isinstance(function, type) and issubclass(function, base_value):
        return construct(gen, node, function, args, kwargs)
    run_time = any(is_dynamic(value) and not isinstance(value, tl_tuple) for value in (*args, *kwargs.values()))
    if run_time and function in CONVERSIONS:
        raise mistakes.computed_too_early(gen, node, function)
    if (reason := excess_of_call(cast(object, function), args)) is not None:
        raise gen.error(errors.CompileTimeLimit, node, reason)
    try:
        return evaluated(function, args, kwargs)
    except Exception:
        if run_time and function not in BUILTINS.values() and not gen.module.raw_errors:
            raise mistakes.computed_too_early(gen, node, function) from None
        raise


def evaluated(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> base_value:
    """What a plain Python function gives for values that are known at compile time."""
    if not _is_record(function):
        args = [unwrap(a) for a in args]
        kwargs = {k: unwrap(v) for k, v in kwargs.items()}
    return wrap(function(*args, **kwargs))


def construct(
    gen: FunctionGenerator, node: ast.AST, cls: type[base_value], args: Sequence[object], kwargs: Mapping[str, object]
) -> base_value:
    """A new value of a class of the language; the constructor of an aggregate may be a jit function."""
    constructor = getattr(cls, "__init__", None)
    if not isinstance(constructor, KernelDeclaration):
        injected = {"_semantic": gen.semantic, "_generator": gen} if hasattr(cls, AGGREGATE) else {}
        return cls(*args, **kwargs, **injected)
    instance = object.__new__(cls)
    arguments = _bind(gen, node, constructor, [instance, *args], kwargs)
    callee = enter(gen, node, constructor, arguments)
    callee.constructed = (instance, gen.builder.block)
    _run(gen, node, callee)
    try:
        require_fields(instance)
    except AttributeError as error:
        raise gen.error(errors.InvalidCall, node, str(error)) from None
    return instance


def _is_record(function: object) -> bool:
    """Whether ``function`` is a class of named tuples, whose elements stay as they are."""
    return isinstance(function, type) and is_named_tuple(function)


# Jit functions.


def call_jit(
    gen: FunctionGenerator,
    node: ast.AST,
    function: KernelDeclaration,
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> Any:
    """Generate ``function`` in place and give its result; ``noinline`` ones are called."""
    arguments = _bind(gen, node, function, args, kwargs)
    if function.noinline:
        for name, value in arguments.items():
            if is_many(value):
                given = f"non-scalar argument {name}:{value}"
                message = f"Function {function.__name__} is marked noinline, but was called with {given}"
                raise gen.error(errors.NoinlineArgument, node, message)
        return gen.module.call_noinline(gen, node, function, arguments)
    return result_of(_run(gen, node, enter(gen, node, function, arguments)))


def _bind(
    gen: FunctionGenerator,
    node: ast.AST,
    function: KernelDeclaration,
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> dict[str, base_value]:
    try:
        return bind_arguments(function, args, kwargs)
    except TypeError as error:
        hint = mistakes.misfit_hint(function.__name__, function.arg_names, kwargs)
        raise gen.error(errors.InvalidCall, node, str(error), hint=hint) from None


def _run(gen: FunctionGenerator, node: ast.AST, callee: FunctionGenerator) -> Outcome:
    """Generate the body of ``callee`` in place; an error in it is raised at the call as well."""
    try:
        return callee.statements(callee.source.definition.body, tail=True)
    except CompilationError as error:
        gen.raise_in_call(error, node)


def enter(
    gen: FunctionGenerator, node: ast.AST, function: KernelDeclaration, arguments: Mapping[str, object]
) -> FunctionGenerator:
    """A generator for the body of ``function`` called at ``node``; an error where the call can never end."""
    active: FunctionGenerator | None = gen
    depth = 0
    while active is not None:
        if active.source.function is function and _same_instance(active.arguments, arguments):
            message = f"{function.__name__} calls itself with the same types and constants"
            raise gen.error(errors.RecursionUnsupported, node, message)
        active = active.caller
        depth += 1
    if depth > CALLS_NESTED:
        raise gen.error(errors.RecursionUnsupported, node, f"calls are nested more than {CALLS_NESTED} deep")
    callee = type(gen)(gen.module, gen.module.source_of(function), caller=gen, call_node=node)
    callee.arguments = arguments
    callee.bind(arguments)
    return callee


def _same_instance(left: Mapping[str, object], right: Mapping[str, object]) -> bool:
    """Whether two calls of one function have arguments of the same types and the same constants."""
    return all(_instance_key(left[name]) == _instance_key(right[name]) for name in left)


def _instance_key(value: Any) -> Any:
    return value.type if is_dynamic(value) else loose(unwrap(value))


def result_of(outcome: Outcome) -> Any:
    """What a call gives, from how the callee's body ended; None for a function that returns nothing."""
    value = outcome.value if outcome is not None else None
    return constexpr(None) if value is None else value


def bind_arguments(
    function: KernelDeclaration, args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, base_value]:
    """The parameters' values by name, defaults included; ``TypeError`` with Python's own message where they do not
    fit."""
    params = _parameters(function)
    if params.plain and not kwargs and len(args) == len(params.names):
        return dict(zip(params.names, [_argument(a) for a in args], strict=True))
    given = dict(zip(params.names, args, strict=False))
    if params.plain and len(args) == len(given) and kwargs.keys().isdisjoint(given):
        named = {**params.defaults, **given, **kwargs}
        if len(named) == len(params.names) and named.keys() == params.by_name:
            return {name: _argument(named[name]) for name in params.names}
    # Deprecated in favour of Signature.bind, whose messages do not name the function or the missing arguments.
    bound = inspect.getcallargs(function.fn, *args, **kwargs)  # pyright: ignore[reportDeprecated]  # what replaces it is slower and words its errors otherwise
    return {name: _argument(bound[name]) for name in params.names}


@dataclass(frozen=True, slots=True)
class _Parameters:
    names: tuple[str, ...]
    plain: bool
    """All are positional or by name, so that arguments can be paired with names."""
    defaults: Mapping[str, Any]
    by_name: frozenset[str]


@lru_cache(maxsize=4096)
def _parameters(function: KernelDeclaration) -> _Parameters:
    parameters = function.signature.parameters.values()
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    names = tuple(p.name for p in parameters)
    return _Parameters(names, plain, defaults, frozenset(names))


def _argument(value: Any) -> base_value:
    """An argument as the callee sees it: everything that Python knows is a constexpr."""
    if isinstance(value, base_value):
        return value
    if type(value) is tuple or type(value) is list:
        return tl_tuple([_argument(v) for v in value])  # pyright: ignore[reportUnknownVariableType]  # a tuple of a user holds anything
    return constexpr(value)


# Functions that decide at compile time and see their arguments unevaluated.


def static_assert(gen: FunctionGenerator, node: ast.Call) -> constexpr:
    if not 0 < len(node.args) <= 2 or node.keywords:
        raise gen.error(errors.InvalidCall, node, "`static_assert` requires one or two positional arguments only")
    passed = unwrap(gen.expression(node.args[0]))
    if not isinstance(passed, bool):
        message = (
            "Assertion condition could not be determined at compile-time. "
            "Make sure that it depends only on `constexpr` values"
        )
        raise gen.error(errors.StaticAssertUndecided, node, message)
    message = _assertion_message(gen, node)
    if not passed:
        raise gen.error(errors.CompileTimeAssertionFailure, node, message)
    return constexpr(None)


def _assertion_message(gen: FunctionGenerator, node: ast.Call) -> str:
    """The message, with what its evaluation does; one that cannot be evaluated is no reason to refuse the kernel."""
    if len(node.args) == 1:
        return ""
    arm = Arm(Block(), dict(gen.scope), None)
    try:
        with gen.inside(arm):
            message = str(gen.to_show(node.args[1]))
    except Exception as error:
        discard(arm.block)
        return f"<failed to evaluate assertion message: {error!r}>"
    unpack(gen.builder, arm.block)
    return message


def static_print(gen: FunctionGenerator, node: ast.Call) -> constexpr:
    args = [gen.to_show(argument) for argument in node.args]
    print(*args, **{str(k.arg): unwrap(gen.expression(k.value)) for k in node.keywords})
    return constexpr(None)


def static_len(gen: FunctionGenerator, node: ast.Call) -> constexpr:
    count = len(node.args) + len(node.keywords)
    if count != 1 or node.keywords:
        raise gen.error(errors.InvalidCall, node, f"len() takes exactly one positional argument ({count} given)")
    return length(gen.expression(node.args[0]))


def length(value: object) -> constexpr:
    """``len``: of a block, its first extent."""
    if isinstance(value, core.tensor) and value.type.is_block():
        return constexpr(int(value.type.shape[0]))
    return constexpr(len(unwrap(value)))


STATIC_FUNCTIONS: Mapping[Any, Any] = {
    core.static_assert: static_assert,
    core.static_print: static_print,
    len: static_len,
}
