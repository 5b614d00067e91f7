"""LLVM text without what a compiler lacks: vectors of any length, bfloat, and with them extrema that keep NaN.

The emitters write a thread's share of a tile as one vector, however long. Here every vector is taken apart into its
elements; only loads and stores of as many as a power of two up to the machine's widest, and instructions that
reinterpret a vector, see it whole. The input is LLVM's own print of a module, one instruction a line with its types."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tritonx.conversion.data_layout import layout_of
from tritonx.conversion.legal import Legal
from tritonx.conversion.legalize import bfloat, intrinsics, words
from tritonx.conversion.legalize.operands import (
    VECTOR,
    bytes_of,
    constant_elements,
    element_of,
    split,
    take,
    typed,
    vector_of,
)

BINARY = frozenset(
    "add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem fcmp icmp".split()
)
UNARY = frozenset({"fneg", "freeze"})
CASTS = frozenset(
    "zext sext trunc fpext fptrunc uitofp sitofp fptoui fptosi bitcast ptrtoint inttoptr addrspacecast".split()
)
FLAGS = "nuw|nsw|exact|disjoint|nneg|contract|reassoc|nnan|ninf|nsz|arcp|afn|fast|samesign|volatile|tail|notail"
HEAD = re.compile(rf"(\w+(?: (?:{FLAGS}))*) ?")
RESULT = re.compile(r"(%\S+) = (.*)")
METADATA = re.compile(r"(, !\S+ !\S+)+$")
NAME = re.compile(r'%[\w.$-]+|%"[^"]+"')
OWN_INTRINSIC = "|".join(re.escape(name) for name in intrinsics.WRITTEN)
NARROW_INTRINSIC = re.compile(rf"@llvm\.\w+(\.\w+)*?(\.v\d+\w+|\.bf16)|@({OWN_INTRINSIC})\.")
INTRINSIC = re.compile(r"(?:range\(.*?\) )?(<[^>]+>|\w+) @(llvm\.[\w.]+)\((.*)\)(?: #\d+)?")
INTRINSIC_NAME = re.compile(r"@(llvm\.[\w.]+)")
SUFFIXES = re.compile(r"(\.(v\d+)?(p\d+|[if]\d+|bf16))+$")


@dataclass(frozen=True)
class Phi:
    """The phis of a vector's elements: its operands may be known only when the function is done."""

    names: Sequence[str]
    type: str
    incoming: Sequence[tuple[str, str]]


def scalarized(text: str, legal: Legal) -> str:
    """The module ``text`` with vectors of at most ``legal.vector`` elements, in accesses only."""
    declared: dict[str, str] = {}
    out: list[str] = []
    layout = layout_of(text)
    function: Function | None = None
    for line in text.splitlines():
        if line.startswith("define"):
            function = Function(declared, legal, layout)
            out.append(line if legal.bfloat else bfloat.stored(line))
        elif function is not None and line == "}":
            out += [*function.finished(), "}"]
            function = None
        elif function is not None:
            function.line(line.partition(" ;")[0].strip())
        elif line.startswith("declare") and (match := INTRINSIC_NAME.search(line)):
            if not NARROW_INTRINSIC.search(line):
                declared[match[1]] = line
        else:
            out.append(line if legal.bfloat else bfloat.stored(line))
    return "\n".join([*out, *declared.values(), ""])


class Function:
    """One function being rewritten, of a module of this data layout. ``vectors`` holds the elements of each vector,
    ``alias`` what a name stands for."""

    def __init__(self, declared: dict[str, str], legal: Legal, layout: str) -> None:
        assert legal.vector is not None
        self.declared = declared
        self.layout = layout
        self.legal, self.widest = legal, legal.vector
        self.held = "" if legal.bfloat else "bfloat"
        """The type whose values are held as integers; "" for none."""
        self.lines: list[str | Phi] = []
        self.vectors: dict[str, list[str]] = {}
        self.alias: dict[str, str] = {}
        self.count = 0

    def stored(self, type_: str) -> str:
        """The type that stands for ``type_``."""
        return bfloat.stored(type_) if self.held else type_

    def literal(self, value: str) -> str:
        """A constant of that type."""
        return bfloat.literal(value) if self.held else value

    def finished(self) -> list[str]:
        """The lines, with every name replaced by what it stands for."""
        lines: list[str] = []
        for line in self.lines:
            lines += [line] if isinstance(line, str) else self._phis(line)
        return [NAME.sub(lambda match: self._resolved(match[0]), line) for line in lines]

    def _phis(self, phi: Phi) -> list[str]:
        shape = vector_of(phi.type)
        assert shape is not None
        elem = self.stored(shape[1])
        columns = [(self.elements(phi.type, value), block) for value, block in phi.incoming]
        return [
            f"  {name} = phi {elem} " + ", ".join(f"[ {self.literal(c[i])}, {block} ]" for c, block in columns)
            for i, name in enumerate(phi.names)
        ]

    def _resolved(self, name: str) -> str:
        while name in self.alias:
            name = self.alias[name]
        return name

    # ---- writing

    def new(self, text: str) -> str:
        """Add an instruction; the name of its result."""
        self.count += 1
        name = f"%s{self.count}"
        self.lines.append(f"  {name} = {self.stored(text)}")
        return name

    def result(self, name: str, value: str) -> None:
        """``name`` stands for ``value`` from now on, and for uses before this line."""
        self.alias[name] = self.literal(value)

    # ---- vectors

    def elements(self, type_: str, value: str) -> list[str]:
        """The elements of an operand of vector type."""
        shape = vector_of(type_)
        assert shape is not None, f"{type_} is no vector"
        constant = constant_elements(value, *shape)
        return self.vectors[value] if constant is None else constant

    def packed(self, type_: str, values: Sequence[str]) -> str:
        """One vector of these elements."""
        made = "poison"
        for i, value in enumerate(values):
            made = self.new(f"insertelement {type_} {made}, {element_of(type_)} {self.literal(value)}, i32 {i}")
        return made

    def unpacked(self, type_: str, vector: str) -> list[str]:
        shape = vector_of(type_)
        assert shape is not None
        return [self.new(f"extractelement {type_} {vector}, i32 {i}") for i in range(shape[0])]

    def each(
        self,
        result: str,
        operands: Sequence[tuple[str, str]],
        write: Callable[[Sequence[str], Sequence[str]], str],
    ) -> None:
        """``write(types, values)`` for each element of the operands, or once where none is a vector."""
        extent = next((shape[0] for type_, _ in operands if (shape := vector_of(type_))), None)
        types = [element_of(type_) for type_, _ in operands]
        if extent is None:
            self.result(result, write(types, [value for _, value in operands]))
            return
        columns = [self.elements(t, v) if vector_of(t) else [v] * extent for t, v in operands]
        self.vectors[result] = [write(types, row) for row in zip(*columns, strict=True)]

    # ---- instructions

    def line(self, line: str) -> None:
        """Rewrite one line of the function."""
        foreign = "<" in line or (bool(self.held) and self.held in line)
        if not foreign and not NARROW_INTRINSIC.search(line):
            self.lines.append("  " + METADATA.sub("", line) if line and not line.endswith(":") else line)
            return
        match = RESULT.fullmatch(METADATA.sub("", line))
        result, body = (match[1], match[2]) if match else ("", line)
        flags = HEAD.match(body)
        assert flags is not None, line
        head, rest = flags[1], body[flags.end() :]
        opcode = head.partition(" ")[0]
        if opcode in BINARY or opcode in UNARY:
            self._arithmetic(result, opcode, head, rest)
        elif opcode in CASTS and self._keeps_shape(rest):
            self._cast(result, opcode, head, rest)
        elif opcode == "call" and "@llvm." in rest:
            self._intrinsic(result, rest)
        elif (rewrite := REWRITES.get(opcode)) is not None:
            rewrite(self, result, head, rest)
        else:
            self._whole(result, body)

    def _arithmetic(self, result: str, opcode: str, head: str, rest: str) -> None:
        if opcode in ("fcmp", "icmp"):
            predicate, _, rest = rest.partition(" ")
            head = f"{head} {predicate}"
        first, others = take(rest)
        type_, value = typed(first)

        def write(types: Sequence[str], values: Sequence[str]) -> str:
            if types[0] != self.held or opcode == "freeze":
                return self.new(f"{head} {types[0]} {', '.join(map(self.literal, values))}")
            if opcode == "fneg":
                return self.new(f"xor i16 {self.literal(values[0])}, {bfloat.SIGN}")
            wide = ", ".join(bfloat.widened(self.new, v) for v in values)
            made = self.new(f"{head} float {wide}")
            return made if opcode == "fcmp" else bfloat.narrowed(self.new, made)

        self.each(result, [(type_, v) for v in [value, *split(others)]], write)

    def _keeps_shape(self, rest: str) -> bool:
        """Whether a conversion is one of each element, as all are but some bitcasts."""
        source, _, target = rest.rpartition(" to ")
        shapes = vector_of(typed(source)[0]), vector_of(target)
        return (shapes[0] and shapes[0][0]) == (shapes[1] and shapes[1][0])

    def _cast(self, result: str, opcode: str, head: str, rest: str) -> None:
        source, _, target = rest.rpartition(" to ")
        elem = element_of(target)

        def write(types: Sequence[str], values: Sequence[str]) -> str:
            if self.held in (types[0], elem):
                return bfloat.converted(self.new, opcode, types[0], values[0], elem)
            return self.new(f"{head} {types[0]} {values[0]} to {elem}")

        self.each(result, [typed(source)], write)

    def recut(self, result: str, head: str, rest: str) -> None:
        """A bitcast that makes fewer or more elements of the same bits: of as few at a time as it can be done with."""
        source, _, target = rest.rpartition(" to ")
        type_, value = typed(source)
        (n, elem), (m, made) = (vector_of(t) or (1, t) for t in map(self.stored, (type_, target)))
        values = self.elements(type_, value) if vector_of(type_) else [value]
        pieces = min(n, m)
        elements: list[str] = []
        for first in range(0, n, n // pieces):
            some = values[first : first + n // pieces]
            if max(n, m) // pieces > self.widest:
                width = words.bits_of(elem) * len(some)
                elements += words.unpacked(self.new, made, words.packed(self.new, elem, some), width)
                continue
            whole = self.packed(f"<{len(some)} x {elem}>", some) if len(some) > 1 else self.literal(some[0])
            from_, to = (f"<{k // pieces} x {e}>" if k > pieces else e for k, e in ((n, elem), (m, made)))
            cut = self.new(f"bitcast {from_} {whole} to {to}")
            elements += self.unpacked(to, cut) if vector_of(to) else [cut]
        if vector_of(target):
            self.vectors[result] = elements
        else:
            self.result(result, elements[0])

    def select(self, result: str, head: str, rest: str) -> None:
        def write(types: Sequence[str], values: Sequence[str]) -> str:
            return self.new(
                f"{head} " + ", ".join(f"{t} {self.literal(v)}" for t, v in zip(types, values, strict=True))
            )

        self.each(result, [typed(operand) for operand in split(rest)], write)

    def phi(self, result: str, head: str, rest: str) -> None:
        type_, incoming = typed(take(rest)[0])[0], re.findall(r"\[ (.*?), (%[^\s,\]]+) \]", rest)
        shape = vector_of(type_)
        if shape is None:
            edges = ", ".join(f"[ {self.literal(value)}, {block} ]" for value, block in incoming)
            self.lines.append(f"  {result} = phi {self.stored(type_)} {edges}")
            return
        names = [f"{result}.e{i}" for i in range(shape[0])]
        self.vectors[result] = names
        self.lines.append(Phi(names, type_, incoming))

    def extract(self, result: str, head: str, rest: str) -> None:
        vector, index = map(typed, split(rest))
        elements = self.elements(*vector)
        if index[1].isdigit():
            self.result(result, elements[int(index[1])])
            return
        type_ = self.stored(vector[0])
        self.result(result, self.new(f"extractelement {type_} {self.packed(type_, elements)}, {' '.join(index)}"))

    def insert(self, result: str, head: str, rest: str) -> None:
        vector, value, index = map(typed, split(rest))
        made = list(self.elements(*vector))
        made[int(index[1])] = value[1]
        self.vectors[result] = made

    def shuffle(self, result: str, head: str, rest: str) -> None:
        first, second, chosen = map(typed, split(rest))
        both = [*self.elements(*first), *self.elements(*second)]
        self.vectors[result] = [both[int(i)] if i.isdigit() else "poison" for i in self.elements(*chosen)]

    # ---- memory

    def load(self, result: str, head: str, rest: str) -> None:
        type_, place = take(rest)
        pointer, align = _address(place)
        shape = vector_of(type_)
        if shape is None:
            self.result(result, self.new(f"{head} {type_}, {pointer}, align {align}"))
        elif count := self._words(*shape, align):
            loaded = [self.new(f"{head} i32, {self._behind(pointer, 'i32', i)}, align 4") for i in range(count)]
            self.vectors[result] = [e for word in loaded for e in words.unpacked(self.new, shape[1], word)]
        elif (whole := self._one_access(*shape)) is not None:
            self.vectors[result] = self.unpacked(whole, self.new(f"{head} {whole}, {pointer}, align {align}"))
        else:
            places = [self._element(pointer, shape[1], i, align) for i in range(shape[0])]
            self.vectors[result] = [self.new(f"{head} {shape[1]}, {place}") for place in places]

    def store(self, result: str, head: str, rest: str) -> None:
        value, place = take(rest)
        pointer, align = _address(place)
        type_, stored = typed(value)
        shape = vector_of(type_)
        if shape is None:
            self._add(f"{head} {type_} {self.literal(stored)}, {pointer}, align {align}")
        elif count := self._words(*shape, align):
            elements, each = self.elements(type_, stored), shape[0] // count
            for i in range(count):
                word = words.packed(self.new, shape[1], elements[i * each : (i + 1) * each])
                self._add(f"{head} i32 {word}, {self._behind(pointer, 'i32', i)}, align 4")
        elif (whole := self._one_access(*shape)) is not None:
            self._add(f"{head} {whole} {self.packed(whole, self.elements(type_, stored))}, {pointer}, align {align}")
        else:
            for i, element in enumerate(self.elements(type_, stored)):
                self._add(f"{head} {shape[1]} {self.literal(element)}, {self._element(pointer, shape[1], i, align)}")

    def _one_access(self, count: int, elem: str) -> str | None:
        """The vector type that one access can have for these elements; None where each takes its own."""
        fits = count > 1 and count & (count - 1) == 0 and count <= self.widest
        return f"<{count} x {self.stored(elem)}>" if fits and elem != "i1" and elem[:3] != "ptr" else None

    def _words(self, extent: int, elem: str, align: int) -> int:
        """How many words of 32 bits an access is made of; 0 for one that is not."""
        return 0 if self.legal.narrow_accesses or elem == "bfloat" != self.held else words.count(extent, elem, align)

    def _element(self, pointer: str, elem: str, number: int, align: int) -> str:
        """Where an element of a vector is that lies at ``pointer``, aligned to ``align`` bytes."""
        return f"{self._behind(pointer, elem, number)}, align {min(align, bytes_of(elem, self.layout))}"

    def _behind(self, pointer: str, elem: str, count: int) -> str:
        """The typed address ``count`` elements behind ``pointer``."""
        return f"{typed(pointer)[0]} {self.new(f'getelementptr {elem}, {pointer}, i64 {count}')}"

    def _add(self, line: str) -> None:
        self.lines.append("  " + self.stored(line))

    # ---- calls, and what is left

    def _intrinsic(self, result: str, rest: str) -> None:
        match = INTRINSIC.fullmatch(rest)
        assert match is not None, rest
        elem, base = element_of(match[1]), SUFFIXES.sub("", match[2])

        def write(types: Sequence[str], values: Sequence[str]) -> str:
            if elem != self.held:
                return self._call(base, elem, types, values)
            wide = [bfloat.widened(self.new, v) for v in values]
            return bfloat.narrowed(self.new, self._call(base, "float", ["float"] * len(wide), wide))

        self.each(result, [typed(argument) for argument in split(match[3])], write)

    def _call(self, base: str, elem: str, types: Sequence[str], values: Sequence[str]) -> str:
        """An intrinsic of scalars."""
        if (write := intrinsics.WRITTEN.get(base)) is not None:
            return write(intrinsics.Caller(self.new, self._declared_call), elem, types, values)
        return self._declared_call(base, elem, types, values)

    def _declared_call(self, base: str, elem: str, types: Sequence[str], values: Sequence[str]) -> str:
        overloads = [intrinsics.SHORT.get(elem, elem)]
        if base in intrinsics.OF_TWO_TYPES:
            overloads.append(intrinsics.SHORT[types[0]])
        symbol = ".".join([base, *overloads])
        self.declared.setdefault(symbol, f"declare {elem} @{symbol}({', '.join(types)})")
        return self.new(f"call {elem} @{symbol}({', '.join(f'{t} {v}' for t, v in zip(types, values, strict=True))})")

    def _whole(self, result: str, body: str) -> None:
        """An instruction kept as it is: vectors are put together before it, and taken apart after it."""
        for match in re.finditer(rf"({VECTOR.pattern}) (%[\w.$-]+)", body):
            if match[4] in self.vectors:
                whole = self.packed(self.stored(match[1]), self.vectors[match[4]])
                body = body.replace(match[0], f"{match[1]} {whole}")
        if not result:
            self._add(body)
            return
        made = self.new(body)
        type_ = self.stored(body.rpartition(" to ")[2] if " to " in body else typed(body.partition(" ")[2])[0])
        if vector_of(type_):
            self.vectors[result] = self.unpacked(type_, made)
        else:
            self.result(result, made)


def _address(place: str) -> tuple[str, int]:
    """The typed pointer of a load or store, and the bytes it is aligned to."""
    match = re.search(r"align (\d+)", place)
    assert match is not None, place
    return split(place)[0], int(match[1])


REWRITES: dict[str, Callable[[Function, str, str, str], None]] = {
    "bitcast": Function.recut,
    "select": Function.select,
    "phi": Function.phi,
    "extractelement": Function.extract,
    "insertelement": Function.insert,
    "shufflevector": Function.shuffle,
    "load": Function.load,
    "store": Function.store,
}
