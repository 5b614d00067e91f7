"""Control flow of random kernels on blocks: branches, loops that are left early, tuples that loops carry, functions
that return early."""

from __future__ import annotations

from collections.abc import Sequence

from tritonx_testing.conformance.random_blocks.statements import SMALL
from tritonx_testing.conformance.random_blocks.writer import Value, Writer


def block(w: Writer, length: int, depth: int) -> None:
    """About `length` statements, nested up to `depth` deep."""
    for _ in range(length):
        if depth and w.random.random() < 0.25:
            w.random.choice((branch, branch, counted_loop, counted_loop, while_loop, unrolled, tuple_loop, call))(
                w, depth - 1
            )
        else:
            w.random.choice(SMALL)(w)


def carried(w: Writer) -> list[Value]:
    """New variables that a nested block may change."""
    made: list[Value] = []
    for _ in range(w.random.randint(1, 2)):
        value = w.random.choice(w.values[-10:])
        made.append(w.define(value.name, value.dtype, value.shape))
    return made


def changed(w: Writer, values: Sequence[Value]) -> None:
    """The variables get new values of their types."""
    for value in values:
        other = w.exactly(value.shape, value.dtype).name
        operator = "^" if value.dtype == "int1" else "+"
        text = f"{value.name} {operator} {other}"
        w.line(f"{value.name} = {text if value.dtype == 'int1' else w.cast(text, value.dtype)}")


def leaving(w: Writer, values: Sequence[Value]) -> None:
    """Perhaps out of the loop, or of the iteration."""
    if w.loops and w.random.random() < 0.5:
        w.line(f"if {w.condition()}:")
        with w.inside():
            if w.random.random() < 0.5:
                changed(w, values)
            w.line(w.random.choice(("break", "continue")))


def branch(w: Writer, depth: int) -> None:
    values = carried(w)
    w.line(f"if {w.condition()}:")
    with w.inside():
        block(w, w.random.randint(1, 3), depth)
        changed(w, values)
        if w.loops and w.random.random() < 0.3:
            w.line(w.random.choice(("break", "continue")))
    if w.random.random() < 0.6:
        w.line("else:")
        with w.inside():
            block(w, w.random.randint(1, 3), depth)
            changed(w, values)


def body(w: Writer, depth: int, values: Sequence[Value]) -> None:
    """Of a loop."""
    w.loops += 1
    block(w, w.random.randint(1, 2), depth)
    leaving(w, values)
    changed(w, values)
    if w.random.random() < 0.3:
        block(w, 1, depth)
        leaving(w, values)
    w.loops -= 1


def counted_loop(w: Writer, depth: int) -> None:
    values, counter = carried(w), w.fresh("i")
    bounds = w.random.choice(("{}", "{}, 4", "1, {}, 2", "{}, -1, -1", "{}, -2, -2"))
    bounds = bounds.format(w.random.choice((str(w.random.randint(0, 3)), w.below(4))))
    w.line(f"for {counter} in {w.random.choice(('range', 'tl.range'))}({bounds}):")
    with w.inside():
        w.define(counter, "int32", ())
        body(w, depth, values)


def unrolled(w: Writer, depth: int) -> None:
    """The number of the iteration is a constant of the compile, and part of a slice."""
    values, counter = carried(w), w.fresh("i")
    w.line(f"for {counter} in tl.static_range({w.random.randint(0, 3)}):")
    with w.inside():
        blocks = [v for v in w.values if v.shape and v.shape[0] >= 4]
        if blocks:
            value = w.random.choice(blocks[-6:])
            count = value.shape[0] - 3
            w.define(f"{value.name}[{counter} : {counter} + {count}]", value.dtype, (count, *value.shape[1:]))
            w.define(f"{value.name}[{counter}]", value.dtype, value.shape[1:])
        body(w, depth, values)


def while_loop(w: Writer, depth: int) -> None:
    values, counter = carried(w), w.fresh("w")
    w.line(f"{counter} = {w.below(4)}")
    endless = w.random.random() < 0.3
    w.line("while True:" if endless else f"while {counter} > 0:")
    with w.inside():
        w.line(f"{counter} = {counter} - 1")
        if endless:
            w.line(f"if {counter} < 0:")
            w.line("    break")
        body(w, depth, values)


def tuple_loop(w: Writer, depth: int) -> None:
    """A loop carries a tuple, and its parts change places where they can."""
    a, b = w.random.choice(w.values[-10:]), w.random.choice(w.values[-10:])
    name = w.fresh("t")
    first, second = (w.define(v.name, v.dtype, v.shape) for v in (a, b))
    w.line(f"{name} = ({first.name}, ({second.name}, {first.name}))")
    w.line(f"for {w.fresh('i')} in range({w.below(4)}):")
    with w.inside():
        w.loops += 1
        one = w.define(f"{name}[0]", a.dtype, a.shape)
        two, three = w.fresh("l"), w.fresh("r")
        w.line(f"{two}, {three} = {name}[1]")
        w.values += [Value(two, b.dtype, b.shape), Value(three, a.dtype, a.shape)]
        if depth:
            block(w, 1, depth)
        leaving(w, ())
        new, other = w.exactly(a.shape, a.dtype).name, w.exactly(b.shape, b.dtype).name
        w.line(f"{name} = ({three}, ({other}, {w.random.choice((new, one.name))}))")
        w.loops -= 1
    w.define(f"{name}[0]", a.dtype, a.shape)
    w.define(f"{name}[1][0]", b.dtype, b.shape)
    w.define(f"{name}[1][1]", a.dtype, a.shape)


def call(w: Writer, depth: int) -> None:
    """A function of its own, of blocks and a scalar, that returns a pair, perhaps early."""
    a, b = w.random.choice(w.values[-10:]), w.random.choice(w.values[-10:])
    scalar, name = w.scalar(), w.fresh("helper")
    inner = Writer(w.random, w.double, names=w.names, within="function", helpers=w.helpers)
    x, y = Value("x", a.dtype, a.shape), Value("y", b.dtype, b.shape)
    inner.values += [Value("s", "int32", ()), x, y]

    def given() -> str:
        return f"return {inner.exactly(a.shape, a.dtype).name}, {inner.exactly(b.shape, b.dtype).name}"

    for _ in range(w.random.randint(0, 2)):
        block(inner, 1, depth)
        inner.line(f"if {inner.condition()}:")
        with inner.inside():
            block(inner, w.random.randint(0, 1), depth)
            inner.line(given())
    block(inner, w.random.randint(1, 2), depth)
    inner.line(given())
    w.names = inner.names
    w.helpers.append("\n".join(["@jit", f"def {name}(x, y, s):", *inner.lines, ""]))
    first, second = w.fresh("l"), w.fresh("r")
    w.line(f"{first}, {second} = {name}({a.name}, {b.name}, {scalar})")
    w.values += [Value(first, a.dtype, a.shape), Value(second, b.dtype, b.shape)]
