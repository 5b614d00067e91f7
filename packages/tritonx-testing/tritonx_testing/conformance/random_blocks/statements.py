"""The statements of random kernels on blocks: each reads variables of the writer and makes new ones."""

from __future__ import annotations

import math
from collections.abc import Callable

from tritonx_testing.conformance.random_blocks.writer import (
    COUNT,
    INTEGERS,
    LARGEST,
    Buffer,
    Shape,
    Value,
    Writer,
    storage,
)

Statement = Callable[[Writer], object]


def loaded(w: Writer) -> Value:
    """A block of an input, in any order, backwards, with elements that are there several times, or masked."""
    shape = w.shape()
    inputs = [b for b in w.buffers if b.kind == "input"]
    if not inputs or w.within != "kernel":
        return w.counted(shape)
    buffer = w.random.choice(inputs)
    if w.random.random() < 0.25 and len(shape) <= 3:
        return _window(w, buffer, shape)
    strides = _strides(w, shape)
    if w.random.random() < 0.2:
        strides[w.random.randrange(len(shape))] *= w.random.choice((0, 2, 3))
    if w.random.random() < 0.2:
        strides = [-s if w.random.random() < 0.5 else s for s in strides]
    low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    high = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    start = w.random.choice((0, w.random.randint(0, 64))) - low
    programs = (COUNT - start - high - 1) // 3
    at = f"{w.random.choice((0, 1, 16, max(0, programs)))} * pid + {start} + {places(w, shape, strides)}"
    mask = f", mask={w.condition(shape)}, other={w.random.randint(0, 3)}" if w.random.random() < 0.4 else ""
    return w.define(f"tl.load({buffer.name} + {at}{mask})", buffer.dtype, shape)


def _strides(w: Writer, shape: Shape) -> list[int]:
    """Of an array without gaps, its axes in any order."""
    order = list(range(len(shape)))
    if w.random.random() < 0.5:
        w.random.shuffle(order)
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return strides


def places(w: Writer, shape: Shape, strides: list[int]) -> str:
    parts = zip(range(len(shape)), shape, strides, strict=True)
    return " + ".join(w.spread(f"tl.arange(0, {n})", axis, len(shape)) + f" * {s}" for axis, n, s in parts) or "0"


def _window(w: Writer, buffer: Buffer, shape: Shape) -> Value:
    """A block pointer, beyond its array's end here and there."""
    extents = tuple(max(1, n + w.random.randint(-2, 4)) for n in shape)
    strides, offsets = _strides(w, extents), tuple(w.random.randint(0, 2) for _ in shape)
    name, axes = w.fresh("window"), tuple(range(len(shape)))
    w.line(
        f"{name} = tl.make_block_ptr({buffer.name} + pid * 8, {extents}, {tuple(strides)}, {offsets}, {shape}, "
        f"{tuple(reversed(axes))})"
    )
    if w.random.random() < 0.5:
        w.line(f"{name} = tl.advance({name}, {tuple(w.random.randint(-2, 2) for _ in shape)})")
    padding = 'padding_option="zero"'
    return w.define(f"tl.load({name}, boundary_check={axes}, {padding})", buffer.dtype, shape)


def arithmetic(w: Writer) -> None:
    a = w.any_block((*INTEGERS, *w.floats()))
    b = w.fitted(a.shape, a.dtype)
    operators = "+-*&|^" if a.dtype in INTEGERS else "+-*"
    operator = w.random.choice(operators)
    pair = (a.name, b) if w.random.random() < 0.5 else (b, a.name)
    w.define(f"{pair[0]} {operator} {pair[1]}", a.dtype, a.shape)


def outer(w: Writer) -> None:
    """Two blocks of which each has axes that the other lacks."""
    a = w.any_block((*INTEGERS, *w.floats()), rank=1)
    n = w.random.choice((2, 3, 5, 8, 12))
    if storage((*a.shape, n)) <= LARGEST:
        b = w.exactly((n,), a.dtype)
        if w.random.random() < 0.5:
            w.define(f"{a.name}[:, None] + {b.name}", a.dtype, (*a.shape, n))
        else:
            w.define(f"{b.name}[:, None] * {a.name}[None]", a.dtype, (n, *a.shape))


def converted(w: Writer) -> None:
    a, dtype = w.any_block(), w.dtype()
    w.define(w.converted(a, dtype), dtype, a.shape)


def same_bits(w: Writer) -> None:
    """Of floats as integers of their size: those of NaNs are not defined, so they are ordinary numbers."""
    a = w.any_block(("float16", "float32", "bfloat16"))
    dtype = "int32" if a.dtype == "float32" else w.random.choice(("int16", "uint16"))
    small = f"tl.minimum(tl.maximum(tl.cast({a.name}, tl.float32), -50.0), 50.0) + 0.0"
    b = w.define(small, a.dtype, a.shape)
    w.define(f"tl.cast({b.name}, tl.{dtype}, bitcast=True)", dtype, a.shape)


def chosen(w: Writer) -> None:
    a = w.any_block()
    condition = w.condition(a.shape)
    if w.random.random() < 0.3:
        condition = f"({condition} {w.random.choice('&|^')} ~{w.condition(a.shape)})"
    w.define(f"tl.where({condition}, {a.name}, {w.fitted(a.shape, a.dtype)})", a.dtype, a.shape)


def extremum(w: Writer) -> None:
    a = w.any_block((*INTEGERS, *w.floats()))
    name = w.random.choice(("maximum", "minimum"))
    w.define(f"tl.{name}({a.name}, {w.fitted(a.shape, a.dtype)})", a.dtype, a.shape)


def by_elements(w: Writer) -> None:
    a = w.any_block(("int32", "int64", "int16", "float32"))
    w.define(f"tl.map_elementwise(scaled, {a.name}, {w.exactly(a.shape, a.dtype).name})", a.dtype, a.shape)


# --- parts


def indexed(w: Writer) -> None:
    """By numbers, known when it is compiled or when it runs, slices, `None` and `...`."""
    a = w.any_block()
    parts: list[str] = []
    shape: list[int] = []
    whole = w.random.randrange(len(a.shape) + 1)
    """Axes from here on are left out, or stand for `...`."""
    for extent in a.shape[:whole]:
        if w.random.random() < 0.15:
            parts.append("None")
            shape.append(1)
        kind = w.random.random()
        if kind < 0.25:
            parts.append(str(w.random.randrange(-extent, extent)))
        elif kind < 0.45:
            parts.append(w.random.choice((w.below(extent), f"{w.below(extent)} - {extent}")))
        else:
            text, count = _slice(w, extent)
            parts.append(text)
            shape.append(count)
    if w.random.random() < 0.5 or not parts:
        parts.append("...")
    shape += a.shape[whole:]
    if storage(tuple(shape)) <= LARGEST:
        w.define(f"{a.name}[{', '.join(parts)}]", a.dtype, tuple(shape))


def _slice(w: Writer, extent: int) -> tuple[str, int]:
    while True:
        start, stop = (w.random.choice((None, w.random.randint(-extent, extent))) for _ in range(2))
        step = w.random.choice((None, None, 1, 2, -1, 3, -2))
        count = len(range(*slice(start, stop, step).indices(extent)))
        if count:
            text = f"{'' if start is None else start}:{'' if stop is None else stop}"
            return text + ("" if step is None else f":{step}"), count


def reshaped(w: Writer) -> None:
    a = w.any_block()
    count, shape = math.prod(a.shape), list[int]()
    for _ in range(w.random.randint(0, 3)):
        factor = w.random.choice([n for n in range(1, count + 1) if count % n == 0])
        shape.append(factor)
        count //= factor
    shape.append(count)
    w.random.shuffle(shape)
    if storage(tuple(shape)) <= LARGEST:
        w.define(f"tl.reshape({a.name}, {tuple(shape)})", a.dtype, tuple(shape))


def moved(w: Writer) -> None:
    a = w.any_block()
    rank, kind = len(a.shape), w.random.choice(("permute", "flip", "expand", "repeat", "roll"))
    if kind == "permute":
        dims = w.random.sample(range(rank), rank)
        w.define(f"tl.permute({a.name}, {tuple(dims)})", a.dtype, tuple(a.shape[d] for d in dims))
    elif kind == "flip":
        w.define(f"tl.flip({a.name}, {w.random.randrange(rank)})", a.dtype, a.shape)
    elif kind == "expand" and rank < 4:
        axis = w.random.randrange(rank + 1)
        w.define(f"tl.expand_dims({a.name}, {axis})", a.dtype, (*a.shape[:axis], 1, *a.shape[axis:]))
    elif kind == "repeat":
        shape = tuple(w.random.choice((2, 3, 4)) if n == 1 else n for n in a.shape)
        if storage(shape) <= LARGEST:
            w.define(f"tl.broadcast_to({a.name}, {shape})", a.dtype, shape)
    else:
        axis = w.random.randrange(rank)
        index = w.exactly(a.shape, "int32").name
        picked = w.define(f"({index} & 1023) % {a.shape[axis]}", "int32", a.shape)
        w.define(f"tl.gather({a.name}, {picked.name}, {axis})", a.dtype, a.shape)


def joined(w: Writer) -> None:
    a = w.any_block()
    if storage((*a.shape, 2)) > LARGEST:
        return
    b, kind = w.exactly(a.shape, a.dtype).name, w.random.choice(("join", "interleave", "split"))
    if kind == "join":
        w.define(f"tl.join({a.name}, {b})", a.dtype, (*a.shape, 2))
    elif kind == "interleave":
        w.define(f"tl.interleave({a.name}, {b})", a.dtype, (*a.shape[:-1], 2 * a.shape[-1]))
    elif math.prod(a.shape) % 2 == 0:
        half = (math.prod(a.shape) // 2,)
        names = w.fresh("l"), w.fresh("r")
        w.line(f"{names[0]}, {names[1]} = tl.split(tl.reshape({a.name}, {(*half, 2)}))")
        w.values += [Value(name, a.dtype, half) for name in names]


# --- rows


def reduced(w: Writer) -> None:
    a = w.any_block((*INTEGERS, *w.floats(), "int1"))
    named = w.random.sample(range(len(a.shape)), w.random.randint(1, len(a.shape)))
    keep = w.random.random() < 0.4
    kept = tuple(1 if d in named else n for d, n in enumerate(a.shape))
    shape = kept if keep else tuple(n for d, n in enumerate(a.shape) if d not in named)
    names = ["max", "min"] if a.dtype != "int1" else []
    if a.dtype in INTEGERS:
        names += ["sum", "xor_sum", "reduce_or", "pairs"] + ["argmax", "argmin"] * (len(named) == 1)
    name = w.random.choice([*names, "sum"])
    axis = named[0] if name.startswith("arg") else _axis(w, named, a.shape)
    options = f", axis={axis}" + ", keep_dims=True" * keep
    if name == "pairs":
        place = w.exactly(a.shape, "int32").name
        one, two = w.fresh("l"), w.fresh("r")
        w.line(f"{one}, {two} = tl.reduce(({a.name}, {place}){options}, combine_fn=first_of_largest)")
        w.values += [Value(one, a.dtype, shape), Value(two, "int32", shape)]
        return
    source = a.name
    if name == "sum" and a.dtype not in INTEGERS:
        source = w.define(f"{w.exactly(a.shape, 'int32').name} & 3", a.dtype, a.shape).name
    dtype = "int32" if name.startswith("arg") or a.dtype == "int1" else a.dtype
    w.define(f"tl.{name}({source}{options})", dtype, shape)


def _axis(w: Writer, named: list[int], shape: Shape) -> object:
    """The axes, as a user may write them."""
    written = [d - len(shape) if w.random.random() < 0.3 else d for d in named]
    if len(named) == 1 and w.random.random() < 0.8:
        return written[0]
    return tuple(written)


def scanned(w: Writer) -> None:
    a = w.any_block(INTEGERS)
    named = w.random.sample(range(len(a.shape)), w.random.choice((1, 1, w.random.randint(1, len(a.shape)))))
    axis = _axis(w, sorted(named), a.shape)
    options = f"axis={axis}, reverse={w.random.choice((True, False))}"
    kind = w.random.choice(("cumsum", "cumprod", "recurrence"))
    if kind != "recurrence":
        w.define(f"tl.{kind}({a.name}, {options})", a.dtype, a.shape)
        return
    one, two = w.fresh("l"), w.fresh("r")
    other = w.exactly(a.shape, a.dtype).name
    w.line(f"{one}, {two} = tl.associative_scan(({a.name}, {other}), {options}, combine_fn=recurrence)")
    w.values += [Value(name, a.dtype, a.shape) for name in (one, two)]


def ordered(w: Writer) -> None:
    a = w.any_block(INTEGERS)
    n = a.shape[-1]
    if w.random.random() < 0.6:
        w.define(f"tl.sort({a.name}, descending={w.random.choice((True, False))})", a.dtype, a.shape)
    else:
        k = w.random.randint(1, n)
        w.define(f"tl.topk({a.name}, {k})", a.dtype, (*a.shape[:-1], k))


def counts(w: Writer) -> None:
    a = w.any_block(("int32",), rank=1)
    bins = w.random.choice((2, 4, 5, 8, 12))
    w.define(f"tl.histogram(({a.name} & 1023) % {bins}, {bins})", "int32", (bins,))


def product(w: Writer) -> None:
    m, n, k = (w.random.choice((16, 16, 24, 32)) for _ in range(3))
    dtype = w.random.choice(("float16", "bfloat16", "float32"))
    a, b = (w.define(f"{w.exactly(s, 'int32').name} & 3", dtype, s).name for s in ((m, k), (k, n)))
    w.define(f'tl.dot({a}, {b}, input_precision="ieee")', "float32", (m, n))


def added_to_memory(w: Writer) -> None:
    """Of which no order shows."""
    if w.loops or w.within != "kernel":
        return
    a = w.any_block(("int32", "int64", "uint32"))
    buffer = Buffer(w.fresh("c"), a.dtype, 12, "counter")
    w.buffers.append(buffer)
    at = f"({w.exactly(a.shape, 'int32').name} & 1023) % 12"
    mask = f", mask={w.condition(a.shape)}" if w.random.random() < 0.5 else ""
    w.line(f"tl.atomic_{w.random.choice(('add', 'max'))}({buffer.name} + {at}, {a.name}{mask})")


SMALL: tuple[Statement, ...] = (
    loaded, arithmetic, arithmetic, arithmetic, outer, converted, same_bits, chosen, extremum, by_elements,
    indexed, indexed, indexed, indexed, reshaped, reshaped, moved, moved, joined, reduced, reduced, reduced,
    scanned, ordered, counts, product, added_to_memory,
)  # fmt: skip

FUNCTIONS = """\
@jit
def scaled(a, b):
    return a * 3 - b


@jit
def recurrence(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@jit
def first_of_largest(a0, b0, a1, b1):
    first = (a0 > a1) | ((a0 == a1) & (b0 < b1))
    return tl.where(first, a0, a1), tl.where(first, b0, b1)
"""
