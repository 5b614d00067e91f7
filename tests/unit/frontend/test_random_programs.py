"""Random programs of nested branches, loops that are left early, and early returns mean compiled what they mean in
Python.

Others with every run's seed; `TRITONX_RANDOM_PROGRAMS=600` draws so many."""

from __future__ import annotations

import importlib.util
import itertools
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SEED = int(os.environ["TRITONX_SEED"])
COUNT = int(os.environ.get("TRITONX_RANDOM_PROGRAMS", "40"))

NAMES = ("a", "b", "c", "d")
HEADER = """import tritonx.language as tl
from tritonx.runtime.jit import jit


@jit
def kernel(out, x, y):
    pid = tl.program_id(0)
    tl.store(out + pid, program(tl.load(x + pid), tl.load(y + pid)))


"""


class Writer:
    """Writes one random program; every assignment keeps its value in 0..1023, where int32 and Python agree."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters = itertools.count()
        self.helpers: list[str] = []
        self.variables: list[str] = []
        """Those of the loops around."""

    def text(self) -> str:
        helpers = [self.function(f"helper{i}", ("a", "b"), 2) for i in range(2)]
        self.helpers = ["helper0", "helper1"]
        return HEADER + "\n\n".join([*helpers, self.function("program", ("a", "b"), 4)])

    def function(self, name: str, parameters: tuple[str, ...], depth: int) -> str:
        header = f"@jit\ndef {name}({', '.join(parameters)}):"
        self.lines = [header, "    c = a + 1", "    d = b + 2"]
        self.block(1, depth, loops=0, size=6, within=False)
        self.lines.append("    return (a + b * 3 + c * 5 + d * 7) & 1023")
        return "\n".join(self.lines) + "\n"

    def emit(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def atom(self) -> str:
        return self.random.choice([*NAMES, *self.variables, str(self.random.randrange(8))])

    def value(self) -> str:
        kind = self.random.randrange(6)
        if kind == 0 and self.helpers:
            return f"{self.random.choice(self.helpers)}({self.atom()} & 15, {self.atom()} & 15)"
        if kind == 1:
            return f"({self.atom()} if {self.condition()} else {self.atom()})"
        return f"(({self.atom()} {self.random.choice('+-*&|^')} {self.atom()}) & 1023)"

    def condition(self) -> str:
        test = f"{self.atom()} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {self.atom()}"
        kind = self.random.randrange(6)
        if kind == 0:
            return f"({test}) and ({self.atom()} > {self.atom()})"
        if kind == 1:
            return f"not ({test})"
        return test

    def block(self, indent: int, depth: int, loops: int, size: int, within: bool) -> None:
        """``loops``: how many run-time loops are around; ``within``: whether any loop is."""
        for _ in range(self.random.randint(1, size)):
            self.statement(indent, depth, loops, within)

    def leave(self, indent: int, loops: int, within: bool, chance: float) -> None:
        """Perhaps the end of a block: out of the function, the loop, or the iteration."""
        ways = ["break", "continue"] if within else []
        ways += [] if loops else ["return"]
        if self.random.random() < chance and ways:
            way = self.random.choice(ways)
            self.emit(indent, way if way != "return" else f"return {self.value()}")

    def body(self, indent: int, depth: int, loops: int, size: int) -> None:
        """Of a loop."""
        self.block(indent, depth, loops, size, within=True)
        self.leave(indent, loops, True, 0.1)

    def statement(self, indent: int, depth: int, loops: int, within: bool) -> None:
        kind = self.random.randrange(12)
        if kind < 4 or depth == 0:
            self.emit(indent, f"{self.random.choice(NAMES)} = {self.value()}")
        elif kind == 4:
            first, second = self.random.sample(NAMES, 2)
            self.emit(indent, f"{first}, {second} = {second}, {self.value()}")
        elif kind < 8:
            self.emit(indent, f"if {self.condition()}:")
            self.block(indent + 1, depth - 1, loops, 3, within)
            self.leave(indent + 1, loops, within, 0.35)
            if self.random.random() < 0.6:
                self.emit(indent, "else:")
                self.block(indent + 1, depth - 1, loops, 3, within)
                self.leave(indent + 1, loops, within, 0.2)
        elif kind < 10:
            bounds = self.random.choice(["{} & 3", "{} & 3, 4", "1, {} & 7, 2", "{} & 3, -2, -1", "5, {} & 3, -2"])
            function = self.random.choice(["range", "tl.range"])
            variable = self.random.choice([name for name in "ijkl" if name not in self.variables])
            self.emit(indent, f"for {variable} in {function}({bounds.format(self.atom())}):")
            self.variables.append(variable)
            self.body(indent + 1, depth - 1, loops + 1, 3)
            self.variables.pop()
        elif kind == 10:
            variable = f"s{next(self.counters)}"
            self.emit(indent, f"for {variable} in tl.static_range({self.random.randint(0, 3)}):")
            self.emit(indent + 1, f"{self.random.choice(NAMES)} = {self.value()} + {variable}")
            self.variables.append(variable)
            self.body(indent + 1, depth - 1, loops, 2)
            self.variables.pop()
        else:
            counter = f"w{next(self.counters)}"
            self.emit(indent, f"{counter} = {self.atom()} & 3")
            endless = self.random.random() < 0.3
            self.emit(indent, "while True:" if endless else f"while ({counter} > 0) & ({self.atom()} >= 0):")
            self.emit(indent + 1, f"{counter} -= 1")
            if endless:
                self.emit(indent + 1, f"if {counter} < 0:")
                self.emit(indent + 2, "break")
            self.body(indent + 1, depth - 1, loops + 1, 2)


def load(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def as_python(source: str) -> Callable[[int, int], int]:
    scope: dict[str, Any] = {}
    body = source[source.index("@jit\ndef helper0") :].replace("@jit\n", "")
    exec(body.replace("tl.static_range", "range").replace("tl.range", "range"), scope)
    return scope["program"]


@pytest.mark.parametrize("number", range(COUNT))
def test_program(number: int, build: Callable[..., Any], tmp_path: Path) -> None:
    from tritonx.interpreter.function import interpreted
    from tritonx.interpreter.machine import interpret

    seed = SEED + number
    source = Writer(seed).text()
    path = tmp_path / "program.py"
    path.write_text(source)
    kernel = load(path, f"random_program_{seed}").kernel
    values = np.random.default_rng(seed).integers(0, 12, size=(12, 2)).astype(np.int32)
    plain = as_python(source)
    expected = [plain(int(x), int(y)) for x, y in values]
    module = build(kernel, {"out": "*i32", "x": "*i32", "y": "*i32"})
    out = np.full(len(values), -1, np.int32)
    columns = [np.ascontiguousarray(values[:, i]) for i in range(2)]
    interpret(module, (len(values),), [out, *columns])
    by_lines = np.full(len(values), -1, np.int32)
    interpreted(kernel)[(len(values),)](by_lines, *columns)
    assert out.tolist() == expected, f"seed {seed}\n{source}"
    assert by_lines.tolist() == expected, f"seed {seed}, by lines\n{source}"
