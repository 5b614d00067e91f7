"""FileCheck for kernels: the directives stand as comments in the kernel's source, next to the lines they are about."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def _print(
    fn: Any, signature: dict[str, Any], constants: dict[str, Any], options: dict[str, Any], debuginfo: bool
) -> str:
    from tritonx.backends.api import Target
    from tritonx.frontend.compile import make_module
    from tritonx.interpreter.options import InterpreterOptions
    from tritonx.ir.text import print_module
    from tritonx.ir.verify import verify

    names = list(fn.arg_names)
    full = {name: signature.get(name, "constexpr") for name in names}
    values = {(names.index(name),): value for name, value in constants.items()}
    aligned = {(names.index(name),): [["tt.divisibility", 16]] for name, kind in signature.items() if kind[0] == "*"}
    settings = InterpreterOptions(**{"sanitize_overflow": False, **options})
    module = make_module(fn, full, values, aligned, settings, Target("test"))
    verify(module)
    return print_module(module, debuginfo=debuginfo)


def _filecheck(directives: Path, text: str) -> str:
    """What FileCheck has to say against ``text``; empty if it matches."""
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options
    from filecheck.parser import Parser

    options = parse_argv_options(["filecheck", str(directives)])
    log = io.StringIO()
    with contextlib.redirect_stderr(log), contextlib.redirect_stdout(log):
        failed = Matcher(options, FInput("<tt>", text), Parser.from_opts(options)).run()
    return (log.getvalue() or "does not match") if failed else ""


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., None]:
    """(kernel, signature, **constants): the printed module matches the ``# CHECK`` comments of the kernel's source."""

    def run(
        fn: Any,
        signature: dict[str, Any],
        /,
        *,
        options: dict[str, Any] | None = None,
        debuginfo: bool = False,
        **constants: Any,
    ) -> None:
        text = _print(fn, signature, constants, options or {}, debuginfo)
        directives = "".join(line for line in fn.raw_src if "CHECK" in line)
        assert directives, "the kernel has no CHECK comments"
        path = tmp_path / "directives"
        path.write_text(directives)
        complaint = _filecheck(path, text)
        assert not complaint, f"{complaint}\n{text}"

    return run
