"""What is printed between passes (`--print-ir-*`), and which pass makes a command fail (`--bisect`)."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tritonx.tools import command
from tritonx.tools.opt_diagnostics import Diagnostic

if TYPE_CHECKING:
    import argparse

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

ALL = "*"
"""Of the names of passes: every one."""

Print = Callable[["ModuleOp"], str]
Hook = Callable[["ModulePass", "ModuleOp"], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this file."""
    group = parser.add_argument_group("what to print between passes, to standard error or a folder")
    add = group.add_argument
    add("--print-ir-before-all", action="store_true", help="the IR before each pass")
    add("--print-ir-after-all", action="store_true", help="the IR after each pass")
    add("--print-ir-before", action="append", default=[], metavar="PASS", help="the IR before this pass; repeatable")
    add("--print-ir-after", action="append", default=[], metavar="PASS", help="the IR after this pass; repeatable")
    add("--print-ir-after-change", action="store_true", help="the IR after each pass that has changed it")
    add("--print-ir-tree-dir", metavar="DIR", help="print to files of this folder, numbered in order")
    add("--bisect", metavar="CMD", help="the first pass behind which `CMD FILE` (without a time limit) fails")


@dataclass
class Watch:
    """Prints the IR between passes as the arguments ask for. ``before`` and ``after``: names of passes, or ``ALL``."""

    stderr: IO[str]
    print: Print
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    changes: bool = False
    folder: Path | None = None
    _count: int = 0
    _last: str = ""

    @staticmethod
    def of(args: argparse.Namespace, stderr: IO[str], printed: Print) -> Watch:
        """What the arguments ask for. Raises ``Diagnostic`` for a pass that there is not, ``command.Mistake`` for a
        folder that cannot be had."""
        before = _named(args.print_ir_before, "--print-ir-before", every=args.print_ir_before_all)
        after = _named(args.print_ir_after, "--print-ir-after", every=args.print_ir_after_all)
        changes, folder = bool(args.print_ir_after_change), args.print_ir_tree_dir
        if not after and (changes or (folder is not None and not before)):
            after = frozenset({ALL})
        if args.bisect is not None and (before or after):
            raise Diagnostic("tritonx-opt", 0, 0, "--bisect prints one pass's IR, and takes no --print-ir option")
        if folder is not None:
            command.make_folder(folder, "--print-ir-tree-dir")
        return Watch(stderr, printed, before, after, changes, None if folder is None else Path(folder))

    def hooks(self) -> tuple[Hook | None, Hook | None]:
        """What to call before a pass and after it; None where nothing is asked for."""
        return (
            self._before if self.before or self.changes else None,
            self._after if self.after else None,
        )

    def _before(self, current: ModulePass, module: ModuleOp) -> None:
        if self.changes:
            self._last = self.print(module)
        if not self.before.isdisjoint((ALL, current.name)):
            self._write("Before", current, self._last or self.print(module))

    def _after(self, current: ModulePass, module: ModuleOp) -> None:
        if self.after.isdisjoint((ALL, current.name)):
            return
        text = self.print(module)
        if not self.changes or text != self._last:
            self._write("After", current, text)

    def _write(self, when: str, current: ModulePass, text: str) -> None:
        if self.folder is None:
            self.stderr.write(f"// -----// IR Dump {when} {current.name} //----- //\n{text}\n")
            return
        self._count += 1
        path = self.folder / f"{self._count:03}_{when.lower()}_{current.name}.mlir"
        command.write(str(path), text, "--print-ir-tree-dir")


def _named(names: Sequence[str], option: str, *, every: bool) -> frozenset[str]:
    from tritonx.transforms.registry import UnknownPass, find_pass

    for name in names:
        try:
            find_pass(name)
        except UnknownPass as error:
            raise Diagnostic("tritonx-opt", 0, 0, f"{option}: {error}") from None
    return frozenset({ALL, *names} if every else names)


@dataclass
class Bisection:
    """The IR in front of the first pass and behind each one, and which of them makes ``command`` fail."""

    command: str
    print: Print
    names: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])

    def hooks(self) -> tuple[Hook, Hook]:
        return self._before, self._after

    def _before(self, current: ModulePass, module: ModuleOp) -> None:
        if not self.texts:
            self.texts.append(self.print(module))
        self.names.append(str(current))

    def _after(self, current: ModulePass, module: ModuleOp) -> None:
        self.texts.append(self.print(module))

    def result(self, stderr: IO[str]) -> str:
        """The IR in front of the pass behind which the command begins to fail, under a line that names the pass.

        The command gets a file's path as its last argument; it fails where its exit status is not 0. It has to succeed
        on the input and fail on what the last pass leaves. Raises ``Diagnostic`` where it does not.
        """
        if not self.names:
            raise self._unfit("there is no pass to run")
        words = self._words()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "ir.mlir"
            if self._fails(words, self.texts[0], file):
                raise self._unfit("the command fails on the input already")
            if not self._fails(words, self.texts[-1], file):
                raise self._unfit("the command does not fail behind the last pass")
            good, bad = 0, len(self.texts) - 1
            while bad - good > 1:
                middle = (good + bad) // 2
                good, bad = (good, middle) if self._fails(words, self.texts[middle], file) else (middle, bad)
        stderr.write(f"--bisect: fails behind {self.names[good]}, pass {bad} of {len(self.names)}\n")
        return f"// tritonx-opt -p '{self.names[good]}'\n{self.texts[good]}"

    def _words(self) -> Sequence[str]:
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise self._unfit(str(error)) from None
        if not words:
            raise self._unfit("it names no command")
        return words

    def _fails(self, words: Sequence[str], text: str, file: Path) -> bool:
        file.write_text(text)
        try:
            return subprocess.run([*words, str(file)], stdin=subprocess.DEVNULL, capture_output=True).returncode != 0
        except (OSError, ValueError) as error:
            raise self._unfit(str(error)) from None

    def _unfit(self, why: str) -> Diagnostic:
        return Diagnostic("tritonx-opt", 0, 0, f"--bisect {self.command}: {why}")
