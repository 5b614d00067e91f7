"""Random kernels with products of tiles that they load through pointers: nests of loops, pointers that move and that
are made anew, indices of many terms, kept below a bound or masked. What they read lies in the middle of an array, so
that a block that begins elsewhere gives other numbers. Sums are exact."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl

SIZE, MIDDLE = 336, 96
"""Of each array, along both dims, and where its indices are 0."""

TILE = 16
_NUMBERS = count()


@dataclass(frozen=True)
class RandomRegular:
    """A launch; the output is the third argument."""

    source: str
    kernel: Any
    grid: tuple[int, ...]
    args: tuple[Any, ...]


def fresh(one: RandomRegular) -> list[Any]:
    """Arguments of its own, for each launch."""
    return [each.copy() if isinstance(each, np.ndarray) else each for each in one.args]


def random_regular(random: Random, *, flatten: bool = False) -> RandomRegular:
    """A kernel of the draw's; with ``flatten`` of tiles, one after the other, in one loop."""
    source = _Writer(random, flatten=flatten).kernel()
    name = f"<random regular {next(_NUMBERS)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"tl": tl}
    exec(compile(source, name, "exec"), names)
    rng = np.random.default_rng(random.randrange(1 << 30))
    dtype = random.choice((np.float16, np.float16, np.float32, np.int8))
    a, b = (rng.integers(-2, 3, (SIZE, SIZE)).astype(dtype) for _ in range(2))
    grid = random.choice((1, 2)), random.choice((1, 2))
    o = np.full((2 * 2 * 8, TILE, TILE), np.nan, np.float32)
    bounds = [random.choice((-20, -1, 0, 2, 7, 16, 20, 33, 64)) for _ in range(2)]
    if "assume(n > 0)" in source:
        bounds[0] = max(bounds[0], 2)
    table = rng.integers(0, 32, 8).astype(np.int32)
    counts = [random.choice((0, 1, 1, 2, 3)) for _ in range(2)]
    args = (a, b, o, table, *bounds, *counts, random.choice((-8, 0, 8, 16)), SIZE)
    return RandomRegular(source, tritonx.jit(names["kernel"]), grid, args)


class _Writer:
    def __init__(self, random: Random, *, flatten: bool) -> None:
        self.random = random
        self.flatten = flatten
        self.counters: list[str] = []
        """Of the loops around."""
        self.lines: list[str] = []
        self.depth = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def kernel(self) -> str:
        random = self.random
        self.lines.append("def kernel(a_ptr, b_ptr, o_ptr, t_ptr, n, m, steps, rounds, shift, stride):")
        if random.random() < 0.6:
            self.line("tl.assume(stride > 0)")
        if random.random() < 0.3:
            self.line("tl.assume(n > 0)")
        self.line("one, two = tl.program_id(0), tl.program_id(1)")
        if random.random() < 0.15:
            self.line("two = two.to(tl.int64)")
        self.line(f"r, c = tl.arange(0, {TILE}), tl.arange(0, {TILE})")
        self.line(f"total = tl.zeros(({TILE}, {TILE}), tl.float32)")
        self.operands = [_Operand(self, "a"), _Operand(self, "b")]
        depth = 2 if self.flatten else random.choice((1, 1, 2, 2, 3))
        for each in self.operands:
            each.in_front()
        if not self.flatten and random.random() < 0.15:
            self.line("if n < 30:")
            self.depth += 1
        self.loops(depth, depth)
        self.depth = 1
        if not self.flatten:
            self.store("one * 2 + two")
        return "\n".join(self.lines) + "\n"

    def store(self, at: str) -> None:
        masks = dict.fromkeys(each.stored for each in self.operands if each.stored)
        mask = f", mask={' & '.join(masks)}" if masks else ""
        self.line(f"tl.store(o_ptr + ({at}) * {TILE * TILE} + r[:, None] * {TILE} + c[None, :], total{mask})")

    def loops(self, depth: int, left: int) -> None:
        random = self.random
        counter = "ijk"[depth - left]
        last = left == 1
        first = random.choice(("0", "0", "0", "1", *self.counters)) if not self.flatten else "0"
        end = random.choice(("steps", "steps", "2", "3"))
        step = random.choice(("1", "1", "2"))
        if self.flatten and not last:
            first, end, step = "0", "rounds", "1"
        options = ", flatten=True" if self.flatten and not last else ""
        self.line(f"for {counter} in tl.range({first}, {end}, {step}{options}):")
        self.depth += 1
        self.counters.append(counter)
        if self.flatten and not last:
            self.line(f"total = tl.zeros(({TILE}, {TILE}), tl.float32)")
            for each in self.operands:
                each.anew()
        elif left == 2:
            for each in self.operands:
                if each.begins_anew:
                    each.anew()
        if last:
            self.body()
        else:
            self.loops(depth, left - 1)
            for each in self.operands:
                each.behind_loop()
            if self.flatten:
                self.store("(one * 2 + two) * 8 + i")
        self.counters.pop()
        self.depth -= 1

    def body(self) -> None:
        for each in self.operands:
            each.load()
        half = ".to(tl.float16)"
        self.line(f"total = tl.dot(x_a{half}, x_b{half}, total)")
        for each in self.operands:
            each.move()

    def scalar(self, *, fixed: bool = False, whole: bool = False) -> str:
        """A term of an index; with `whole` a multiple of 16."""
        random = self.random
        terms = ["16", "-16", f"one * {TILE}", "two * 32", "(shift * 2)"]
        terms += [] if whole else ["8", "1", "two * 8", "n", "one", "shift", "3"]
        if not fixed:
            for each in self.counters:
                terms += [f"{each} * {TILE}"] * 3 + [f"{each} * {each} * 16"]
                terms += [] if whole else [f"{each} * 8", each, f"{each} * {each} * 8"]
                terms += [f"{each} * n"] if random.random() < 0.1 and not whole else []
                terms += [f"tl.load(t_ptr + {each})"] if random.random() < 0.1 and not whole else []
        chosen = random.choice(terms)
        return f"({chosen})" if random.random() < 0.9 or chosen.strip("-").isdigit() else f"({chosen}).to(tl.int64)"


class _Operand:
    """One of the tiles that are multiplied; `x_<name>` in the end."""

    def __init__(self, writer: _Writer, name: str) -> None:
        random = writer.random
        self.writer, self.name, self.random = writer, name, random
        self.moving = random.random() < 0.4
        self.begins_anew = random.random() < 0.9
        """Whether a pointer that moves does so in the innermost loop alone."""
        self.turned = random.random() < 0.4
        self.stride = random.choice(("stride", "stride", str(SIZE)))
        self.stored = ""
        """What stores it must be masked by."""
        self.bound = random.choice(("n", "m", "24"))
        self.confined = random.choice(("", "", "", "", "%", "min", "where"))
        self.steps: list[str] = []
        self.fixed = [self.terms(dim, fixed=True) for dim in range(2)]

    def terms(self, dim: int, *, fixed: bool) -> list[str]:
        whole = (dim != self.turned) and self.random.random() < 0.95
        number = self.random.choice((0, 0, 1, 1, 2))
        return [self.writer.scalar(fixed=fixed, whole=whole) for _ in range(number)]

    def strides(self) -> tuple[str, str]:
        return ("1", self.stride) if self.turned else (self.stride, "1")

    def in_front(self) -> None:
        """In front of all loops."""
        if self.confined:
            dim = int(self.name == "b")
            place, at = "rc"[dim], ("[:, None]", "[None, :]")[dim]
            index = " + ".join((place, *self.fixed[dim]))
            bound = f"tl.maximum({self.bound}, 1)" if self.random.random() < 0.5 else self.bound
            if bound == self.bound and self.bound != "24":
                self.writer.line(f"{self.bound} = tl.where({self.bound} > 0, {self.bound}, 5)")
            kept = {
                "%": f"({index}) % {bound}",
                "min": f"tl.minimum({index}, {bound} - 1)",
                "where": f"tl.where(({index}) < {bound}, {index}, 0)",
            }[self.confined]
            self.writer.line(f"kept_{self.name} = {kept}")
            self.writer.line(f"begin_{self.name} = {index}")
            if self.random.random() < 0.95:
                self.stored = f"(begin_{self.name}{at} < {bound})"
        self.anew()

    def anew(self) -> None:
        if self.moving:
            self.writer.line(f"p_{self.name} = {self.pointers(fixed=not self.writer.counters)}")

    def index(self, dim: int, *, fixed: bool) -> str:
        if self.confined and dim == int(self.name == "b"):
            return f"kept_{self.name}"
        return " + ".join(("rc"[dim], *self.fixed[dim], *([] if fixed else self.terms(dim, fixed=False))))

    def pointers(self, *, fixed: bool) -> str:
        rows, columns = (f"({self.index(dim, fixed=fixed)})" for dim in range(2))
        more = [self.writer.scalar(fixed=fixed, whole=True) for _ in range(self.random.choice((0, 0, 0, 1)))]
        row, column = self.strides()
        added = "".join(f" + {each} * {self.random.choice((self.stride, '16'))}" for each in more)
        base = f"{self.name}_ptr + {MIDDLE} * {self.stride} + {MIDDLE}{added}"
        return f"{base} + {rows}[:, None] * {row} + {columns}[None, :] * {column}"

    def load(self) -> None:
        writer, random = self.writer, self.random
        pointers = f"p_{self.name}"
        kept: list[str] = []
        if not self.moving:
            for dim in range(2):
                writer.line(f"at_{self.name}{dim} = {self.index(dim, fixed=False)}")
            row, column = self.strides()
            more = [writer.scalar(whole=True) for _ in range(random.choice((0, 0, 0, 1)))]
            added = "".join(f" + {each} * {random.choice((self.stride, '16'))}" for each in more)
            further = [random.choice(("", "", "", " + 16", " - 16", " + (shift * 2)")) for _ in range(2)]
            further[not self.turned] = random.choice((further[not self.turned], "", " + 4", " + one"))
            pointers = (
                f"{self.name}_ptr + {MIDDLE} * {self.stride} + {MIDDLE}{added}"
                f" + (at_{self.name}0{further[0]})[:, None] * {row} + (at_{self.name}1{further[1]})[None, :] * {column}"
            )
        for dim in range(2) if not self.moving or random.random() < 0.3 else ():
            at = ("[:, None]", "[None, :]")[dim]
            index = f"at_{self.name}{dim}" if not self.moving else f"({self.index(dim, fixed=random.random() < 0.8)})"
            kept += self.masks(f"{index}{at}")
        masked = f", mask={' & '.join(kept)}" if kept else ""
        if masked and random.random() < 0.9:
            masked += ", other=0"
        writer.line(f"x_{self.name} = tl.load({pointers}{masked})")

    def masks(self, index: str) -> list[str]:
        random, found = self.random, list[str]()
        if random.random() < 0.3:
            bound = random.choice(("n", "m", "20", "n - shift"))
            found.append(random.choice((f"({index} < {bound})", f"({bound} > {index})", f"({index} <= {bound} - 1)")))
        if random.random() < 0.2:
            least = random.choice(("0", "0", "0", "0", "0", "3", "-8"))
            found.append(random.choice((f"({index} >= {least})", f"({least} <= {index})", f"({index} > {least} - 1)")))
        return found

    def move(self) -> None:
        if self.moving:
            self.writer.line(f"p_{self.name} += {self.step()}")

    def behind_loop(self) -> None:
        if self.moving and not self.begins_anew and self.random.random() < 0.3:
            self.writer.line(f"p_{self.name} += {self.step()}")

    def step(self) -> str:
        return self.random.choice(
            ("16", "16", "16", "32", f"{TILE} * {self.stride}", f"8 * {self.stride}", "shift", "-16")
        )
