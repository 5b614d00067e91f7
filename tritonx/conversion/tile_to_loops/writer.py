"""What a host's functions have besides instructions and blocks: counted loops with their cost, phis, indices, lanes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from xdsl.ir import Operation

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.llvm_writer import Module, Writer


class Lanes(NamedTuple):
    """An SSA name or constant: one scalar (``width`` 0: the same in every lane) or a vector of ``width`` lanes."""

    text: str
    width: int


class LoopWriter(Writer):
    """The body of one function for a host."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.lines = ["entry:"]
        self.terminated = False
        self.cost = 0
        """Estimated instructions executed: lines, each times the trip counts of the loops around it."""
        self.trips = 1
        self.loops: list[tuple[int, int]] = []
        """The first and last lines of every loop."""
        self._prologue: list[str] = []
        self.origins: list[Operation | None] = []
        """The op that each line is of, as far as `of` has been told."""
        self._op: Operation | None = None

    @contextmanager
    def of(self, op: Operation | None) -> Generator[None]:
        """What is written inside is of ``op``, but for what is of an op inside; None: of what it was before."""
        before = self._op
        self._close(op or before)
        yield
        self._close(before)

    def _close(self, following: Operation | None) -> None:
        self.origins += [self._op] * (len(self.lines) - len(self.origins))
        self._op = following

    # ---- instructions

    def inst(self, text: str) -> str:
        self.cost += self.trips
        return super().inst(text)

    def alloca(self, expression: str) -> str:
        """A stack slot made once, at the function's entry."""
        self._counter += 1
        name = f"%s{self._counter}"
        self._prologue.append(f"  {name} = alloca {expression}")
        return name

    # ---- blocks: behind a terminator no branch is written

    def label(self, label: str) -> None:
        super().label(label)
        self.terminated = False

    def branch(self, label: str, mark: str = "") -> None:
        if not self.terminated:
            super().branch(label, mark)
        self.terminated = True

    def branch_if(self, condition: str, then: str, otherwise: str) -> None:
        super().branch_if(condition, then, otherwise)
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
        header = self.new_label(stem)
        self.enter(header)
        self._counter += 1
        index, following = f"%i{self._counter}", f"%n{self._counter}"
        at = len(self.lines)
        self.lines.append("")
        trips = -(-upper // step)
        self.trips *= trips
        yield index
        self.trips //= trips
        self.lines[at] = f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{self.block} ]"
        self.line(f"{following} = add nuw nsw i64 {index}, {step}")
        done = self.inst(f"icmp eq i64 {following}, {trips * step}")
        after = self.new_label(stem)
        self.branch_if(done, after, header)
        self.loops.append((at - 1, len(self.lines)))
        self.label(after)

    @contextmanager
    def loop_between(
        self,
        stem: str,
        lower: str,
        upper: str,
        step: int,
        trips: int,
        follow: Callable[[str, str], str] = lambda _, after: after,
    ) -> Generator[str]:
        """A loop lower, lower + step, … < upper, which may have no iteration; ``trips`` is what it is taken to run.
        ``follow`` gives the index that follows one, of which it gets that and the sum with the step.
        """
        before, header, inside, after = self.block, *(self.new_label(stem) for _ in range(3))
        self.enter(header)
        self._counter += 1
        index = f"%i{self._counter}"
        at = len(self.lines)
        self.lines.append("")
        self.branch_if(self.inst(f"icmp slt i64 {index}, {upper}"), inside, after)
        self.label(inside)
        self.trips *= trips
        yield index
        self.trips //= trips
        following = follow(index, self.inst(f"add nuw nsw i64 {index}, {step}"))
        self.lines[at] = f"  {index} = phi i64 [ {lower}, %{before} ], [ {following}, %{self.block} ]"
        self.branch(header)
        self.loops.append((at - 1, len(self.lines)))
        self.label(after)

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
        return self.inst(f"add nsw i64 {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        if a == "0" or b == "0":
            return "0"
        if a == "1":
            return b
        if b == "1":
            return a
        if _constant(a) and _constant(b):
            return str(int(a) * int(b))
        return self.inst(f"mul nsw i64 {a}, {b}")

    # ---- vectors

    def splat(self, llvm_type: str, scalar: str, width: int) -> str:
        """`scalar` in every lane; the scalar itself for width 0."""
        if not width:
            return scalar
        if scalar[0] != "%" and scalar[0] != "@":
            return f"splat ({llvm_type} {scalar})" if scalar not in ("zeroinitializer", "poison") else scalar
        v = vector(llvm_type, width)
        one = self.inst(f"insertelement {v} poison, {llvm_type} {scalar}, i64 0")
        return self.inst(f"shufflevector {v} {one}, {v} poison, <{width} x i32> zeroinitializer")

    def widen(self, llvm_type: str, value: Lanes, width: int) -> str:
        """`value` at `width` lanes: a scalar is repeated."""
        return value.text if value.width == width else self.splat(llvm_type, value.text, width)

    def shuffle(self, llvm_type: str, a: str, b: str, source_width: int, lanes: list[int]) -> str:
        """`shufflevector` of two vectors of `source_width` lanes."""
        v = vector(llvm_type, source_width)
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.inst(f"shufflevector {v} {a}, {v} {b}, <{len(lanes)} x i32> <{mask}>")

    def extract(self, llvm_type: str, value: Lanes, lane: int | str) -> str:
        if not value.width:
            return value.text
        return self.inst(f"extractelement {vector(llvm_type, value.width)} {value.text}, i64 {lane}")


class Phis:
    """Phi nodes of a loop's header, entered from block `before`, whose values from the loop's end come later."""

    def __init__(self, writer: LoopWriter, before: str) -> None:
        self.writer = writer
        self.before = before
        self.lines: list[tuple[int, str, str, str]] = []

    def add(self, ty: str, initial: str) -> str:
        name = self.writer.inst(f"phi {ty}")
        self.lines.append((len(self.writer.lines) - 1, name, ty, initial))
        return name

    def close(self, following: list[str]) -> None:
        """What each is in the next iteration, known in the current block."""
        w = self.writer
        for (at, name, ty, initial), value in zip(self.lines, following, strict=True):
            w.lines[at] = f"  {name} = phi {ty} [ {initial}, %{self.before} ], [ {value}, %{w.block} ]"


def _constant(text: str) -> bool:
    return text.lstrip("-").isdigit()
