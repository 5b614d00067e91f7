"""Writes random kernels in the language, statement by statement; see `generate.py` for what they are good for.

The writer knows the dtype and the shape of every variable. Expressions mix dtypes as the language allows, so that its
promotion is exercised; each statement ends in a conversion to the dtype that the new variable is known by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from tritonx_testing.random_kernel import FLOATS, INTEGERS, SIGNED, Array, Features, RandomKernel, numpy_dtype

Shape = tuple[int, ...]

ELEMENTARY = (
    "tl.exp({})", "tl.exp2({})", "tl.sin({})", "tl.cos({})", "tl.log(tl.abs({}) + 1)", "tl.sqrt(tl.abs({}))",
    "tl.sigmoid({})", "tl.erf({})",
)  # fmt: skip
"""Functions that are defined from -8 to 8."""


HEADER = """\
import tritonx.language as tl
from tritonx.runtime.jit import jit


@jit
def larger(a, b):
    return tl.maximum(a, b)


@jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2

"""


@dataclass(frozen=True)
class Value:
    """A variable of the kernel."""

    name: str
    dtype: str
    shape: Shape


@dataclass
class KernelWriter:
    """Writes one kernel, statement by statement."""

    random: Random
    features: Features
    lines: list[str] = field(default_factory=list[str])
    helpers: list[str] = field(default_factory=list[str])
    values: list[Value] = field(default_factory=list[Value])
    arrays: list[Array] = field(default_factory=list[Array])
    indent: int = 1
    names: int = 0

    def __post_init__(self) -> None:
        self.n = self.random.choice((32, 64, 256))
        self.rows, self.cols = (16, 16) if self.n == 256 else self.random.choice(((4, self.n // 4), (self.n // 8, 8)))
        self.programs = self.random.randint(1, 3)
        self.floats = FLOATS if self.features.double else FLOATS[:-1]

    # Text.

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, prefix: str = "v") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def define(self, text: str, dtype: str, shape: Shape) -> Value:
        """A new variable with the value of `text`, cast to `dtype`."""
        value = Value(self.fresh(), dtype, shape)
        self.line(f"{value.name} = ({text}).to(tl.{dtype})" if dtype != "int1" else f"{value.name} = {text}")
        self.values.append(value)
        return value

    # Values.

    def shape(self) -> Shape:
        return self.random.choice(((), (self.n,), (self.n,), (self.rows, self.cols)))

    def dtype(self) -> str:
        return self.random.choice((*INTEGERS, *self.floats, *self.floats))

    def any_value(self, shape: Shape, kinds: Sequence[str]) -> Value:
        """Some variable of this shape and one of these dtypes, made from another where there is none."""
        known = [v for v in self.values if v.shape == shape and v.dtype in kinds]
        if known and self.random.random() < 0.8:
            return self.random.choice(known[-6:])
        return self.define(*self.made(shape, self.random.choice(list(kinds))))

    def made(self, shape: Shape, dtype: str) -> tuple[str, str, Shape]:
        """An expression of this dtype and shape from whatever there is."""
        if not shape:
            scalars = [v for v in self.values if v.shape == () and v.dtype != "int1"]
            value = self.random.choice(scalars)
            return self.converted(value.name, value.dtype, dtype), dtype, shape
        numbers = [v for v in self.values if v.dtype != "int1" and self.fits(v.shape, shape)]
        value = self.random.choice(numbers)
        return self.reshaped(self.converted(value.name, value.dtype, dtype), value.shape, shape), dtype, shape

    def fits(self, source: Shape, target: Shape) -> bool:
        return source == target or source in ((self.n,), (self.rows, self.cols), (self.rows,), (self.cols,))

    def reshaped(self, text: str, source: Shape, target: Shape) -> str:
        """`text` of shape `source` at shape `target`; rows and columns are repeated."""
        grid = (self.rows, self.cols)
        if source == target:
            return text
        if source in ((self.n,), grid) and target in ((self.n,), grid):
            return f"tl.reshape({text}, {target})"
        if not source:
            return f"tl.full({target}, 0, tl.int8) + {text}"
        spread = f"({text})[:, None]" if source == (self.rows,) else f"({text})[None, :]"
        full = f"tl.broadcast_to({spread}, {grid})"
        return full if target == grid else f"tl.reshape({full}, {target})"

    def converted(self, text: str, source: str, target: str) -> str:
        """`text` as `target`; floats are brought into the range of an integer first."""
        if source in FLOATS and target in INTEGERS:
            low = "-100.0" if target in SIGNED else "0.0"
            wide = f"({text}).to(tl.float32)"
            return f"tl.minimum(tl.maximum({wide}, {low}), 100.0).to(tl.{target})"
        return f"({text}).to(tl.{target})"

    def condition(self, shape: Shape) -> str:
        kinds = INTEGERS if self.random.random() < 0.5 else self.floats
        a = self.any_value(shape, kinds)
        b = self.any_value(shape, [a.dtype])
        return f"({a.name} {self.random.choice(('<', '<=', '==', '!=', '>', '>='))} {b.name})"

    def index(self, shape: Shape, bits: int) -> str:
        """An int32 expression from 0 to 2**bits - 1."""
        value = self.any_value(shape, INTEGERS)
        return f"({value.name}.to(tl.int32) & {(1 << bits) - 1})"

    def small(self, shape: Shape, dtype: str) -> str:
        """An expression with integer values from 0 to 7: sums of a tile of them are exact in every format."""
        return f"({self.index(shape, 3)}).to(tl.{dtype})"

    # Statements.

    def block(self, length: int, depth: int) -> None:
        features = self.features
        choices: list[Callable[[], None]] = [self.arithmetic] * 4
        choices += [
            self.integer_only,
            self.float_only,
            self.select,
            self.extremum,
            self.unary,
            self.reduction,
            self.shuffle,
        ]
        choices += [self.scan] * features.scans + [self.product] * (features.dot and self.n == 256)
        choices += [self.sorted_values] * features.sorting + [self.picked] * features.gather
        choices += [self.counted] * features.atomics + [self.call] * features.functions
        nested: list[Callable[[int], None]] = (
            [self.loop, self.branch, self.while_loop] if features.control_flow and depth else []
        )
        for _ in range(length):
            if nested and self.random.random() < 0.2:
                self.random.choice(nested)(depth - 1)
            else:
                self.random.choice(choices)()

    def arithmetic(self) -> None:
        shape = self.shape()
        kinds = INTEGERS + self.floats
        a, b = self.any_value(shape, kinds), self.any_value(shape, kinds)
        result = self.dtype()
        mixed = self.random.random() < 0.5
        right = b.name if mixed else self.converted(b.name, b.dtype, a.dtype)
        operator = self.random.choice("+-*")
        # In a variable of its own: what it is converted to depends on the dtype that the language promotes to.
        is_float = a.dtype in FLOATS or (mixed and b.dtype in FLOATS)
        text = f"({a.name} {operator} {right})"
        self.define(self.converted(text, "float32" if is_float else "int32", result), result, shape)

    def integer_only(self) -> None:
        shape = self.shape()
        a = self.any_value(shape, INTEGERS)
        b = self.any_value(shape, [a.dtype])
        bits = numpy_dtype(a.dtype).itemsize * 8
        text = self.random.choice(
            (
                f"{a.name} & {b.name}", f"{a.name} | {b.name}", f"{a.name} ^ {b.name}", f"~{a.name}",
                f"{a.name} << ({b.name} & {bits - 1})", f"{a.name} >> ({b.name} & {bits - 1})",
                f"{a.name} // (({b.name} & 15) + 1)", f"{a.name} % (({b.name} & 15) + 1)",
            )
        )  # fmt: skip
        self.define(text, a.dtype, shape)

    def float_only(self) -> None:
        shape, dtype = self.shape(), self.random.choice(self.floats)
        a, b = self.any_value(shape, [dtype]), self.any_value(shape, [dtype])
        texts = [f"-{a.name}", f"tl.abs({a.name})", f"tl.floor({a.name}.to(tl.float32))", f"{a.name} - {b.name}"]
        if self.features.division:
            texts.append(f"{a.name} / (tl.abs({b.name}) + 1)")
        self.define(self.random.choice(texts), dtype, shape)

    def unary(self) -> None:
        shape = self.shape()
        value = self.any_value(shape, SIGNED)
        self.define(self.random.choice((f"tl.abs({value.name})", f"-{value.name}")), value.dtype, shape)

    def select(self) -> None:
        shape, dtype = self.shape(), self.dtype()
        condition = self.condition(shape)
        a, b = self.any_value(shape, [dtype]), self.any_value(shape, [dtype])
        if self.random.random() < 0.3:
            condition = f"({condition} {self.random.choice('&|^')} {self.condition(shape)})"
        self.define(f"tl.where({condition}, {a.name}, {b.name})", dtype, shape)

    def extremum(self) -> None:
        shape, dtype = self.shape(), self.dtype()
        a, b = self.any_value(shape, [dtype]), self.any_value(shape, [dtype])
        self.define(f"tl.{self.random.choice(('maximum', 'minimum'))}({a.name}, {b.name})", dtype, shape)

    def reduction(self) -> None:
        grid = (self.rows, self.cols)
        source, axis, shape = self.random.choice((((self.n,), 0, ()), (grid, 0, (self.cols,)), (grid, 1, (self.rows,))))
        if self.random.random() < 0.3:
            dtype = self.random.choice(self.floats)
            self.define(f"tl.sum({self.small(source, dtype)}, {axis})", dtype, shape)
            return
        value = self.any_value(source, INTEGERS)
        name = self.random.choice(("sum", "max", "min", "argmax", "argmin", "xor_sum"))
        self.define(f"tl.{name}({value.name}, {axis})", "int32" if name.startswith("arg") else value.dtype, shape)

    def scan(self) -> None:
        shape = self.random.choice(((self.n,), (self.rows, self.cols)))
        value = self.any_value(shape, ("int32", "int64", "uint32"))
        axis, reverse = self.random.randrange(len(shape)), self.random.choice((True, False))
        kind = self.random.choice(("cumsum", "larger", "recurrence"))
        if kind == "cumsum":
            text = f"tl.cumsum({value.name}, {axis}, reverse={reverse})"
        elif kind == "larger":
            text = f"tl.associative_scan({value.name}, {axis}, larger, reverse={reverse})"
        else:
            other = self.any_value(shape, [value.dtype])
            text = f"tl.associative_scan(({value.name}, {other.name}), {axis}, recurrence, reverse={reverse})[1]"
        self.define(text, value.dtype, shape)

    def product(self) -> None:
        dtype = self.random.choice(self.floats)
        a, b = self.small((16, 16), dtype), self.small((16, 16), dtype)
        self.define(
            f'tl.dot({a}, {b}, input_precision="ieee")', "float64" if dtype == "float64" else "float32", (16, 16)
        )

    def shuffle(self) -> None:
        value = self.any_value((self.n,), INTEGERS + self.floats)
        kind = self.random.choice(("trans", "flip", "swap", "cat"))
        if kind == "trans":
            text = f"tl.reshape(tl.trans(tl.reshape({value.name}, ({self.rows}, {self.cols}))), ({self.n},))"
        elif kind == "flip":
            text = f"tl.flip({value.name}, 0)"
        else:
            pair = self.fresh("pair")
            self.line(f"{pair} = tl.split(tl.reshape({value.name}, ({self.n // 2}, 2)))")
            text = f"tl.interleave({pair}[1], {pair}[0])"
        self.define(text, value.dtype, (self.n,))

    def sorted_values(self) -> None:
        value = self.any_value((self.n,), ("int32", "int64", "uint32"))
        self.define(f"tl.sort({value.name}, descending={self.random.choice((True, False))})", value.dtype, (self.n,))

    def picked(self) -> None:
        """Through memory, or from a tile or histogram in registers."""
        inputs = [a for a in self.arrays if a.kind == "input"]
        kind = self.random.choice(("load", "gather", "histogram"))
        if kind == "load":
            array = self.random.choice(inputs)
            text = f"tl.load({array.name} + {self.index((self.n,), 4)}"
            if self.random.random() < 0.5:
                text += f", mask={self.condition((self.n,))}, other=3"
            self.define(text + ")", array.dtype, (self.n,))
        elif kind == "gather":
            value = self.any_value((self.n,), INTEGERS + self.floats)
            self.define(f"tl.gather({value.name}, {self.index((self.n,), 5)}, 0)", value.dtype, (self.n,))
        else:
            counts = f"tl.histogram({self.index((self.n,), 4)}, 16)"
            self.define(f"tl.gather({counts}, {self.index((self.n,), 4)}, 0)", "int32", (self.n,))

    def counted(self) -> None:
        if self.indent > 1:
            return
        array = Array(self.fresh("c"), "int32", 8, "counter")
        self.arrays.append(array)
        value = self.any_value((self.n,), ("int32",))
        name = self.random.choice(("add", "max", "min", "or", "xor"))
        self.line(
            f"tl.atomic_{name}({array.name} + {self.index((self.n,), 3)}, {value.name}, "
            f"mask={self.condition((self.n,))})"
        )

    def call(self) -> None:
        """A function of its own: elementwise, or with an early return that depends on a scalar."""
        dtype, shape = self.dtype(), self.shape()
        name = self.fresh("helper")
        a, b = self.any_value(shape, [dtype]), self.any_value(shape, [dtype])
        first, second = (f"(a {self.random.choice('+-')} b).to(tl.{dtype})" for _ in range(2))
        self.helpers.append(
            f"@jit\ndef {name}(a, b, s):\n    if s > {self.random.randint(0, 3)}:\n        return {first}\n"
            f"    return {second}\n"
        )
        self.define(f"{name}({a.name}, {b.name}, {self.index((), 2)})", dtype, shape)

    # Control flow.

    def carried(self) -> list[Value]:
        """New variables that a nested block may change."""
        return [self.define(*self.made(self.shape(), self.dtype())) for _ in range(self.random.randint(1, 2))]

    def nested(self, depth: int, carried: Sequence[Value], known: Sequence[Value] = ()) -> None:
        """Statements one level in; at the end the carried variables get new values of their types."""
        outside = list(self.values)
        self.values += known
        self.indent += 1
        self.block(self.random.randint(1, 3), depth)
        for value in carried:
            other = self.any_value(value.shape, [value.dtype])
            self.line(f"{value.name} = ({value.name} + {other.name}).to(tl.{value.dtype})")
        self.indent -= 1
        self.values = outside

    def loop(self, depth: int) -> None:
        carried = self.carried()
        counter = Value(self.fresh("i"), "int32", ())
        bound = self.random.choice((str(self.random.randint(0, 3)), self.index((), 2)))
        function = self.random.choice(("range", "range", "tl.range"))
        self.line(f"for {counter.name} in {function}({bound}):")
        self.nested(depth, carried, [counter])

    def branch(self, depth: int) -> None:
        carried = self.carried()
        self.line(f"if {self.condition(())}:")
        self.nested(depth, carried)
        if self.random.random() < 0.6:
            self.line("else:")
            self.nested(depth, carried)

    def while_loop(self, depth: int) -> None:
        carried = self.carried()
        counter = Value(self.fresh("w"), "int32", ())
        self.line(f"{counter.name} = {self.index((), 2)}")
        self.line(f"while {counter.name} > 0:")
        self.nested(depth, carried, [counter])
        self.line(f"    {counter.name} = {counter.name} - 1")

    # The whole.

    def kernel(self, length: int, depth: int) -> RandomKernel:
        count = self.n * self.programs
        self.line("pid = tl.program_id(0)")
        self.line(f"at = pid * {self.n} + tl.arange(0, {self.n})")
        self.line("inside = at < n")
        self.values += [
            Value("pid", "int32", ()),
            Value("n", "int32", ()),
            Value("m", "int32", ()),
            Value("at", "int32", (self.n,)),
        ]
        for _ in range(self.random.randint(1, 3)):
            array = Array(self.fresh("x"), self.dtype(), count, "input")
            self.arrays.append(array)
            other = ", other=0" if self.random.random() < 0.8 else ", other=2"
            self.define(f"tl.load({array.name} + at, mask=inside{other})", array.dtype, (self.n,))
        self.block(length, depth)
        self.outputs(count)
        names = ", ".join([*(a.name for a in self.arrays), "n", "m"])
        text = "\n".join([HEADER, *self.helpers, f"@jit\ndef kernel({names}):", *self.lines, ""])
        scalars = (self.random.randint(2, count), self.random.randint(2, 40))  # 1 would become a constant
        return RandomKernel(text, (self.programs,), tuple(self.arrays), scalars)

    def outputs(self, count: int) -> None:
        """Everything that was computed last goes to memory; some of it through an elementary function."""
        for value in [v for v in self.values if v.dtype != "int1"][-6:]:
            array = Array(self.fresh("o"), value.dtype, count, "output")
            self.arrays.append(array)
            text = self.reshaped(value.name, value.shape, (self.n,))
            self.line(f"tl.store({array.name} + at, ({text}).to(tl.{value.dtype}), mask=inside)")
        value = self.any_value((self.n,), INTEGERS + self.floats)
        bounded = f"tl.minimum(tl.maximum(({value.name}).to(tl.float32), -8.0), 8.0)"
        function = self.random.choice(ELEMENTARY)
        array = Array(self.fresh("q"), "float32", count, "approximate")
        self.arrays.append(array)
        self.line(f"tl.store({array.name} + at, {function.format(bounded)}, mask=inside)")
