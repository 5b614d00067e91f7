"""``tritonx-opt``: read IR, run passes or stages of a backend, print.

    tritonx-opt kernel.ttir -p "inline,fold,cse"            passes by name, with options as in licm{hoist-loads=true}
    tritonx-opt kernel.ttir --target cuda:90 --until ttgir  the backend's stages, the very list that a launch runs
    tritonx-opt kernel.ttgir --target cuda:90 --from llir --until ptx
    tritonx-opt kernel.ttir --pipeline cpu:ttir             one stage of a target
    tritonx-opt kernel.ttir --target cuda:90 -t ptx         whatever the file still needs, at whatever level it is
    tritonx-opt kernel.ptx --target cuda:90 -t cubin        text of a stage, known by its extension or by --from
    tritonx-opt kernel.ttir --target cuda:90 --until sass   beyond the last stage: its output disassembled
    tritonx-opt --explain insert-barriers                   what a pass does, takes, leaves, needs; who runs it

An error in the input is ``file:line:col: error: ...`` with the line and a caret; the exit code is then 1. With
``--verify-diagnostics`` errors are compared with ``// expected-error@+1 {{text}}`` comments instead. The exit code is 2
for a mistake in the arguments: an unknown option, pass or target, a file that cannot be read or written.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, NoReturn

from tritonx.backends.api import EmitStage, PassStage
from tritonx.ir.source import excerpt
from tritonx.ir.spelling import LevelError, TextLevel
from tritonx.tools import command, opt_input, opt_listing, opt_watch
from tritonx.tools.opt_diagnostics import Diagnostic, expectations_of, mismatches

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tritonx.backends.api import Stage
    from tritonx.ir.failure import PassFailure
    from tritonx.ir.pipeline import PassHooks
    from tritonx.tools.opt_pipeline import TargetStages

RECURSION_LIMIT = 6000
"""Nested regions and types recurse about ten Python frames a level; this admits some hundreds of levels."""


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Diagnostic(self.prog, 0, 0, message)

    def format_help(self) -> str:
        title = "\npasses, by the levels that they take and leave (--explain PASS: the contract):\n"
        return super().format_help() + title + "\n".join(opt_listing.passes()) + "\n"


def argument_parser() -> argparse.ArgumentParser:
    parser = _Arguments("tritonx-opt", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("input", nargs="?", default="-", help="file to read; standard input without it or with -")
    add("-o", "--output", default="-", metavar="FILE", help="where to write; standard output without it")
    group = parser.add_argument_group("what to run")
    add = group.add_argument
    add("-p", "--passes", action="append", default=[], metavar="PIPELINE", help="passes in order: a,b{option=1}")
    add("--pipeline", metavar="TARGET:STAGE", help="the passes of one stage of a target, as in cpu:ttir")
    add("--target", metavar="TARGET", help="a target, as --list-backends shows them")
    add("--from", dest="first", metavar="STAGE", help="first stage of --target to run (by default the first one)")
    add("--until", dest="last", metavar="STAGE", help="last stage of --target to run")
    add("--option", action="append", default=[], metavar="KEY=VALUE", help="compile option of --target, as num_warps=8")
    add("--html", metavar="FILE", help="also write a page of what the passes do (docs/explain.md)")
    add("-t", "--emit", default="mlir", metavar="STAGE", help="run what the input still needs, up to this output")
    group = parser.add_argument_group("how to read and print")
    add = group.add_argument
    add("--split-input-file", action="store_true", help="treat the parts between // ----- lines one by one")
    add("--allow-unregistered-dialect", action="store_true", help="accept ops of unknown dialects in generic form")
    add("--print-debuginfo", "--mlir-print-debuginfo", dest="debuginfo", action="store_true", help="print locations")
    add("--print-level", metavar="VERSION", help="text for this version of Triton: 3.6, 3.8 or 3.9")
    add("--print-op-generic", "--mlir-print-op-generic", dest="generic", action="store_true", help="generic form")
    group = parser.add_argument_group("how to watch")
    add = group.add_argument
    add("--verify-diagnostics", action="store_true", help="compare errors with expected-error comments")
    add("--verify-each", action=argparse.BooleanOptionalAction, default=True, help="verify the input and each pass")
    add("--time-passes", action="store_true", help="print each pass's time, to standard error")
    opt_watch.add_arguments(parser)
    group = parser.add_argument_group("what there is")
    add = group.add_argument
    add("--explain", metavar="PASS", help="a pass's contract; of TARGET or TARGET:STAGE, the passes that are run")
    add("--list-passes", action="store_true", help="the passes, as below")
    add("--list-backends", action="store_true", help="the backends, with their targets and stages")
    add("--list-dialects", action="store_true", help="the dialects that the parser knows")
    return parser


@dataclass
class Driver:
    """One invocation: its arguments and where its output goes."""

    args: argparse.Namespace
    stdin: Any
    stderr: IO[str]
    passes: tuple[ModulePass, ...] = ()
    target: TargetStages | None = None
    timings: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    level: TextLevel | None = None
    watch: opt_watch.Watch | None = None
    bisection: opt_watch.Bisection | None = None

    def prepare(self) -> None:
        """Resolve passes and target before the input is read, so that a typing error costs nothing."""
        from tritonx.tools.opt_pipeline import find_target, parse_passes

        args = self.args
        self.level = None if args.print_level is None else _level(args.print_level)
        self.watch = opt_watch.Watch.of(args, self.stderr, self.print)
        for text in args.passes:
            self.passes += parse_passes(text)
        if args.pipeline is not None:
            name, _, args.last = args.pipeline.rpartition(":")
            if not name or args.target not in (None, name):
                raise Diagnostic("<pipeline>", 1, 1, "expected TARGET:STAGE, as in cpu:ttir", args.pipeline)
            args.target, args.first = name, args.last
        if args.target is not None:
            self.target = find_target(args.target, args.option)
            if args.last is not None and args.emit in self.target.ir_stages():
                raise Diagnostic("tritonx-opt", 0, 0, f"-t {args.emit} and --until {args.last} are both ends, of IR")
            if not self.stages_to_run() and not self.passes:
                raise Diagnostic("tritonx-opt", 0, 0, f"--target {args.target} runs nothing without -t, --until or -p")
        for option, value in (
            ("--until", args.last),
            ("--from", args.first),
            ("-t", None if args.emit == "mlir" else args.emit),
        ):
            if value is not None and self.target is None:
                raise Diagnostic("tritonx-opt", 0, 0, f"{option} {value} needs --target")

    def stages_to_run(self) -> tuple[Stage, ...]:
        """The stages that the arguments name. With ``-t`` alone those of the passes are still to be cut down to what
        the input needs (``PassStage.remaining``)."""
        args = self.args
        if self.target is None:
            return ()
        named = args.last is not None or args.first is not None
        if args.emit == "mlir":
            return self.target.between(args.first, args.last) if named else ()
        run = self.target.up_to(args.emit)
        if args.last is not None:
            done = self.target.between(args.first, args.last)
            return (*done, *(stage for stage in run if isinstance(stage, EmitStage) and stage not in done))
        return run if args.first is None else run[self.target.position(args.first) :]

    def process(self, text: str, name: str) -> str | bytes:
        """The output for one part of the input. Raises ``Diagnostic``."""
        from tritonx.ir.failure import PassFailure
        from tritonx.ir.pipeline import run_passes

        args = self.args
        made = None if self.target is None else self.target.text_stage(name, args.first)
        if made is not None:
            return self.process_text(text, name, made)
        parsed = opt_input.parse(text, name, allow_unregistered=args.allow_unregistered_dialect)
        if args.verify_each:
            opt_input.check(parsed)
        self.follow(parsed)
        if args.bisect is not None:
            self.bisection = opt_watch.Bisection(args.bisect, self.print)
        if args.html is not None:
            self.write_page(parsed)
        value: Any = parsed.module
        try:
            run_passes(parsed.module, self.passes, self.hooks())
            whole = args.last is not None or args.first is not None
            for stage in self.stages_to_run():
                if self.bisection is not None and not isinstance(stage, PassStage):
                    break
                needed = stage.remaining(value) if isinstance(stage, PassStage) and not whole else stage
                value = self.run_stage(value, needed)
        except PassFailure as failure:
            raise _of_failure(failure, parsed) from failure
        if self.bisection is not None:
            return self.bisection.result(self.stderr)
        return value if isinstance(value, str | bytes) else self.print(value, parsed)

    def write_page(self, parsed: opt_input.Parsed) -> None:
        """The page of ``--html``; the module stays as it is."""
        from tritonx.ir.failure import PassFailure
        from tritonx.tools.opt_html import page_of

        whole = self.args.last is not None or self.args.first is not None
        try:
            page = page_of(parsed, self.target, self.stages_to_run(), whole=whole)
        except PassFailure as failure:
            raise _of_failure(failure, parsed) from failure
        command.write(self.args.html, page, "--html")

    def follow(self, parsed: opt_input.Parsed) -> None:
        """Compile for the launch that the module states, where ``--option`` says nothing of it; as a launch of a file
        does (`IRSource.parse_options`)."""
        from tritonx.tools.opt_pipeline import find_target, stated_options

        if self.args.target is not None:  # a module may follow another, so from the arguments each time
            try:
                self.target = find_target(self.args.target, [*stated_options(parsed.module), *self.args.option])
            except Diagnostic as wrong:  # what the arguments say has been looked at: the module states it
                raise parsed.at(parsed.module, wrong.message) from None

    def process_text(self, text: str, name: str, made: int) -> str | bytes:
        """The output for what the emit stage number ``made`` of the target has made. Raises ``Diagnostic``."""
        from tritonx.ir.failure import PassFailure

        assert self.target is not None
        stages = self.stages_to_run()
        behind = self.target.stages[: made + 1]
        stages = tuple(stage for stage in stages if stage not in behind)
        if self.args.bisect is not None:
            raise Diagnostic(name, 0, 0, f"--bisect: the input is the output of stage '{behind[-1].name}', not IR")
        if self.passes or not stages:
            wanted = "no passes can run on it" if self.passes else "-t or --until must name a later stage"
            raise Diagnostic(name, 0, 0, f"the input is the output of stage '{behind[-1].name}': {wanted}")
        value: Any = text
        try:
            for stage in stages:
                value = self.run_stage(value, stage)
        except PassFailure as failure:
            raise Diagnostic(name, 0, 0, f"{failure.what} '{failure.pass_name}': {failure.reason}") from failure
        return value

    def run_stage(self, value: Any, stage: Stage) -> Any:
        from tritonx.ir.failure import PassFailure, failure_of
        from tritonx.ir.pipeline import run_passes

        assert self.target is not None
        if isinstance(stage, PassStage):
            if isinstance(value, str | bytes):
                raise Diagnostic(
                    "<target>", 0, 0, f"stage '{stage.name}' needs IR, but the stage before it made output"
                )
            run_passes(value, stage.passes, self.hooks())
            return value
        start = time.perf_counter()
        try:
            value = stage.emit(value, self.target.compilation)
        except PassFailure:
            raise
        except Exception as error:
            raise failure_of(error, stage.name, "", what="stage") from error
        self.timings.append((stage.name, time.perf_counter() - start))
        return value

    def hooks(self) -> PassHooks:
        from tritonx.ir.pipeline import PassHooks

        assert self.watch is not None
        before, after = self.watch.hooks() if self.bisection is None else self.bisection.hooks()
        return PassHooks(
            before,
            after,
            timing=lambda name, seconds: self.timings.append((name, seconds)),
            verify=self.args.verify_each,
            exact_reproducer=True,
        )

    def print(self, module: ModuleOp, parsed: opt_input.Parsed | None = None) -> str:
        from tritonx.ir.text import print_module

        args = self.args
        try:
            text = print_module(module, debuginfo=args.debuginfo, generic=args.generic, level=self.level)
        except LevelError as error:
            at = Diagnostic("tritonx-opt", 0, 0, str(error)) if parsed is None else parsed.at(error.op, str(error))
            raise at from error
        return text if text.endswith("\n") else text + "\n"

    def run(self) -> tuple[str | bytes, bool]:
        """(output, whether all went well). What went wrong is on standard error."""
        name, text = opt_input.read(self.args.input, self.stdin)
        outputs: list[str | bytes] = []
        good = True
        for part in opt_input.chunks(text, self.args.split_input_file):
            produced: list[Diagnostic] = []
            try:
                outputs.append(self.process(part, name))
            except Diagnostic as diagnostic:
                produced.append(diagnostic)
            if self.args.verify_diagnostics:
                produced = mismatches(expectations_of(part), produced, name, part)
            for diagnostic in produced:
                good = False
                self.stderr.write(f"{diagnostic}\n")
        if self.args.time_passes:
            self.report_times()
        return _joined(outputs), good

    def report_times(self) -> None:
        total = sum(seconds for _, seconds in self.timings)
        for name, seconds in self.timings:
            self.stderr.write(f"{seconds * 1e3:9.3f} ms  {seconds / total if total else 0:6.1%}  {name}\n")
        self.stderr.write(f"{total * 1e3:9.3f} ms          total\n")


def _level(text: str) -> TextLevel:
    try:
        return TextLevel.named(text)
    except ValueError as error:
        raise Diagnostic("tritonx-opt", 0, 0, f"--print-level: {error}") from error


class _Reported(Diagnostic):
    """A pass's failure, whose own report is printed as it is."""

    report: str = ""

    def __str__(self) -> str:
        return self.report


def _of_failure(failure: PassFailure, parsed: opt_input.Parsed) -> Diagnostic:
    """The failure at its op's line of the input; the report is the failure's own where the op has a source line."""
    message = f"{failure.what} '{failure.pass_name}': {failure.reason}"
    here = parsed.at(failure.op, message)
    diagnostic = _Reported(here.file, here.line, here.column, message, here.source)
    if failure.positions:
        shown = "" if excerpt(failure.positions[0]) or not here.source else f"\n{here.where()}: the op in the input\n"
        diagnostic.report = str(failure) + (shown and shown + here.excerpt())
    else:
        rest = str(failure).split("\n", failure.reason.count("\n") + 1)[failure.reason.count("\n") + 1 :]
        kind = "internal error" if failure.internal else "error"
        diagnostic.report = "\n".join([str(here).replace(": error: ", f": {kind}: ", 1), *rest])
    return diagnostic


def _joined(outputs: list[str | bytes]) -> str | bytes:
    if any(isinstance(output, bytes) for output in outputs):
        return b"".join(output if isinstance(output, bytes) else output.encode() for output in outputs)
    return "\n// -----\n".join(str(output) for output in outputs)


def run(argv: Sequence[str], stdin: Any = None, stdout: Any = None, stderr: Any = None) -> int:
    """One invocation inside this process: what ``main`` does, with other streams. The exit code."""
    streams = stdin or opt_input.standard_input(), stdout or opt_input.standard_output(), stderr or sys.stderr
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        return command.run("tritonx-opt", lambda: _run(argv, *streams), stderr)
    finally:
        sys.setrecursionlimit(limit)


def _run(argv: Sequence[str], stdin: Any, stdout: Any, stderr: Any) -> int:
    """Raises ``command.Said`` for a mistake in the arguments."""
    try:
        args = argument_parser().parse_args(argv)
        listings = [f for f in ("passes", "backends", "dialects") if getattr(args, f"list_{f}")]
        if listings:
            for listing in listings:
                stdout.write("\n".join(getattr(opt_listing, listing)()) + "\n")
            return 0
        if args.explain is not None:
            from tritonx.tools.opt_explain import explain

            stdout.write("\n".join(explain(args.explain)) + "\n")
            return 0
        if args.output != "-":
            command.require_writable(args.output, "--output")
        driver = Driver(args, stdin, stderr)
        driver.prepare()
        output, good = driver.run()
    except Diagnostic as diagnostic:
        raise command.Said(str(diagnostic)) from None
    if args.output != "-":
        command.write(args.output, output, "--output")
    elif isinstance(output, bytes):
        getattr(stdout, "buffer", stdout).write(output)
    else:
        stdout.write(output)
    stdout.flush()
    return 0 if good else 1


def main() -> int:
    """The console script; its exit code."""
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
