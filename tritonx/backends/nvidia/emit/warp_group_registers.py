"""Registers that a warp group's products read and write: as words, through a wait, and made before a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit.mbarrier import CONVERGENT, assembly
from tritonx.conversion.gpu_to_llvm.register_words import move_tile
from tritonx.conversion.gpu_to_llvm.values import Tile

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def waited(f: FunctionEmitter, pendings: int, values: list[Tile]) -> list[Tile]:
    """The values behind a wait for all but ``pendings`` groups: nothing reads them before it, as they pass through."""
    text = f"wgmma.wait_group.sync.aligned {pendings};"
    words: list[tuple[str, list[str]]] = []
    for value in values:
        given, held = packed(f, value.elem, f.scalars(value))
        words.append((held, given))
    types = [held for held, given in words for _ in given]
    if not types:
        assembly(f, text)
        return values
    operands = [f"{held} {x}" for held, given in words for x in given]
    f.module.attributes[CONVERGENT] = "convergent nounwind"
    constraints = [*map(str, range(len(types))), "~{memory}"]
    names = results_of(f, types, f'sideeffect "{text}"', constraints, operands, CONVERGENT)
    out: list[Tile] = []
    for value, (held, given) in zip(values, words, strict=True):
        own, names = names[: len(given)], names[len(given) :]
        out.append(f.gathered(value.elem, unpacked(f, value.elem, held, own)))
    return out


def letter(type_: str) -> str:
    """Of the register that holds an LLVM type, in a constraint."""
    return "f" if type_ == "float" else "r"


def results_of(
    f: FunctionEmitter,
    types: Sequence[str],
    text: str,
    constraints: Sequence[str],
    operands: Sequence[str],
    rest: str = "",
) -> list[str]:
    """Inline assembly with a result of each of ``types``; ``constraints`` are those of the operands, and clobbers."""
    struct = types[0] if len(types) == 1 else f.module.structure(types)
    given = ",".join([*(f"={letter(t)}" for t in types), *constraints])
    called = f.inst(f'call {struct} asm {text}, "{given}"({", ".join(operands)}) {rest}'.rstrip())
    if len(types) == 1:
        return [called]
    return [f.inst(f"extractvalue {struct} {called}, {i}") for i in range(len(types))]


def packed(f: FunctionEmitter, elem: str, names: Sequence[str]) -> tuple[list[str], str]:
    """Elements as the registers that an instruction takes, and their LLVM type: two halves are one word."""
    if elem != "half":
        return list(names), elem
    if "poison" in names:
        return ["poison"] * (len(names) // 2), "i32"
    pairs = [f.pack("half", list(names[i : i + 2])) for i in range(0, len(names), 2)]
    return [f.inst(f"bitcast <2 x half> {pair} to i32") for pair in pairs], "i32"


def unpacked(f: FunctionEmitter, elem: str, held: str, names: list[str]) -> list[str]:
    if elem == held:
        return names
    out: list[str] = []
    for name in names:
        pair = f.inst(f"bitcast i32 {name} to <2 x half>")
        out += [f.inst(f"extractelement <2 x half> {pair}, i32 {i}") for i in range(2)]
    return out


def made(f: FunctionEmitter, tile: Tile) -> Tile:
    """A tile of constants as LLVM cannot see through."""
    names, held = packed(f, tile.elem, f.scalars(tile))
    text = "\\0A\\09".join(f"mov.b32 ${i}, ${i + len(names)};" for i in range(len(names)))
    operands = [f"{held} {x}" for x in names]
    names = results_of(f, [held] * len(names), f'"{text}"', [letter(held)] * len(names), operands)
    return f.gathered(tile.elem, unpacked(f, tile.elem, held, names))


def opaque(f: FunctionEmitter, tile: Tile) -> Tile:
    """A tile of several elements to a word, of which LLVM does not know how it was made."""
    return move_tile(f, tile, lambda word: f.inst(f'call i32 asm "", "=r,0"(i32 {word})'))
