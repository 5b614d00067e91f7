"""Program ids, loops, hints, barriers."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tritonx.kernel import active
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr, unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.tensor import tensor

__all__ = [
    "assume",
    "condition",
    "debug_barrier",
    "max_constancy",
    "max_contiguous",
    "multiple_of",
    "num_programs",
    "program_id",
    "range",
    "static_range",
]


@builtin
def program_id(axis: object, _semantic: Semantics = INJECTED) -> tensor:
    """The index of this program on ``axis`` (0, 1 or 2) of the grid, a scalar of int32. Raises ValueError for another
    axis.

    >>> tl.program_id(0)
    0
    """
    return _semantic.program_id(axis)


@builtin
def num_programs(axis: object, _semantic: Semantics = INJECTED) -> tensor:
    """The extent of the grid on ``axis`` (0, 1 or 2), a scalar of int32. Raises ValueError for another axis.

    >>> tl.num_programs(0)
    1
    """
    return _semantic.num_programs(axis)


@builtin
def multiple_of(input: Any, values: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Promise that the values are divisible: ``values`` holds a number for each axis; see ``max_constancy``.

    >>> start = tl.multiple_of(tl.program_id(0) * 4, 4)
    >>> tl.load(ints + start + tl.arange(0, 4))
    [0, 1, 2, 3]
    """
    return _semantic.multiple_of(input, values)


@builtin
def max_contiguous(input: Any, values: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Promise that runs of ``values[i]`` neighbours along axis i count up by one; see ``max_constancy``.

    >>> at = tl.max_contiguous(tl.arange(0, 8) % 4, 4)
    >>> tl.load(ints + at)
    [0, 1, 2, 3, 0, 1, 2, 3]
    """
    return _semantic.max_contiguous(input, values)


@builtin
def max_constancy(input: Any, values: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Promise that runs of ``values[i]`` neighbours along axis i are equal; ``input`` itself. ``values`` are
    compile-time ints, one for each axis. Raises ValueError for another number of them, TypeError for what is known
    at run time only.

    >>> at = tl.max_constancy(tl.arange(0, 8) // 4, 4)
    >>> tl.load(ints + at)
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    return _semantic.max_constancy(input, values)


@builtin
def assume(cond: object, _semantic: Semantics = INJECTED) -> None:
    """Promise that a scalar of int1 is true. Raises ValueError for a block and for another dtype.

    >>> tl.assume(tl.num_programs(0) < 100)
    """
    return _semantic.assume(cond)


@builtin
def debug_barrier(_semantic: Semantics = INJECTED) -> None:
    """A barrier among the threads of a program.

    >>> tl.debug_barrier()
    """
    return _semantic.debug_barrier()


class range(base_value):
    """A loop at run time with options for the compiler. In the interpreter it counts in tensors.

    ``num_stages``: depth of the software pipeline; ``loop_unroll_factor``; ``flatten`` makes one loop of
    this one and the one inside it, whose bounds may follow from this one's counter;
    ``warp_specialize``; ``disallow_acc_multi_buffer``; ``disable_licm``.

    >>> total = 0
    >>> for i in tl.range(0, 5, num_stages=2):
    ...     total += tl.load(ints + i)
    >>> total
    10
    """

    def __init__(
        self,
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: Any = None,
        loop_unroll_factor: Any = None,
        disallow_acc_multi_buffer: Any = False,
        flatten: Any = False,
        warp_specialize: Any = False,
        disable_licm: Any = False,
    ):
        self.step = constexpr(1) if step is None else step
        self.start, self.end = (constexpr(0), arg1) if arg2 is None else (arg1, arg2)
        self.num_stages = num_stages
        self.loop_unroll_factor = loop_unroll_factor
        self.disallow_acc_multi_buffer = disallow_acc_multi_buffer
        self.flatten = flatten
        self.warp_specialize = warp_specialize
        self.disable_licm = disable_licm
        self.type = base_type()

    def __iter__(self) -> Iterator[tensor]:
        semantic = active.current("tl.range")
        start, end, step = (semantic.to_tensor(v) for v in (self.start, self.end, self.step))
        common = (start + end + step).type
        for i in builtins.range(int(start), int(end), int(step)):
            yield semantic.cast(semantic.to_tensor(i), common)


class static_range(base_value):
    """A loop that is unrolled at compile time; its index is a constexpr.

    >>> total = 0
    >>> for i in tl.static_range(4):
    ...     total += tl.load(ints + i)
    >>> total
    6
    """

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None):
        self.step = constexpr(1) if step is None else step
        self.start, self.end = (constexpr(0), arg1) if arg2 is None else (arg1, arg2)
        for name in ("start", "end", "step"):
            if not isinstance(unwrap(getattr(self, name)), int):
                raise TypeError(f"tl.static_range needs compile-time integers, but its {name} is {getattr(self, name)}")
        self.type = base_type()

    def __iter__(self) -> Iterator[Any]:
        for i in builtins.range(unwrap(self.start), unwrap(self.end), unwrap(self.step)):
            yield constexpr(i)


class condition(base_value):
    """The condition of a ``while`` loop, with ``disable_licm`` for the loop.

    >>> n = tl.load(ints + 5)
    >>> while tl.condition(n > 2, disable_licm=True):
    ...     n -= 2
    >>> n
    1
    """

    def __init__(self, arg1: Any, disable_licm: Any = False):
        self.condition = arg1
        self.disable_licm = disable_licm
        self.type = base_type()

    def __bool__(self) -> bool:
        return bool(self.condition)
