"""What all commands have in common: a mistake of the user is one line and exit status 2, never a traceback.

`run` calls a command's body and turns what it raises into a line and a status:

    a Mistake, a TritonError, an OSError       2, ``prog: error: ...``; for a file its name and the system's words
    whoever reads the output has gone          141, as for a program that SIGPIPE ended
    Ctrl-C                                     130, as for one that SIGINT ended
    anything else                              1, ``prog: internal error: ...``: a defect of tritonx
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO

from tritonx.runtime.errors import TritonError

LITERAL_LIMIT = 4096
"""Letters of a value on a command line."""


class Mistake(TritonError):
    """What the user asked for cannot be done; the message names the argument.

    >>> issubclass(Mistake, TritonError)
    True
    """


class Said(Mistake):
    """A mistake whose message says itself where it is, such as ``file:line:col: error: ...``.

    >>> issubclass(Said, Mistake)
    True
    """


def run(prog: str, body: Callable[[], int], stderr: IO[str] | None = None) -> int:
    """The exit status of ``body``."""
    try:
        return _status(prog, body, stderr)
    finally:
        _forget_what_cannot_be_written()


def _status(prog: str, body: Callable[[], int], stderr: IO[str] | None) -> int:
    try:
        status = body()
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # it is None where it was closed
            sys.stdout.flush()
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130
    except Said as error:
        return _print(str(error), stderr)
    except TritonError as error:
        return _said(prog, str(error), stderr)
    except OSError as error:
        return _said(prog, f"{of_system(error, 'standard output')}", stderr)
    except Exception as error:
        if os.environ.get("TRITONX_TRACEBACK"):
            raise
        name, hint = type(error).__name__, "TRITONX_TRACEBACK=1 shows where"
        _print(f"{prog}: internal error: {name}: {' '.join(str(error).split())} ({hint})", stderr)
        return 1
    return status


def _said(prog: str, message: str, stderr: IO[str] | None) -> int:
    return _print(f"{prog}: error: {message}", stderr)


def _print(text: str, stderr: IO[str] | None) -> int:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # it may be closed as well
        print(text.encode(errors="backslashreplace").decode(), file=stderr or sys.stderr)
    return 2


def _forget_what_cannot_be_written() -> None:
    """What standard output still holds goes nowhere if it cannot be written: the interpreter would complain at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, sys.stdout.fileno())
            os.close(sink)
    except (ValueError, AttributeError):  # it is closed
        pass


def of_system(error: OSError, otherwise: str) -> str:
    """The file and the system's words; ``otherwise`` where the error names no file."""
    named = otherwise if error.filename is None else os.fsdecode(error.filename)
    return f"{named}: {error.strerror or error}"


def read_text(path: str | Path, what: str) -> str:
    """The text of the file that the argument ``what`` names. Raises Mistake."""
    try:
        return Path(path).read_bytes().decode()
    except OSError as error:
        raise Mistake(f"{what} {path}: {error.strerror or error}") from None
    except ValueError as error:  # no UTF-8, or no path
        raise Mistake(f"{what} {path}: {error}") from None


def write(path: str | Path, content: str | bytes, what: str) -> None:
    """Write the file that the argument ``what`` names. Raises Mistake."""
    try:
        Path(path).write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogateescape"))
    except OSError as error:
        raise Mistake(f"{what} {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise Mistake(f"{what} {path}: {error}") from None


def make_folder(path: str | Path, what: str) -> None:
    """Make the folder that the argument ``what`` names, or take it if it is empty. Raises Mistake."""
    try:
        Path(path).mkdir(exist_ok=True)
        if any(Path(path).iterdir()):
            raise Mistake(f"{what} {path}: the folder is not empty")
    except OSError as error:
        raise Mistake(f"{what} {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise Mistake(f"{what} {path}: {error}") from None


def require_writable(path: str | Path | None, what: str) -> None:
    """Find out before the work that the file which the argument ``what`` names cannot be written. Raises Mistake."""
    if path is None:
        return
    target = Path(path)
    try:
        if target.is_dir():
            raise Mistake(f"{what} {path}: it is a folder")
        if not target.parent.is_dir():
            raise Mistake(f"{what} {path}: there is no folder {target.parent}")
        if not os.access(target if target.exists() else target.parent, os.W_OK):
            raise Mistake(f"{what} {path}: it cannot be written")
    except (OSError, ValueError) as error:
        raise Mistake(f"{what} {path}: {error}") from None


@contextlib.contextmanager
def running(path: str | Path) -> Generator[None]:
    """While the user's file runs: what it raises is a Mistake that names the file's line."""
    try:
        yield
    except (TritonError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit too: a file that is a program ends itself
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else _line_of(error, str(path))
        place = f"{path}:{line}" if line else f"{path}"
        raise Mistake(f"{place}: {type(error).__name__}: {' '.join(str(error).split())}") from error


def _line_of(error: BaseException, path: str) -> int | None:
    """The last line of the file that the error passed."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if os.path.basename(trace.tb_frame.f_code.co_filename) == os.path.basename(path):
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def integer(low: int, high: int) -> Callable[[str], int]:
    """The type of an option that is a number from ``low`` to ``high``.

    >>> integer(1, 64)("8")
    8
    """

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise argparse.ArgumentTypeError(f"expected a whole number from {low} to {high}, got '{text[:40]}'")
        return number

    return parse


def literal(text: str) -> object:
    """The value of Python's literal ``text``. Raises ValueError for anything else.

    >>> literal("[1, 2.5]")
    [1, 2.5]
    """
    if len(text) > LITERAL_LIMIT:
        raise ValueError(f"{len(text)} letters are too many for a value")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError) as error:
        raise ValueError(f"{text[:40]!r} is no literal") from error
