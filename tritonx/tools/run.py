"""`tritonx-run`: execute a `.ttgir` on arrays, and say what is wrong with it.

    tritonx-run kernel.ttgir arrays.npz --grid 4,2 --set n=1000     arrays and numbers by the names of the arguments
    tritonx-run kernel.ttgir --random 7 --timeline -                random arguments; a timeline as text
    tritonx-run kernel.ttgir arrays.npz --timeline t.svg --save out.npz
    tritonx-opt kernel.ttir --target cuda:90 --until ttgir | tritonx-run - arrays.npz

Arguments are called as in the file: `a`, `a_0`, `a_1` where several have one name, `arg` and the number without one. An
array stands for a pointer or a tensor descriptor, whose shape and strides fill the integers that follow it unless they
are given; formats that NumPy does not have are given as integers of the same size. The exit status is 1 where something
was reported: races between warps, reads of what has not arrived, waits without an end, missing fences, memory never
written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonx.runtime.errors import InterpreterError
from tritonx.tools import opt_input
from tritonx.tools.opt_diagnostics import Diagnostic

if TYPE_CHECKING:
    from tritonx.dialects.tile import FuncOp
    from tritonx.interpreter.asynchronous import Setting


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Diagnostic(self.prog, 0, 0, message)


def argument_parser() -> argparse.ArgumentParser:
    parser = _Arguments("tritonx-run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("input", help="a .ttgir; standard input with -")
    add("arrays", nargs="?", type=Path, help="a .npz with an array or number for each argument, by name")
    add("--function", help="the kernel, where the module has several")
    add("--grid", default="1", metavar="X,Y,Z", help="how many programs, one to three extents")
    add("--set", action="append", default=[], metavar="NAME=NUMBER", help="a number for an argument")
    add("--random", type=int, metavar="SEED", help="random values for all arguments that nothing else names")
    add("--save", type=Path, metavar="FILE", help="write the arrays as the run left them, a .npz")
    add("--warps", choices=["apart", "together"], help="whether warps wait only where the module says so (where its "
        "memory is placed, they do)")  # fmt: skip
    add("--landing", choices=["early", "late", "random"], default="random", help="when copies land")
    add("--seed", type=int, default=0, help="of what is drawn: who goes next, when copies land")
    add("--timeline", metavar="FILE", help="what happened when in the first program: - or a .txt as text, or a .svg")
    return parser


@dataclass(frozen=True)
class HostDescriptor:
    """A tensor descriptor over a whole array."""

    base: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def argument_names(kernel: FuncOp) -> list[str]:
    """The names of a function's arguments: what the file calls them (`a`, `a_0`, `a_1` where several have one name), or
    `arg` and the number."""
    entry = kernel.body.blocks.first
    names: list[str] = []
    often: dict[str, int] = {}
    for number, argument in enumerate(() if entry is None else entry.args):
        name = argument.name_hint or f"arg{number}"
        names.append(f"{name}_{often[name]}" if name in often else name)
        often[name] = often.get(name, -1) + 1
    return names


def arguments_of(kernel: FuncOp, values: Mapping[str, Any], random: int | None) -> list[Any]:
    """One value for each argument, from those that are named. Raises `Diagnostic`."""
    import numpy as np

    from tritonx.dialects.tile import TensorDescType
    from tritonx.interpreter.compare import random_arguments
    from tritonx.ir.types import PointerType

    names = argument_names(kernel)
    unknown = sorted(set(values) - set(names))
    if unknown:
        raise Diagnostic("tritonx-run", 0, 0, f"no argument is called {unknown[0]}: they are {', '.join(names)}")
    drawn = None if random is None else random_arguments(kernel, random)
    made: list[Any] = []
    following: list[int] = []  # what a descriptor says of itself
    for number, (name, type_) in enumerate(zip(names, kernel.function_type.inputs.data, strict=True)):
        if isinstance(type_, TensorDescType) and isinstance(values.get(name), np.ndarray):
            array = np.ascontiguousarray(values[name])
            strides = tuple(step // array.itemsize for step in array.strides)
            made.append(HostDescriptor(array, array.shape, strides))
            following = [*array.shape, *strides]
        elif name in values:
            value = values[name]
            if value.ndim and not isinstance(type_, PointerType):
                raise Diagnostic("tritonx-run", 0, 0, f"an array is given for the argument {name} of type {type_}")
            made.append(value if value.ndim else value.item())
        elif following:
            made.append(following.pop(0))
        elif drawn is not None:
            made.append(drawn[number])
        else:
            raise Diagnostic("tritonx-run", 0, 0, f"nothing is given for the argument {name} of type {type_}")
    return made


def values_of(path: Path | None, settings: Iterable[str]) -> dict[str, Any]:
    """Arrays of a file, and numbers `name=value`. Raises `Diagnostic`."""
    import ast

    import numpy as np

    found: dict[str, Any] = {}
    if path is not None:
        try:
            with np.load(path) as held:
                found.update({name: held[name] for name in held.files})
        except (OSError, ValueError) as error:
            raise Diagnostic(str(path), 0, 0, f"no .npz that can be read: {error}") from None
    for text in settings:
        name, _, number = text.partition("=")
        try:
            found[name] = np.array(ast.literal_eval(number), None)
        except (ValueError, SyntaxError):
            raise Diagnostic("--set", 1, 1, f"expected NAME=NUMBER, got '{text}'", text) from None
    return found


def extents(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise Diagnostic("--grid", 1, 1, f"expected up to three extents, as in 4,2, got '{text}'", text) from None


def setting_of(options: argparse.Namespace, parsed: opt_input.Parsed) -> Setting:
    """How to execute; an op that has no line of a kernel is found in the file."""
    from tritonx.interpreter.asynchronous import Landing, Order, Setting, Timeline, Warps
    from tritonx.interpreter.asynchronous.reports import position_of

    def locate(op: Any) -> str:
        return position_of(op) or parsed.at(op, "").where()

    return Setting(
        warps=None if options.warps is None else Warps(options.warps),
        order=Order(options.seed, Landing(options.landing)),
        timeline=Timeline() if options.timeline else None,
        locate=locate,
    )


def run(options: argparse.Namespace, stdin: Any, stdout: Any) -> int:
    """Execute; returns the exit status. Raises `Diagnostic`."""
    import numpy as np

    from tritonx.interpreter.asynchronous import execute
    from tritonx.interpreter.compare import kernel_of
    from tritonx.interpreter.errors import InvalidLaunch

    name, text = opt_input.read(options.input, stdin)
    parsed = opt_input.parse(text, name, allow_unregistered=False)
    opt_input.check(parsed)
    setting = setting_of(options, parsed)
    try:
        kernel = kernel_of(parsed.module, options.function)
        args = arguments_of(kernel, values_of(options.arrays, options.set), options.random)
        found = execute(parsed.module, extents(options.grid), args, setting, function=options.function)
    except InvalidLaunch as error:
        raise Diagnostic(parsed.name, 0, 0, str(error)) from None
    except InterpreterError as error:
        stdout.write(f"{error}\n")
        return 1
    for report in found:
        stdout.write(f"{report}\n")
    if setting.timeline is not None:
        _write_timeline(setting.timeline, options.timeline, stdout)
    if options.save is not None:
        arrays = {n: getattr(a, "base", a) for n, a in zip(argument_names(kernel), args, strict=True)}
        saved: dict[str, Any] = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
        np.savez(options.save, **saved)
    return 1 if found else 0


def _write_timeline(timeline: Any, path: str, stdout: Any) -> None:
    if path == "-":
        stdout.write(timeline.text())
    else:
        Path(path).write_text(timeline.svg() if path.endswith(".svg") else timeline.text())


def main(arguments: Sequence[str] | None = None, stdin: Any = None, stdout: Any = None, stderr: Any = None) -> int:
    """The command; returns its exit status."""
    stdin, stdout, stderr = stdin or sys.stdin.buffer, stdout or sys.stdout, stderr or sys.stderr
    try:
        return run(argument_parser().parse_args(arguments), stdin, stdout)
    except Diagnostic as diagnostic:
        stderr.write(f"{diagnostic}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
