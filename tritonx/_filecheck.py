"""What tests of libraries take from Triton's module of this name: a kernel's module at ``tt``, whose text is held
against the ``CHECK`` comments of the kernel. The package ``filecheck`` reads them, which has to be installed for that.

The text is tritonx's: what its front end writes otherwise than Triton's (it inlines functions, for one), a comment that
was written for Triton does not find.
"""

from __future__ import annotations

import functools
import inspect
import io
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from tritonx.backends.api import Target as GPUTarget
from tritonx.backends.compiler import make_backend
from tritonx.runtime.compiling.ir_view import ModuleView
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import TritonError

__all__ = [
    "ASTSource",
    "GPUTarget",
    "MatchError",
    "filecheck_test",
    "make_backend",
    "run_filecheck",
    "run_filecheck_test",
    "run_parser",
    "stub_target",
]

stub_target = GPUTarget("cuda", 100, 32)
"""What modules are made for where a test does not say."""


class MatchError(TritonError, ValueError):
    """A text is not as its checks say; shown with the text.

    >>> from tritonx._filecheck import MatchError
    >>> print(MatchError("no sum", "tt.return"))
    no sum
    tt.return
    """

    def __init__(self, message: str, module_str: str) -> None:
        super().__init__(message, module_str)
        self.message = message
        self.module_str = module_str

    def __str__(self) -> str:
        return f"{self.message}\n{self.module_str}"


class NoKernel(TritonError, AssertionError):
    """What is to be checked is no kernel. Triton asserts it."""


class NoFileCheck(TritonError, ImportError):
    """The package that reads the checks is not installed."""


def run_filecheck(name: str, module_str: str, check_template: str) -> None:
    """Hold a text against the checks in another. Raises `MatchError`, a ValueError with the check and what is there.

    >>> from tritonx._filecheck import run_filecheck
    >>> run_filecheck("sums", "%0 = arith.addi %a, %b", "# CHECK: arith.add{{[if]}} %a")
    """
    try:
        from filecheck.finput import FInput
        from filecheck.matcher import Matcher
        from filecheck.options import Options
        from filecheck.parser import Parser
    except ImportError:
        raise NoFileCheck(
            "checks of a module's text are read by the package filecheck: pip install filecheck"
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_text(check_template)
        options = Options(str(file))
        matcher = Matcher(options, FInput(name, module_str), Parser.from_opts(options))
        matcher.stderr = said = io.StringIO()
        if matcher.run():
            raise MatchError(_told(said.getvalue().replace(str(file), name), check_template), module_str)


def _told(report: str, checks: str) -> str:
    """The package's words, with the line of the check, and the words of LLVM's tool for what is missing, which tests
    look for."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", report)
    place = re.match(r"[^:\n]*:(\d+): error: (Couldn't match)?", plain)
    if place is None:
        return plain
    line = re.sub(r"[ \t]+", " ", checks.splitlines()[int(place[1]) - 1])
    missing = "expected string not found in input" if place[2] else "this check fails"
    return f"{missing}\n{line}\n{plain}"


def run_parser(
    kernel_fn: JITFunction,
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] = {},  # as in Triton; it is read only
    target: GPUTarget = stub_target,
) -> ModuleView:
    """A kernel's module at ``tt`` for these arguments, as a launch would compile it for ``target``. Raises what
    compiling raises.

    >>> from tritonx._filecheck import run_parser
    >>> print(run_parser(double, args=(np.zeros(8), 8)).str_nodebug())
    module...tt.func public @double...
    """
    backend = make_backend(target)
    request, options = kernel_fn.launcher.request(tuple(args), dict(kwargs))
    wanted = request.wanted
    source = kernel_fn.source_of(wanted.signature, wanted.constants, wanted.attrs)
    chosen = backend.parse_options({"sanitize_overflow": False, **options})
    return source.make_ir(target, chosen, backend.get_codegen_implementation(chosen), backend.get_module_map(), None)


def run_filecheck_test(kernel_fn: object) -> None:
    """Hold the module of a kernel without arguments against the comments in its source. Raises `MatchError`.

    >>> from tritonx._filecheck import run_filecheck_test
    >>> @tritonx.jit
    ... def checked():
    ...     # CHECK: tt.func public @checked
    ...     pass
    >>> run_filecheck_test(checked)
    """
    if not isinstance(kernel_fn, JITFunction):
        raise NoKernel(f"a kernel that @jit made is held against its comments, not {kernel_fn!r}")
    kernel = cast("JITFunction", kernel_fn)
    run_filecheck("placeholder", run_parser(kernel).str_nodebug(), inspect.getsource(kernel.fn))


def filecheck_test(fn: JITFunction) -> Callable[[], None]:
    """A test, for pytest to find, that is `run_filecheck_test` of a kernel.

    >>> from tritonx._filecheck import filecheck_test
    >>> @filecheck_test
    ... @tritonx.jit
    ... def test_name():
    ...     # CHECK: tt.func public @test_name
    ...     pass
    >>> test_name()
    """

    @functools.wraps(fn)
    def test_fn() -> None:
        run_filecheck_test(fn)

    return test_fn
