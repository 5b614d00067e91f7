"""Elementwise ops on a thread's share of tiles; what each means is in `conversion.scalar`.

An op whose operands are all lists of scalars (indices, masks, pointers) is written once for each distinct combination
of operands; as soon as one operand is a vector the op is written on vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Attribute, Operation

from tritonx.analysis.axis_value import AxisInfo, scalar
from tritonx.conversion.data_layout import WIDTH
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.llvm_text import float_literal
from tritonx.conversion.scalar import conversions, integers
from tritonx.conversion.scalar.literals import literal
from tritonx.conversion.scalar.ops import Ops, Rule
from tritonx.conversion.scalar.table import TABLE as RULES
from tritonx.dialects import arith, math, tile, ub
from tritonx.dialects.tile.enums import RoundingMode
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.fold.constants import scalar_of
from tritonx.ir.types import element_type

LAZY_FROM = 16
"""Elements a thread from which a chain of elementwise ops is written in runs."""

Write = Callable[[Ops, Sequence[str]], str]
"""(ops, the operands' names) → the name of what it has written."""


def scalar_ops(f: FunctionEmitter) -> Ops:
    """What writes scalars of which nothing is known."""
    return Ops(f, 0, f.module.numbers, _nothing_known)


def _nothing_known(_: int) -> AxisInfo:
    return scalar()


def lanewise(
    f: FunctionEmitter,
    elem: str,
    operands: list[Tile],
    write: Write,
    fact: Callable[[int], AxisInfo] = _nothing_known,
    *,
    apart: bool = False,
) -> Tile:
    """Apply ``write`` over the operands' elements; the result has elements of type ``elem``. ``fact`` is what is known
    of the operand of a number; ``apart``: one element at a time, whatever the operands' forms."""
    n = max(t.n for t in operands)
    if n > 1:  # a scalar inside a combine region stands for all elements at once
        operands = [t if t.n == n else Tile.splat(t.elem, n, f.scalars(t)[0]) for t in operands]
    numbers = f.module.numbers
    if not apart and any(t.prefers_vector for t in operands):
        if n >= LAZY_FROM and f.may_be_written_late(f.current):

            def piece(first: int, count: int) -> str:
                ops = Ops(f, count if count > 1 else 0, numbers, fact)
                return write(ops, [f.run(t, first, count) for t in operands])

            return Tile(elem, n, lazy=piece)
        return Tile.wide(elem, n, write(Ops(f, n, numbers, fact), [f.wide(t) for t in operands]))
    ops = Ops(f, 0, numbers, fact)
    made: dict[tuple[str, ...], str] = {}
    names: list[str] = []
    for key in zip(*(f.scalars(t) for t in operands), strict=True):
        if (name := made.get(key)) is None:
            name = made[key] = write(ops, key)
        names.append(name)
    return Tile.of(elem, names)


def combine(f: FunctionEmitter, elem: str, operands: list[Tile], write: Callable[[str, Sequence[str]], str]) -> Tile:
    """As ``lanewise`` for ``write(shape, names)``, the text of one instruction.

    ``shape`` is "" for scalars or the vector prefix ``<n x`` for vectors; see ``of``."""

    def one(ops: Ops, names: Sequence[str]) -> str:
        return f.inst(write(f"<{ops.width} x " if ops.width else "", names))

    return lanewise(f, elem, operands, one)


def of(shape: str, elem: str) -> str:
    """The type of an operand: ``elem`` or ``<n x elem>``."""
    return f"{shape}{elem}>" if shape else elem


def emitted(rule: Rule, *, apart: bool = False) -> Emit:
    """A scalar rule on tiles."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        tiles, elem = [f.get(v) for v in op.operands], f.elem(op.results[0])
        f.result(op, lanewise(f, elem, tiles, lambda ops, x: rule(ops, op, x), facts(op, f), apart=apart))

    return emit


def facts(op: Operation, f: FunctionEmitter) -> Callable[[int], AxisInfo]:
    """What the axis analysis knows of the operands of ``op``."""
    return lambda number: f.module.axis_info.of(op.operands[number])


def call_intrinsic(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile:
    """A call of the LLVM intrinsic ``llvm.<name>`` overloaded on its one type."""
    elem = operands[0].elem
    return lanewise(f, elem, operands, lambda ops, x: ops.intrinsic(name, elem, *x))


def times(f: FunctionEmitter, tile: Tile, factor: float) -> Tile:
    """A tile of floats, each multiplied by a number."""
    elem = tile.elem
    constant = Tile.splat(elem, tile.n, float_literal(factor, elem))
    return combine(f, elem, [tile, constant], lambda s, x: f"fmul {of(s, elem)} {x[0]}, {x[1]}")


def select_tile(f: FunctionEmitter, condition: Tile, a: Tile, b: Tile) -> Tile:
    """``a`` where ``condition`` is true, otherwise ``b``."""
    return lanewise(f, a.elem, [condition, a, b], lambda ops, x: ops.select(x[0], a.elem, x[1], x[2]))


def cast(rule: Rule) -> Emit:
    """A conversion that LLVM has an instruction for, where the types differ."""
    written = emitted(rule)

    def emit(op: Operation, f: FunctionEmitter) -> None:
        source = f.get(op.operands[0])
        if source.elem == f.elem(op.results[0]):
            f.result(op, source)
        else:
            written(op, f)

    return emit


def convert_tile(f: FunctionEmitter, opcode: str, source: Tile, target: str) -> Tile:
    """One conversion instruction."""
    if source.elem == target:
        return source
    return lanewise(f, target, [source], lambda ops, x: ops.cast(opcode, source.elem, x[0], target))


def convert_float(f: FunctionEmitter, tile: Tile, source: str, target: str, *, toward_zero: bool = False) -> Tile:
    """``tile`` of one format in another, by their names in the IR, in instructions that every machine has."""
    if source == target:
        return tile

    def write(ops: Ops, x: Sequence[str]) -> str:
        return conversions.convert(ops, x[0], source, target, toward_zero=toward_zero)

    return lanewise(f, f.module.numbers.format(target), [tile], write)


def cast_float(f: FunctionEmitter, tile: Tile, source: Attribute, target: Attribute, rounding: int | None) -> Tile:
    """``tile``, of the IR type ``source``, in the format of ``target``; by the machine's own instruction where it has
    one.
    """
    names = format_name(source), format_name(target)
    made = f.machine.convert(f, tile, *names, rounding)
    return convert_float(f, tile, *names, toward_zero=rounding == RoundingMode.RTZ) if made is None else made


def float_cast(op: Operation, f: FunctionEmitter) -> None:
    """extf, truncf and fp_to_fp."""
    rounding = op.rounding.value.data if isinstance(op, tile.FpToFpOp) and op.rounding is not None else None
    f.result(op, cast_float(f, f.get(op.operands[0]), op.operands[0].type, op.results[0].type, rounding))


def to_integer(rule: Rule, *, signed: bool) -> Emit:
    """fptosi and fptoui, for which the machine is asked first."""
    portable = emitted(rule)

    def emit(op: Operation, f: FunctionEmitter) -> None:
        made = f.machine.to_integer(f, f.get(op.operands[0]), f.elem(op.results[0]), signed=signed)
        if made is None:
            portable(op, f)
        else:
            f.result(op, made)

    return emit


def format_name(type_: Attribute) -> str:
    """The IR's name of a floating-point element type: ``f32``, ``bf16``, ``f8E4M3FN``."""
    return element_type(type_).name


def constant(op: arith.ConstantOp, f: FunctionEmitter) -> None:
    type_ = op.results[0].type
    elem, n = f.type(type_), f.registers(type_)
    value = scalar_of(op.value)
    if value is None:
        raise PassError(op, "a constant tile whose elements differ")
    pointer = f.pointer_bits(elem) if elem.startswith("ptr") else WIDTH
    f.result(op, Tile.splat(elem, n, literal(value, element_type(type_), elem, pointer)))


def poison(op: Operation, f: FunctionEmitter) -> None:
    type_ = op.results[0].type
    f.result(op, Tile.splat(f.type(type_), f.registers(type_), "poison"))


QUOTIENTS = ("div", "precise_div")
"""Functions of which LLVM's own instruction is right for floats of 16 bits."""


def of_machine(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile | None:
    """What the machine has for a function: for floats of 16 bits its own of f32, rounded. None where LLVM's own will
    do."""
    elem = operands[0].elem
    if elem not in ("half", "bfloat"):
        return f.machine.functions.function(f, name, operands)
    if name in QUOTIENTS:
        return None
    made = f.machine.functions.function(f, name, [convert_tile(f, "fpext", t, "float") for t in operands])
    return None if made is None else convert_tile(f, "fptrunc", made, elem)


def math_function(name: str, rule: Rule | None) -> Emit:
    """A function for which the machine is asked first."""
    fallback = None if rule is None else emitted(rule)

    def emit(op: Operation, f: FunctionEmitter) -> None:
        made = of_machine(f, name, [f.get(v) for v in op.operands])
        if made is not None:
            f.result(op, made)
        elif fallback is not None:
            fallback(op, f)
        else:
            raise PassError(op, f"{op.name} on {op.results[0].type} is not available on this target")

    return emit


_FUNCTIONS: Mapping[type[Operation], str] = {
    arith.DivfOp: "div",
    arith.RemFOp: "rem",
    math.ExpOp: "exp",
    math.Exp2Op: "exp2",
    math.ExpM1Op: "expm1",
    math.LogOp: "log",
    math.Log2Op: "log2",
    math.Log10Op: "log10",
    math.Log1pOp: "log1p",
    math.SinOp: "sin",
    math.CosOp: "cos",
    math.TanOp: "tan",
    math.SqrtOp: "sqrt",
    math.RsqrtOp: "rsqrt",
    math.ErfOp: "erf",
    math.TanhOp: "tanh",
    tile.PreciseSqrtOp: "precise_sqrt",
    tile.PreciseDivFOp: "precise_div",
    tile.ApproxDivFOp: "approximate_div",
}
"""What the machine is asked for."""

TABLE: dict[type[Operation], Emit] = {
    **{op: emitted(rule) for op, rule in RULES.items()},
    **{op: math_function(name, RULES.get(op)) for op, name in _FUNCTIONS.items()},
    **{
        op: cast(RULES[op])
        for op in (
            *(arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp, arith.BitcastOp),
            *(tile.BitcastOp, tile.IntToPtrOp, tile.PtrToIntOp),
        )
    },
    arith.FPToSIOp: to_integer(RULES[arith.FPToSIOp], signed=True),
    arith.FPToUIOp: to_integer(RULES[arith.FPToUIOp], signed=False),
    **dict.fromkeys((arith.ExtFOp, arith.TruncFOp, tile.FpToFpOp), float_cast),
    **case(arith.ConstantOp, constant),
    ub.PoisonOp: poison,
    tile.AddPtrOp: emitted(integers.advance, apart=True),
}

__all__ = ["TABLE", "combine", "convert_tile", "emitted", "format_name", "lanewise", "of", "scalar_ops"]
