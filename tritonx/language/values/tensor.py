"""``tensor``: a scalar or a block.

Operators and methods name a method of the semantics; they take it from ``_semantic`` where the compiler calls them, and
otherwise from the running interpreter (``tritonx.kernel.active``).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import cache
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any, overload

from tritonx.kernel import active
from tritonx.language.builtins.builtin import INJECTED, TENSOR_METHOD
from tritonx.language.builtins.creation import cast
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr
from tritonx.language.values.tuples import tuple

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.frontend.semantics import Semantics
    from tritonx.language.types.dtypes import dtype
    from tritonx.language.types.static_types import Operand
    from tritonx.language.values.methods import Methods
else:
    Methods = base_value

FAMILIES = (
    *("builtins.creation", "builtins.memory", "builtins.atomic", "builtins.shape", "builtins.reduce"),
    *("math", "standard", "sort"),
)
"""The modules whose functions may be methods of a tensor too: those that are marked (`builtin.tensor_method`)."""


@cache
def tensor_methods() -> dict[str, Any]:
    """Name → function."""
    modules = [import_module(f"tritonx.language.{name}") for name in FAMILIES]
    return {n: f for m in modules for n, f in vars(m).items() if getattr(f, TENSOR_METHOD, False)}


class BoundMember:
    """``x.sum``: a function of the language whose first argument is ``receiver``. Code generators look inside;
    Python calls it.
    """

    __slots__ = ("function", "receiver")

    def __init__(self, function: Any, receiver: base_value):
        self.function = function
        self.receiver = receiver

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.receiver, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<method of {self.receiver}: {self.function!r}>"


def _binary(method: str) -> Callable[[tensor, Operand], tensor]:
    def operator(self: tensor, other: object, _semantic: Semantics | None = None) -> Any:
        semantic = active.current("an operator") if _semantic is None else _semantic
        return getattr(semantic, method)(self, other)

    return operator


def _reflected(method: str) -> Callable[[tensor, Operand], tensor]:
    def operator(self: tensor, other: object, _semantic: Semantics | None = None) -> Any:
        semantic = active.current("an operator") if _semantic is None else _semantic
        return getattr(semantic, method)(other, self)

    return operator


def _unary(method: str) -> Callable[[tensor], tensor]:
    def operator(self: tensor, _semantic: Semantics | None = None) -> Any:
        semantic = active.current("an operator") if _semantic is None else _semantic
        return getattr(semantic, method)(self)

    return operator


class _WithMethods(type):
    """`tensor.sum` is the function that ``x.sum()`` calls, for code that goes through the class."""

    def __getattr__(cls, name: str) -> object:
        function = None if name.startswith("__") else tensor_methods().get(name)
        if function is None:
            raise AttributeError(f"type object 'tensor' has no attribute {name!r}")
        return function

    def __dir__(cls) -> list[str]:
        return [*super().__dir__(), *tensor_methods()]


class tensor(Methods, metaclass=_WithMethods):
    """A scalar (``type`` is an element or pointer type) or a block (``block_type``): one handle.

    ``dtype`` is the type of an element; for pointers that is the pointer type.

    >>> x = tl.arange(0, 4)
    >>> (x * x).sum()
    14
    """

    __slots__ = ("dtype", "handle", "type")

    handle: SSAValue
    type: dtype  # pyright: ignore[reportIncompatibleVariableOverride]  # a property of other values
    dtype: dtype

    def __init__(self, handle: SSAValue, type: dtype):
        self.handle = handle
        self.type = type
        self.dtype = type.scalar

    def handles(self) -> list[SSAValue]:
        return [self.handle]

    @property
    def shape(self) -> tuple:
        """The block's extents as constexprs; ``()`` for a scalar."""
        return tuple([constexpr(s) for s in self.type.shape])

    @property
    def numel(self) -> constexpr:
        return constexpr(prod(self.type.shape))

    @property
    def T(self) -> tensor:
        """The transpose of a 2-D block."""
        return active.current("T").permute(self, (1, 0))

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(f'constexpr[{s}]' for s in self.type.shape)}]"

    def __repr__(self) -> str:
        data = getattr(self.handle, "data", None)  # the interpreter's handles carry the numbers: debuggers show them
        if data is None:
            return str(self)
        return f"{self}({data[builtins.tuple(map(slice, self.type.shape))] if self.type.padded else data})"

    def to(
        self, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False, _semantic: Semantics = INJECTED
    ) -> tensor:
        """Cast; see ``tl.cast``."""
        return cast(self, dtype, fp_downcast_rounding, bitcast, _semantic=_semantic)

    def logical_and(self, other: object, _semantic: Semantics | None = None) -> tensor:
        """Elementwise ``and`` of 1-bit values."""
        return (_semantic or active.current("logical_and")).logical_and(self, other)

    def logical_or(self, other: object, _semantic: Semantics | None = None) -> tensor:
        """Elementwise ``or`` of 1-bit values."""
        return (_semantic or active.current("logical_or")).logical_or(self, other)

    def __getitem__(self, index: Any, _semantic: Semantics | None = None) -> tensor:
        return (_semantic or active.current("indexing")).index(self, index)

    if not TYPE_CHECKING:  # a type checker finds them in `Methods`

        def __getattr__(self, name: str) -> BoundMember:
            function = None if name.startswith("__") else tensor_methods().get(name)
            if function is None:
                raise AttributeError(f"'tensor' object has no attribute {name!r}")
            return BoundMember(function, self)

    __iter__ = None  # indexing does not make a tensor a sequence

    # What Python asks of a value that it branches on or counts with: only a running program can say.

    def __bool__(self) -> bool:
        return bool(active.current("the truth of a tensor").host_value(self))

    def __int__(self) -> int:
        return int(active.current("int()").host_value(self))

    def __float__(self) -> float:
        return float(active.current("float()").host_value(self))

    def __index__(self) -> int:
        return int(active.current("an index").host_value(self))

    def __hash__(self) -> int:
        return id(self)

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("truediv"), _reflected("truediv")
    __floordiv__, __rfloordiv__ = _binary("floordiv"), _reflected("floordiv")
    __mod__, __rmod__ = _binary("mod"), _reflected("mod")
    __and__, __rand__ = _binary("and_"), _reflected("and_")
    __or__, __ror__ = _binary("or_"), _reflected("or_")
    __xor__, __rxor__ = _binary("xor_"), _reflected("xor_")
    __lshift__, __rlshift__ = _binary("shl"), _reflected("shl")
    __rshift__, __rrshift__ = _binary("shr"), _reflected("shr")
    if TYPE_CHECKING:  # the second: Python's `min` and `max`, which kernels call, take what compares to a bool

        @overload
        def __lt__(self, other: Operand) -> tensor: ...  # pyright: ignore[reportOverlappingOverload]  # is the one that is called
        @overload
        def __lt__(self, other: Operand) -> bool: ...  # pyright: ignore[reportOverlappingOverload]  # see above
        def __lt__(self, other: Operand) -> tensor | bool: ...

        @overload
        def __gt__(self, other: Operand) -> tensor: ...  # pyright: ignore[reportOverlappingOverload]  # is the one that is called
        @overload
        def __gt__(self, other: Operand) -> bool: ...  # pyright: ignore[reportOverlappingOverload]  # see above
        def __gt__(self, other: Operand) -> tensor | bool: ...
    else:
        __lt__, __gt__ = _binary("less_than"), _binary("greater_than")
    __rlt__, __rgt__ = _reflected("less_than"), _reflected("greater_than")
    __le__, __rle__ = _binary("less_equal"), _reflected("less_equal")
    __ge__, __rge__ = _binary("greater_equal"), _reflected("greater_equal")
    if TYPE_CHECKING:

        def __eq__(self, other: object) -> tensor: ...  # pyright: ignore[reportIncompatibleMethodOverride]  # a mask
        def __ne__(self, other: object) -> tensor: ...  # pyright: ignore[reportIncompatibleMethodOverride]  # a mask
    else:
        __eq__, __ne__ = _binary("equal"), _binary("not_equal")
    __req__, __rne__ = _reflected("equal"), _reflected("not_equal")
    __neg__, __invert__, __not__ = _unary("minus"), _unary("invert"), _unary("not_")
    __pos__ = _unary("plus")
