"""Ops whose meaning the kernel's author supplies: inline assembly, device-library calls, scalar functions on
elements.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Block, Operation, Region

from tritonx.conversion.gpu_to_llvm.calls import call_each
from tritonx.conversion.gpu_to_llvm.control import (
    bind,
    edge_operands,
    emit_blocks,
    joined,
    terminator_values,
    types_of,
)
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError


def inline_assembly(op: tile.ElementwiseInlineAsmOp, f: FunctionEmitter) -> None:
    """One asm call for ``packed_element`` elements; narrow elements travel packed in 32-bit registers."""
    pack = op.packed_element.value.data
    inputs = [(f.get(v), f.scalars(f.get(v))) for v in op.args]
    outputs = [f.type(r.type) for r in op.results]
    check_operands(op, [value.elem for value, _ in inputs], outputs)
    count = len(inputs[0][1]) if inputs else f.registers(op.results[0].type)
    constraints = escape(op.constraints.data)
    flags = "" if op.pure.value.data else "sideeffect "
    mark = f"!srcloc !{{i64 {f.module.foreign(op)}}}"
    collected: list[list[str]] = [[] for _ in outputs]
    for first in range(0, count, pack):
        operands: list[str] = []
        for value, names in inputs:
            group = [names[min(i, count - 1)] for i in range(first, first + pack)]
            operands += pack_words(f, value.elem, group)
        result_types = [t for elem in outputs for t in word_types(elem, pack)]
        struct = result_types[0] if len(result_types) == 1 else "{ " + ", ".join(result_types) + " }"
        text = escape(op.asm_string.data)
        called = f.inst(f'call {struct} asm {flags}"{text}", "{constraints}"({", ".join(operands)}), {mark}')
        parts = [
            called if len(result_types) == 1 else f.inst(f"extractvalue {struct} {called}, {i}")
            for i in range(len(result_types))
        ]
        for k, elem in enumerate(outputs):
            words = len(word_types(elem, pack))
            collected[k] += unpack_words(f, elem, parts[:words], pack)
            parts = parts[words:]
    for result, elem, names in zip(op.results, outputs, collected, strict=True):
        f.set(result, Tile.of(elem, names[:count]))


def check_operands(op: tile.ElementwiseInlineAsmOp, inputs: list[str], outputs: list[str]) -> None:
    """Raises PassError for what LLVM would refuse in its own words: constraints of other numbers of operands than there
    are. ``=r`` and the like are outputs, ``~{memory}`` is overwritten, the others are inputs."""
    pack = op.packed_element.value.data
    if pack > 1 and "i1" in (*inputs, *outputs):
        raise PassError(op, f"inline assembly takes int1 one at a time, not {pack}", "convert to int8, or pack=1")
    parts = [part.strip() for part in op.constraints.data.split(",") if part.strip()]
    named = (
        sum(part.startswith("=") for part in parts),
        sum(not part.startswith(("=", "~")) for part in parts),
    )
    there = tuple(sum(len(word_types(elem, pack)) for elem in elems) for elems in (outputs, inputs))
    if named != there:
        raise PassError(
            op,
            f"the constraints '{op.constraints.data}' are of {named[0]} outputs and {named[1]} inputs; assembly of"
            f" {pack} elements at a time has {there[0]} and {there[1]}",
            "elements of fewer than 32 bits share a register, wider ones have one each",
        )


def escape(text: str) -> str:
    """An LLVM string literal of ``text``; a bare ``$`` stays: it names operands."""
    return "".join(c if 32 <= ord(c) < 127 and c not in '"\\' else f"\\{b:02X}" for c in text for b in c.encode())


def word_types(elem: str, pack: int) -> list[str]:
    """What ``pack`` elements are passed as. An i1 stays one, for constraints of predicates."""
    width = bits(elem)
    if width >= 32:
        return [elem] * pack
    if pack == 1:
        return [elem if elem == "i1" else f"i{width}"]
    return ["i32"] * max(1, pack * width // 32)


def pack_words(f: FunctionEmitter, elem: str, names: list[str]) -> list[str]:
    """Operands, with their types, for one group of elements."""
    width, pack = bits(elem), len(names)
    if width >= 32:
        return [f"{elem} {x}" for x in names]
    if pack * width < 32:
        if pack == 1:
            (integer,) = word_types(elem, 1)
            x = names[0] if elem == integer else f.inst(f"bitcast {elem} {names[0]} to {integer}")
            return [f"{integer} {x}"]
        vector = f.pack(elem, names)
        small = f.inst(f"bitcast <{pack} x {elem}> {vector} to i{pack * width}")
        return [f"i32 {f.inst(f'zext i{pack * width} {small} to i32')}"]
    per = 32 // width
    out: list[str] = []
    for i in range(0, pack, per):
        vector = f.pack(elem, names[i : i + per])
        out.append(f"i32 {f.inst(f'bitcast <{per} x {elem}> {vector} to i32')}")
    return out


def unpack_words(f: FunctionEmitter, elem: str, words: list[str], pack: int) -> list[str]:
    width = bits(elem)
    if width >= 32:
        return words
    if pack * width < 32:
        if pack == 1:
            (integer,) = word_types(elem, 1)
            return [words[0] if elem == integer else f.inst(f"bitcast {integer} {words[0]} to {elem}")]
        small = f.inst(f"trunc i32 {words[0]} to i{pack * width}")
        vector = f.inst(f"bitcast i{pack * width} {small} to <{pack} x {elem}>")
        return [f.inst(f"extractelement <{pack} x {elem}> {vector}, i32 {i}") for i in range(pack)]
    per = 32 // width
    out: list[str] = []
    for word in words:
        vector = f.inst(f"bitcast i32 {word} to <{per} x {elem}>")
        out += [f.inst(f"extractelement <{per} x {elem}> {vector}, i32 {i}") for i in range(per)]
    return out


def extern_elementwise(op: tile.ExternElementwiseOp, f: FunctionEmitter) -> None:
    """A function of the vendor's device library: the machine inlines it or declares it for linking."""
    operands, result = [f.get(v) for v in op.srcs], f.type(op.results[0].type)
    if (op.symbol.data, tuple([t.elem for t in operands]), result) not in f.machine.functions.library_signatures():
        f.module.foreign(op)
    made = f.machine.functions.extern(f, op.symbol.data, operands, result)
    if made is None and f.options.user_libraries:
        made = call_each(f, f"@{op.symbol.data}", operands, result)
    if made is None:
        raise PassError(op, f"the target has no device function '{op.symbol.data}'")
    f.result(op, made)


def map_elementwise(op: tile.MapElementwiseOp, f: FunctionEmitter) -> None:
    """The scalar function once for every ``pack`` elements, with its own control flow."""
    for inner in op.walk():
        if isinstance(inner, tile.ATOMICS):
            raise PassError(inner, "one thread does a scalar's atomic for all of them, so no element can have its own")
    pack = op.pack.value.data
    inputs = [f.scalars(f.get(v)) for v in op.srcs]
    elems = [f.get(v).elem for v in op.srcs]
    collected: list[list[str]] = [[] for _ in op.results]
    for first in range(0, len(inputs[0]), pack):
        args = [
            Tile.of(elem, [names[i]])
            for elem, names in zip(elems, inputs, strict=True)
            for i in range(first, first + pack)
        ]
        outs = inline_region(f, op.scalarOp, args)
        for k in range(len(op.results)):
            collected[k] += [f.scalars(t)[0] for t in outs[k * pack : (k + 1) * pack]]
    for result, names in zip(op.results, collected, strict=True):
        f.set(result, Tile.of(f.type(result.type), names))


def inline_region(f: FunctionEmitter, region: Region, args: list[Tile]) -> list[Tile]:
    """Emit a region with one entry and any control flow; the operands of its return, joined over its exits."""
    if len(region.blocks) == 1:
        bind(f, region.block.args, args)
        f.ops(region.block)
        return terminator_values(f, region.block)
    labels, edges = f.labels, f.edges
    f.labels = {block: f.new_label("map") for block in region.blocks}
    f.edges = {}
    blocks = list(region.blocks)
    bind(f, blocks[0].args, args)
    exits: list[tuple[str, list[list[str]]]] = []
    done = f.new_label("mapped")
    types: list[Attribute] = []

    def ended(block: Block) -> None:
        last = block.last_op
        if isinstance(last, tile.MapElementwiseReturnOp):
            types[:] = types_of(last.operands)
            operands = edge_operands(f, terminator_values(f, block), types)
            exits.append((f.block, operands))
            f.branch(done)

    f.branch(f.labels[blocks[0]])
    emit_blocks(f, blocks, ended)
    f.labels, f.edges = labels, edges
    f.label(done)
    return joined(f, types, exits)


def nothing(op: Operation, f: FunctionEmitter) -> None:
    """The return of a scalar function: its parent has read the operands."""


TABLE: dict[type[Operation], Emit] = {
    **case(tile.ElementwiseInlineAsmOp, inline_assembly),
    **case(tile.ExternElementwiseOp, extern_elementwise),
    **case(tile.MapElementwiseOp, map_elementwise),
    tile.MapElementwiseReturnOp: nothing,
}
