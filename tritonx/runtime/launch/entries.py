"""What the key of a launch leads to: the kernel, and how its launcher gets what it takes out of the arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from tritonx.kernel.dependencies import Global, Name
from tritonx.runtime.compiling.compiled_kernel import CompiledKernel, RawLaunch
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.launch.dataclass_arguments import part_at

if TYPE_CHECKING:
    from tritonx.kernel.params import KernelParam
    from tritonx.runtime.compiling.jit_function import JITFunction

_NUMBERS = re.compile(r"\d+")

Entry = tuple[CompiledKernel, RawLaunch, Callable[[int], int], int, tuple[Global, ...], tuple[Name, ...]]
"""What a key leads to: kernel, launcher, the device's current stream, the device, the globals and the functions that it
was compiled with."""


def adapter(kernel: JITFunction, run_time: tuple[str, ...], launch: RawLaunch) -> RawLaunch:
    """``launch``, or a function that picks what it takes out of all non-constexpr arguments."""
    given = tuple([f"a{p.num}" for p in kernel.params if not p.is_constexpr])
    if given == run_time:
        return launch
    head = "x, y, z, stream"
    code = f"lambda {', '.join((head, *given))}: launch({', '.join((head, *run_time))})"
    return eval(code, {"launch": launch})


def located(kernel: JITFunction, expression: str) -> tuple[KernelParam, tuple[int, ...]]:
    """The parameter that one of `Specialization.run_time` begins with, and the way to the value in its argument."""
    number, *path = map(int, _NUMBERS.findall(expression))
    return kernel.params[number], tuple(path)


RunTimeValues = Callable[..., tuple[object, ...]]


def plain_values(x: int, y: int, z: int, stream: int, *values: object) -> tuple[object, ...]:
    """The launcher that only says what it was called with."""
    return values


Arrays = Sequence[tuple[int, str, object]]
"""Of arguments that lead to memory: the number of the run-time value, how the argument is written, and the argument."""

LaunchWithArrays = Callable[[tuple[int, int, int], int, list[object], Arrays], None]
"""Launches over a grid, on a stream, with run-time values, of arguments that it may look at."""


@dataclass(frozen=True)
class EntryOfArguments:
    """An entry whose launch looks at the arguments behind addresses. It is under no key that a launch looks for, so
    that each launch with it comes to `Launcher._compile`, which has the arguments."""

    entry: Entry
    launch: LaunchWithArrays
    values: RunTimeValues
    """The run-time values, of the grid, the stream and all arguments that are not constexpr."""
    positions: tuple[tuple[int, str, tuple[int, ...]], ...]
    """Of each run-time value whose argument is looked at: its number, the parameter, and the way from that to it."""

    @staticmethod
    def of(
        kernel: JITFunction, entry: Entry, run_time: tuple[str, ...], positions: Iterable[int], launch: LaunchWithArrays
    ) -> EntryOfArguments:
        found = [(i, *located(kernel, run_time[i])) for i in positions]
        values = cast("RunTimeValues", adapter(kernel, run_time, cast("RawLaunch", plain_values)))
        return EntryOfArguments(entry, launch, values, tuple((i, param.name, path) for i, param, path in found))

    def bound_to(self, bound: Mapping[str, object]) -> Entry:
        """The entry for one launch with these arguments."""

        def launch(x: int, y: int, z: int, stream: int, *given: object) -> None:
            arrays = [(i, *part_at(name, bound[name], path)) for i, name, path in self.positions]
            self.launch((x, y, z), stream, list(self.values(x, y, z, stream, *given)), arrays)

        kernel, _, stream, device, used, names = self.entry
        return kernel, launch, stream, device, used, names


def pointers_of(kernel: CompiledKernel) -> list[int]:
    """The numbers of the run-time values that lead to memory."""
    from tritonx.runtime.launch.spans import is_pointer

    return [i for i, parameter in enumerate(kernel.parameters) if is_pointer(parameter)]


def with_arrays(raw: RawLaunch) -> LaunchWithArrays:
    """Hands on arrays in the place of their addresses."""

    def launch(grid: tuple[int, int, int], stream: int, values: list[object], arrays: Arrays) -> None:
        for i, _, value in arrays:
            values[i] = value
        raw(*grid, stream, *values)

    return launch


def with_spans(raw: RawLaunch) -> LaunchWithArrays:
    """For a driver that takes spans."""
    from tritonx.runtime.launch.spans import spanned

    def launch(grid: tuple[int, int, int], stream: int, values: list[object], arrays: Arrays) -> None:
        for i, name, value in arrays:
            try:
                values[i] = spanned(value)
            except UnsupportedArgument as error:
                raise type(error)(f"argument {name!r}: {error}") from None
        raw(*grid, stream, *values)

    return launch


def checked(kernel: CompiledKernel, raw: RawLaunch, device: int) -> LaunchWithArrays:
    """For a kernel that checks its accesses."""
    from tritonx.runtime.launch.checked_launch import CheckedLaunch, run_checked

    def launch(grid: tuple[int, int, int], stream: int, values: list[object], arrays: Arrays) -> None:
        named = [(name, value) for _, name, value in arrays]
        run_checked(CheckedLaunch(kernel, raw, device, grid, stream), values, named)

    return launch
