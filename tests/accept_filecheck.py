"""Expected text that has changed, written into a FileCheck test: what ``TRITONX_ACCEPT=1`` does for tests/filecheck.

A directive that no longer matches is mended as its author would, and the diff is to be read: ``CHECK-NEXT`` gets the
lines that came in between, goes where its line went, or says what stands there now; ``CHECK``, ``CHECK-SAME`` and
``CHECK-DAG`` take the line that is most like theirs; ``CHECK-COUNT`` says how many are left. A directive that was only
an op's name stays one. Labels, and ``CHECK-NOT`` that matches, are left to the author.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
from dataclasses import dataclass
from pathlib import Path

from filecheck.compiler import compile_uops
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.ops import CheckOp, CountOp
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

LIKE = 0.5
"""How alike (difflib's ratio) a line must be to what a directive said, to be taken for it."""
FAR = 40
"""Lines that may come in between."""
MENDS = 400
"""Directives that are mended in one file."""


@dataclass
class Failure:
    """Where FileCheck stopped: the directives, which of them (by index), the output from there, captured names."""

    directives: list[CheckOp]
    at: int
    rest: list[str]
    names: dict[str, str | int]
    matcher: Matcher

    def matches(self, index: int, line: str) -> bool:
        pattern, _ = compile_uops(self.directives[index], self.names, self.matcher.opts)
        return pattern.search(line) is not None


def first_failure(argv: list[str], output: str) -> Failure | None:
    options = parse_argv_options(list(argv))
    matcher = Matcher(options, FInput("<stdin>", output), Parser.from_opts(options))
    matcher.stderr = said = io.StringIO()
    with contextlib.redirect_stderr(said):
        if matcher.run() == 0:
            return None
    directives = list(Parser.from_opts(options))
    named = re.match(rf"{re.escape(options.match_filename)}:(\d+):", said.getvalue())
    at = [op.source_line for op in directives].index(int(named.group(1))) if named else -1
    region = matcher.file.range
    after = output[region.start : region.end].split("\n")[1:]  # the line of the last match is behind us
    return Failure(directives, at, [line for line in after if line.strip()], matcher.ctx.live_variables, matcher)


def spelled(line: str, said: str, names: dict[str, str | int]) -> str:
    """``line`` as a directive that said ``said`` would say it: SSA names are those captured before, or any."""
    text = line.strip()
    prefix = re.match(r"(?:%?\[\[[^\]]*\]\]|%\w+|\{\{.*?\}\})(?:[:,]\S*)* = ", said)
    without_results = re.sub(r"^%[\w#:, %]+ = ", "", text)
    if " " not in said:
        return re.split(r"[\s(<{]", without_results, maxsplit=1)[0]
    captured = {value: name for name, value in names.items() if isinstance(value, str) and value}

    def name(match: re.Match[str]) -> str:
        for value in (match.group(0), match.group(0)[1:]):
            if value in captured:
                return match.group(0).removesuffix(value) + f"[[{captured[value]}]]"
        return "%{{[^ ,:)]+}}"

    return (prefix.group(0) if prefix else "") + re.sub(r"%[\w#]+", name, without_results)


def alike(line: str, said: str) -> float:
    return difflib.SequenceMatcher(None, line.strip(), said, autojunk=False).ratio()


def mended(failure: Failure, lines: list[str]) -> list[str] | None:
    """The test's ``lines`` with the failing directive mended; None where only its author can."""
    if failure.at < 0:
        return None
    op = failure.directives[failure.at]
    where = op.source_line - 1
    head = lines[where][: lines[where].rindex(op.arg)]  # indentation, comment, the directive's name

    def instead(*texts: str) -> list[str]:
        return [*lines[:where], *(head + text for text in texts), *lines[where + 1 :]]

    if any("{{" in line or "[[" in line for line in failure.rest[:1]):
        return None
    if op.name == "NEXT" and failure.rest:
        for ahead, line in enumerate(failure.rest[:FAR]):
            if failure.matches(failure.at, line):
                return instead(*(spelled(one, op.arg, failure.names) for one in failure.rest[:ahead]), op.arg)
        following = failure.at + 1
        if following < len(failure.directives) and failure.directives[following].name == "NEXT":
            with contextlib.suppress(KeyError):  # it may use a name that this one was to capture
                if failure.matches(following, failure.rest[0]):
                    return instead()
        return instead(spelled(failure.rest[0], op.arg, failure.names))
    if op.name in ("CHECK", "SAME", "DAG"):
        best = max(failure.rest, key=lambda line: alike(line, op.arg), default="")
        return instead(spelled(best, op.arg, failure.names)) if alike(best, op.arg) >= LIKE else None
    if op.name == "COUNT":
        some = any(failure.matches(failure.at, line) for line in failure.matcher.file.content.split("\n"))
        fewer = op.count - 1 if some and isinstance(op, CountOp) else 0
        return (
            [*lines[:where], re.sub(r"COUNT-\d+", f"COUNT-{fewer}", lines[where]), *lines[where + 1 :]]
            if fewer
            else None
        )
    return None


def accept(argv: list[str], output: str) -> str:
    """Mend the file that ``filecheck``'s ``argv`` names until ``output`` passes; what is left to the author, or ""."""
    path = Path(parse_argv_options(list(argv)).match_filename)
    left = path
    for _ in range(MENDS):
        failure = first_failure(argv, output)
        if failure is None:
            return ""
        lines = mended(failure, path.read_text().split("\n"))
        if lines is None:
            left = f"{path}:{failure.directives[failure.at].source_line}"
            break
        path.write_text("\n".join(lines))
    return f"{left}: this change of expected text is left to its author"
