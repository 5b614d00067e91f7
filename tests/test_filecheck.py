"""Runs the lit tests of tests/filecheck under pytest, in this process.

``lit tests/filecheck`` runs the same files with one process for each command. Here a RUN line whose commands are all
among ``tritonx-opt``, ``filecheck``, ``not`` and ``cat`` is run by calling those tools, which saves an interpreter's
start and all imports for each; any other RUN line goes to bash.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.accept_filecheck import accept

ROOT = Path(__file__).parent / "filecheck"
SUFFIXES = (".mlir", ".ttir", ".ttgir", ".test")
FEATURES: frozenset[str] = runpy.run_path(str(ROOT / "features.py"))["FEATURES"]
IN_PROCESS = {"tritonx-opt", "filecheck", "cat"}
SHELL_ONLY = re.compile(r"[;<`$&()]|\|\||>(?!>?\s*\S)")
OPERATORS = {"|", "&&", ">", "2>&1", "2>", "<"}


def files() -> list[Path]:
    return sorted(p for p in ROOT.rglob("*") if p.suffix in SUFFIXES and "Inputs" not in p.parts)


def directives(text: str, keyword: str) -> list[str]:
    """The RUN (XFAIL, UNSUPPORTED, ...) lines of a test, with continued ones joined."""
    lines: list[str] = []
    continued = False
    for match in re.finditer(rf"\b{keyword}:[ \t]*(.*)", text):
        part = match.group(1).rstrip()
        if continued:
            lines[-1] = lines[-1][:-1].rstrip() + " " + part
        else:
            lines.append(part)
        continued = part.endswith("\\")
    return lines


@dataclass
class Command:
    argv: list[str]
    negated: bool = False
    merge_stderr: bool = False
    stdout_file: str | None = None


def parse_pipeline(line: str) -> list[Command] | None:
    """The commands of a RUN line, or None where it needs a shell."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|>")
        lexer.whitespace_split = True
        tokens = list(lexer)
    except ValueError:
        return None
    if SHELL_ONLY.search(re.sub(r"'[^']*'|\"[^\"]*\"|2>&1", "", line)):
        return None
    commands = [Command([])]
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token == "|":
            commands.append(Command([]))
        elif token == "2" and tokens[index + 1 : index + 3] == [">", "&1"]:
            commands[-1].merge_stderr = True
            index += 2
        elif token == "2>&1":
            commands[-1].merge_stderr = True
        elif token == ">":
            index += 1
            commands[-1].stdout_file = tokens[index]
        elif token in OPERATORS:
            return None
        elif token == "not" and not commands[-1].argv:
            commands[-1].negated = not commands[-1].negated
        else:
            commands[-1].argv.append(token)
        index += 1
    return commands if all(c.argv and c.argv[0] in IN_PROCESS for c in commands) else None


ACCEPT = bool(os.environ.get("TRITONX_ACCEPT"))
"""Whether expected text that has changed is written anew (`accept_filecheck`), as other tests do with their tables."""


def run_filecheck(argv: list[str], stdin: str, stderr: io.StringIO) -> int:
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options
    from filecheck.parser import Parser

    options = parse_argv_options(argv)
    content = stdin if options.input_file == "-" else Path(options.input_file).read_text()
    with contextlib.redirect_stderr(stderr):
        return Matcher(options, FInput("<stdin>", content), Parser.from_opts(options)).run()


def run_command(command: Command, stdin: str) -> tuple[int, str, str]:
    from tritonx.tools import opt

    out, err = io.StringIO(), io.StringIO()
    if command.argv[0] == "cat":
        out.write("".join(Path(p).read_text() for p in command.argv[1:]) if command.argv[1:] else stdin)
        code = 0
    elif command.argv[0] == "filecheck":
        code = run_filecheck(list(command.argv), stdin, err)
        if code and ACCEPT and not command.negated:
            err.write(accept(list(command.argv), stdin))
            code = run_filecheck(list(command.argv), stdin, err)
    else:
        code = opt.run(command.argv[1:], io.StringIO(stdin), out, out if command.merge_stderr else err)
    if command.stdout_file is not None:
        Path(command.stdout_file).write_text(out.getvalue())
        out = io.StringIO()
    return code, out.getvalue(), err.getvalue()


def run_line(line: str) -> tuple[bool, str]:
    """(whether it succeeded, what it printed) of one RUN line; like lit, a pipeline fails when any part of it does."""
    commands = parse_pipeline(line)
    if commands is None:
        path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
        script = 'not() { if "$@"; then return 1; else return 0; fi; }; set -o pipefail; ' + line
        done = subprocess.run(
            ["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=300
        )
        return done.returncode == 0, done.stdout + done.stderr
    text, log, good = "", "", True
    for command in commands:
        code, text, errors = run_command(command, text)
        good = good and (code != 0) == command.negated
        log += errors
    return good, log + text


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_filecheck(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    lines = directives(text, "RUN")
    assert lines, "no RUN line"
    missing = {name.strip() for line in directives(text, "REQUIRES") for name in line.split(",")} - FEATURES
    if missing:
        pytest.skip(f"needs {', '.join(sorted(missing))}")
    expect_failure = bool(directives(text, "XFAIL"))
    good, log = True, ""
    for line in lines:
        for name, value in (("%s", str(path)), ("%S", str(path.parent)), ("%t", str(tmp_path / "t"))):
            line = re.sub(re.escape(name) + r"\b", lambda _, value=value: shlex.quote(value), line)
        good, output = run_line(line)
        log += f"$ {line}\n{output}\n"
        if not good:
            break
    if expect_failure:
        assert not good, f"passes although it is marked XFAIL\n{log}"
    else:
        assert good, log
