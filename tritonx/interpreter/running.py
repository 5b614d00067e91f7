"""What rewritten kernel code calls while it runs: `Runtime`, under the name that `rewrite.py` gives it.

Each method is one rule of the language that plain Python would get wrong. They act on whatever semantics are active
in the thread, so that one rewritten function serves every run.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

from tritonx.frontend.codegen.python_builtins import BUILTINS
from tritonx.frontend.codegen.values import materialize
from tritonx.interpreter.eager import EagerValue
from tritonx.interpreter.errors import DeviceAssertion
from tritonx.language import active, core
from tritonx.language.base import base_value
from tritonx.language.constexpr import constexpr, unwrap
from tritonx.language.dtypes import int32, int64, uint32, uint64
from tritonx.language.values import tensor


class Counted:
    """A `range(...)` or `tl.range(...)` whose bounds may be tensors."""

    def __init__(self, *bounds: Any) -> None:
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self.bounds = (unwrap(start), unwrap(stop), unwrap(step))


class Runtime:
    """Without state; every attribute is a function of the rewritten code's values."""

    range = Counted

    @staticmethod
    def keep(value: Any) -> Any:
        """What an assignment or a return keeps of a value: numbers become tensors."""
        if isinstance(value, tensor):
            return value
        return materialize(value, active.current("an assignment").to_tensor)

    @staticmethod
    def constant(value: Any) -> Any:
        """What `x: tl.constexpr = value` keeps."""
        return value if isinstance(value, base_value) else constexpr(value)

    @staticmethod
    def plain(value: Any) -> Any:
        return unwrap(value)

    @staticmethod
    def iterate(values: Any) -> Iterator[Any]:
        """The values of a loop's counter, or the elements of a tuple."""
        if isinstance(values, core.static_range):
            return (
                constexpr(i) for i in builtins.range(*(int(unwrap(b)) for b in (values.start, values.end, values.step)))
            )
        if isinstance(values, core.range):
            return _count(unwrap(values.start), unwrap(values.end), unwrap(values.step))
        if isinstance(values, Counted):
            return _count(*values.bounds)
        return iter(unwrap(values))

    @staticmethod
    def both(*operands: Callable[[], Any]) -> Any:
        """`and`: of compile-time values as in Python, of tensors elementwise; a false constexpr stops it."""
        return _logical(operands, "logical_and", stop=False)

    @staticmethod
    def either(*operands: Callable[[], Any]) -> Any:
        """`or`, likewise."""
        return _logical(operands, "logical_or", stop=True)

    @staticmethod
    def invert(operand: Any) -> Any:
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

    # Python's builtins that kernels use.

    min = staticmethod(BUILTINS["min"])
    max = staticmethod(BUILTINS["max"])
    abs = staticmethod(BUILTINS["abs"])

    @staticmethod
    def print(*values: Any, **options: Any) -> None:
        """Python's own print, of the numbers in tensors."""
        builtins.print(*(shown(v) for v in values), **options)

    @staticmethod
    def len(value: Any) -> Any:
        return constexpr(builtins.len(unwrap(value)))

    @staticmethod
    def float(value: Any) -> Any:
        return constexpr(builtins.float(unwrap(value)))

    @staticmethod
    def int(value: Any) -> Any:
        return constexpr(builtins.int(unwrap(value)))

    @staticmethod
    def bool(value: Any) -> Any:
        return constexpr(builtins.bool(unwrap(value)))

    @staticmethod
    def sum(values: Any) -> Any:
        total: Any = 0
        for value in unwrap(values):
            total = total + value
        return total

    @staticmethod
    def isinstance(value: Any, kinds: Any) -> Any:
        return builtins.isinstance(value, kinds) or builtins.isinstance(unwrap(value), kinds)


def shown(value: Any) -> Any:
    """A language value as Python prints it: the array or number of a tensor, the value of a constexpr."""
    if isinstance(value, tensor) and isinstance(value.handle, EagerValue):
        data = value.handle.data
        unsigned = value.dtype.is_int() and not value.dtype.is_int_signed() and not value.dtype.is_bool()
        return data.view(f"u{data.dtype.itemsize}") if unsigned else data
    return unwrap(value)


def _logical(operands: tuple[Callable[[], Any], ...], method: str, *, stop: bool) -> Any:
    result = operands[0]()
    for operand in operands[1:]:
        if not isinstance(result, tensor):
            if builtins.bool(unwrap(result)) is stop:
                return result
            result = operand()
        else:
            result = getattr(active.current(method), method)(result, operand())
    return result


def _count(start: Any, stop: Any, step: Any) -> Iterator[tensor]:
    semantic = active.current("a loop")
    bounds = [semantic.to_tensor(b) for b in (start, stop, step)]
    type_ = _counter_type([b.dtype for b in bounds])
    for index in builtins.range(*(builtins.int(b) for b in bounds)):
        yield semantic.constant(index, type_)


def _counter_type(types: list[Any]) -> Any:
    """The promotion of the bounds' types: the wider, and unsigned where one of the widest is."""
    bits = max(32, *(t.int_bitwidth for t in types))
    unsigned = any(t.int_bitwidth == bits and not t.is_int_signed() for t in types)
    if bits == 64:
        return uint64 if unsigned else int64
    return uint32 if unsigned else int32


def is_tensor(value: object) -> bool:
    return builtins.isinstance(value, tensor)
