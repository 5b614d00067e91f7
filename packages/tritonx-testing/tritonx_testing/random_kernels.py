"""Random kernels in ``tt``, for comparing two things that should execute a kernel alike: a pass's input and output, two
backends.

``random_kernel(seed)`` is the text of a module. Its public function ``kernel`` takes ``(!tt.ptr<i32>, !tt.ptr<f32>,
i32, i32, f32)``; both pointers need ``ELEMENTS`` elements, and the integers may be negative. It is defined for all
inputs: divisors are positive, shifts in range, addresses inside the arrays, masked-off lanes have a value, and no two
elements of a tile are stored to one address. Floats may become infinite or NaN, but a NaN's bits are never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

ELEMENTS = 512
"""Elements that each of the two arrays needs."""

SIZE = 8
"""Extent of a tile; there are 8 and 4x8 ones."""

I32, F32, I1 = "i32", "f32", "i1"
ELEMENT_TYPES = (I32, F32, I1)
SHAPES = ("", f"{SIZE}x", f"4x{SIZE}x", "4x1x")


def tile(shape: str, element: str) -> str:
    """The type of a tile, or of a scalar for the shape ""."""
    return f"tensor<{shape}{element}>" if shape else element


@dataclass
class Scope:
    """The values that may be used at a point, by type."""

    values: dict[str, list[str]]

    def inner(self) -> Scope:
        return Scope({type: list(names) for type, names in self.values.items()})


@dataclass
class Generator:
    """Writes one kernel."""

    random: Random
    lines: list[str] = field(default_factory=list[str])
    functions: list[str] = field(default_factory=list[str])
    count: int = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def add(self, scope: Scope, type: str, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        scope.values.setdefault(type, []).append(name)
        return name

    def constant(self, scope: Scope, shape: str, element: str) -> str:
        number = {
            I32: lambda: str(
                self.random.choice([0, 1, -1, 2, 7, 31, -(2**31), 2**31 - 1, self.random.randrange(-99, 99)])
            ),
            F32: lambda: self.random.choice(["0.0", "-0.0", "1.0", "-1.0", "0.5", "3.25", "1.0e+30", "1.0e-40"]),
            I1: lambda: self.random.choice(["true", "false"]),
        }[element]()
        type = tile(shape, element)
        if shape:
            return self.add(scope, type, f"arith.constant dense<{number}> : {type}")
        return self.add(scope, type, f"arith.constant {number}" + ("" if element == I1 else f" : {type}"))

    def value(self, scope: Scope, shape: str, element: str) -> str:
        """Some value of a type: an earlier one, a constant, or one in another shape, spread out."""
        type = tile(shape, element)
        known = scope.values.get(type, [])
        chance = self.random.random()
        if known and chance < 0.7:
            return self.random.choice(known[-12:])
        if not shape or chance < 0.8:
            return self.constant(scope, shape, element)
        if shape == f"4x{SIZE}x" and chance < 0.95:
            return self.spread(scope, element)
        scalar = self.value(scope, "", element)
        return self.add(scope, type, f"tt.splat {scalar} : {element} -> {type}")

    def spread(self, scope: Scope, element: str) -> str:
        if self.random.random() < 0.5:
            source, shape = self.value(scope, "4x1x", element), "4x1x"
        else:
            row = self.value(scope, f"{SIZE}x", element)
            shape = f"1x{SIZE}x"
            source = self.add(
                scope,
                tile(shape, element),
                f"tt.expand_dims {row} {{axis = 0 : i32}} : {tile(f'{SIZE}x', element)} -> {tile(shape, element)}",
            )
        type = tile(f"4x{SIZE}x", element)
        return self.add(scope, type, f"tt.broadcast {source} : {tile(shape, element)} -> {type}")

    # -- statements

    def block(self, scope: Scope, length: int, depth: int) -> None:
        for _ in range(length):
            statements = [self.arithmetic] * 6 + [
                self.compare,
                self.select,
                self.convert,
                self.load,
                self.store,
                self.reduce,
            ]
            if depth:
                statements += [self.loop, self.conditional, self.call, self.while_loop]
            statement = self.random.choice(statements)
            if statement in (self.loop, self.conditional, self.while_loop):
                statement(scope, depth)  # pyright: ignore[reportCallIssue] -- these three nest
            else:
                statement(scope)  # pyright: ignore[reportCallIssue] -- the others do not

    def shape(self) -> str:
        return self.random.choice(("", "", *SHAPES))

    def arithmetic(self, scope: Scope) -> None:
        shape, element = self.shape(), self.random.choice((I32, I32, F32, I1))
        type = tile(shape, element)
        a, b = self.value(scope, shape, element), self.value(scope, shape, element)
        if element == F32:
            name = self.random.choice(
                ["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf", "negf"]
            )
        elif element == I1:
            name = self.random.choice(["andi", "ori", "xori"])
        else:
            name = self.random.choice(
                "addi subi muli andi ori xori maxsi minsi maxui minui shli shrsi shrui divsi divui remsi remui".split()
            )
            if name in ("shli", "shrsi", "shrui"):
                b = self.masked(scope, b, shape, 31)
            elif name.startswith(("div", "rem")):
                b = self.masked(scope, b, shape, 0x7FFF)
                one = self.add(scope, type, self.literal(1, type))
                b = self.add(scope, type, f"arith.ori {b}, {one} : {type}")
        self.add(scope, type, f"arith.negf {a} : {type}" if name == "negf" else f"arith.{name} {a}, {b} : {type}")

    def literal(self, number: int, type: str) -> str:
        return f"arith.constant {f'dense<{number}>' if 'tensor' in type else number} : {type}"

    def masked(self, scope: Scope, value: str, shape: str, bits: int) -> str:
        type = tile(shape, I32)
        mask = self.add(scope, type, self.literal(bits, type))
        return self.add(scope, type, f"arith.andi {value}, {mask} : {type}")

    def compare(self, scope: Scope) -> None:
        shape, element = self.shape(), self.random.choice((I32, F32))
        a, b = self.value(scope, shape, element), self.value(scope, shape, element)
        if element == I32:
            predicate = self.random.choice("eq ne slt sle sgt sge ult ule ugt uge".split())
            text = f"arith.cmpi {predicate}, {a}, {b}"
        else:
            predicate = self.random.choice("oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split())
            text = f"arith.cmpf {predicate}, {a}, {b}"
        self.add(scope, tile(shape, I1), f"{text} : {tile(shape, element)}")

    def select(self, scope: Scope) -> None:
        shape, element = self.shape(), self.random.choice(ELEMENT_TYPES)
        c, a, b = (self.value(scope, shape, e) for e in (I1, element, element))
        type = tile(shape, element)
        given = f"{tile(shape, I1)}, {type}" if shape else type
        self.add(scope, type, f"arith.select {c}, {a}, {b} : {given}")

    def convert(self, scope: Scope) -> None:
        shape = self.shape()
        kind = self.random.choice(["sitofp", "uitofp", "ext", "narrow", "half", "extui"])
        i, f = tile(shape, I32), tile(shape, F32)
        if kind in ("sitofp", "uitofp"):
            self.add(scope, f, f"arith.{kind} {self.value(scope, shape, I32)} : {i} to {f}")
        elif kind == "extui":
            self.add(scope, i, f"arith.extui {self.value(scope, shape, I1)} : {tile(shape, I1)} to {i}")
        elif kind == "half":
            h = tile(shape, "f16")
            half = self.add(scope, h, f"arith.truncf {self.value(scope, shape, F32)} : {f} to {h}")
            self.add(scope, f, f"arith.extf {half} : {h} to {f}")
        else:
            width = self.random.choice(["i8", "i16"]) if kind == "narrow" else "i64"
            other = tile(shape, width)
            there, back = (
                ("trunci", self.random.choice(["extsi", "extui"]))
                if kind == "narrow"
                else (
                    self.random.choice(["extsi", "extui"]),
                    "trunci",
                )
            )
            first = self.add(scope, other, f"arith.{there} {self.value(scope, shape, I32)} : {i} to {other}")
            self.add(scope, i, f"arith.{back} {first} : {other} to {i}")

    def address(self, scope: Scope, pointer: str, element: str, shape: str, base: int) -> str:
        """Pointers into the first half of an array (for loads), or at ``base`` and on, each element its own (for
        stores).
        """
        type = tile(shape, f"!tt.ptr<{element}>")
        offset_type = tile(shape, I32)
        if not base:
            offset = self.masked(scope, self.value(scope, shape, I32), shape, 63)
        elif shape:
            offset = self.fresh()
            self.lines.append(
                f"{offset} = tt.make_range {{start = {base} : i32, end = {base + SIZE} : i32}} : {offset_type}"
            )
        else:
            offset = self.fresh()
            self.lines.append(f"{offset} = arith.constant {base} : i32")
        start = pointer
        if shape:
            start = self.fresh()
            self.lines.append(f"{start} = tt.splat {pointer} : !tt.ptr<{element}> -> {type}")
        name = self.fresh()
        self.lines.append(f"{name} = tt.addptr {start}, {offset} : {type}, {offset_type}")
        return name

    def load(self, scope: Scope) -> None:
        shape = self.random.choice(("", f"{SIZE}x", f"4x{SIZE}x"))
        pointer, element = self.random.choice((("%p", I32), ("%q", F32)))
        address = self.address(scope, pointer, element, shape, 0)
        extra = ""
        if self.random.random() < 0.5:
            extra = f", {self.value(scope, shape, I1)}, {self.value(scope, shape, element)}"
        self.add(scope, tile(shape, element), f"tt.load {address}{extra} : {tile(shape, f'!tt.ptr<{element}>')}")

    def store(self, scope: Scope) -> None:
        shape = self.random.choice(("", f"{SIZE}x"))
        pointer, element = self.random.choice((("%p", I32), ("%q", F32)))
        address = self.address(scope, pointer, element, shape, self.random.randrange(1, ELEMENTS - SIZE))
        mask = f", {self.value(scope, shape, I1)}" if self.random.random() < 0.5 else ""
        value = self.value(scope, shape, element)
        self.lines.append(f"tt.store {address}, {value}{mask} : {tile(shape, f'!tt.ptr<{element}>')}")

    def reduce(self, scope: Scope) -> None:
        element = self.random.choice((I32, F32))
        name = self.random.choice(["addi", "maxsi", "xori"] if element == I32 else ["addf", "maximumf"])
        self.reduce_tile(scope, element, name, self.value(scope, f"4x{SIZE}x", element), self.random.randrange(2))

    def reduce_tile(self, scope: Scope, element: str, name: str, source: str, axis: int) -> None:
        type, result = tile(f"4x{SIZE}x", element), tile(f"{SIZE}x" if axis == 0 else "4x", element)
        a, b, c = self.fresh(), self.fresh(), self.fresh()
        self.add(
            scope,
            result,
            f'"tt.reduce"({source}) <{{axis = {axis} : i32}}> ({{\n^bb0({a}: {element}, {b}: {element}):\n'
            f"{c} = arith.{name} {a}, {b} : {element}\ntt.reduce.return {c} : {element}\n}}) : ({type}) -> {result}",
        )

    def store_results(self, scope: Scope) -> None:
        """Store the last values of every type, so that what was computed can be seen."""
        for shape in RESULTS:
            for truth in scope.values.get(tile(shape, I1), [])[-4:]:
                self.add(scope, tile(shape, I32), f"arith.extui {truth} : {tile(shape, I1)} to {tile(shape, I32)}")
        for element, row in ((I32, f"{SIZE}x"), (F32, f"{SIZE}x")):
            for value in list(scope.values.get(tile(f"4x{row}", element), []))[-4:]:
                self.reduce_tile(scope, element, "xori" if element == I32 else "maximumf", value, 0)
        for shape, count in RESULTS.items():
            for pointer, element in (("%p", I32), ("%q", F32)):
                for position, value in enumerate(scope.values.get(tile(shape, element), [])[-count:]):
                    base = 1 + position * SIZE if shape else 1 + RESULTS[f"{SIZE}x"] * SIZE + position
                    address = self.address(scope, pointer, element, shape, base)
                    self.lines.append(f"tt.store {address}, {value} : {tile(shape, f'!tt.ptr<{element}>')}")

    def carried(self, scope: Scope) -> tuple[list[str], list[str]]:
        types = [tile(self.shape(), self.random.choice(ELEMENT_TYPES)) for _ in range(self.random.randrange(4))]
        return types, [self.value_of(scope, type) for type in types]

    def value_of(self, scope: Scope, type: str) -> str:
        for shape in SHAPES:
            for element in ELEMENT_TYPES:
                if tile(shape, element) == type:
                    return self.value(scope, shape, element)
        raise AssertionError(type)

    def yielded(self, scope: Scope, types: list[str], keyword: str = "scf.yield") -> None:
        values = [self.value_of(scope, type) for type in types]
        self.lines.append(f"{keyword} {', '.join(values)} : {', '.join(types)}" if types else keyword)

    def results(self, scope: Scope, types: list[str]) -> tuple[str, list[str]]:
        """(text in front of an op, the names of its results)."""
        if not types:
            return "", []
        name = self.fresh()
        names = [name] if len(types) == 1 else [f"{name}#{n}" for n in range(len(types))]
        for type, result in zip(types, names, strict=True):
            scope.values.setdefault(type, []).append(result)
        return (f"{name} = " if len(types) == 1 else f"{name}:{len(types)} = "), names

    def loop(self, scope: Scope, depth: int) -> None:
        low = self.add(scope, I32, f"arith.constant {self.random.randrange(-1, 2)} : i32")
        bound = self.masked(scope, self.value(scope, "", I32), "", 3)
        high = self.random.choice((bound, self.add(scope, I32, f"arith.constant {self.random.randrange(4)} : i32")))
        step = self.add(scope, I32, f"arith.constant {self.random.randrange(1, 3)} : i32")
        types, initial = self.carried(scope)
        counter, arguments = self.fresh(), [self.fresh() for _ in types]
        text = f"scf.for {counter} = {low} to {high} step {step}"
        if types:
            pairs = ", ".join(f"{a} = {i}" for a, i in zip(arguments, initial, strict=True))
            text += f" iter_args({pairs}) -> ({', '.join(types)})"
        inner = scope.inner()
        inner.values.setdefault(I32, []).append(counter)
        for type, argument in zip(types, arguments, strict=True):
            inner.values.setdefault(type, []).append(argument)
        front, _ = self.results(scope, types)
        self.lines.append(f"{front}{text} : i32 {{")
        self.block(inner, self.random.randrange(1, 6), depth - 1)
        self.yielded(inner, types)
        factor = self.random.choice(("", "", " {tt.loop_unroll_factor = 2 : i32}"))
        self.lines.append(f"}}{factor}")

    def while_loop(self, scope: Scope, depth: int) -> None:
        zero = self.add(scope, I32, "arith.constant 0 : i32")
        one = self.add(scope, I32, "arith.constant 1 : i32")
        bound = self.masked(scope, self.value(scope, "", I32), "", 3)
        start = self.value(scope, "", F32)
        i, a, j, b, c, k = (self.fresh() for _ in range(6))
        inner = scope.inner()
        front, _ = self.results(scope, [I32, F32])
        self.lines.append(f"{front}scf.while ({i} = {zero}, {a} = {start}) : (i32, f32) -> (i32, f32) {{")
        self.lines.append(f"{c} = arith.cmpi slt, {i}, {bound} : i32")
        self.lines.append(f"scf.condition({c}) {i}, {a} : i32, f32\n}} do {{\n^bb0({j}: i32, {b}: f32):")
        inner.values.setdefault(I32, []).append(j)
        inner.values.setdefault(F32, []).append(b)
        self.block(inner, self.random.randrange(1, 4), depth - 1)
        self.lines.append(f"{k} = arith.addi {j}, {one} : i32")
        self.lines.append(f"scf.yield {k}, {self.value(inner, '', F32)} : i32, f32")
        self.lines.append("}")

    def conditional(self, scope: Scope, depth: int) -> None:
        condition = self.value(scope, "", I1)
        types = [tile(self.shape(), self.random.choice(ELEMENT_TYPES)) for _ in range(self.random.randrange(3))]
        sides = (scope.inner(), scope.inner())
        front, _ = self.results(scope, types)
        arrow = f" -> ({', '.join(types)})" if types else ""
        self.lines.append(f"{front}scf.if {condition}{arrow} {{")
        for side, end in zip(sides, ("} else {", "}"), strict=True):
            self.block(side, self.random.randrange(0, 4), depth - 1)
            self.yielded(side, types)
            self.lines.append(end)

    def call(self, scope: Scope) -> None:
        """A call of a new private function of (i32, f32) that returns an f32, some with an early return."""
        name = f"helper{len(self.functions)}"
        body = Generator(self.random, [], self.functions, self.count)
        inner = Scope({I32: ["%a"], F32: ["%b"]})
        early = self.random.random() < 0.4
        self.functions.append("")
        slot = len(self.functions) - 1
        body.block(inner, self.random.randrange(1, 4), 0)
        if early:
            condition = body.value(inner, "", I1)
            returned = body.value(inner, "", F32)
            body.lines.append(f"cf.cond_br {condition}, ^out, ^on\n^out:\ntt.return {returned} : f32\n^on:")
            body.block(inner, 2, 0)
        returned = body.value(inner, "", F32)
        body.lines.append(f"tt.return {returned} : f32")
        parameters = "%p: !tt.ptr<i32>, %q: !tt.ptr<f32>, %a: i32, %b: f32"
        attribute = " attributes {noinline = true}" if self.random.random() < 0.2 else ""
        text = "\n".join(body.lines)
        self.functions[slot] = f"tt.func private @{name}({parameters}) -> f32{attribute} {{\n{text}\n}}"
        self.count = body.count
        x, y = self.value(scope, "", I32), self.value(scope, "", F32)
        signature = "(!tt.ptr<i32>, !tt.ptr<f32>, i32, f32) -> f32"
        self.add(scope, F32, f"tt.call @{name}(%p, %q, {x}, {y}) : {signature}")


RESULTS = {"": 40, f"{SIZE}x": 12}
"""How many of the last values of a shape are stored at the end."""


def random_kernel(seed: int, *, length: int = 12, depth: int = 2) -> str:
    """The text of a module with a random kernel of about ``length`` statements, nested up to ``depth`` deep."""
    generator = Generator(Random(seed))
    scope = Scope({I32: ["%x", "%y"], F32: ["%f"]})
    generator.block(scope, length, depth)
    generator.store_results(scope)
    body = "\n".join([*generator.lines, "tt.return"])
    integers = ", ".join(f"%{name}: i32 {{tt.negative = 1 : i32}}" for name in "xy")
    kernel = f"tt.func public @kernel(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>, {integers}, %f: f32) {{\n{body}\n}}"
    return "module {\n" + "\n".join([*generator.functions, kernel]) + "\n}\n"
