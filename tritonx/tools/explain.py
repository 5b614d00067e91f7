"""``tritonx explain``: everything that is known of a compiled kernel, on one page.

tritonx explain FILE                 what FILE does to the first kernel that it launches, as KERNEL.html
    --kernel NAME                    the first launch of this kernel
    --target cuda:90                 for this target instead of the one that it ran for; no GPU is needed
    --option KEY=VALUE               another compile option, as num_warps=8
    -o PAGE.html                     where to write the page
    --json                           the facts as JSON on standard output, and no page unless -o asks for one

FILE is run as a program, with the arguments behind ``--``, as far as the compile for the kernel's first launch; what it
prints goes to standard error. A file of IR (`.ttir`, `.ttgir`) is explained without being run; it needs --target.

The exit status is 0, or 2 where the file launches no such kernel, raises, or does not compile.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import runpy
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tritonx.runtime import knobs
from tritonx.tools import command

if TYPE_CHECKING:
    from tritonx.explain import Report
    from tritonx.explain.launch import Launch
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
    from tritonx.runtime.compiling.jit_hooks import JitFunctionInfo

    Types = Mapping[str, object]
    Parts = Mapping[str | tuple[int, ...], object]

IR = (".ttir", ".ttgir")


def argument_parser() -> argparse.ArgumentParser:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        "tritonx explain", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--kernel", default="", metavar="NAME", help="the kernel; by default the first one")
    parser.add_argument("--target", metavar="TARGET", help="as tritonx-opt --list-backends has them")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="a compile option")
    parser.add_argument("-o", "--output", metavar="PAGE", help="the page")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    return parser


@dataclass(frozen=True)
class Launched:
    """What a program compiled for a launch: the source, the options that it gave, and the launch, where one asked."""

    source: object
    options: Mapping[str, object]
    launch: Launch | None = None


def launched(file: str, kernel: str, arguments: Sequence[str] = ()) -> Launched:
    """The first kernel of this name ("": of any) that a program launches. Raises a `Mistake` where it launches none,
    or raises."""
    from tritonx.backends.api import Target
    from tritonx.runtime.compiling.sources import ASTSource

    seen: list[str] = []
    all_found: list[Launched] = []
    launches: list[tuple[object, Callable[[], Launch]]] = []

    def found(source: object, options: dict[str, object], launch: Launch | None = None) -> None:
        """End the program, which may catch that; a thread ends by it without a word."""
        all_found.append(Launched(source, options, launch))
        raise SystemExit

    def begun(*, fn: JitFunctionInfo, compile: Mapping[str, object], **_: object) -> bool:
        """Before a compile, which may fail here: the kernel can be one for the other target."""
        if kernel in ("", fn.jit_function.__name__):
            signature, constants = cast("Types", compile["signature"]), cast("Parts", compile["constants"])
            source = ASTSource(fn.jit_function, signature, constants, *cast("list[Parts]", compile["configs"]))
            target = Target(**json.loads(str(compile["specialization_data"]))["target"])
            asking = launches[-1] if launches else None
            launch = asking[1]() if asking is not None and asking[0] is fn.jit_function else None
            found(source, {**compile, "target": target}, launch)
        return False

    def listen(*, src: object, metadata: dict[str, object], **_: object) -> None:
        name = str(getattr(src, "name", "")).removeprefix("@")
        if kernel in ("", name):
            found(src, metadata)
        seen.append(name)

    path = sys.path[:]
    with (
        knobs.compilation.scope(),
        knobs.runtime.scope(),
        contextlib.redirect_stdout(sys.stderr),
        _launches_kept(launches),
    ):
        knobs.compilation.listener = listen
        knobs.runtime.jit_cache_hook = begun
        old, sys.argv = sys.argv, [file, *arguments]
        try:
            sys.path.insert(0, str(Path(file).resolve().parent))
            with command.running(file):
                try:
                    runpy.run_path(file, run_name="__main__")
                except BaseException as end:
                    if not all_found and not (isinstance(end, SystemExit) and end.code in (None, 0)):
                        raise
        finally:
            sys.argv, sys.path[:] = old, path
    if all_found:
        return all_found[0]
    known = ", ".join(dict.fromkeys(seen)) or "none"
    wanted = f"the kernel {kernel!r}" if kernel else "a kernel"
    raise command.Mistake(f"{file} does not launch {wanted}; those that it launches: {known}")


@contextlib.contextmanager
def _launches_kept(launches: list[tuple[object, Callable[[], Launch]]]) -> Generator[None]:
    """Each launch adds its kernel, and what says its grid and arguments. A launch takes the way of a kernel whose `run`
    a library has replaced."""
    from tritonx.explain.launch import launch_of
    from tritonx.runtime.compiling.jit_function import JITFunction

    run = JITFunction.run

    def kept(
        self: JITFunction, /, *args: object, grid: object, warmup: bool, **kwargs: object
    ) -> CompiledKernel | None:
        def launch() -> Launch:
            request, given = self.launcher.request(args, kwargs)
            return launch_of(self.launcher.extents(grid, request.bound, given), request.bound)

        launches.append((self, launch))
        return run(self, *args, grid=grid, warmup=warmup, **kwargs)

    JITFunction.run = kept
    try:
        yield
    finally:
        JITFunction.run = run


def report_of(given: argparse.Namespace, arguments: Sequence[str] = ()) -> Report:
    """The report that the options ask for, of a program with these arguments."""
    from xdsl.utils.exceptions import ParseError

    from tritonx.explain.report import explain, explain_again
    from tritonx.tools.opt_diagnostics import Diagnostic
    from tritonx.tools.opt_pipeline import find_target

    file, options = str(given.file), list(given.option)
    if not Path(file).is_file():
        raise command.Mistake(f"{file} is no file")
    try:
        found = None if given.target is None else find_target(given.target, options)
    except Diagnostic as error:
        raise command.Mistake(error.message) from None
    if Path(file).suffix in IR:
        if found is None:
            raise command.Mistake(f"{file} is IR: --target says for what it is to be compiled")
        try:
            return explain(file, found.compilation.target, found.compilation.options)
        except ParseError as error:
            raise command.Mistake(str(error).strip()) from None
    asked = launched(file, given.kernel, arguments)
    try:
        return explain_again(asked.source, asked.options, given.target, options, asked.launch)
    except ValueError as error:  # of an option
        raise command.Mistake(str(error)) from error


def own_page(name: str) -> str:
    """``name``, unless a file of that name is no page of this command. Raises Mistake."""
    from tritonx.explain.page import GENERATOR

    try:
        with open(name, encoding="utf-8", errors="replace") as page:
            if GENERATOR not in page.read(1000):
                raise command.Mistake(f"{name} is here and was not written by tritonx explain: name a page with -o")
    except OSError:  # it is not here, or cannot be written either
        pass
    return name


def _run(arguments: Sequence[str]) -> int:
    own, behind = list(arguments), list[str]()
    if "--" in own:
        own, behind = own[: own.index("--")], own[own.index("--") + 1 :]
    given = argument_parser().parse_args(own)
    if given.output:
        command.require_writable(given.output, "--output")
    report = report_of(given, behind)
    if given.output or not given.json:
        page = given.output or own_page(f"{report.facts.kernel}.html")
        command.write(page, report.html(), "--output")
        print(page, file=sys.stderr if given.json else sys.stdout)
    if given.json:
        print(report.json(indent=1))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``tritonx explain``; its exit status."""
    return command.run("tritonx explain", lambda: _run(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    sys.exit(main())
