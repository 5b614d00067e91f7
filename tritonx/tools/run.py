"""`tritonx-run`: execute a `.ttgir` on arrays, and say what is wrong with it.

    tritonx-run kernel.ttgir arrays.npz --grid 4,2 --set n=1000     arrays and numbers by the names of the arguments
    tritonx-run kernel.ttgir --random 7 --timeline -                random arguments; a timeline as text
    tritonx-run kernel.ttgir arrays.npz --timeline t.svg --save out.npz
    tritonx-opt kernel.ttir --target cuda:90 --until ttgir | tritonx-run - arrays.npz

Arguments are called as in the file: `a`, `a_0`, `a_1` where several have one name, `arg` and the number without one. An
array stands for a pointer or a tensor descriptor, whose shape and strides fill the integers that follow it unless they
are given. Its dtype is the pointer's element type, in the machine's byte order; formats that NumPy does not have are
given as integers of the same size. The exit status is 1 where something was reported: races between warps, reads of
what has not arrived, waits without an end, missing fences, memory never written. It is 2 for a mistake, which is one
line that names the argument.
"""

from __future__ import annotations

import argparse
import io
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tritonx.runtime.errors import InterpreterError
from tritonx.tools import command, opt_input
from tritonx.tools.opt_diagnostics import Diagnostic
from tritonx.tools.run_arguments import argument_names, arguments_of, values_of

if TYPE_CHECKING:
    from tritonx.interpreter.asynchronous import Setting


EXTENTS = (2**31 - 1, 65535, 65535)
"""How many programs a grid has at most in each dimension, as on NVIDIA's devices (CUDA C Programming Guide, "Technical
Specifications per Compute Capability")."""

PROGRAMS = 2**31 - 1
"""How many are executed at most, one by one."""


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Diagnostic(self.prog, 0, 0, message)


def argument_parser() -> argparse.ArgumentParser:
    parser = _Arguments("tritonx-run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("input", help="a .ttgir; standard input with -")
    add("arrays", nargs="?", type=Path, help="a .npz with an array or number for each argument, by name")
    add("--function", help="the kernel, where the module has several")
    add("--grid", default="1", metavar="X,Y,Z", help="how many programs, one to three extents")
    add("--set", action="append", default=[], metavar="NAME=NUMBER", help="a number for an argument")
    add(
        "--random",
        type=command.integer(0, 2**63 - 1),
        metavar="SEED",
        help="random values for all arguments that nothing else names",
    )
    add("--save", type=Path, metavar="FILE", help="write the arrays as the run left them, a .npz")
    add("--warps", choices=["apart", "together"], help="whether warps wait only where the module says so (where its "
        "memory is placed, they do)")  # fmt: skip
    add("--landing", choices=["early", "late", "random"], default="random", help="when copies land")
    add(
        "--seed",
        type=command.integer(0, 2**63 - 1),
        default=0,
        help="of what is drawn: who goes next, when copies land",
    )
    add("--timeline", metavar="FILE", help="what happened when in the first program: - or a .txt as text, or a .svg")
    return parser


def extents(text: str) -> tuple[int, ...]:
    """One to three extents. Raises `Diagnostic`."""
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not 1 <= len(found) <= len(EXTENTS):
        raise Diagnostic("--grid", 1, 1, f"expected up to three extents, as in 4,2, got '{text[:80]}'", text[:80])
    if any(not 0 <= extent <= most for extent, most in zip(found, EXTENTS, strict=False)):
        most = ", ".join(map(str, EXTENTS))
        raise Diagnostic("--grid", 1, 1, f"the extents are from 0 to {most}, got '{text[:80]}'", text[:80])
    if math.prod(found) > PROGRAMS:
        raise Diagnostic("--grid", 1, 1, f"more than {PROGRAMS} programs", text)
    return found


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

    command.require_writable(options.save, "--save")
    command.require_writable(None if options.timeline == "-" else options.timeline, "--timeline")
    grid = extents(options.grid)
    name, text = opt_input.read(options.input, stdin)
    parsed = opt_input.parse(text, name, allow_unregistered=False)
    opt_input.check(parsed)
    setting = setting_of(options, parsed)
    try:
        kernel = kernel_of(parsed.module, options.function)
        args = arguments_of(kernel, values_of(options.arrays, options.set), options.random)
        found = execute(parsed.module, grid, args, setting, function=options.function)
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
        archive = io.BytesIO()
        np.savez(archive, **saved)
        path: Path = options.save
        command.write(path if path.name.endswith(".npz") else f"{path}.npz", archive.getvalue(), "--save")
    return 1 if found else 0


def _write_timeline(timeline: Any, path: str, stdout: Any) -> None:
    if path == "-":
        stdout.write(timeline.text())
    else:
        command.write(path, timeline.svg() if path.endswith(".svg") else timeline.text(), "--timeline")


def main(arguments: Sequence[str] | None = None, stdin: Any = None, stdout: Any = None, stderr: Any = None) -> int:
    """The command; returns its exit status."""
    read, write = stdin or opt_input.standard_input(), stdout or opt_input.standard_output()

    def body() -> int:
        try:
            return run(argument_parser().parse_args(arguments), read, write)
        except Diagnostic as diagnostic:
            raise command.Said(str(diagnostic)) from None

    return command.run("tritonx-run", body, stderr)


if __name__ == "__main__":
    sys.exit(main())
