"""A loop's variable that loops inside it have too: what each leaves of it is read as Python reads it, whichever of them
are unrolled or left."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

HEAD = """import tritonx.language as tl
from tritonx.runtime.jit import jit


@jit
def kernel(out, x, y):
    a = tl.load(x)
    b = tl.load(y)
    c = a + 1
"""
KERNEL = f"""{HEAD}    d = b + 2
    for l in OUTER:
        for k in range(b & 3):
            if c > 3:
                c = c + 1
                LEFT
            else:
                for l in FIRST:
                    a = a + l
            for i in range(a & 3):
                for l in SECOND:
                    d = d + l
                INNER
        OUTSIDE
    tl.store(out, a + c * 7 + d * 100)
"""
LOOPS = {
    "OUTER": ("tl.range(1, 4)", "range(1, 4)"),
    "FIRST": ("range(2)", "range(b & 1)", "tl.static_range(2)"),
    "SECOND": ("range(3)", "tl.static_range(3)"),
}
READS = {"INNER": ("pass", "d = d + l"), "OUTSIDE": ("pass", "d = d * 3 + l")}
NUMBERS = ((1, 3), (2, 2), (0, 1), (5, 0), (3, 3))


def texts(left: str) -> list[str]:
    choices = {**LOOPS, **READS, "LEFT": (left,)}
    found: list[str] = []
    for chosen in itertools.product(*choices.values()):
        text = KERNEL
        for name, value in zip(choices, chosen, strict=True):
            text = text.replace(name, value)
        found.append(text)
    return found


def in_python(text: str, x: int, y: int) -> int:
    body = text[text.index("def kernel") :].replace("tl.load(x)", "x").replace("tl.load(y)", "y")
    names: dict[str, Any] = {"tl": SimpleNamespace(range=range, static_range=range)}
    exec(body.replace("tl.store(out, ", "return ("), names)
    return names["kernel"](None, x, y)


def written(text: str, path: Path) -> Any:
    """The module of a text."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(module: Any, x: int, y: int) -> int:
    out = np.full(1, -1, np.int32)
    module.kernel[(1,)](out, np.full(1, x, np.int32), np.full(1, y, np.int32))
    return int(out[0])


@pytest.mark.parametrize("left", ["break", "continue", "pass"])
def test_nested_loops_of_one_variable(left: str, tmp_path: Path) -> None:
    for number, text in enumerate(texts(left)):
        module = written(text, tmp_path / f"kernel_{left}{number}.py")
        for x, y in NUMBERS:
            assert run(module, x, y) == in_python(text, x, y), f"{text}\n{x}, {y}"


BRANCHES = f"""{HEAD}    BEFORE
    w = 3
    while w > 0:
        w -= 1
        for k in range(5, 0, -2):
            c = c + k
        if b != 2:
            for k in range(b & 7, 9, a + 1):
                c = c * 3 + k
        ELSE
        b = b - 1
        AFTER
    tl.store(out, a + c * 7)
"""


@pytest.mark.parametrize("before", ["pass", "k = 4", "for k in range(1, 4): c = c + k"])
@pytest.mark.parametrize(
    "otherwise", ["", "else: c = c - 1", "else: k = 11", "else:\n            for k in range(2): c = c + k"]
)
@pytest.mark.parametrize("after", ["pass", "c = c + k"])
def test_a_loop_in_one_branch_behind_another_loop(before: str, otherwise: str, after: str, tmp_path: Path) -> None:
    """The variable of both has a value on either way."""
    text = BRANCHES.replace("BEFORE", before).replace("ELSE", otherwise).replace("AFTER", after)
    module = written(text, tmp_path / f"kernel{abs(hash(text))}.py")
    for x, y in ((0, 4), (1, 1), (2, 3)):
        assert run(module, x, y) == in_python(text, x, y)
