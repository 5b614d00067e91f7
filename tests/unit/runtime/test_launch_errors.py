"""The exact text of the error for each launch that does not fit its kernel, compiled and by lines.

The texts stand in ``launch_errors.expected``; ``TRITONX_ACCEPT=1`` records them.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.interpreter.function import interpreted
from tritonx.runtime.errors import ArgumentMisfit, TritonError, UnknownKeyword, UnsupportedArgument
from tritonx.runtime.jit import jit

EXPECTED = Path(__file__).with_name("launch_errors.expected")


@jit
def scaled(
    x,
    n,
    BLOCK: tl.constexpr,
    factor=3,
):
    tl.store(x, n * factor * BLOCK)


@jit
def named(x, *, last):
    tl.store(x, last)


X = np.zeros(4, np.float32)
Launch = Callable[[Any], Any]

LAUNCHES: dict[str, tuple[Any, Launch]] = {
    "missing one": (scaled, lambda k: k[(1,)](X, BLOCK=4)),
    "missing two": (scaled, lambda k: k[(1,)](X)),
    "missing all": (scaled, lambda k: k[(1,)]()),
    "missing and misspelt": (scaled, lambda k: k[(1,)](X, 3, BLOK=4)),
    "missing by name only": (named, lambda k: k[(1,)](X)),
    "misspelt with a default": (scaled, lambda k: k[(1,)](X, 3, 4, facto=6)),
    "misspelt option": (scaled, lambda k: k[(1,)](X, 3, 4, num_warp=8)),
    "unknown option": (scaled, lambda k: k[(1,)](X, 3, 4, zzz=8)),
    "too many": (scaled, lambda k: k[(1,)](X, 3, 4, 5, 6, 7)),
    "too many by position": (named, lambda k: k[(1,)](X, 3, last=4)),
    "given twice": (scaled, lambda k: k[(1,)](X, 3, 4, n=6)),
    "given twice by name and default": (scaled, lambda k: k[(1,)](X, 3, 4, 5, factor=5)),
    "a list": (scaled, lambda k: k[(1,)]([1, 2], 3, 4)),
    "a text": (scaled, lambda k: k[(1,)](X, "3", 4)),
    "a dictionary by name": (named, lambda k: k[(1,)](X, last={})),
    "a class": (scaled, lambda k: k[(1,)](X, np.float32, 4)),
    "a list in a tuple": (scaled, lambda k: k[(1,)]((X, (2, [1])), 3, 4)),
    "a wide integer": (scaled, lambda k: k[(1,)](X, 2**64, 4)),
    "complex numbers": (scaled, lambda k: k[(1,)](X.astype(np.complex64), 3, 4)),
    "complex numbers in a tuple": (named, lambda k: k[(1,)](X, last=(1, X.astype(np.complex64)))),
    "warps": (scaled, lambda k: k[(1,)](X, 3, 4, num_warps=3)),
    "warps as text": (scaled, lambda k: k[(1,)](X, 3, 4, num_warps="4")),
    "reserved": (scaled, lambda k: k[(1,)](X, 3, 4, stream=0)),
    "called": (scaled, lambda k: k(X, 3, 4)),
    "grid of nothing": (scaled, lambda k: k[()](X, 3, 4)),
    "grid of four": (scaled, lambda k: k[1, 2, 3, 4](X, 3, 4)),
    "negative grid": (scaled, lambda k: k[-1](X, 3, 4)),
    "negative second extent": (scaled, lambda k: k[1, -1](X, 3, 4)),
    "float grid": (scaled, lambda k: k[7.5,](X, 3, 4)),
    "text grid": (scaled, lambda k: k["2",](X, 3, 4)),
    "no grid": (scaled, lambda k: k[None](X, 3, 4)),
    "wide grid": (scaled, lambda k: k[2**31](X, 3, 4)),
    "grid of arrays": (scaled, lambda k: k[np.ones(2),](X, 3, 4)),
    "function that gives floats": (scaled, lambda k: k[lambda meta: (meta["BLOCK"] / 2,)](X, 3, 4)),
    "function that gives nothing": (scaled, lambda k: k[lambda meta: None](X, 3, 4)),
}


def launched(match: re.Match[str]) -> str:
    """The line of the launch without its number, which must be that of a row of the table."""
    assert "lambda k: k[" in linecache.getline(__file__, int(match[2]))
    return f"launched from {match[1]} in"


def shown(error: BaseException) -> str:
    """Type and text, with file names shortened, line numbers counted from the function's ``def``, and the list of a
    backend's options left out."""

    def relative(match: re.Match[str]) -> str:
        first = globals()[match[4]].def_line_number
        return f"{match[1]}:{int(match[2]) - first + 1}:{match[3]} in {match[4]}"

    text = re.sub(r"\S*/(\w+\.py):(\d+):(\d+) in (\w+)", relative, str(error))
    text = re.sub(r"launched from \S*/(\w+\.py):(\d+) in", launched, text)
    text = re.sub(r"the options are .*", "the options are ...", text)
    return f"{type(error).__name__}\n{text}"


@pytest.mark.parametrize("name", LAUNCHES)
def test_text(name: str) -> None:
    """The error is the recorded one, and the same where the kernel would run by lines."""
    kernel, launch = LAUNCHES[name]
    texts: list[str] = []
    for runs in (kernel, interpreted(kernel)):
        with pytest.raises((TritonError, TypeError, KeyError, ValueError, RuntimeError, OverflowError)) as caught:
            launch(runs)
        texts.append(shown(caught.value))
    recorded = sections(EXPECTED.read_text() if EXPECTED.exists() else "")
    if os.environ.get("TRITONX_ACCEPT"):
        recorded[name] = texts[0]
        EXPECTED.write_text("".join(f"==== {n}\n{recorded[n]}\n" for n in LAUNCHES if n in recorded))
    assert texts == [recorded.get(name)] * 2


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^==== (.+)\n", text, flags=re.MULTILINE)
    return {name: body.removesuffix("\n") for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def test_the_types_are_those_of_python() -> None:
    assert issubclass(ArgumentMisfit, TypeError) and issubclass(UnknownKeyword, KeyError)


@pytest.mark.parametrize(
    ("grid", "programs"),
    [
        (3, 3),
        ((3,), 3),
        ([2, 2], 4),
        ((2, 1, 2), 4),
        (np.int64(2), 2),
        ((tl.constexpr(2), np.int8(2)), 4),
        (0, 0),
        ((3, 0), 0),
        (lambda meta: meta["N"], 2),
        (lambda meta: (meta["N"], 2), 4),
        (lambda meta: [meta["N"], 0], 0),
    ],
    ids=lambda value: "callable" if callable(value) else str(value),
)
def test_grids(grid: Any, programs: int) -> None:
    """Every form of a grid runs the same programs, compiled and by lines."""
    for runs in (counts, interpreted(counts)):
        o = np.zeros(8, np.int32)
        runs[grid](o, N=2)
        assert o.tolist() == [1] * programs + [0] * (8 - programs)


@jit
def counts(o, N: tl.constexpr):
    i = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    tl.atomic_add(o + i, 1)


TEXT = "def made(x):\n    tl.store(x, 5.0)\n"


def test_a_compiled_kernel_names_the_argument() -> None:
    compiled = scaled.warmup(X, 3, 4, grid=(1,))
    with pytest.raises(UnsupportedArgument, match=r"argument 'n' of scaled\(\): failed to specialize .*: str"):
        compiled[(1, 1, 1)](X, "3", 3)


@pytest.mark.parametrize("scope", [{}, {"__name__": "somewhere"}])
def test_a_kernel_made_by_exec(scope: dict[str, Any]) -> None:
    exec(TEXT, scope := {"tl": tl, **scope})
    with pytest.raises(ValueError) as caught:
        jit(scope["made"])
    assert str(caught.value) == (
        "@jit functions should be defined in a Python file: made has no source\n"
        "  --> <string>:1 in made\n"
        "hint: Python keeps no text of what exec and python -c run: import the function from a file, or put its text "
        "into linecache.cache under the file name that compile() gets"
    )


@pytest.mark.parametrize("scope", [{}, {"__name__": "somewhere"}])
def test_a_kernel_made_by_exec_whose_text_is_known(scope: dict[str, Any], monkeypatch: Any) -> None:
    name = f"<kernel {len(scope)}>"
    monkeypatch.setitem(linecache.cache, name, (len(TEXT), None, TEXT.splitlines(keepends=True), name))
    exec(compile(TEXT, name, "exec"), scope := {"tl": tl, **scope})
    for runs in (jit(scope["made"]), interpreted(jit(scope["made"]))):
        x = np.zeros(1, np.float32)
        runs[(1,)](x)
        assert x[0] == 5
