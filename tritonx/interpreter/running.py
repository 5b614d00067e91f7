"""What rewritten kernel code calls while it runs: `Runtime`, under the name that `rewrite.py` gives it.

Each method is one rule of the language that plain Python would get wrong. They act on whatever semantics are active
in the thread, so that one rewritten function serves every run.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, cast

from tritonx import level
from tritonx.frontend.codegen import calls
from tritonx.frontend.codegen.expressions import BINARY, COMPARISON, UNARY
from tritonx.frontend.codegen.python_builtins import BUILTINS
from tritonx.frontend.codegen.values import Pattern, kept, materialize, wrap, wrap_plain
from tritonx.frontend.semantics.promotion import promote_integers
from tritonx.interpreter.eager import EagerValue
from tritonx.interpreter.errors import DeviceAssertion
from tritonx.interpreter.values import Array
from tritonx.kernel import active
from tritonx.kernel.source import JITCallable
from tritonx.language import core
from tritonx.language.values.aggregate import AGGREGATE, is_aggregate, is_constant_field, require_fields
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import BoundMember, tensor
from tritonx.language.values.tuples import tuple as tl_tuple


class Counted:
    """A `range(...)` to loop over, whose bounds may be tensors."""

    def __init__(self, *bounds: Any) -> None:
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self.bounds = (unwrap(start), unwrap(stop), unwrap(step))


class Runtime:
    """Without state; every attribute is a function of the rewritten code's values."""

    @staticmethod
    def keep(value: object) -> Any:
        """What an assignment or a return keeps of a value: numbers become tensors."""
        if isinstance(value, tensor):
            return value
        return materialize(value, active.current("an assignment").to_tensor)

    @staticmethod
    def keep_declared(value: object, declared: Pattern) -> object:
        """What an assignment keeps to names of which some were declared `tl.constexpr`."""
        return kept(value, declared, active.current("an assignment").to_tensor)

    @staticmethod
    def meeting() -> list[bool]:
        """Whether the running kernel decides which `return` of a function is reached: not yet."""
        return [False]

    @staticmethod
    def noted(condition: object, met: list[bool]) -> object:
        """The condition of an `if` with a `return` in it."""
        met[0] |= isinstance(condition, tensor)
        return condition

    @staticmethod
    def returned(value: object, met: list[bool] | None) -> object:
        """What a `return` gives: numbers stay compile-time values, unless branches of the running kernel meet."""
        if level.active().returns_constants and not (met and met[0]):
            return wrap(value)
        return Runtime.keep(value)

    @staticmethod
    def chain(names: tuple[str, ...], *operands: Callable[[], object]) -> object:
        """`a < b < c`: each operand is evaluated once, and none behind a comparison that is false at compile time."""
        return _logical(_comparisons(names, operands), "logical_and", stop=False)

    @staticmethod
    def keep_in(owner: object, name: str, value: object) -> Any:
        """What an assignment to a field keeps."""
        return value if is_constant_field(owner, name) else Runtime.keep(value)

    @staticmethod
    def constant(value: Any) -> base_value:
        """What `x: tl.constexpr = value` keeps."""
        return value if isinstance(value, base_value) else constexpr(value)

    @staticmethod
    def plain(value: object) -> Any:
        return unwrap(value)

    @staticmethod
    def iterate(values: object) -> Iterator[Any]:
        """The values of a loop's counter, or the elements of a tuple."""
        values = unwrap(values)
        if isinstance(values, core.static_range):
            return (
                constexpr(i) for i in builtins.range(*(int(unwrap(b)) for b in (values.start, values.end, values.step)))
            )
        if isinstance(values, core.range):
            return _count(unwrap(values.start), unwrap(values.end), unwrap(values.step))
        if isinstance(values, Counted):
            return _count(*values.bounds)
        if isinstance(values, range):
            return _count(values.start, values.stop, values.step)
        return Runtime.elements(values)

    @staticmethod
    def elements(values: object) -> Iterator[Any]:
        """What a comprehension, or a loop over a tuple, goes over."""
        return map(wrap_plain, unwrap(values))

    @staticmethod
    def sequence(values: Any) -> tl_tuple:
        """A tuple, a list, or a comprehension that makes one."""
        return tl_tuple(values)

    @staticmethod
    def attribute(value: Any, name: str) -> Any:
        """`value.name`; of a constexpr, the attribute of what it holds."""
        if name not in ("value", "type"):
            value = unwrap(value)
        return wrap_plain(calls.attribute_of(value, name))

    @staticmethod
    def operate(name: str, receiver: object, *other: object) -> Any:
        """An operator, by the name of its class in `ast`."""
        if other and (is_aggregate(receiver) or is_aggregate(other[0])):
            return _applied(name, receiver, other[0])
        method, python = OPERATORS[name]
        if _is_jit_method(receiver, method):
            return Runtime.callee(calls.attribute_of(receiver, method))(*other)
        return python(receiver, *other)

    @staticmethod
    def indexed(value: object) -> Any:
        """What to index for `value`."""
        if _is_jit_method(value, "__getitem__"):
            return _Items(Runtime.callee(calls.attribute_of(value, "__getitem__")))
        return value

    @staticmethod
    def shown(value: Any) -> Any:
        """A value in an f-string."""
        return shown(value)

    @staticmethod
    def callee(function: object) -> Any:
        """What to call for `function`: itself, where it is of the language."""
        function = unwrap(function)
        if isinstance(function, calls.BoundMethod):
            return partial(function.function, function.receiver)
        if isinstance(function, JITCallable | BoundMember) or getattr(function, "__triton_builtin__", False):
            return _printed_before if function is core.static_print else function
        if isinstance(getattr(function, "__self__", None), base_value):
            return function
        if isinstance(function, type) and issubclass(function, base_value):
            return partial(_construct, function)
        try:
            return PYTHON.get(function) or partial(_evaluated, function)
        except TypeError:  # it cannot be hashed
            return partial(_evaluated, function)

    @staticmethod
    def looped(function: object) -> Any:
        """`callee`, for what a `for` loops over."""
        return Counted if unwrap(function) is range else Runtime.callee(function)

    @staticmethod
    def choose(condition: Callable[[], Any], then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """`then if condition else otherwise`: only one of them is computed; a number becomes a tensor where a tensor
        decides."""
        decides = condition()
        value = then() if decides else otherwise()
        return Runtime.keep(value) if isinstance(decides, tensor) else value

    @staticmethod
    def both(*operands: Callable[[], Any]) -> Any:
        """`and`: of compile-time values as in Python, of tensors elementwise; a false constexpr stops it."""
        return _logical((operand() for operand in operands), "logical_and", stop=False)

    @staticmethod
    def either(*operands: Callable[[], Any]) -> Any:
        """`or`, likewise."""
        return _logical((operand() for operand in operands), "logical_or", stop=True)

    @staticmethod
    def invert(operand: object) -> Any:
        """`not`."""
        if isinstance(operand, tensor):
            return active.current("not").not_(operand)
        return constexpr(not operand)

    @staticmethod
    def check(condition: Any, message: Any = "") -> None:
        """`assert`, of a compile-time value or of every lane of a tensor."""
        if isinstance(condition, tensor):
            core.device_assert(condition, str(unwrap(message)))
        elif not condition:
            raise DeviceAssertion(f"assertion failed: {unwrap(message)}")


def _applied(name: str, left: object, right: object) -> object:
    """An operator of which one operand at least is an aggregate."""
    which = _OPERATORS[name]
    for owner, method, other in which.owners(left, right):
        result = Runtime.callee(calls.attribute_of(owner, method))(other)
        if unwrap(result) is not NotImplemented:
            return result
    return which.python(left, right)  # which Python refuses


def _is_jit_method(value: object, name: str) -> bool:
    """Whether the class of a value (of an aggregate) defines this operator by a jit function."""
    return isinstance(getattr(value.__class__, name, None), JITCallable)


@dataclass(frozen=True)
class _Items:
    """A value whose elements a function gives."""

    get: Callable[[Any], Any]

    def __getitem__(self, index: Any) -> Any:
        return self.get(index)


_OPERATORS = {kind.__name__: which for kind, which in (BINARY | COMPARISON).items()}

OPERATORS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    **{kind.__name__: (which.method, which.python) for kind, which in (BINARY | COMPARISON).items()},
    **{kind.__name__: which for kind, which in UNARY.items()},
}
"""The method and the function of Python's `operator` for each."""


def _evaluated(function: object, *args: object, **kwargs: object) -> base_value:
    return calls.evaluated(function, args, kwargs)


def _construct(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A new value of a class of the language; the constructor of an aggregate may be a jit function."""
    if not isinstance(cls.__init__, JITCallable):
        injected = {"_semantic": active.current(cls.__name__)} if hasattr(cls, AGGREGATE) else {}
        return cls(*args, **kwargs, **injected)
    instance = object.__new__(cls)
    active.current(cls.__name__).call_function(cls.__init__, (instance, *args), kwargs)
    require_fields(instance)
    return instance


def _print(*values: Any, **options: Any) -> None:
    """Python's own print, of the numbers in tensors."""
    builtins.print(*(shown(v) for v in values), **options)


def _printed_before(*values: object, **options: object) -> None:
    """`tl.static_print`, which prints when the front end looks at the kernel."""


PYTHON: Mapping[Any, Callable[..., Any]] = {
    builtins.print: _print,
    builtins.len: calls.length,
    **{getattr(builtins, name): BUILTINS[name] for name in ("min", "max", "abs")},
    **{getattr(builtins, name): partial(_evaluated, BUILTINS[name]) for name in ("zip", "enumerate", "reversed")},
}
"""What is called in place of Python's builtins."""


def shown(value: Any) -> Any:
    """A language value as Python prints it: the array or number of a tensor, the value of a constexpr."""
    if isinstance(value, tensor) and isinstance(value.handle, EagerValue):
        data = cast(Array, value.handle.data)
        unsigned = value.dtype.is_int() and not value.dtype.is_int_signed() and not value.dtype.is_bool()
        return data.view(f"u{data.dtype.itemsize}") if unsigned else data
    if isinstance(value, tl_tuple):
        return tuple(map(shown, value))
    return unwrap(value)


def _comparisons(names: tuple[str, ...], operands: tuple[Callable[[], object], ...]) -> Iterator[object]:
    left = operands[0]()
    for name, operand in zip(names, operands[1:], strict=True):
        right = operand()
        yield _compared(name, left, right)
        left = right


def _compared(name: str, left: object, right: object) -> object:
    if name in ("Is", "IsNot"):
        return constexpr((unwrap(left) is unwrap(right)) is (name == "Is"))
    if name in ("In", "NotIn"):
        return constexpr(operator.contains(unwrap(right), unwrap(left)) is (name == "In"))
    return Runtime.operate(name, left, right)


def _logical(values: Iterator[object], method: str, *, stop: bool) -> object:
    """Compile-time operands decide at once or drop out, the others are combined."""
    value: object = None
    pending: list[tensor] = []
    for value in values:
        if isinstance(value, tensor):
            pending.append(value)
        elif bool(unwrap(value)) is stop:
            return value
    if not pending:
        return value
    result = pending.pop()
    while pending:
        result = getattr(pending.pop(), method)(result)
    return result


def _count(start: object, stop: object, step: object) -> Iterator[tensor]:
    semantic = active.current("a loop")
    bounds = [semantic.to_tensor(b) for b in (start, stop, step)]
    type_ = reduce(promote_integers, [b.dtype for b in bounds])
    for index in builtins.range(*(int(b) for b in bounds)):
        yield semantic.constant(index, type_)
