"""Long straight programs of integers and truth values, of which little is stored in the end.

What an assembler does with arithmetic depends on the surrounding code: which operands are shared, which numbers are
known, what is wanted again much later, and what in the end is not used. Each variable is made of one or two others,
of late ones or of any, and only a few are outputs. (All that ptxas was found to assemble wrong is of this kind:
`backends/nvidia/assembler/assembler_faults.py`.)"""

from __future__ import annotations

from collections.abc import Callable

from tritonx_testing.conformance.random_blocks.writer import COUNT, SIGNED, Buffer, Value, Writer

EXTENTS = (32, 64, 96, 100, 128, 256, 512)
MIXED = ("int8", "uint8", "int16", "uint16", "int32", "int32", "uint32", "int64")
"""What is mostly computed with."""

Statement = Callable[[Writer, Value], object]


def straight(w: Writer, length: int, *, across: bool = True) -> None:
    """Loads, ``length`` statements, and the stores of a few. Elements meet others only if ``across``."""
    of_numbers, of_truth = ([s for s in each if across or s not in ACROSS] for each in (OF_NUMBERS, OF_TRUTH))
    count = w.random.choice(EXTENTS)
    for _ in range(3):
        w.buffers.append(Buffer(w.fresh("x"), w.random.choice(MIXED), COUNT, "input"))
        start = w.random.randint(0, 64)
        w.define(f"tl.load({w.buffers[-1].name} + tl.arange(0, {count}) + {start})", w.buffers[-1].dtype, (count,))
    for _ in range(length):
        a = _any(w)
        w.random.choice(of_truth if a.dtype == "int1" else of_numbers)(w, a)
    for value in w.random.sample(_blocks(w)[-16:], 3):
        buffer = Buffer(w.fresh("o"), "int8" if value.dtype == "int1" else value.dtype, count, "output")
        w.buffers.append(buffer)
        w.line(f"tl.store({buffer.name} + tl.arange(0, {count}), tl.cast({value.name}, tl.{buffer.dtype}))")


def _blocks(w: Writer) -> list[Value]:
    return [value for value in w.values if value.shape]


def _any(w: Writer, dtype: str = "") -> Value:
    """A variable, of late or of any time; converted where there is none of the dtype."""
    known = _blocks(w)
    fitting = [value for value in known if dtype in ("", value.dtype)]
    if fitting and w.random.random() < 0.9:
        return w.random.choice(fitting[-6:] if w.random.random() < 0.6 else fitting)
    value = w.random.choice(known)
    return value if dtype in ("", value.dtype) else w.define(w.converted(value, dtype), dtype, value.shape)


def _number(w: Writer, dtype: str) -> int:
    """Small ones, powers of two, those next to the limits, and any."""
    bits = int(dtype.lstrip("uint"))
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype in SIGNED else (0, (1 << bits) - 1)
    near = (0, 1, 2, 3, 7, -1, low, low + 1, high, high - 1, 1 << w.random.randrange(bits - 1))
    value = w.random.choice((*near, w.random.randint(low, high)))
    return min(max(value, low), high)


def _operand(w: Writer, dtype: str) -> str:
    return f"({_number(w, dtype)})" if w.random.random() < 0.3 else _any(w, dtype).name


def operated(w: Writer, a: Value) -> None:
    pair = [a.name, _operand(w, a.dtype)]
    w.random.shuffle(pair)
    w.define(f"{pair[0]} {w.random.choice('++--*&|^')} {pair[1]}", a.dtype, a.shape)


def negated(w: Writer, a: Value) -> None:
    texts = (f"0 - {a.name}", f"~{a.name}", f"tl.abs({a.name})" if a.dtype in SIGNED else f"~{a.name} + 1")
    w.define(w.random.choice(texts), a.dtype, a.shape)


def shifted(w: Writer, a: Value) -> None:
    bits, operator = int(a.dtype.lstrip("uint")), w.random.choice(("<<", ">>"))
    known = w.random.random() >= 0.3
    by = str(w.random.randrange(bits)) if known else f"({_any(w, a.dtype).name} & {bits - 1})"
    w.define(f"{a.name} {operator} {by}", a.dtype, a.shape)


def extreme(w: Writer, a: Value) -> None:
    """Of two or three."""
    b, c = _any(w, a.dtype).name, _any(w, a.dtype).name
    first, second = (f"tl.{w.random.choice(('maximum', 'minimum'))}" for _ in range(2))
    text = f"{first}({a.name}, {b})"
    w.define(f"{second}({text}, {c})" if w.random.random() < 0.5 else text, a.dtype, a.shape)


def compared(w: Writer, a: Value) -> None:
    operator = w.random.choice(("<", "<=", "==", "!=", ">", ">="))
    w.define(f"{a.name} {operator} {_operand(w, a.dtype)}", "int1", a.shape)


def chosen(w: Writer, a: Value) -> None:
    w.define(f"tl.where({_any(w, 'int1').name}, {a.name}, {_any(w, a.dtype).name})", a.dtype, a.shape)


def converted(w: Writer, a: Value) -> None:
    dtype = w.random.choice(MIXED)
    w.define(w.converted(a, dtype), dtype, a.shape)


def combined(w: Writer, a: Value) -> None:
    """Of all elements, in every element."""
    function = w.random.choice(("max", "min", "xor_sum"))
    w.define(f"{a.name} {w.random.choice('+-^')} tl.{function}({a.name}, 0)", a.dtype, a.shape)


def summed(w: Writer, a: Value) -> None:
    number = w.define(w.converted(a, "int32"), "int32", a.shape)
    w.define(f"tl.cumsum({number.name}, 0, reverse={w.random.random() < 0.5})", "int32", a.shape)


def turned(w: Writer, a: Value) -> None:
    w.define(f"tl.flip({a.name}, 0)", a.dtype, a.shape)


def logical(w: Writer, a: Value) -> None:
    """One operation, or two of the same operands."""
    b = _any(w, "int1")
    for operator in w.random.sample("&|^", w.random.choice((1, 1, 2, 3))):
        w.define(f"{a.name} {operator} {b.name}", "int1", a.shape)


def not_so(w: Writer, a: Value) -> None:
    w.define(f"~{a.name}", "int1", a.shape)


def decided(w: Writer, a: Value) -> None:
    dtype = w.random.choice(MIXED)
    w.define(f"tl.where({a.name}, {_any(w, dtype).name}, {_any(w, dtype).name})", dtype, a.shape)


OF_NUMBERS: tuple[Statement, ...] = (
    *(operated,) * 6, negated, negated, shifted, shifted, extreme, extreme, *(compared,) * 4, chosen, chosen, converted,
    converted, combined, summed, turned,
)  # fmt: skip
OF_TRUTH: tuple[Statement, ...] = (*(logical,) * 4, not_so, *(decided,) * 3, converted, turned)
ACROSS: tuple[Statement, ...] = (combined, summed, turned)
