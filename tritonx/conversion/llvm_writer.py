"""Writing LLVM IR as text, for hosts and GPUs: a `Module` of definitions, and a `Writer` for the body of each function.

A line costs 0.2–0.45 µs as an f-string; building the same through a Python IR costs ten times that (xdsl-notes, Costs).
Nothing is checked here: LLVM in this build aborts the process on malformed IR, so each emit function is written against
LLVM's reference and tested on every width that it can meet.

What a path to LLVM adds is in a class of its own: loops and their cost for hosts (`tile_to_loops.writer`), a thread's
share of a tile for GPUs (`gpu_to_llvm.function`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from tritonx.conversion.llvm_text import mangle, string_constant
from tritonx.dialects.llvm import LICM_DISABLED

_SHORT = 8
"""Parts of a structure that is written out."""

LOOP_METADATA = 100
"""The first number of loops' metadata: targets have few of their own, from 0."""


class Module:
    """Function definitions, declarations and constants, each once."""

    def __init__(self) -> None:
        self.globals: dict[str, str] = {}
        """Definition → symbol: equal constants are one."""
        self.structures: dict[str, str] = {}
        """A structure's text → its name."""
        self.declarations: dict[str, str] = {}
        self.definitions: dict[str, str] = {}
        """The text of functions by their symbols."""
        self.loops: list[str] = []
        """Metadata of loops."""

    def declare(self, result: str, symbol: str, operands: Iterable[str], suffix: str = "") -> str:
        """Declare an external function once; returns its symbol."""
        if symbol not in self.declarations:
            self.declarations[symbol] = f"declare {result} {symbol}({', '.join(operands)}){suffix}"
        return symbol

    def intrinsic(self, name: str, result: str, operands: Iterable[str], overloaded: str | None = None) -> str:
        """Declare ``llvm.<name>`` overloaded on ``result`` (and on ``overloaded``) and return its symbol."""
        symbol = f"@llvm.{name}.{mangle(result)}"
        if overloaded is not None:
            symbol += f".{mangle(overloaded)}"
        return self.declare(result, symbol, operands)

    def define(self, symbol: str, text: str) -> str:
        """Add a function of this module; returns its symbol."""
        self.definitions[symbol] = text
        return symbol

    def global_(self, symbol: str, text: str) -> str:
        """A global that ``text`` defines; the symbol of an equal one where there is one."""
        return self.globals.setdefault(text, symbol)

    def structure(self, types: Sequence[str]) -> str:
        """A structure of these types. A long one gets a name: a line for each of its parts would write it out."""
        text = f"{{ {', '.join(types)} }}"
        return text if len(types) <= _SHORT else self.structures.setdefault(text, f"%struct{len(self.structures)}")

    def string(self, text: str, space: int = 0) -> str:
        """A private zero-terminated constant in an address space; returns its symbol."""
        where = f"addrspace({space}) " if space else ""
        definition = f"private unnamed_addr {where}constant {string_constant(text)}"
        return self.global_(f"@text{len(self.globals)}", definition)

    def loop_mark(self, op: Operation, *, unrolls: bool = True) -> str:
        """What the branch back of a loop carries: that LLVM moves nothing out of it, where the op says so, and that
        it is not unrolled."""
        said = ["llvm.licm.disable"] if op.attributes.get("llvm.loop_annotation") == LICM_DISABLED else []
        said += [] if unrolls else ["llvm.loop.unroll.disable"]
        if not said:
            return ""
        mark = f"!{LOOP_METADATA + len(self.loops)}"
        parts = ", ".join(f'!{{!"{each}"}}' for each in said)
        self.loops.append(f"{mark} = distinct !{{{mark}, {parts}}}")  # distinct: it names this loop
        return f", !llvm.loop {mark}"

    def print(self, head: Iterable[str], tail: Iterable[str] = ()) -> str:
        """The whole text, between what a target puts in front and behind."""
        named = [f"{name} = type {text}" for text, name in self.structures.items()]
        named += [f"{symbol} = {text}" for text, symbol in self.globals.items()]
        return "\n".join(
            [*head, *named, *self.definitions.values(), *self.declarations.values(), *self.loops, *tail, ""]
        )


class Writer:
    """The body of one function: numbered values and labelled blocks."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.block = "entry"
        """The label of the current block."""
        self._counter = 0

    # ---- instructions

    def name(self) -> str:
        """A new name for a value."""
        self._counter += 1
        return f"%v{self._counter}"

    def inst(self, text: str) -> str:
        """Write ``%new = text`` and return the name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        """Write an instruction without a result."""
        self.lines.append("  " + text)

    def call(self, result: str, symbol: str, *arguments: tuple[str, str], attributes: str = "") -> str:
        """Call the function or intrinsic ``symbol`` with (type, value) arguments, declaring it with its ``attributes``
        unless the module defines it; returns the name of what it gives, nothing for ``void``."""
        suffix = f" {attributes}" if attributes else ""
        if symbol not in self.module.definitions:
            self.module.declare(result, symbol, [t for t, _ in arguments], suffix)
        text = f"call {result} {symbol}({', '.join([f'{t} {v}' for t, v in arguments])}){suffix}"
        if result == "void":
            self.line(text)
            return ""
        return self.inst(text)

    # ---- blocks

    def new_label(self, stem: str) -> str:
        self._counter += 1
        return f"{stem}{self._counter}"

    def label(self, label: str) -> None:
        """Open the block ``label``; the previous one must have been ended by a terminator."""
        self.lines.append(f"{label}:")
        self.block = label

    def branch(self, label: str, mark: str = "") -> None:
        self.line(f"br label %{label}{mark}")

    def branch_if(self, condition: str, then: str, otherwise: str) -> None:
        self.line(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def enter(self, label: str) -> None:
        """Open the block ``label``, into which the current one falls through."""
        self.branch(label)
        self.label(label)
