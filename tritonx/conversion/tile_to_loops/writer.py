"""Writing LLVM IR as text: one `Module` of functions, a `Writer` for the body of each, `Phis` for its loops.

A line costs 0.2–0.45 µs as an f-string; building the same through a Python IR costs ten times that (xdsl-notes, Costs).
Nothing is checked here: LLVM in this build aborts the process on malformed IR, so each emit function is written against
LLVM's reference and tested on every width that it can meet.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from tritonx.conversion.llvm_text import string_constant, vector


class Lanes(NamedTuple):
    """An SSA name or constant: one scalar (``width`` 0: the same in every lane) or a vector of ``width`` lanes."""

    text: str
    width: int


class Module:
    """Function definitions, declarations and constants, each once."""

    def __init__(self) -> None:
        self._declarations: dict[str, str] = {}
        self._functions: dict[str, str] = {}
        self._globals: dict[str, str] = {}

    def declare(self, name: str, signature: str) -> None:
        """``signature`` is the whole line after `declare`."""
        self._declarations.setdefault(name, f"declare {signature}")

    def define(self, name: str, text: str) -> None:
        self._functions[name] = text

    def defines(self, name: str) -> bool:
        return name in self._functions

    def string(self, text: str) -> str:
        """A private zero-terminated constant; equal strings share one."""
        name = f"@tx.str.{len(self._globals)}"
        return self._globals.setdefault(f"private unnamed_addr constant {string_constant(text)}", name)

    def global_(self, name: str, text: str) -> None:
        self._globals[text] = name

    def print(self, header: str) -> str:
        constants = [f"{name} = {text}" for text, name in self._globals.items()]
        return "\n".join([header, *constants, *self._declarations.values(), *self._functions.values(), ""])


class Writer:
    """The body of one function: numbered values, labelled blocks, structured loops."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = ["entry:"]
        self.block = "entry"
        self.terminated = False
        self.cost = 0
        """Estimated instructions executed: lines, each times the trip counts of the loops around it."""
        self.trips = 1
        self.loops: list[tuple[int, int]] = []
        """The first and last lines of every loop."""
        self._count = 0
        self._prologue: list[str] = []

    # ---- instructions

    def let(self, expression: str) -> str:
        """`%n = expression`; the new name."""
        self._count += 1
        self.cost += self.trips
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def do(self, line: str) -> None:
        self.lines.append("  " + line)

    def call(self, result_type: str, name: str, *arguments: tuple[str, str]) -> str:
        """Call the function or intrinsic `name` with (type, value) arguments, declaring it."""
        types = ", ".join(t for t, _ in arguments)
        if not self.module.defines(name):
            self.module.declare(name, f"{result_type} @{name}({types})")
        values = ", ".join(f"{t} {v}" for t, v in arguments)
        if result_type == "void":
            self.do(f"call void @{name}({values})")
            return ""
        return self.let(f"call {result_type} @{name}({values})")

    def alloca(self, expression: str) -> str:
        """A stack slot made once, at the function's entry."""
        self._count += 1
        name = f"%s{self._count}"
        self._prologue.append(f"  {name} = alloca {expression}")
        return name

    # ---- blocks

    def fresh_label(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def label(self, name: str) -> None:
        """Start block `name`; falls through from the current block if that is still open."""
        if not self.terminated:
            self.lines.append(f"  br label %{name}")
        self.lines.append(f"{name}:")
        self.block = name
        self.terminated = False

    def branch(self, target: str) -> None:
        if not self.terminated:
            self.lines.append(f"  br label %{target}")
        self.terminated = True

    def branch_if(self, condition: str, then: str, otherwise: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{then}, label %{otherwise}")
        self.terminated = True

    def return_(self) -> None:
        self.lines.append("  ret void")
        self.terminated = True

    @contextmanager
    def loop(self, stem: str, upper: int, step: int = 1) -> Generator[str]:
        """A counted loop 0, step, … < upper (static, upper > 0); yields the i64 index. One iteration makes no loop."""
        if upper <= step:
            yield "0"
            return
        before = self.block
        header = self.fresh_label(stem)
        self.label(header)
        self._count += 1
        index, following = f"%i{self._count}", f"%n{self._count}"
        at = len(self.lines)
        self.lines.append("")
        trips = -(-upper // step)
        self.trips *= trips
        yield index
        self.trips //= trips
        self.lines[at] = f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{self.block} ]"
        self.do(f"{following} = add nuw nsw i64 {index}, {step}")
        done = self.let(f"icmp eq i64 {following}, {trips * step}")
        after = self.fresh_label(stem)
        self.branch_if(done, after, header)
        self.loops.append((at - 1, len(self.lines)))
        self.label_only(after)

    def label_only(self, name: str) -> None:
        """Start block `name` without a fall-through."""
        self.lines.append(f"{name}:")
        self.block = name
        self.terminated = False

    def body(self) -> str:
        """The function's text between its braces."""
        return "\n".join([self.lines[0], *self._prologue, *self.lines[1:]])

    # ---- small arithmetic on i64 indices, folded where both sides are constants

    def add(self, a: str, b: str) -> str:
        if a == "0":
            return b
        if b == "0":
            return a
        if _constant(a) and _constant(b):
            return str(int(a) + int(b))
        return self.let(f"add nsw i64 {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        if a == "0" or b == "0":
            return "0"
        if a == "1":
            return b
        if b == "1":
            return a
        if _constant(a) and _constant(b):
            return str(int(a) * int(b))
        return self.let(f"mul nsw i64 {a}, {b}")

    # ---- vectors

    def splat(self, llvm_type: str, scalar: str, width: int) -> str:
        """`scalar` in every lane; the scalar itself for width 0."""
        if not width:
            return scalar
        if scalar[0] != "%" and scalar[0] != "@":
            return f"splat ({llvm_type} {scalar})" if scalar not in ("zeroinitializer", "poison") else scalar
        v = vector(llvm_type, width)
        one = self.let(f"insertelement {v} poison, {llvm_type} {scalar}, i64 0")
        return self.let(f"shufflevector {v} {one}, {v} poison, <{width} x i32> zeroinitializer")

    def widen(self, llvm_type: str, value: Lanes, width: int) -> str:
        """`value` at `width` lanes: a scalar is repeated."""
        return value.text if value.width == width else self.splat(llvm_type, value.text, width)

    def shuffle(self, llvm_type: str, a: str, b: str, source_width: int, lanes: list[int]) -> str:
        """`shufflevector` of two vectors of `source_width` lanes."""
        v = vector(llvm_type, source_width)
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.let(f"shufflevector {v} {a}, {v} {b}, <{len(lanes)} x i32> <{mask}>")

    def extract(self, llvm_type: str, value: Lanes, lane: int | str) -> str:
        if not value.width:
            return value.text
        return self.let(f"extractelement {vector(llvm_type, value.width)} {value.text}, i64 {lane}")


class Phis:
    """Phi nodes of a loop's header, entered from block `before`, whose values from the loop's end come later."""

    def __init__(self, writer: Writer, before: str) -> None:
        self.writer = writer
        self.before = before
        self.lines: list[tuple[int, str, str, str]] = []

    def add(self, ty: str, initial: str) -> str:
        name = self.writer.let(f"phi {ty}")
        self.lines.append((len(self.writer.lines) - 1, name, ty, initial))
        return name

    def close(self, following: list[str]) -> None:
        """What each is in the next iteration, known in the current block."""
        w = self.writer
        for (at, name, ty, initial), value in zip(self.lines, following, strict=True):
            w.lines[at] = f"  {name} = phi {ty} [ {initial}, %{self.before} ], [ {value}, %{w.block} ]"


def _constant(text: str) -> bool:
    return text.lstrip("-").isdigit()
