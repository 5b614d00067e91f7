"""Products of a warp group, `wgmma` (PTX ISA 9.0, section 9.7.15), of compute capability 9.0.

Four warps multiply 64 rows of A by all of an instruction's columns of B. B, and mostly A, are read from shared memory
by the matrix unit itself.

The results are written while the program goes on. `wgmma.fence` orders the registers that go in; what comes out may be
read behind a wait only, which is why a wait passes its values through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit.mbarrier import CONVERGENT, assembly
from tritonx.backends.nvidia.emit.warp_group_operands import InMemory, InRegisters
from tritonx.backends.nvidia.emit.warp_group_registers import made, opaque, packed, results_of, unpacked, waited
from tritonx.conversion.gpu_to_llvm import control
from tritonx.conversion.gpu_to_llvm.dot import Position
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.values import Tile, is_constant
from tritonx.conversion.gpu_to_llvm.words import Elements
from tritonx.dialects import scf
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia import WarpGroupDotOp, WarpGroupDotWaitOp
from tritonx.dialects.nvidia.rules import shape_of_operand
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, f32, is_integer, is_tensor
from tritonx.layouts.dims import WARP
from tritonx.layouts.encodings import DotOperandEncoding, NvidiaMmaEncoding

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

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
    encoding = type_encoding(op.d.type)
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
    partial = instruction.a in ("e4m3", "e5m2") and instruction.d == "f32" and has_limit(op)
    if partial and op.isAsync.value.data:
        raise PassError(op, "sums of limited imprecision are no asynchronous product")
    out = list(inputs)
    steps = range(0, depth, instruction.depth)
    parts = tiles(f, op, instruction)
    for row, column in parts:  # what is computed for a product is computed before it begins
        for k in steps:
            _ = a.words(row, k) if isinstance(a, InRegisters) else a.descriptor(row, k), b.descriptor(column, k)
    assembly(f, "wgmma.fence.sync.aligned;")
    for (row, column), registers in parts.items():
        if partial:
            precise(f, instruction, a, b, (row, column), registers, out, steps, limit // instruction.depth, keeps)
            continue
        given = [inputs[r] for r in registers]
        for r, name in zip(registers, issue(f, instruction, a, b, (row, column), given, steps, keeps), strict=True):
            out[r] = name
    assembly(f, "wgmma.commit_group.sync.aligned;")
    made = f.gathered(c.elem, out)
    f.set(op.d, made if op.isAsync.value.data or partial else waited(f, 0, [made])[0])


def has_limit(op: WarpGroupDotOp) -> bool:
    """Whether the matrix unit may add up no more than some elements along K in its own precision, and has as many."""
    return 0 < op.maxNumImpreciseAcc.value.data <= shape_of_operand(op.b.type)[0]


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
    count = len(given)
    operands = [f"{held} {x}" for x in given]
    constraints = [str(i) for i in range(count)]
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
    text = "\\0A\\09".join(lines)
    constraints.append("~{memory}")
    names = results_of(f, [held] * count, f'sideeffect "{text}"', constraints, operands, CONVERGENT)
    return unpacked(f, elem, held, names)


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
    """What has no use behind the wait does not pass through it, nor sums that products alone read: the matrix unit
    keeps their order itself."""
    passed: list[tuple[SSAValue, SSAValue]] = []
    for given, result in zip(op.inputs, op.outputs, strict=True):
        if isinstance(given.type, MemDescType):
            f.set(result, f.view(given))
        elif holds_floats(given.type) and goes_to_products(result):
            f.set(result, f.get(given))
        elif result.first_use is not None:
            passed.append((given, result))
    made = waited(f, op.pendings.value.data, [f.get(given) for given, _ in passed])
    for (_, result), tile in zip(passed, made, strict=True):
        f.set(result, tile)


def goes_to_products(value: SSAValue) -> bool:
    """Whether products alone read it, or other waits; in later iterations of a loop too."""
    work = [value]
    seen: set[SSAValue] = set()
    while work:
        current = work.pop()
        if current in seen:
            continue
        seen.add(current)
        for use in current.uses:
            user = use.operation
            loop = user.parent_op()
            if isinstance(user, scf.YieldOp) and isinstance(loop, scf.ForOp):
                work += (loop.body.block.args[1 + use.index], loop.results[use.index])
            elif not (isinstance(user, WarpGroupDotWaitOp) or is_product_of(user, current)):
                return False
    return True


def is_product_of(user: Operation, sums: SSAValue) -> bool:
    """Whether it adds to these, in the matrix unit."""
    return isinstance(user, WarpGroupDotOp) and user.c is sums and not has_limit(user)


# ---- loops


def for_(op: scf.ForOp, f: FunctionEmitter) -> None:
    """A loop, of which the accumulators' first values are made in registers before it.

    LLVM would write constants where control flow meets behind the loop as well, for no iteration of it; the assembler
    takes these lines for writes of the registers of a product that is under way, and lets every product be waited for
    (C7515). Of narrow operands LLVM would carry what they are made of, in twice the registers, and make them in front
    of the product."""
    before = {value: f.get(value) for value in op.iter_args if is_accumulator(value.type) or is_packed(value.type)}
    forms = _forms(op, f)
    for value, tile in before.items():
        if is_packed(value.type):
            f.set(value, opaque(f, tile))
        elif all(map(is_constant, f.scalars(tile))):
            f.set(value, made(f, tile))
    control.for_(op, f, forms)
    for value, tile in before.items():
        f.set(value, tile)


def _forms(op: scf.ForOp, f: FunctionEmitter) -> dict[int, Elements]:
    """A sum to which products of this loop alone add is carried register by register, as these name them: the passes of
    LLVM and its code generator take a fifth less time for 128, and write the same. Of several sums or loops they would
    write the moves in another order, of which ptxas makes other registers (232 of a thread, then 255)."""
    carried = enumerate(zip(op.body.block.args[1:], op.results, strict=True))
    sums = [each for each in carried if holds_floats(each[1][0].type) and f.registers(each[1][0].type) > 1]
    if len(sums) != 1:
        return {}
    ((number, (value, result)),) = sums
    begins = all(map(is_constant, f.scalars(f.get(op.iter_args[number]))))
    goes_on = any(isinstance(user, scf.ForOp) for _, user in _readers(result))
    adds_up = all(is_product_of(user, given) for given, user in _readers(value))
    return {number: Elements("float", f.registers(value.type))} if begins and adds_up and not goes_on else {}


def _readers(value: SSAValue) -> Iterator[tuple[SSAValue, Operation]]:
    """What reads it, from behind waits or at once, each with what it is called there."""
    for use in value.uses:
        if isinstance(user := use.operation, WarpGroupDotWaitOp):
            yield from _readers(user.outputs[use.index])
        else:
            yield value, user


def is_packed(type_: Attribute) -> bool:
    """Whether it is a tile of operands in registers, some to a word."""
    if not is_tensor(type_) or bit_width(element_type(type_)) not in (8, 16):
        return False
    encoding = type_encoding(type_)
    return isinstance(encoding, DotOperandEncoding) and is_version_3(encoding.parent)


def is_version_3(encoding: object) -> bool:
    return isinstance(encoding, NvidiaMmaEncoding) and encoding.version_major == 3


def holds_floats(type_: Attribute) -> bool:
    """Whether it is an accumulator that has a register for each element."""
    return is_tensor(type_) and is_accumulator(type_) and element_type(type_) == f32


def is_accumulator(type_: Attribute) -> bool:
    return is_tensor(type_) and is_version_3(type_encoding(type_))


TABLE: dict[type[Operation], Emit] = {
    **case(WarpGroupDotOp, dot),
    **case(WarpGroupDotWaitOp, wait),
    **case(scf.ForOp, for_),
}
