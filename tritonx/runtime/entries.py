"""What the key of a launch leads to: the kernel, and how its launcher gets what it takes out of the arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from tritonx.kernel.dependencies import Global
from tritonx.runtime.compiled_kernel import CompiledKernel, RawLaunch
from tritonx.runtime.dataclass_arguments import part_at
from tritonx.runtime.errors import UnsupportedArgument

if TYPE_CHECKING:
    from tritonx.kernel.params import KernelParam
    from tritonx.runtime.jit_function import JITFunction

Entry = tuple[CompiledKernel, RawLaunch, Callable[[int], int], int, tuple[Global, ...]]
"""What a key leads to: kernel, launcher, the device's current stream, the device, the globals it was compiled with."""


def adapter(kernel: JITFunction, run_time: tuple[str, ...], launch: RawLaunch) -> RawLaunch:
    """``launch``, or a function that picks what it takes out of all non-constexpr arguments."""
    given = tuple(f"a{p.num}" for p in kernel.params if not p.is_constexpr)
    if given == run_time:
        return launch
    head = "x, y, z, stream"
    code = f"lambda {', '.join((head, *given))}: launch({', '.join((head, *run_time))})"
    return eval(code, {"launch": launch})


def located(kernel: JITFunction, expression: str) -> tuple[KernelParam, tuple[int, ...]]:
    """The parameter that one of `Specialization.run_time` begins with, and the way to the value in its argument."""
    number, *path = map(int, re.findall(r"\d+", expression))
    return next(p for p in kernel.params if p.num == number), tuple(path)


RunTimeValues = Callable[..., tuple[object, ...]]


def _values(x: int, y: int, z: int, stream: int, *values: object) -> tuple[object, ...]:
    return values


@dataclass(frozen=True)
class SpanEntry:
    """An entry whose driver takes spans. It is under no key that a launch looks for, so that each launch with it comes
    to `Launcher._compile`, which has the arguments; others find theirs as ever, and hand on addresses."""

    entry: Entry
    launch: RawLaunch
    values: RunTimeValues
    """The run-time values, of the grid, the stream and all arguments that are not constexpr."""
    pointers: tuple[tuple[int, str, tuple[int, ...]], ...]
    """Of each run-time value that leads to memory: its number, the parameter, and the way from that to the value."""

    @staticmethod
    def of(kernel: JITFunction, entry: Entry, run_time: tuple[str, ...], launch: RawLaunch) -> SpanEntry:
        from tritonx.runtime.spans import is_pointer

        numbers = [i for i, parameter in enumerate(entry[0].parameters) if is_pointer(parameter)]
        found = [(i, *located(kernel, run_time[i])) for i in numbers]
        values = cast("RunTimeValues", adapter(kernel, run_time, cast("RawLaunch", _values)))
        return SpanEntry(entry, launch, values, tuple((i, param.name, path) for i, param, path in found))

    def bound_to(self, bound: Mapping[str, object]) -> Entry:
        """The entry for one launch with these arguments."""
        from tritonx.runtime.spans import spanned

        def launch(x: int, y: int, z: int, stream: int, *given: object) -> None:
            values = list(self.values(x, y, z, stream, *given))
            for i, parameter, path in self.pointers:
                name, value = part_at(parameter, bound[parameter], path)
                try:
                    values[i] = spanned(value)
                except UnsupportedArgument as error:
                    raise type(error)(f"argument {name!r}: {error}") from None
            self.launch(x, y, z, stream, *values)

        kernel, _, stream, device, used = self.entry
        return kernel, launch, stream, device, used
