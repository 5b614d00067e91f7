"""Nothing with an effect is dropped, repeated or put elsewhere: every form of statement and expression, with stores as
its leaves, does in compiled code and line by line what plain Python does, in that order and that often.

A form is the body of a kernel. `note(log, k)` appends `k` to a log in memory and gives nothing, `val(log, k, v)`
appends and gives `v`; in Python both append to a list. Run-time `x` takes several values. Where kernels deliberately
differ from Python (`and` and `or` of run-time values evaluate both sides, as in Triton), the form says what Python does
instead. The forms that kernels refuse have to be refused by an error of the front end; together the two lists hold
every node that Python's grammar has.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Options, Target
from tritonx.frontend.compile import make_module
from tritonx.frontend.errors import CompilationError
from tritonx.interpreter.function import interpreted

SAMPLE = Random(int(os.environ["TRITONX_SEED"]))
LENGTH = 64
XS = (2, 5)

LEAVES = {
    "store": """
def note(log, k):
    n = tl.load(log)
    tl.store(log + 1 + n, k)
    tl.store(log, n + 1)
""",
    "atomic": """
def note(log, k):
    n = tl.atomic_add(log, 1)
    tl.atomic_xchg(log + 1 + n, k)
""",
    "predicated": """
def note(log, k):
    n = tl.load(log)
    if n < 60:
        tl.store(log + 1 + n, k)
        tl.store(log, n + 1)
""",
}

COMMON = """
@jit
def val(log, k, v):
    note(log, k)
    return v

@jit
def pair(log, k, v):
    note(log, k)
    return v, v + 1

@jit
def both(a, b):
    return a + b

@jit
def defaulted(log, a, b=7):
    note(log, a)
    note(log, b)

@jit
def early(log, x):
    note(log, 70)
    if x > 3:
        note(log, 71)
        return
    note(log, 72)

@jit
def early_value(log, x):
    if val(log, 73, x) > 3:
        return val(log, 74, x)
    note(log, 75)
    return val(log, 76, x + 1)

@jit
def inner_return(log, x):
    note(log, 77)
    if x > 1:
        note(log, 78)
        if x > 3:
            note(log, 79)
            return
        note(log, 80)
    note(log, 81)
"""

PYTHON_LEAVES = """
def note(log, k):
    log.append(int(k))
"""

FORMS: dict[str, str | tuple[str, str]] = {
    # Conditional expressions.
    "conditional of void calls": "note(log, 1) if x > 3 else note(log, 2)",
    "conditional with nothing on one side": "note(log, 1) if x > 3 else None",
    "conditional with nothing on the other side": "None if x > 3 else note(log, 1)",
    "nested conditionals": "note(log, 1) if x > 3 else (note(log, 2) if x > 1 else note(log, 3))",
    "conditional of different types, unused": "val(log, 1, x) if x > 3 else note(log, 2)",
    "conditional's condition": "note(log, 3) if val(log, 1, x) > 3 else note(log, 2)",
    "conditional of values": "note(log, val(log, 1, x) if x > 3 else val(log, 2, x))",
    "conditional of equal constants": "y = note(log, 1) is None if x > 3 else note(log, 2) is None\nnote(log, y)",
    "conditional assigned nothing": "y = note(log, 1) if x > 3 else note(log, 2)\nnote(log, 3 if y is None else 4)",
    "conditional as an argument": "both(val(log, 1, x) if x > 3 else val(log, 2, x), val(log, 3, x))",
    "conditional of tuples": "a, b = pair(log, 1, x) if x > 3 else pair(log, 2, x)\nnote(log, a + b)",
    "conditional of text": "note(log, 5 if ('a' if x > 3 else 'a') == 'a' else 6)",
    "static conditional": "note(log, 1) if C else note(log, 2)",
    "conditional in a loop": "for i in range(3):\n    note(log, i) if i + x > 3 else note(log, 10 + i)",
    "conditional in a branch": "if x > 3:\n    note(log, 1) if x > 4 else note(log, 2)\nelse:\n    note(log, 3)",
    # Boolean operators.
    "and of run-time values": (
        "if val(log, 1, x > 3) and val(log, 2, x > 0):\n    note(log, 3)",
        "if val(log, 1, x > 3) & val(log, 2, x > 0):\n    note(log, 3)",
    ),
    "or of run-time values": (
        "if val(log, 1, x > 3) or val(log, 2, x > 0):\n    note(log, 3)",
        "if val(log, 1, x > 3) | val(log, 2, x > 0):\n    note(log, 3)",
    ),
    "and of run-time values, unused": ("val(log, 1, x > 3) and val(log, 2, x > 0)", "val(log, 1, 1) & val(log, 2, 1)"),
    "and of three": (
        "note(log, 4) if val(log, 1, x > 3) and val(log, 2, x > 0) and val(log, 3, x > 1) else note(log, 5)",
        "note(log, 4) if val(log, 1, x > 3) & val(log, 2, x > 0) & val(log, 3, x > 1) else note(log, 5)",
    ),
    "and decided before a store": "C and note(log, 1)\nNO and note(log, 2)\nnote(log, 3)",
    "or decided before a store": "C or note(log, 1)\nNO or note(log, 2)\nnote(log, 3)",
    "a run-time value, then what decides": (
        "if val(log, 1, x > 3) and NO and val(log, 2, x > 0):\n    note(log, 3)",
        "val(log, 1, x > 3)",
    ),
    "a run-time value, then what decides nothing": (
        "if val(log, 1, x > 3) and C and val(log, 2, x > 0):\n    note(log, 3)",
        "if val(log, 1, x > 3) & val(log, 2, x > 0):\n    note(log, 3)",
    ),
    "or, likewise": (
        "if val(log, 1, x > 3) or C or val(log, 2, x > 0):\n    note(log, 3)",
        "val(log, 1, 1)\nnote(log, 3)",
    ),
    "void and void": "note(log, 1) or note(log, 2)",
    "not": "if not val(log, 1, x > 3):\n    note(log, 2)",
    "not of nothing": "if not note(log, 1):\n    note(log, 2)",
    # Operators and comparisons.
    "operands": "note(log, val(log, 1, x) + val(log, 2, x) * val(log, 3, x))",
    "unused operands": "val(log, 1, x) + val(log, 2, x)",
    "unary": "-val(log, 1, x)\n~val(log, 2, x)\n+val(log, 3, x)",
    "comparison": "val(log, 1, x) < val(log, 2, x)\nnote(log, 3) if val(log, 4, x) == val(log, 5, x) else note(log, 6)",
    "is": "if note(log, 1) is None:\n    note(log, 2)",
    "is not": "if val(log, 1, x) is not note(log, 2):\n    note(log, 3)",
    "in": "if note(log, 1) in (None, note(log, 2)):\n    note(log, 3)",
    "not in": "if 3 not in (1, note(log, 2)):\n    note(log, 3)",
    "product with zero": "note(log, val(log, 1, x) * 0)",
    "same store twice": "note(log, 1)\nnote(log, 1)",
    # Containers.
    "tuple statement": "(note(log, 1), note(log, 2))",
    "tuple of values": "t = (val(log, 1, x), val(log, 2, x))\nnote(log, t[0])",
    "list": "t = [val(log, 1, x), val(log, 2, x)]\nnote(log, t[1])",
    "dropped element": "note(log, (val(log, 1, x), val(log, 2, x))[1])",
    "starred in a tuple": "t = (val(log, 1, x), *pair(log, 2, x))\nnote(log, t[2])",
    "starred in a call": "both(*pair(log, 1, x))",
    "starred target": "a, *b = (val(log, 1, x), val(log, 2, x), val(log, 3, x))\nnote(log, b[1])",
    "subscript of a call": "note(log, pair(log, 1, x)[0])",
    "slice": "t = (val(log, 1, x), val(log, 2, x), val(log, 3, x))[0:2]\nnote(log, t[1])",
    "index with an effect": "note(log, (x, x + 1)[0 if note(log, 1) is None else 1])",
    "comprehension": "[note(log, i) for i in (1, 2, 3)]",
    "comprehension of values": "t = [val(log, i, x) for i in (1, 2, 3)]\nnote(log, t[0])",
    "comprehension with a condition": "[note(log, i) for i in (1, 2, 3) if note(log, 10 + i) is None and i != 2]",
    "comprehension over a call": "[note(log, i) for i in pair(log, 1, x)]",
    "generator": "t = tuple(val(log, i, x) for i in (1, 2))\nnote(log, t[1])",
    "unpacking": "a, b = pair(log, 1, x)\nnote(log, b)",
    "nested unpacking": "(a, b), c = (pair(log, 1, x), val(log, 2, x))\nnote(log, a + b + c)",
    # Calls.
    "arguments": "both(val(log, 1, x), val(log, 2, x))",
    "arguments by keyword": "both(b=val(log, 1, x), a=val(log, 2, x))",
    "starred and keyword": "both(*(val(log, 1, x),), b=val(log, 2, x))",
    "default": "defaulted(log, val(log, 1, 2))\ndefaulted(log, 3, b=val(log, 4, 5))",
    "early return": "early(log, x)\nnote(log, 1)",
    "early return of a value": "note(log, early_value(log, x))",
    "unused early return": "early_value(log, x)",
    "return inside two branches": "inner_return(log, x)\nnote(log, 1)",
    "calls in a loop": "for i in range(2):\n    early(log, x + i)\n    inner_return(log, i + 2)",
    "method": "t = val(log, 1, x).to(tl.int64)\nnote(log, t)",
    "method's argument": "note(log, tl.maximum(val(log, 1, x), val(log, 2, x)))",
    "unused pure result": "tl.where(val(log, 1, x) > 3, val(log, 2, x), val(log, 3, x))",
    "unused load": "tl.load(log + val(log, 1, 0))",
    "dtype of a call": "note(log, 5 if val(log, 1, x).dtype == tl.int32 else 6)",
    "builtin of Python": "note(log, max(val(log, 1, x), val(log, 2, x)))\nabs(val(log, 3, x))",
    "len of a call": "note(log, len(pair(log, 1, x)))",
    "f-string": "note(log, 3 if f'{note(log, 1)}' == 'None' else 4)",
    "isinstance": "note(log, 3 if isinstance(note(log, 1), int) else 4)",
    # Statements.
    "assignment": "a = b = val(log, 1, x)\nnote(log, a + b)",
    "assignment never read": "a = val(log, 1, x)\na = val(log, 2, x)",
    "assignment of nothing": "a = note(log, 1)\nnote(log, 2)",
    "augmented": "a = val(log, 1, x)\na += val(log, 2, x)\na *= val(log, 3, x)\nnote(log, a)",
    "annotated": "a: tl.int32 = val(log, 1, x)\nnote(log, a)",
    "annotated constexpr": "a: tl.constexpr = note(log, 1)\nnote(log, 2 if a is None else 3)",
    "annotation with an effect": "a: note(log, 1) = val(log, 2, x)\nnote(log, a)",
    "annotation alone": "a: note(log, 1)\nnote(log, 2)",
    "if": "if val(log, 1, x) > 3:\n    note(log, 2)\nelse:\n    note(log, 3)\nnote(log, 4)",
    "elif": "if x > 7:\n    note(log, 1)\nelif val(log, 2, x) > 3:\n    note(log, 3)\nelse:\n    note(log, 4)",
    "static if": "if C:\n    note(log, 1)\nelse:\n    note(log, 2)",
    "static if of an effect": "if note(log, 1) is None:\n    note(log, 2)\nelse:\n    note(log, 3)",
    "branches of equal stores": "if x > 3:\n    note(log, 1)\nelse:\n    note(log, 1)",
    "empty then": "if x > 3:\n    pass\nelse:\n    note(log, 1)",
    "for": "for i in range(val(log, 1, x)):\n    note(log, i)",
    "for over bounds": "for i in range(val(log, 1, 0), val(log, 2, x), val(log, 3, 2)):\n    note(log, i)",
    "for never": "for i in range(val(log, 1, 0)):\n    note(log, 2)\nnote(log, 3)",
    "for backwards": "for i in range(x, 0, -1):\n    note(log, i)",
    "for carrying a constant": "a = 0\nfor i in range(x):\n    a = a + val(log, i, 1)\nnote(log, a)",
    "for over a tuple": "for v in (1, 2, 3):\n    note(log, v)",
    "for over a call's tuple": "for v in pair(log, 1, x):\n    note(log, v)",
    "static_range": "for i in tl.static_range(3):\n    note(log, i)",
    "static_range with returns": "for i in tl.static_range(3):\n    early(log, x + i)",
    "loops in loops": "for i in range(2):\n    for j in range(i + 1):\n        note(log, i * 10 + j)",
    "while": "i = 0\nwhile val(log, 1, i) < x:\n    note(log, 2)\n    i += 1",
    "while never": "while val(log, 1, x) < 0:\n    note(log, 2)\nnote(log, 3)",
    "while statically never": "while note(log, 1) is not None:\n    note(log, 2)\nnote(log, 3)",
    "while with a conditional": "i = 0\nwhile i < 3:\n    note(log, i) if i + x > 3 else note(log, 10 + i)\n    i += 1",
    "assert": "assert val(log, 1, x) > 0\nnote(log, 2)",
    "assert with a message": "assert val(log, 1, x) > 0, 'x is positive'\nnote(log, 2)",
    "static_assert": "tl.static_assert(note(log, 1) is None)\nnote(log, 2)",
    "static_assert's message": "tl.static_assert(C, f'{note(log, 1)}')\nnote(log, 2)",
    "device_assert": "tl.device_assert(val(log, 1, x) > 0, 'message')\nnote(log, 2)",
    "static_print": "tl.static_print(note(log, 1), sep='')\nnote(log, 2)",
    "with": "with manager(note(log, 1)) as m, manager(m + 1):\n    note(log, 3)\nnote(log, 4)",
    "break": "for i in range(6):\n    note(log, i)\n    if i == x:\n        break\n    note(log, 9)\nnote(log, 10)",
    "continue": "for i in range(6):\n    note(log, i)\n    if i == x:\n        continue\n    note(log, 9)\n"
    "note(log, 10)",
    "break at once": "for i in range(3):\n    note(log, i)\n    break\n    note(log, 9)",
    "break of an unrolled loop": "for i in tl.static_range(5):\n    if val(log, i, x) == i:\n        break\n"
    "    note(log, 9)",
    "break that is pruned": "for i in range(3):\n    note(log, i)\n    if NO:\n        break",
    "break that is always taken": "for i in tl.static_range(5):\n    note(log, i)\n    if i == 2:\n        break",
    "condition behind a break": "i = 0\nwhile val(log, 1, i) < 5:\n    i += 1\n    if i > x:\n        break\n"
    "note(log, 2)",
    "condition behind a continue": "i = 0\nwhile val(log, 1, i) < 5:\n    i += 1\n    if i == x:\n        continue\n"
    "    note(log, 2)",
    "endless loop that breaks": "i = 0\nwhile True:\n    note(log, i)\n    if i > x:\n        break\n    i += 1",
    "inner break": "for i in range(3):\n    for j in range(4):\n        note(log, j)\n        if j > x:\n"
    "            break\n    if i > 1:\n        break\n    note(log, 9)",
    "break in an else": "for i in range(6):\n    if i < x:\n        note(log, i)\n    else:\n        note(log, 9)\n"
    "        break\n    note(log, 8)",
    "break in a nested if": "for i in range(6):\n    if i > 1:\n        if i > x:\n            note(log, 9)\n"
    "            break\n        note(log, 8)\n    note(log, i)",
    "break in a with": "for i in range(6):\n    with manager(note(log, 1)):\n        note(log, 2)\n"
    "        if i > x:\n            break\n        note(log, 3)\n    note(log, 4)",
    "break and a return": "for i in tl.static_range(5):\n    note(log, i)\n    if i == x:\n        break\n"
    "    if x > 4:\n        return\nnote(log, 9)",
    "early return of the kernel": "note(log, 1)\nif val(log, 2, x) > 3:\n    return\nnote(log, 3)",
    "return of a void call": "note(log, 1)\nif x > 3:\n    return note(log, 2)\nnote(log, 3)",
    "return of a conditional": "return note(log, 1) if x > 3 else note(log, 2)",
    "docstring and constants": "'text'\n5\nNone\nnote(log, 1)\n...\nx",
    "attribute of a call": "val(log, 1, x).dtype\nnote(log, 2)",
    "chained comparison": "if -9 < val(log, 1, x) < 3:\n    note(log, 3)",
    "walrus": "if (y := val(log, 1, x)) > 3 and (z := y + 1) < 9:\n    note(log, y)\nnote(log, y)",
    "walrus of a loop": "y = x\nwhile (y := val(log, 1, y - 1)) > 0:\n    note(log, y)\nnote(log, y)",
    "walrus in a comprehension": "[(y := i) + val(log, i, 0) for i in (1, 2)]\nnote(log, y)",
    "declared constants": "y: tl.constexpr\ny, z = 2, x\nnote(log, y + z)",
    "return behind a return": "note(log, 1)\nreturn\nnote(log, 2)",
}

REFUSED = {
    "lambda": "f = lambda: note(log, 1)\nf()",
    "nested function": "def f():\n    note(log, 1)\nf()",
    "nested coroutine": "async def f():\n    async for i in f():\n        await i\n    async with f():\n        pass",
    "class": "class A:\n    pass",
    "dictionary": "d = {'a': note(log, 1)}",
    "set": "s = {note(log, 1)}",
    "dictionary comprehension": "d = {i: note(log, i) for i in (1, 2)}",
    "set comprehension": "d = {note(log, i) for i in (1, 2)}",
    "comprehension of two loops": "[note(log, i) for i in (1, 2) for j in (1, 2)]",
    "try": "try:\n    note(log, 1)\nexcept Exception:\n    note(log, 2)",
    "try with groups": "try:\n    note(log, 1)\nexcept* Exception:\n    note(log, 2)",
    "raise": "raise note(log, 1)",
    "delete": "y = x\ndel y",
    "global": "global y\ny = x",
    "yield": "yield note(log, 1)",
    "yield from": "yield from note(log, 1)",
    "import": "import os",
    "import from": "from os import path",
    "for else": "for i in range(3):\n    note(log, i)\nelse:\n    note(log, 9)",
    "while else": "i = 0\nwhile i < 3:\n    i += 1\nelse:\n    note(log, 9)",
    "match": "match x:\n    case 1:\n        note(log, 1)",
    "unpacked keywords": "both(**{'a': note(log, 1)})",
    "keywords of a named tuple": "both(**pair(log, 1, x))",
    "assignment to an element": "log[0] = val(log, 1, x)",
    "augmented element": "log[val(log, 1, 0)] += 1",
    "assignment to an attribute": "val(log, 1, x).value = 3",
    "augmented attribute": "val(log, 1, x).value += 3",
    "f-string of a run-time value": "note(log, len(f'{val(log, 1, x)}'))",
    "message of an assertion that stores": "assert x > 0, f'{note(log, 1)}'",
    "endless loop": "while note(log, 1) is None:\n    note(log, 2)",
    "return in a loop": "for i in range(3):\n    return note(log, i)",
    "return in a with": "with manager(note(log, 1)):\n    return note(log, 2)",
    "ambiguous condition": "note(log, 1) if tl.arange(0, 4) > x else note(log, 2)",
    "conditional of different types": "y = val(log, 1, x) if x > 3 else note(log, 2)",
    "len by keyword": "note(log, len(obj=pair(log, 1, x)))",
}


class Manager:
    """What a `with` of a kernel enters: gives one more than it was made with."""

    def __init__(self, value: Any) -> None:
        self.value = 0 if value is None else value

    def __enter__(self) -> Any:
        return self.value

    def __exit__(self, *_: object) -> None:
        pass


def kernel(body: str, leaf: str) -> Any:
    """The form as a kernel, whose helpers append by `leaf`."""
    return defined(
        f"@jit{LEAVES[leaf]}{COMMON}\n@jit\ndef kernel(log, x, C: tl.constexpr, NO: tl.constexpr):\n{indented(body)}",
        tl,
    )


def defined(text: str, language: Any) -> Any:
    file = f"<form {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    jit = tritonx.jit if language is tl else lambda function: function
    namespace: dict[str, Any] = {"__name__": "forms", "jit": jit, "tl": language, "manager": manager}
    exec(compile(text, file, "exec"), namespace)
    return namespace["kernel"]


@tritonx.constexpr_function
def manager(value: Any) -> Any:
    return Manager(value)


def indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.splitlines())


class Number(int):
    """An int with what a scalar tensor has besides."""

    dtype = "int32"

    def to(self, _: Any) -> int:
        return self


PYTHON_LANGUAGE = SimpleNamespace(
    constexpr=None,
    int32="int32",
    int64="int64",
    static_range=range,
    maximum=max,
    load=lambda _: 0,
    where=lambda c, a, b: a if c else b,
    static_assert=lambda c, m="": None,
    device_assert=lambda c, m="": None,
    static_print=lambda *_, **__: None,
)


class Log(list[int]):
    """The log of plain Python, on which address arithmetic means nothing."""

    def __add__(self, _: Any) -> Any:
        return self


def in_python(body: str, x: int) -> list[int]:
    log = Log()
    text = f"{PYTHON_LEAVES}{COMMON}\ndef kernel(log, x, C, NO):\n{indented(body)}"
    defined(text, PYTHON_LANGUAGE)(log, Number(x), True, False)
    return list(log)


def run(made: Any, x: int) -> list[int]:
    log = np.full(LENGTH, -77, np.int32)
    log[0] = 0
    made[(1,)](log, x, True, False)
    return log[1 : 1 + log[0]].tolist()


OLDER = {"starred target": "3.8"}
"""A form that the newest level refuses, and the last level that takes it."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.level(OLDER[n])] if n in OLDER else []) for n in FORMS]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_effects_are_those_of_python(name: str, capsys: Any) -> None:
    form = FORMS[name]
    body, python = form if isinstance(form, tuple) else (form, form)
    leaf = SAMPLE.choice(list(LEAVES))
    compiled = kernel(body, leaf)
    for x in XS:
        expected = in_python(python, x)
        assert run(compiled, x) == expected, f"compiled, x = {x}, by {leaf}"
        assert run(interpreted(compiled), x) == expected, f"interpreted, x = {x}, by {leaf}"


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_refused_is_an_error(name: str) -> None:
    with pytest.raises(CompilationError):
        run(kernel(REFUSED[name], "store"), 5)


NEVER = {"Interactive", "Expression", "FunctionType", "Nonlocal", "TypeAlias", "TemplateStr", "Interpolation"}
"""Of no function's body, in need of a function around it, or newer than the oldest Python here."""


def test_every_node_of_the_grammar_is_in_a_form() -> None:
    bodies = [f if isinstance(f, str) else f[0] for f in FORMS.values()] + list(REFUSED.values())
    seen = {type(node).__name__ for body in bodies for node in ast.walk(ast.parse(f"def kernel():\n{indented(body)}"))}
    nodes = {c.__name__ for base in (ast.stmt, ast.expr) for c in base.__subclasses__() if c.__module__ == "ast"}
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis"}  # of before 3.8, kept for who asks
    assert not nodes - seen - NEVER - old, sorted(nodes - seen - NEVER - old)


def test_a_dropped_effect_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A construct that loses a block in which something is stored is an internal error, not a kernel without it."""
    monkeypatch.setattr("tritonx.frontend.codegen.branches.create_if", lambda *_: [])
    with pytest.raises(CompilationError, match="was generated and dropped"):
        made = kernel("note(log, 1) if x > 3 else note(log, 2)", "store")
        make_module(made, {"log": "*i32", "x": "i32"}, {(2,): True, (3,): False}, {}, Options(), Target("cpu"))


assert sys.version_info >= (3, 11), "except* stands in the forms"
