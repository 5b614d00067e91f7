"""PTX as LLVM writes it, read into instructions: registers with their widths, labels, parameters, variables."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Register:
    """``name`` within the function of its instruction; a predicate has one bit."""

    name: str
    bits: int


@dataclass(frozen=True)
class Number:
    """``bits`` of a float that is written by its bits; other numbers have any width."""

    value: int
    bits: int = 0


@dataclass(frozen=True)
class Name:
    """A variable, a parameter, a function, a label, a special register, or ``_``."""

    text: str


@dataclass(frozen=True)
class Vector:
    parts: tuple[Operand, ...]


@dataclass(frozen=True)
class Address:
    base: Operand
    offset: int
    coordinates: Vector | None = None
    """Of a copy by a tensor map."""


@dataclass(frozen=True)
class Inverted:
    """``!p``."""

    of: Operand


Operand = Register | Number | Name | Vector | Address | Inverted


@dataclass(frozen=True)
class Instruction:
    """``function`` contains it; ``guard`` a predicate, which must be ``guard_value``."""

    text: str
    function: str
    guard: Register | None
    guard_value: bool
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]

    @property
    def type(self) -> str:
        return self.modifiers[-1]


@dataclass(frozen=True)
class Parameter:
    name: str
    nbytes: int


@dataclass
class Function:
    name: str
    entry: int
    parameters: list[Parameter]
    result: Parameter | None


@dataclass
class Variable:
    """Where it lies (``global``, ``const``, ``shared``, ``local``) and what it begins with."""

    space: str
    nbytes: int
    align: int
    content: bytes


@dataclass
class Program:
    """``instructions`` of all functions, one after the other; ``leaders`` are the numbers that a jump may lead to."""

    instructions: list[Instruction] = field(default_factory=list[Instruction])
    labels: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    threads: int = 0
    cluster: int = 1
    """Blocks of a cluster."""
    kernel: str = ""

    @property
    def leaders(self) -> set[int]:
        return set(self.labels.values()) | {f.entry for f in self.functions.values()}


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER = re.compile(
    r"\.param(?:\s+\.align\s+\d+)?\s+\.([busf])(\d+)(?:\s+\.ptr[^\w]*(?:\.?\w+\s+)*?)?\s*([\w$]+)(?:\[(\d+)\])?$"
)
_VARIABLE = re.compile(
    r"(?:\.(?:visible|extern|weak)\s+)?\.(global|const|shared|local)\s+(?:\.align\s+(\d+)\s+)?\.[busf](\d+)\s+([\w$]+)"
    r"(?:\[(\d*)\])?(?:\s*=\s*\{?([^}]*)\}?)?$",
    re.DOTALL,
)
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(.*)$", re.DOTALL)
_HEADER = re.compile(
    r"\.(?:visible\s+\.|weak\s+\.|extern\s+\.)?(entry|func)\b(?:\s*\.noreturn)?\s*(?:\((.*?)\))?\s*([\w$]+)\s*(?:\((.*?)\))?",
    re.DOTALL,
)


def parse(text: str) -> Program:
    """The module ``text``. Raises ValueError with what could not be read."""
    program, rest = Program(), _COMMENT.sub("", text)
    while rest := rest.lstrip():
        if re.match(r"\.(version|target|address_size|file)\b", rest):
            rest = rest.partition("\n")[2]
        elif _HEADER.match(rest):
            rest = _function(program, rest)
        elif rest.startswith(".section"):
            rest = rest[_closing(rest, rest.index("{")) + 1 :]
        else:
            statement, _, rest = rest.partition(";")
            _variable(program, statement.strip())
    return program


def _closing(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise ValueError("a brace is open")


def _variable(program: Program, statement: str) -> None:
    found = _VARIABLE.match(statement)
    if found is None:
        raise ValueError(f"no variable: {statement[:80]}")
    space, align, bits, name, count, content = found.groups()
    size = int(bits) // 8
    numbers = [int(n, 0) for n in (content or "").split(",") if n.strip()]
    data = b"".join((n % (1 << int(bits))).to_bytes(size, "little") for n in numbers)
    nbytes = size * (int(count) if count else int(count is None))
    program.variables[name] = Variable(space, nbytes, int(align or size), data.ljust(nbytes, b"\0"))


def _parameter(text: str) -> Parameter:
    found = _PARAMETER.match(" ".join(text.split()))
    if found is None:
        raise ValueError(f"no parameter: {text}")
    return Parameter(found[3], int(found[2]) // 8 * int(found[4] or 1))


def _function(program: Program, text: str) -> str:
    """Reads the function at the start of ``text``; returns what follows."""
    header = _HEADER.match(text)
    assert header is not None
    kind, result, name, parameters = header.groups()
    end = text.find(";", header.end())
    start = text.find("{", header.end())
    if 0 <= end and (start < 0 or end < start):  # a declaration
        return text[end + 1 :]
    after = _closing(text, start)
    found = [_parameter(p) for p in (parameters or "").split(",") if p.strip()]
    own = _parameter(result) if result and result.strip() else None
    program.functions[name] = Function(name, len(program.instructions), found, own)
    if kind == "entry":
        program.kernel = name
        threads = re.search(r"\.reqntid\s+(\d+)", text[header.end() : start])
        program.threads = int(threads[1]) if threads else 0
        cluster = re.search(r"\.reqnctapercluster\s+(\d+)", text[header.end() : start])
        program.cluster = int(cluster[1]) if cluster else 1
    _Body(program, name).read(text[start + 1 : after])
    return text[after + 1 :]


class _Body:
    def __init__(self, program: Program, function: str) -> None:
        self.program, self.function = program, function
        self.scopes = 0
        self.exact: dict[str, int] = {}
        self.families: dict[str, int] = {}

    def read(self, text: str) -> None:
        rest = text
        while rest := rest.lstrip():
            if rest[0] == "{":
                after = _closing(rest, 0)
                rest = self.scope(rest[1:after]) + rest[after + 1 :]
            elif label := re.match(r"([\w$]+):", rest):
                self.program.labels[self.function, label[1]] = len(self.program.instructions)
                rest = rest[label.end() :]
            elif re.match(r"\.(loc|pragma)\b", rest) and "\n" in rest:
                rest = rest.partition("\n")[2]
            else:
                statement, _, rest = rest.partition(";")
                self.statement(" ".join(statement.split()))

    def scope(self, text: str) -> str:
        """The text in braces, its labels with names of their own: those of assembly are the same in every copy."""
        self.scopes += 1
        for label in re.findall(r"(?:^|[;\n])\s*([\w$]+):(?!:)", text):
            text = re.sub(rf"(?<![\w$%]){re.escape(label)}(?![\w$])", f"{label}${self.scopes}", text)
        return text

    def statement(self, text: str) -> None:
        if text.startswith(".reg"):
            self.registers(text)
        elif text.startswith((".local", ".shared")):
            _variable(self.program, text)
        elif text and not text.startswith("."):
            self.program.instructions.append(self.instruction(text))

    def registers(self, text: str) -> None:
        found = _REGISTERS.match(text)
        assert found is not None
        bits = 1 if found[1] == "pred" else int(found[1][1:])
        for name in found[2].split(","):
            family = re.match(r"\s*(%?[\w$]+?)<\d+>", name)
            if family:
                self.families[family[1]] = bits
            else:
                self.exact[name.strip()] = bits

    def instruction(self, text: str) -> Instruction:
        found = re.match(r"(?:@(!?)(\S+)\s+)?([\w.:]+)\s*(.*)$", text)
        if found is None:
            raise ValueError(f"no instruction: {text}")
        inverted, guard, mnemonic, operands = found.groups()
        opcode, *modifiers = mnemonic.split(".")
        held = self.operand(guard) if guard else None
        assert held is None or isinstance(held, Register)
        parts = tuple(self.operand(part) for part in _parts(operands))
        return Instruction(text, self.function, held, not inverted, opcode, tuple(modifiers), parts)

    def operand(self, text: str) -> Operand:
        text = text.strip()
        if text.startswith("!"):
            return Inverted(self.operand(text[1:]))
        if text[0] in "{(":
            return Vector(tuple(self.operand(part) for part in _parts(text[1:-1])))
        if text[0] == "[":
            return self.address(text[1:-1])
        if (bits := self.width(text)) is not None:
            return Register(text, bits)
        number = _number(text)
        return Name(text) if number is None else number

    def address(self, text: str) -> Address:
        base, *coordinates = _parts(text)
        found = re.match(r"([^+\s]+)\s*(?:\+\s*(-?\w+))?$", base.strip())
        if found is None:
            raise ValueError(f"no address: {text}")
        where = self.operand(coordinates[0]) if coordinates else None
        assert where is None or isinstance(where, Vector)
        return Address(self.operand(found[1]), int(found[2] or "0", 0), where)

    def width(self, name: str) -> int | None:
        if name in self.exact:
            return self.exact[name]
        family = re.match(r"(%?[a-z_]+?)\d+$", name)
        return self.families.get(family[1]) if family else None


def _parts(text: str) -> list[str]:
    """Split at the commas, and at the bars of two results, that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(letter, 0)
        if letter in ",|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _number(text: str) -> Number | None:
    if floating := re.match(r"0([fFdD])([0-9a-fA-F]+)$", text):
        return Number(int(floating[2], 16), 32 if floating[1] in "fF" else 64)
    if integer := re.match(r"(-?(?:0[xX][0-9a-fA-F]+|\d+))U?$", text):
        return Number(int(integer[1], 0))
    if decimal := re.match(r"-?\d+\.\d+$", text):
        return Number(struct.unpack("<I", struct.pack("<f", float(decimal[0])))[0], 32)
    return None
