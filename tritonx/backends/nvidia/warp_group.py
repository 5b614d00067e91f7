"""Products of a warp group, `wgmma` (PTX ISA 9.0, section 9.7.15), of compute capability 9.0.

Four warps multiply 64 rows of A by all of an instruction's columns of B. B, and mostly A, are read from shared memory
by the matrix unit itself: it is told where by a *matrix descriptor* (section 9.7.15.5.1.2.2), 64 bits that hold the
address of the operand's corner, two strides and the swizzle. Which strides they are depends on the dim that is
contiguous in memory. With K contiguous ("K-major") rows come in eights, one swizzle width apart from each other, and
the *stride* is from one eight to the next. With M or N contiguous, eight ks lie one swizzle width apart: the *stride*
is from one eight of ks to the next, and the *leading* stride is from one swizzle width of rows to the next.

Addresses are read off the buffer's linear layout. An instruction's corner is a multiple of eight rows, where no
swizzle moves anything, so that corners are a constant apart.

The results are written while the program goes on. `wgmma.fence` orders the registers that go in; what comes out may be
read behind a wait only, which is why a wait passes its values through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.mbarrier import CONVERGENT, assembly
from tritonx.conversion.gpu_to_llvm.dot import Position, Rows
from tritonx.conversion.gpu_to_llvm.encodings import encoding_of
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.shared import memory_layout
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia import WarpGroupDotOp, WarpGroupDotWaitOp
from tritonx.dialects.nvidia.rules import shape_of_operand
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.failure import PassError
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, is_integer
from tritonx.layouts.dims import OFFSET, WARP
from tritonx.layouts.encodings import NvidiaMmaEncoding, NvmmaSharedEncoding

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

WARPS = 4
"""In a warp group."""

ROWS = 64
"""Of A, for one instruction."""

_SWIZZLE = {128: 1, 64: 2, 32: 3, 0: 0}
"""Swizzle width in bytes → its code in a descriptor."""

_NAMES = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "i8": "s8", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}

_RESULTS = {"float": ("f32", "f"), "half": ("f16", "r"), "i32": ("s32", "r")}
"""LLVM's type of a result's element → PTX's, and the letter of its register."""


@dataclass(frozen=True)
class Instruction:
    """``columns`` of B and ``depth`` of K that one instruction takes; operands' and results' types by PTX's names."""

    columns: int
    depth: int
    a: str
    b: str
    d: str

    @property
    def mnemonic(self) -> str:
        return f"wgmma.mma_async.sync.aligned.m64n{self.columns}k{self.depth}.{self.d}.{self.a}.{self.b}"

    @property
    def chooses_major(self) -> bool:
        """Whether an operand in memory may have M or N contiguous; others must have K."""
        return self.a in ("f16", "bf16")

    @property
    def scales(self) -> bool:
        """Whether it can negate its operands."""
        return self.d != "s32"


def element_of(type_: Attribute) -> Attribute:
    """Of an operand, which is a tensor or lies in memory."""
    return type_.element_type if isinstance(type_, MemDescType) else element_type(type_)


def name_of(type_: Attribute) -> str:
    """The name of an operand's element type: `f16`, `i8`, `f8E4M3FN`."""
    elem = element_of(type_)
    return f"i{bit_width(elem)}" if is_integer(elem) else elem.name


def select(op: WarpGroupDotOp, f: FunctionEmitter) -> Instruction:
    """The instruction for the op's types and the layout of its result."""
    encoding = encoding_of(op.d.type)
    if not isinstance(encoding, NvidiaMmaEncoding) or encoding.version_major != 3:
        raise PassError(op, "the result of a product of warp groups has the version-3 matrix layout")
    a, b = (name_of(v.type) for v in (op.a, op.b))
    d = f.elem(op.d)
    narrow = {"f8E4M3FN", "f8E5M2"}
    fits = a in _NAMES and d in _RESULTS and (a == b or {a, b} <= narrow) and (a == "i8") == (d == "i32")
    if not fits or (d == "half" and a not in {"f16", *narrow}):
        raise PassError(op, f"no instruction multiplies {a} by {b} into {name_of(op.d.type)} for warp groups")
    if a == "f32" and op.inputPrecision.value.data != InputPrecision.TF32:
        raise PassError(op, "f32 is multiplied as tf32 only by warp groups")
    width = bit_width(element_of(op.a.type))
    return Instruction(encoding.instr_shape[1], 256 // width, _NAMES[a], _NAMES[b], _RESULTS[d][0])


# ---- operands in shared memory


@dataclass(frozen=True)
class InMemory:
    """An operand that the matrix unit reads from shared memory. ``k`` is the dim of K in its type; ``groups`` are the
    coordinates along the other dim that the warp groups' bits add."""

    f: FunctionEmitter
    op: Operation
    value: SSAValue
    k: int
    groups: tuple[int, ...]

    @cached_property
    def type(self) -> MemDescType:
        assert isinstance(self.value.type, MemDescType)
        return self.value.type

    @cached_property
    def encoding(self) -> NvmmaSharedEncoding:
        encoding = encoding_of(self.type)
        if not isinstance(encoding, NvmmaSharedEncoding) or encoding.fp4_padded:
            raise PassError(self.op, "a warp group reads operands from memory of #ttg.nvmma_shared only")
        return encoding

    @property
    def nbytes(self) -> int:
        """Of an element."""
        return bit_width(self.type.element_type) // 8

    @property
    def is_k_major(self) -> bool:
        return self.encoding.transposed == (self.k == 0)

    def offset(self, row: int, k: int) -> int:
        """The byte at which the element of ``row`` (of A, or column of B) and ``k`` lies in the buffer."""
        inverse = memory_layout(self.type).pseudo_inverse()
        where = dict(zip(inverse.in_dims, (row, k) if self.k == 1 else (k, row), strict=True))
        start = self.f.memory[self.value].start
        return (inverse.coordinate(inverse.apply_packed(where), OFFSET) ^ start) * self.nbytes

    def _distance(self, row: int, k: int) -> int:
        """From the first element to that of ``row`` and ``k``; 0 beyond the end of the buffer."""
        rows, depth = self.type.shape[1 - self.k], self.type.shape[self.k]
        return 0 if row >= rows or k >= depth else self.offset(row, k) - self.offset(0, 0)

    @cached_property
    def strides(self) -> tuple[int, int]:
        """The leading stride and the stride, in bytes."""
        width = self.encoding.swizzling_byte_width
        if width == 0 and self._distance(1, 0) != 16 and self._distance(0, 1) != 16:
            raise PassError(self.op, "rows of unswizzled memory must be 16 bytes apart for a warp group to read them")
        run = max(width, 16) // self.nbytes
        if self.is_k_major:
            return (0 if width else self._distance(0, run)), self._distance(8, 0)  # one swizzle width holds all of K
        return self._distance(run, 0), self._distance(0, 8)

    @cached_property
    def base(self) -> str:
        """The descriptor of the operand's first element, for this warp group (i64)."""
        f = self.f
        if f.memory[self.value].padding:
            raise PassError(self.op, "a warp group reads no padded memory")
        leading, stride = (n >> 4 for n in self.strides)
        fields = _SWIZZLE[self.encoding.swizzling_byte_width] << 62 | stride << 32 | leading << 16
        address = f.inst(f"ptrtoint ptr addrspace(3) {f.memory[self.value].pointer} to i32")
        moved = apply_columns(f, {WARP: [0, 0, *(self._distance(row, 0) for row in self.groups)]})
        if moved != "0":
            address = f.inst(f"add i32 {address}, {moved}")
        field = f.inst(f"and i32 {f.inst(f'lshr i32 {address}, 4')}, 16383")
        signed = fields - (1 << 64) if fields >> 63 else fields
        return f.inst(f"or disjoint i64 {f.inst(f'zext i32 {field} to i64')}, {signed}")

    def descriptor(self, row: int, k: int) -> str:
        """Of the corner at ``row`` and ``k``."""
        beyond = self.offset(row, k) >> 4
        return self.f.inst(f"add i64 {self.base}, {beyond}") if beyond else self.base


class InRegisters:
    """A that the threads hold: of each row pairs of 32-bit words, as the instruction takes them."""

    def __init__(self, f: FunctionEmitter, op: WarpGroupDotOp, depth: int) -> None:
        self.f = f
        self.depth = depth
        self.rows = Rows(f, op.a, along=-1)
        self.per = 32 // bits(self.rows.elem)
        ks = sorted({p[-1] for p in positions(f.layout(op.a.type))})
        word = range(self.per)
        if ks != [
            s * depth + half + i for s in range(len(ks) // (2 * self.per)) for half in (0, depth // 2) for i in word
        ]:
            raise PassError(op, "the first operand lies in registers in an order that the instruction does not take")

    def words(self, row: int, k: int) -> list[str]:
        """The four words of an instruction: rows ``row`` and 8 below, each of the first half of K and the second."""
        first = k // self.depth * 2
        out: list[str] = []
        for number in (first, first + 1):
            for place in (row, row + 8):
                registers = self.rows.registers[(place,)][number * self.per : (number + 1) * self.per]
                vector = self.rows.packed(registers)
                elem = self.rows.elem
                out.append(
                    self.f.inst(f"bitcast {elem if self.per == 1 else f'<{self.per} x {elem}>'} {vector} to i32")
                )
        return out


# ---- products


def dot(op: WarpGroupDotOp, f: FunctionEmitter) -> None:
    instruction = select(op, f)
    result = f.layout(op.d.type)
    warp_bases = result.bases(WARP)
    if len(warp_bases) < 2 or warp_bases[:2] != ((16, 0), (32, 0)):
        raise PassError(op, "a product of warp groups needs groups of four warps, each with 16 rows")
    depth = shape_of_operand(op.b.type)[0]
    b = InMemory(f, op, op.b, 0, tuple(basis[1] for basis in warp_bases[2:]))
    a: InMemory | InRegisters
    if isinstance(op.a.type, MemDescType):
        a = InMemory(f, op, op.a, 1, tuple(basis[0] for basis in warp_bases[2:]))
    else:
        a = InRegisters(f, op, instruction.depth)
    for operand in (a, b):
        if isinstance(operand, InMemory) and not operand.is_k_major and not instruction.chooses_major:
            raise PassError(op, f"operands of {instruction.a} must lie in memory with K contiguous")
    c = f.get(op.c)
    keeps = keeps_accumulator(op, f)
    inputs = f.scalars(c) if keeps != "false" else ["poison"] * c.n
    limit = op.maxNumImpreciseAcc.value.data
    partial = instruction.a in ("e4m3", "e5m2") and instruction.d == "f32" and 0 < limit <= depth
    if partial and op.isAsync.value.data:
        raise PassError(op, "sums of limited imprecision are no asynchronous product")
    assembly(f, "wgmma.fence.sync.aligned;")
    out = list(inputs)
    steps = range(0, depth, instruction.depth)
    for (row, column), registers in tiles(f, op, instruction).items():
        if partial:
            precise(f, instruction, a, b, (row, column), registers, out, steps, limit // instruction.depth, keeps)
            continue
        given = [inputs[r] for r in registers]
        for r, name in zip(registers, issue(f, instruction, a, b, (row, column), given, steps, keeps), strict=True):
            out[r] = name
    assembly(f, "wgmma.commit_group.sync.aligned;")
    made = Tile.wide(c.elem, c.n, f.pack(c.elem, out))
    f.set(op.d, made if op.isAsync.value.data or partial else waited(f, 0, [made])[0])


def keeps_accumulator(op: WarpGroupDotOp, f: FunctionEmitter) -> str:
    """The i1 that says whether C is added: "false" where C is all zeros, so that its registers need not be filled."""
    if constant_of(op.c) == 0:
        return "false"
    return "true" if op.useC is None else f.scalar(op.useC)


def tiles(f: FunctionEmitter, op: WarpGroupDotOp, instruction: Instruction) -> dict[Position, list[int]]:
    """Corner of each instruction's tile → the thread's registers in the instruction's order: of each eight columns two
    of one row and two of the row 8 below."""
    found: dict[Position, dict[int, int]] = {}
    for r, (row, column) in enumerate(positions(f.layout(op.d.type))):
        within = column % instruction.columns
        number = within // 8 * 4 + (row & 8) // 4 + within % 2
        found.setdefault((row & ~8, column - within), {})[number] = r
    return {corner: [registers[i] for i in sorted(registers)] for corner, registers in found.items()}


def issue(
    f: FunctionEmitter,
    instruction: Instruction,
    a: InMemory | InRegisters,
    b: InMemory,
    corner: Position,
    given: Sequence[str],
    ks: range,
    keeps: str,
) -> list[str]:
    """The instructions of one tile over ``ks``; ``given`` are its accumulators, not read by the first one where
    ``keeps`` is false. Returns the names of the results."""
    row, column = corner
    elem = next(llvm for llvm, (ptx, _) in _RESULTS.items() if ptx == instruction.d)
    given, held = packed(f, elem, given)
    letter = "f" if held == "float" else "r"
    count = len(given)
    operands = [f"{held} {x}" for x in given]
    constraints = [f"={letter}"] * count + [str(i) for i in range(count)]
    results = "{" + ", ".join(f"${i}" for i in range(count)) + "}"
    position = 2 * count
    predicate = {"true": "1", "false": "0"}.get(keeps)
    if predicate is None:
        predicate = f"${position}"
        position += 1
        operands.append(f"i1 {keeps}")
        constraints.append("b")
    lines: list[str] = []
    for k in ks:
        if isinstance(a, InMemory):
            left, words, letters = f"${position}", [f"i64 {a.descriptor(row, k)}"], ["l"]
            majors = [a, b]
        else:
            words, letters = [f"i32 {x}" for x in a.words(row, k)], ["r"] * 4
            left = "{" + ", ".join(f"${position + i}" for i in range(4)) + "}"
            majors = [b]
        position += len(words)
        right = f"${position}"
        position += 1
        operands += [*words, f"i64 {b.descriptor(column, k)}"]
        constraints += [*letters, "l"]
        rest = ", 1, 1" if instruction.scales else ""
        if instruction.chooses_major:
            rest += "".join(f", {int(not operand.is_k_major)}" for operand in majors)
        scale = predicate if k == ks.start else "1"
        lines.append(f"{instruction.mnemonic} {results}, {left}, {right}, {scale}{rest};")
    struct = held if count == 1 else "{ " + ", ".join([held] * count) + " }"
    text = "\\0A\\09".join(lines)
    called = f.inst(f'call {struct} asm sideeffect "{text}", "{",".join(constraints)},~{{memory}}"'
                    f'({", ".join(operands)}) {CONVERGENT}')  # fmt: skip
    return unpacked(f, elem, held, [f.inst(f"extractvalue {struct} {called}, {i}") for i in range(count)])


def precise(
    f: FunctionEmitter,
    instruction: Instruction,
    a: InMemory | InRegisters,
    b: InMemory,
    corner: Position,
    registers: list[int],
    out: list[str],
    ks: range,
    steps: int,
    keeps: str,
) -> None:
    """Sums of at most ``steps`` instructions in the matrix unit, which adds 8-bit products with fewer bits than f32
    has; they are added up in f32 by the threads."""
    steps = max(1, steps)
    for start in range(0, len(ks), steps):
        some = ks[start : start + steps]
        made = issue(f, instruction, a, b, corner, ["poison"] * len(registers), some, "false")
        assembly(f, "wgmma.commit_group.sync.aligned;")
        partial = f.scalars(waited(f, 0, [Tile.of("float", made)])[0])
        for r, name in zip(registers, partial, strict=True):
            before = out[r]
            if start == 0 and keeps == "false":
                out[r] = name
                continue
            if start == 0 and keeps != "true":
                before = f.inst(f"select i1 {keeps}, float {before}, float -0.0")
            out[r] = f.inst(f"fadd float {before}, {name}")
        if start + steps < len(ks):
            assembly(f, "wgmma.fence.sync.aligned;")


# ---- waiting


def wait(op: WarpGroupDotWaitOp, f: FunctionEmitter) -> None:
    values = [v for v in op.inputs if not isinstance(v.type, MemDescType)]
    made = iter(waited(f, op.pendings.value.data, [f.get(v) for v in values]))
    for given, result in zip(op.inputs, op.outputs, strict=True):
        if isinstance(given.type, MemDescType):
            f.memory[result] = f.memory[given]
        else:
            f.set(result, next(made))


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
    operands = ", ".join(f"{held} {x}" for held, given in words for x in given)
    letters = [f"={'f' if t == 'float' else 'r'}" for t in types]
    constraints = ",".join([*letters, *(str(i) for i in range(len(types)))])
    struct = types[0] if len(types) == 1 else "{ " + ", ".join(types) + " }"
    f.module.attributes[CONVERGENT] = "convergent nounwind"
    called = f.inst(f'call {struct} asm sideeffect "{text}", "{constraints},~{{memory}}"({operands}) {CONVERGENT}')
    names = [called] if len(types) == 1 else [f.inst(f"extractvalue {struct} {called}, {i}") for i in range(len(types))]
    out: list[Tile] = []
    for value, (held, given) in zip(values, words, strict=True):
        own, names = names[: len(given)], names[len(given) :]
        out.append(Tile.wide(value.elem, value.n, f.pack(value.elem, unpacked(f, value.elem, held, own))))
    return out


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


TABLE: dict[type[Operation], Emit] = {WarpGroupDotOp: dot, WarpGroupDotWaitOp: wait}
