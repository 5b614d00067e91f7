"""What each kind of expression means: constants, names, operators, conditions, indexing, attributes, tuples, f-strings.

An expression over compile-time values is computed by Python; an operator with a tensor on either side is the tensor's
method.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tritonx.frontend import errors
from tritonx.frontend.codegen import branches, calls, mistakes
from tritonx.frontend.codegen.compile_time_limits import excess, excess_of_format
from tritonx.frontend.codegen.conditions import static_condition, truth
from tritonx.frontend.codegen.syntax import declared_pattern, named_in, names_of
from tritonx.frontend.codegen.values import describe, in_text, is_dynamic, is_static, kept, wrap_plain
from tritonx.kernel.dependencies import is_foreign_function
from tritonx.kernel.interface import KernelInterface
from tritonx.language.values.aggregate import AGGREGATE, is_aggregate
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import slice as tl_slice
from tritonx.language.values.tuples import tuple as tl_tuple

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import ExpressionRule, FunctionGenerator

_CACHED = "_tritonx_value"


def constant(gen: FunctionGenerator, node: ast.Constant) -> constexpr:
    """A literal; immutable, so one object for all visits."""
    value: constexpr | None = getattr(node, _CACHED, None)
    if value is None:
        value = constexpr(node.value)
        setattr(node, _CACHED, value)
    return value


def name(gen: FunctionGenerator, node: ast.Name) -> Any:
    """A name that is read."""
    return gen.lookup(node.id, node)


# Operators.


@dataclass(frozen=True, slots=True)
class Operator:
    """A binary operator: a tensor's method, the method of the tensor on the right, and what Python computes."""

    method: str
    reflected: str
    python: Callable[[Any, Any], Any]

    def owners(self, left: object, right: object) -> Iterator[tuple[object, str, object]]:
        """Of operands of which one at least is an aggregate, those that define the operator, each with its method and
        the other operand, in the order in which Python asks them."""
        found = [(left, self.method, right), (right, _MIRRORED.get(self.method, self.reflected), left)]
        if type(left) is not type(right) and isinstance(right, type(left)):
            found.reverse()
        for owner, name, other in found:
            if is_aggregate(owner) and getattr(type(owner), name, None) is not getattr(object, name, None):
                yield owner, name, other


_MIRRORED = {
    "__lt__": "__gt__",
    "__gt__": "__lt__",
    "__le__": "__ge__",
    "__ge__": "__le__",
    "__eq__": "__eq__",
    "__ne__": "__ne__",
}
"""The method of the other operand that a comparison asks."""


def _operator(name: str) -> Operator:
    return Operator(f"__{name}__", f"__r{name}__", getattr(operator, f"__{name}__"))


_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.MatMult: "matmul",
}
BINARY = {kind: _operator(name) for kind, name in _BINARY.items()}

_COMPARISON: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
COMPARISON = {kind: _operator(name) for kind, name in _COMPARISON.items()}

UNARY: Mapping[type[ast.unaryop], tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("__neg__", operator.neg),
    ast.UAdd: ("__pos__", operator.pos),
    ast.Not: ("__not__", operator.not_),
    ast.Invert: ("__invert__", operator.invert),
}


_INSTEAD: Mapping[str, str] = {
    "__pow__": "multiply, or use tl.extra.libdevice.pow or tl.exp2(y * tl.log2(x))",
    "__matmul__": "use tl.dot",
}
"""What to write for the operators that tensors do not have."""

_INSTEAD_OF_LIST: Mapping[str, str] = {
    name: f"a list in a kernel is a tuple, which does not change: write {text}"
    for name, text in {
        "append": "values = values + (x,)",
        "extend": "values = values + others",
        "insert": "values = values[:i] + (x,) + values[i:]",
        "pop": "values = values[:-1]",
        "remove": "values = values[:i] + values[i + 1:]",
        "clear": "values = ()",
        "copy": "other = values",
        "reverse": "values = reversed(values)",
        "sort": "tl.sort for the elements of a block",
    }.items()
}
"""What to write for the methods of Python's lists."""


def apply_binary(gen: FunctionGenerator, node: ast.expr, which: Operator, left: object, right: object) -> Any:
    """``left op right``, with the ops located at ``node``."""
    if is_aggregate(left) or is_aggregate(right):
        return _applied(gen, node, which, left, right)
    if isinstance(left, tensor) or isinstance(right, tensor):
        receiver: Any
        on_left = isinstance(left, tensor)
        receiver, other = (left, right) if on_left else (right, left)
        special = which.method if on_left else which.reflected
        implementation = getattr(tensor, special, None)
        if implementation is None:
            message = f"tensors have no operator {which.method.strip('_')!r}"
            raise gen.error(errors.LanguageError, node, message, hint=_INSTEAD.get(which.method))
        gen.locate(node)
        return implementation(receiver, other, _semantic=gen.semantic)
    if (reason := excess(which.method, left, right)) is not None:
        raise gen.error(errors.CompileTimeLimit, node, reason)
    if not isinstance(left, base_value | type):
        left = constexpr(left)
    result = which.python(left, right)
    return result if isinstance(result, base_value) else wrap_plain(result)


def _applied(gen: FunctionGenerator, node: ast.expr, which: Operator, left: object, right: object) -> object:
    """What a method of an aggregate on either side gives."""
    for owner, name, other in which.owners(left, right):
        result = calls.call(gen, node, calls.attribute_of(owner, name), [other], {})
        if unwrap(result) is not NotImplemented:
            return result
    kinds = " and ".join(repr(type(unwrap(value)).__name__) for value in (left, right))
    message = f"no operator {which.method} of operands of types {kinds}"
    raise gen.error(errors.UnsupportedLanguageConstruct, node, message, hint="define it in the aggregate")


def binary(gen: FunctionGenerator, node: ast.BinOp) -> Any:
    left = gen.expression(node.left)
    return apply_binary(gen, node, BINARY[node.op.__class__], left, gen.expression(node.right))


def compare(gen: FunctionGenerator, node: ast.Compare) -> Any:
    """``a < b``; ``a < b < c`` is ``a < b and b < c``, with ``b`` evaluated once."""
    compared = _comparisons(gen, node)
    return next(compared) if len(node.ops) == 1 else _combined(gen, node, compared, conjunction=True)


def _comparisons(gen: FunctionGenerator, node: ast.Compare) -> Iterator[object]:
    left = gen.expression(node.left)
    for operation, operand in zip(node.ops, node.comparators, strict=True):
        right = gen.expression(operand)
        yield _compared(gen, node, operation.__class__, left, right)
        left = right


def _compared(gen: FunctionGenerator, node: ast.Compare, kind: type[ast.cmpop], left: object, right: object) -> object:
    which = COMPARISON.get(kind)
    if which is not None:
        return apply_binary(gen, node, which, left, right)
    if kind is ast.Is:
        return constexpr(unwrap(left) is unwrap(right))
    if kind is ast.IsNot:
        return constexpr(unwrap(left) is not unwrap(right))
    if isinstance(left, tensor) or isinstance(right, tensor):
        raise gen.error(
            errors.UnsupportedLanguageConstruct,
            node,
            f"AST comparison operator '{kind.__name__}' is not (currently) implemented.",
            hint="`in` is decided at compile time; compare with each value and combine with `|`",
        )
    found = unwrap(left) in unwrap(right)
    return constexpr(found if kind is ast.In else not found)


def unary(gen: FunctionGenerator, node: ast.UnaryOp) -> Any:
    operand = gen.expression(node.operand)
    method, python = UNARY[node.op.__class__]
    if isinstance(operand, tensor):
        gen.locate(node)
        return getattr(operand, method)(_semantic=gen.semantic)
    if is_dynamic(operand):
        if not hasattr(operand, method):
            raise gen.error(
                errors.UnsupportedLanguageConstruct,
                node,
                f"AST unary operator '{method}' is not (currently) implemented on type {type(operand).__name__}",
            )
        return calls.call(gen, node, calls.attribute_of(operand, method), [], {})
    return constexpr(python(unwrap(operand)))


def boolean(gen: FunctionGenerator, node: ast.BoolOp) -> Any:
    """``and`` and ``or``: compile-time operands decide at once or drop out, the others are combined element-wise."""
    return _combined(gen, node, _operands(gen, node), isinstance(node.op, ast.And))


def _operands(gen: FunctionGenerator, node: ast.BoolOp) -> Iterator[object]:
    for operand in node.values:
        value = gen.expression(operand)
        if isinstance(value, tensor) and value.type.is_block():
            _warn_elementwise(gen, node)
        yield value


def _combined(gen: FunctionGenerator, node: ast.expr, values: Iterator[object], conjunction: bool) -> object:
    """``and`` or ``or`` of values that are made as they are needed."""
    value: object = None
    pending: list[tensor] = []
    for value in values:
        if isinstance(value, tensor):
            pending.append(value)
        elif bool(unwrap(value)) is not conjunction:
            return value  # decides the whole, whatever the tensors before it are
    if not pending:
        return value
    result = pending.pop()
    method = "logical_and" if conjunction else "logical_or"
    while pending:
        gen.locate(node)
        result = getattr(pending.pop(), method)(result, _semantic=gen.semantic)
    return result


def _warn_elementwise(gen: FunctionGenerator, node: ast.BoolOp) -> None:
    position = gen.position(node)
    warnings.warn_explicit(
        "Logical operators 'and' and 'or' are deprecated for non-scalar tensors; please use '&' or '|' instead",
        category=UserWarning,
        filename=position.file,
        lineno=position.line,
        source=ast.unparse(node),
    )


def named(gen: FunctionGenerator, node: ast.NamedExpr) -> object:
    """``(name := value)``: an assignment, and what it assigned."""
    gen.module.assign(gen, node.target, to_keep(gen, node, gen.expression(node.value), node.target))
    return gen.lookup(node.target.id, node)


def to_keep(gen: FunctionGenerator, node: ast.stmt | ast.expr, value: object, target: ast.expr) -> object:
    """``value`` as an assignment to ``target`` keeps it."""
    declared = declared_pattern(target, gen.declared_constants)
    if declared:
        gen.declared_constants -= names_of(target)
    elif isinstance(value, tensor):
        return value
    gen.locate(node)
    return kept(value, declared, gen.semantic.to_tensor)


# Conditions.


def conditional(gen: FunctionGenerator, node: ast.IfExp) -> Any:
    condition = gen.expression(node.test)
    if isinstance(condition, tensor):
        return branches.select_expression(gen, node, truth(gen, node, node.test, condition))
    return gen.expression(node.body if static_condition(gen, node, condition) else node.orelse)


# Containers.


def _elements(gen: FunctionGenerator, nodes: list[ast.expr]) -> list[Any]:
    values: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            values += calls.unpacked(gen, node)
        else:
            values.append(gen.expression(node))
    return values


def sequence(gen: FunctionGenerator, node: ast.Tuple | ast.List) -> tl_tuple:
    return tl_tuple(_elements(gen, node.elts))


def comprehension(gen: FunctionGenerator, node: ast.ListComp | ast.GeneratorExp) -> tl_tuple:
    """``[f(x) for x in a_tuple]``: unrolled."""
    if len(node.generators) != 1:
        raise gen.error(errors.UnsupportedLanguageConstruct, node, "nested comprehensions are not supported")
    clause = node.generators[0]
    values = unwrap(gen.expression(clause.iter))
    if not isinstance(values, tl_tuple | tuple | list | range):
        raise gen.error(errors.UnsupportedLanguageConstruct, node, "only tuple comprehensions are supported")
    outer = gen.scope
    results: list[Any] = []
    for value in values:  # pyright: ignore[reportUnknownVariableType]  # elements of any kind
        gen.scope = dict(outer)
        gen.module.assign(gen, clause.target, wrap_plain(value))
        if all(static_condition(gen, test, gen.expression(test)) for test in clause.ifs):
            results.append(gen.expression(node.elt))
        outer.update({name: gen.scope[name] for name in named_in(node) if name in gen.scope})
    gen.scope = outer
    return tl_tuple(results)


def subscript(gen: FunctionGenerator, node: ast.Subscript) -> Any:
    value, index = gen.expression(node.value), gen.expression(node.slice)
    if isinstance(value, tensor):
        return calls.call(gen, node, value.__getitem__, [index], {})
    if is_dynamic(value) and not isinstance(value, tl_tuple):
        return calls.call(gen, node, calls.attribute_of(value, "__getitem__"), [index], {})
    if isinstance(value, KernelInterface):
        raise mistakes.launch_in_kernel(gen, node, value)  # pyright: ignore[reportUnknownArgumentType]  # of any run
    if isinstance(index, tensor):
        raise gen.error(
            errors.LanguageError,
            node,
            f"a tuple is indexed with a compile-time value, not with {index}",
            hint="annotate the index with tl.constexpr, or iterate with tl.static_range",
        )
    plain: Any = unwrap(value)
    return wrap_plain(plain[index if isinstance(plain, tl_tuple) else _python_index(index)])


def _python_index(index: object) -> Any:
    if isinstance(index, tl_slice):
        return slice(unwrap(index.start), unwrap(index.stop), unwrap(index.step))
    return unwrap(index)


def slice_(gen: FunctionGenerator, node: ast.Slice) -> tl_slice:
    lower, upper, step = (
        None if part is None else gen.expression(part) for part in (node.lower, node.upper, node.step)
    )
    return tl_slice(lower, upper, step)


def attribute(gen: FunctionGenerator, node: ast.Attribute) -> Any:
    value: Any = gen.expression(node.value)
    if node.attr == "T" and isinstance(value, tensor):
        gen.locate(node)
        return gen.semantic.permute(value, (1, 0))
    if node.attr not in ("value", "type"):
        value = unwrap(value)
    try:
        found = calls.attribute_of(value, node.attr)
        if isinstance(value, ModuleType | type) and not hasattr(value, AGGREGATE) and is_foreign_function(found):
            raise mistakes.plain_function(gen, node, found)
        return wrap_plain(found)
    except AttributeError as error:
        if gen.module.raw_errors:
            raise
        from difflib import get_close_matches  # only for a mistake: it takes longer to import than this file

        names = get_close_matches(node.attr, dir(value), n=1, cutoff=0.75)
        hint = f"did you mean '{names[0]}'?" if names else None
        if isinstance(value, tl_tuple):
            hint = _INSTEAD_OF_LIST.get(node.attr, hint)
        raise gen.error(errors.LanguageError, node, repr(error), hint=hint) from None


def joined_string(gen: FunctionGenerator, node: ast.JoinedStr) -> constexpr:
    """An f-string of what is known at compile time; in ``static_print`` and messages of assertions a value of the
    running kernel stands there as its type."""
    parts: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = gen.expression(part.value)
        if not is_static(value) and (part.format_spec is not None or not gen.shows_types):
            raise gen.error(
                errors.UnsupportedLanguageConstruct,
                node,
                "Cannot evaluate f-string containing non-constexpr conversion values, found conversion of type "
                + repr(describe(value)),
                hint="the type of a run-time value has no format"
                if gen.shows_types
                else "print run-time values with tl.device_print",
            )
        if not is_static(value):
            parts.append(str(in_text(value)))
            continue
        form = gen.expression(part.format_spec).value if part.format_spec is not None else ""
        if (reason := excess_of_format(form)) is not None:
            raise gen.error(errors.CompileTimeLimit, node, reason)
        conversion = "" if part.conversion < 0 else "!" + chr(part.conversion)
        parts.append(f"{{{conversion}:{form}}}".format(in_text(value)))
    return constexpr("".join(parts))


EXPRESSIONS: Mapping[type[ast.expr], ExpressionRule] = {
    ast.Constant: constant,
    ast.Name: name,
    ast.BinOp: binary,
    ast.Compare: compare,
    ast.UnaryOp: unary,
    ast.BoolOp: boolean,
    ast.IfExp: conditional,
    ast.NamedExpr: named,
    ast.Call: calls.call_expression,
    ast.Attribute: attribute,
    ast.Subscript: subscript,
    ast.Slice: slice_,
    ast.Tuple: sequence,
    ast.List: sequence,
    ast.ListComp: comprehension,
    ast.GeneratorExp: comprehension,
    ast.JoinedStr: joined_string,
}
