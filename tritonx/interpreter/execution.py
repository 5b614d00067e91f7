"""What a meaning is, and what it may see while a program runs.

A *meaning* takes an op and gives a NumPy function of the op's operands. The two steps let both ways of executing
share one table: the machine binds each op of a module once and calls the function once a program; the eager builder
binds an op when the kernel's Python code makes it and calls the function at once.

    def trans(op: TransOp, bind: Binder) -> Function:
        order = op.order.get_values()                  # once an op
        return lambda src: np.transpose(src, order)    # once a program

The function returns the op's only result, or a tuple of all of them. It never writes into its operands. It sees
scalars as NumPy scalars and tiles as arrays of the tile's shape, but the functions of *scalar* ops accept arrays too:
that is how the region of a reduction runs on all lanes at once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO

import numpy as np
from xdsl.ir import Operation, Region

from tritonx.interpreter.live_arrays import LiveArrays
from tritonx.interpreter.memory import Memory
from tritonx.interpreter.values import Array, Poison
from tritonx.ir.region_records import Measured

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class LaneFunction:
    """A function of scalars that accepts arrays of lanes and returns a tuple of results.

    `ufunc` is the NumPy function that it is, where it is just one: NumPy can then do many steps in one call.
    """

    call: Function
    ufunc: np.ufunc | None = None

    def __call__(self, *lanes: Array) -> tuple[Array, ...]:
        return self.call(*lanes)


@dataclass
class Execution:
    """One run of a kernel over a grid: its memory, and the program that is running now.

    >>> from tritonx.backends.tile import Memory
    >>> Execution((4, 1, 1), Memory(), program=(2, 0, 0)).program
    (2, 0, 0)
    """

    grid: tuple[int, int, int]
    memory: Memory
    program: tuple[int, int, int] = (0, 0, 0)
    live: LiveArrays = field(init=False)
    """What addresses that the kernel computes or reads may lie in, besides the arguments."""
    poison: Poison = False
    """What undefined values (masked-off lanes of a load without `other`, `ub.poison`) are, so that a use of them shows.
    With False they are 0, as the devices give and some kernels rely on."""
    check_assertions: bool = True
    watch: Callable[[Operation, Function], Function] | None = None
    """Called once for each op that is bound, with its function; returns the function that runs in its place."""
    regions: list[tuple[int, Measured, bool, int]] | None = None
    """What `proton.record` notes: the program's number, the region, whether it starts, and the time in nanoseconds."""
    output: TextIO | None = None
    """Where `tt.print` writes; None stands for what `sys.stdout` is when it does."""

    def __post_init__(self) -> None:
        self.live = LiveArrays(self.memory)

    def record(self, region: Measured, *, starts: bool) -> None:
        """A region starts or ends."""
        if self.regions is not None:
            (x, y, z), (columns, rows, _) = self.program, self.grid
            self.regions.append((x + columns * (y + rows * z), region, starts, time.perf_counter_ns()))

    def write(self, lines: Iterable[str]) -> None:
        """Lines of device output."""
        stream = sys.stdout if self.output is None else self.output
        stream.writelines(f"{line}\n" for line in lines)


class Binder(Protocol):
    """Who turns ops into functions: gives a meaning access to the execution and to the regions of its op."""

    @property
    def execution(self) -> Execution: ...

    def region(self, region: Region) -> Function:
        """The region as a function of its first block's arguments that returns its terminator's operands, a tuple."""
        ...

    def lanewise(self, region: Region) -> LaneFunction:
        """A region on scalars as a function of arrays of equal shape: on all lanes at once where it is straight-line
        code, lane by lane where its control flow depends on the lane. Returns a tuple of arrays of that shape."""
        ...

    def function(self, name: str) -> Function:
        """The module's function of this name; returns a tuple."""
        ...


Meaning = Callable[[Operation, Binder], Function]
"""An entry of the tables in `meanings/`; there, of the op's own class (`ir.dispatch`)."""

Table = dict[type[Operation], Meaning]


def always(function: Function) -> Meaning:
    """The meaning of an op that is one NumPy function whatever its attributes and types.

    >>> from tritonx.backends.tile import always
    >>> always(np.add) is not None
    True
    """
    return lambda op, bind: function
