"""LLVM text to code for a backend's stage: in this process or in a helper, and what goes wrong as a typed error."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from tritonx.ir.failure import PassFailure, describe
from tritonx.ir.origin import Origin
from tritonx.ir.pipeline import text_reproducer
from tritonx.ir.source import source_of
from tritonx.runtime import knobs
from tritonx.runtime.errors import TritonError
from tritonx.runtime.isolation.channel import Parts
from tritonx.runtime.isolation.helper import FunctionFailed, HelperFailure
from tritonx.runtime.isolation.pool import pool

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.backends.api import Compilation

LINES_SHOWN = 8
_NOISE = re.compile(r"PLEASE submit a bug report|Stack dump|^\s*#\d+ |^\d+\.\s", re.MULTILINE)
_MARK = re.compile(r" at line (\d+)\b")
_MARK_IN_TEXT = re.compile(r"!srcloc !\{i64 (\d+)\}")
_TEXT_LINE = re.compile(r"<string>:(\d+):\d+: ")


def translate(
    stage: str,
    function: str,
    text: str,
    compilation: Compilation,
    *,
    trusted: bool = True,
    apart: bool = False,
    **arguments: object,
) -> Parts:
    """What ``function`` (``module:name``) makes of LLVM text, as named texts and bytes.

    It is called as ``function(text, **arguments)``; the arguments are what JSON can hold. With ``trusted`` false it
    gets bitcode that the user supplies. It runs in a helper where the text is not wholly ours (``isolated``), and then
    with ``verify=True``, to check what it has read before LLVM works on it. With ``apart`` it runs in a helper whatever
    the text is: it does what no process of a user's should see. Raises ``PassFailure`` for whatever goes wrong in it,
    with the kernel's line.
    """
    try:
        foreign = isolated(compilation.origin) or not trusted
        if apart or foreign:
            seconds = knobs.compilation.isolate_timeout
            return pool().run(function, text, {**arguments, **({"verify": True} if foreign else {})}, seconds)
        return _resolve(function)(text, **arguments)
    except HelperFailure as error:
        raise _failure(stage, error.what, error.said, text, compilation) from None
    except FunctionFailed as error:
        raise _failure(stage, "LLVM refused", error.message, text, compilation) from None
    except TritonError:
        raise
    except Exception as error:
        raise _failure(stage, "LLVM refused", str(error), text, compilation) from error


def isolated(origin: Origin | None) -> bool:
    """Whether text of this origin is compiled in a helper: it is external, some of it was passed on without being
    known, or ``TRITONX_ISOLATE`` asks for it."""
    return knobs.compilation.isolate or origin is None or bool(origin.foreign)


def _resolve(function: str) -> Callable[..., Parts]:
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)


def _failure(stage: str, what: str, said: str, text: str, compilation: Compilation) -> PassFailure:
    origin = compilation.origin or Origin()
    op = _op(origin, said, text)
    words = _words(said)
    ours = compilation.origin is not None and not origin.foreign
    command = f"tritonx-opt {{}} --target {compilation.target} -t {stage}"
    failure = PassFailure(
        stage,
        f"{what}: {words}" if words else what,
        op_text="" if op is None or op is origin.kernel else describe(op),
        positions=() if op is None else source_of(op),
        hint=_hint(origin, op, said),
        internal=ours,
        reproducer=text_reproducer(text, f"{stage}.llir", command) if ours else "",
        what="stage",
    )
    failure.op = op
    return failure


def _words(said: str) -> str:
    """What LLVM printed, without the trace of its own functions and the numbers that stand for our ops."""
    said = _NOISE.split(said)[0]
    lines = [line.strip().removeprefix("error: ") for line in said.splitlines() if line.strip()]
    return "\n".join(_MARK.sub("", line)[:400] for line in lines[:LINES_SHOWN])


def _op(origin: Origin, said: str, text: str) -> Operation | None:
    """What LLVM's words are about: the op whose number they mention, or whose line of the text; else the only foreign
    op, else the kernel."""
    found = _MARK.search(said)
    if found is None and (line := _TEXT_LINE.search(said)) is not None:
        lines = text.splitlines()
        number = int(line[1])
        found = _MARK_IN_TEXT.search(lines[number - 1]) if 0 < number <= len(lines) else None
    if found is not None and 0 < int(found[1]) <= len(origin.foreign):
        return origin.foreign[int(found[1]) - 1]
    return origin.foreign[0] if len(origin.foreign) == 1 else origin.kernel


def _hint(origin: Origin, op: Operation | None, said: str) -> str:
    if op in origin.foreign and "constraint" in said:
        return "the constraints of inline assembly are LLVM's: one letter an operand, as in '=r,r'"
    lines = dict.fromkeys(str(positions[0]) for foreign in origin.foreign if (positions := source_of(foreign)))
    return f"inline assembly and functions of other libraries stand at {', '.join(lines)}" if lines else ""
