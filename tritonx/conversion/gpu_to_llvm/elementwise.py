"""Arithmetic: ops that work on each element alone.

An op whose operands are all lists of scalars (indices, masks, pointers) is written once for each distinct combination
of operands; as soon as one operand is a vector the op is one line on vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.types import float_literal, int_literal, is_float, llvm_type
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.llvm_text import FCMP_PREDICATES, ICMP_PREDICATES
from tritonx.dialects import arith, math, tile, ub
from tritonx.ir.failure import PassError
from tritonx.ir.fold.constants import scalar_of
from tritonx.ir.types import bit_width, element_type, pointee_of

LAZY_FROM = 16
"""Elements a thread from which a chain of elementwise ops is written in runs."""


def combine(f: FunctionEmitter, elem: str, operands: list[Tile], write: Callable[[str, list[str]], str]) -> Tile:
    """Apply ``write(shape, names)``, the text of one instruction, over the operands' elements.

    ``shape`` is "" for scalars or the vector prefix ``<n x`` for vectors; see ``of``. The result has elements of type
    ``elem``."""
    n = max(t.n for t in operands)
    if n > 1:  # a scalar inside a combine region stands for all elements at once
        operands = [t if t.n == n else Tile.splat(t.elem, n, f.scalars(t)[0]) for t in operands]
    if any(t.prefers_vector for t in operands):
        if n >= LAZY_FROM and f.has_one_user_here(f.current):

            def piece(first: int, count: int) -> str:
                shape = f"<{count} x " if count > 1 else ""
                return f.inst(write(shape, [f.run(t, first, count) for t in operands]))

            return Tile(elem, n, lazy=piece)
        return Tile.wide(elem, n, f.inst(write(f"<{n} x ", [f.wide(t) for t in operands])))
    made: dict[tuple[str, ...], str] = {}
    names: list[str] = []
    for key in zip(*(f.scalars(t) for t in operands), strict=True):
        if (name := made.get(key)) is None:
            name = made[key] = f.inst(write("", list(key)))
        names.append(name)
    return Tile.of(elem, names)


def of(shape: str, elem: str) -> str:
    """The type of an operand: ``elem`` or ``<n x elem>``."""
    return f"{shape}{elem}>" if shape else elem


def binary(opcode: str, *, contract: bool = False) -> Emit:
    """Two operands of the result's type."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        a, b = f.get(op.operands[0]), f.get(op.operands[1])
        word = f"{opcode} contract" if contract and f.options.enable_fp_fusion else opcode
        f.result(op, combine(f, a.elem, [a, b], lambda s, x: f"{word} {of(s, a.elem)} {x[0]}, {x[1]}"))

    return emit


def call_intrinsic(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile:
    """A call of the LLVM intrinsic ``llvm.<name>`` overloaded on its one type."""
    elem = operands[0].elem

    def write(shape: str, x: list[str]) -> str:
        type_ = of(shape, elem)
        function = f.module.intrinsic(name, type_, [type_] * len(operands))
        return f"call {type_} {function}({', '.join(f'{type_} {v}' for v in x)})"

    return combine(f, elem, operands, write)


def intrinsic(name: str) -> Emit:
    """An op that is a call of ``llvm.<name>``."""
    return lambda op, f: f.result(op, call_intrinsic(f, name, [f.get(v) for v in op.operands]))


def compare(opcode: str, predicates: Mapping[int, str]) -> Emit:
    """A comparison."""

    def emit(op: Any, f: FunctionEmitter) -> None:
        a, b = f.get(op.operands[0]), f.get(op.operands[1])
        word = f"{opcode} {predicates[op.predicate.value.data]}"
        f.result(op, combine(f, "i1", [a, b], lambda s, x: f"{word} {of(s, a.elem)} {x[0]}, {x[1]}"))

    return emit


def select(op: Any, f: FunctionEmitter) -> None:
    condition, a, b = (f.get(v) for v in op.operands)
    f.result(op, select_tile(f, condition, a, b))


def select_tile(f: FunctionEmitter, condition: Tile, a: Tile, b: Tile) -> Tile:
    """``a`` where ``condition`` holds, ``b`` elsewhere."""
    return combine(
        f, a.elem, [condition, a, b],
        lambda s, x: f"select {of(s, 'i1')} {x[0]}, {of(s, a.elem)} {x[1]}, {of(s, a.elem)} {x[2]}",
    )  # fmt: skip


def cast(opcode: str) -> Emit:
    """An LLVM conversion instruction."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        source = f.get(op.operands[0])
        target = f.elem(op.results[0])
        f.result(op, convert_tile(f, opcode, source, target))

    return emit


def convert_tile(f: FunctionEmitter, opcode: str, source: Tile, target: str) -> Tile:
    if source.elem == target:
        return source
    return combine(f, target, [source], lambda s, x: f"{opcode} {of(s, source.elem)} {x[0]} to {of(s, target)}")


def float_cast(op: Operation, f: FunctionEmitter) -> None:
    """extf and truncf."""
    f.result(op, cast_float(f, f.get(op.operands[0]), op.operands[0].type, op.results[0].type))


def cast_float(f: FunctionEmitter, tile: Tile, source: Any, target: Any) -> Tile:
    """``tile``, of the IR type ``source``, in the format of ``target``, rounded to nearest even: by LLVM's own
    instruction, unless the machine knows a better way for these formats.
    """
    made = f.machine.convert(f, tile, format_name(source), format_name(target), None)
    if made is not None:
        return made
    wider = bit_width(target) > bit_width(source)
    return convert_tile(f, "fpext" if wider else "fptrunc", tile, llvm_type(target))


def fp_to_fp(op: Any, f: FunctionEmitter) -> None:
    source = f.get(op.src)
    names = format_name(op.src.type), format_name(op.results[0].type)
    rounding = None if op.rounding is None else op.rounding.value.data
    made = f.machine.convert(f, source, *names, rounding)
    if made is None:
        raise PassError(op, f"this target cannot convert {names[0]} to {names[1]}")
    f.result(op, made)


def format_name(type_: Any) -> str:
    """The IR's name of a floating-point element type: ``f32``, ``bf16``, ``f8E4M3FN``."""
    return element_type(type_).name


def float_to_int(opcode: str, saturating: str) -> Emit:
    """Truncation that saturates at the result's range and takes NaN to 0, as the hardware's conversions do."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        source, target = f.get(op.operands[0]), f.elem(op.results[0])

        def write(shape: str, x: list[str]) -> str:
            into, outof = of(shape, target), of(shape, source.elem)
            function = f.module.intrinsic(saturating, into, [outof], outof)
            return f"call {into} {function}({outof} {x[0]})"

        f.result(op, combine(f, target, [source], write))

    return emit


def constant(op: Any, f: FunctionEmitter) -> None:
    type_ = op.results[0].type
    elem, n = llvm_type(type_), f.registers(type_)
    value = scalar_of(op.value)
    if value is None:
        raise PassError(op, "a constant tile whose elements differ")
    if is_float(elem):
        literal = float_literal(float(value), elem)
    elif isinstance(held := element_type(type_), AnyFloat):  # of 8 bits
        literal = int_literal(int.from_bytes(held.pack((float(value),))), 8)
    else:
        literal = int_literal(int(value), int(elem[1:]))
    f.result(op, Tile.splat(elem, n, literal))


def poison(op: Operation, f: FunctionEmitter) -> None:
    type_ = op.results[0].type
    f.result(op, Tile.splat(llvm_type(type_), f.registers(type_), "poison"))


def negate(op: Operation, f: FunctionEmitter) -> None:
    a = f.get(op.operands[0])
    f.result(op, combine(f, a.elem, [a], lambda s, x: f"fneg {of(s, a.elem)} {x[0]}"))


def absolute_int(op: Operation, f: FunctionEmitter) -> None:
    a = f.get(op.operands[0])

    def write(shape: str, x: list[str]) -> str:
        type_ = of(shape, a.elem)
        return f"call {type_} {f.module.intrinsic('abs', type_, [type_, 'i1'])}({type_} {x[0]}, i1 false)"

    f.result(op, combine(f, a.elem, [a], write))


def math_function(name: str, fallback: Emit | None) -> Emit:
    """A function for which the machine is asked first."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        made = f.machine.functions.function(f, name, [f.get(v) for v in op.operands])
        if made is not None:
            f.result(op, made)
        elif fallback is not None:
            fallback(op, f)
        else:
            raise PassError(op, f"{op.name} on {op.results[0].type} is not available on this target")

    return emit


def multiply_high(op: Operation, f: FunctionEmitter) -> None:
    a, b = f.get(op.operands[0]), f.get(op.operands[1])
    width = int(a.elem[1:])
    double = f"i{2 * width}"
    wide = [convert_tile(f, "zext", t, double) for t in (a, b)]
    product = combine(f, double, wide, lambda s, x: f"mul {of(s, double)} {x[0]}, {x[1]}")
    amount = Tile.splat(double, a.n, str(width))
    high = combine(f, double, [product, amount], lambda s, x: f"lshr {of(s, double)} {x[0]}, {x[1]}")
    f.result(op, convert_tile(f, "trunc", high, a.elem))


def clamp(op: Any, f: FunctionEmitter) -> None:
    x, low, high = (f.get(v) for v in (op.x, op.min, op.max))
    propagate = op.propagateNan.value.data != 0
    names = ("maximum", "minimum") if propagate else ("maxnum", "minnum")
    for name, bound in zip(names, (low, high), strict=True):

        def write(shape: str, v: list[str], name: str = name, elem: str = x.elem) -> str:
            type_ = of(shape, elem)
            function = f.module.intrinsic(name, type_, [type_, type_])
            return f"call {type_} {function}({type_} {v[0]}, {type_} {v[1]})"

        x = combine(f, x.elem, [x, bound], write)
    f.result(op, x)


def add_pointer(op: Any, f: FunctionEmitter) -> None:
    pointer, offset = f.get(op.ptr), f.get(op.offset)
    pointee = llvm_type(pointee_of(op.ptr.type))
    step = "i8" if pointee == "i1" else pointee
    made: dict[tuple[str, str], str] = {}
    names: list[str] = []
    for key in zip(f.scalars(pointer), f.scalars(offset), strict=True):
        if (name := made.get(key)) is None:
            name = made[key] = f.inst(f"getelementptr {step}, {pointer.elem} {key[0]}, {offset.elem} {key[1]}")
        names.append(name)
    f.result(op, Tile.of(pointer.elem, names))


def bitcast(op: Operation, f: FunctionEmitter) -> None:
    source, target = f.get(op.operands[0]), f.elem(op.results[0])
    if source.elem == target:
        f.result(op, source)
    elif source.elem.startswith("ptr") and target.startswith("ptr"):
        f.result(op, convert_tile(f, "addrspacecast", source, target))
    else:
        f.result(op, convert_tile(f, "bitcast", source, target))


def _fused_multiply_add(op: Operation, f: FunctionEmitter) -> None:
    intrinsic("fma")(op, f)


TABLE: dict[type[Operation], Emit] = {
    arith.ConstantOp: constant,
    ub.PoisonOp: poison,
    arith.AddiOp: binary("add"),
    arith.SubiOp: binary("sub"),
    arith.MuliOp: binary("mul"),
    arith.AndIOp: binary("and"),
    arith.OrIOp: binary("or"),
    arith.XOrIOp: binary("xor"),
    arith.MaxSIOp: intrinsic("smax"),
    arith.MinSIOp: intrinsic("smin"),
    arith.MaxUIOp: intrinsic("umax"),
    arith.MinUIOp: intrinsic("umin"),
    arith.AddfOp: binary("fadd", contract=True),
    arith.SubfOp: binary("fsub", contract=True),
    arith.MulfOp: binary("fmul", contract=True),
    arith.DivfOp: math_function("div", binary("fdiv")),
    arith.RemFOp: math_function("rem", None),
    arith.NegfOp: negate,
    arith.MaximumfOp: intrinsic("maximum"),
    arith.MinimumfOp: intrinsic("minimum"),
    arith.MaxnumfOp: intrinsic("maxnum"),
    arith.MinnumfOp: intrinsic("minnum"),
    arith.CmpiOp: compare("icmp", ICMP_PREDICATES),
    arith.CmpfOp: compare("fcmp", FCMP_PREDICATES),
    arith.SelectOp: select,
    arith.ExtSIOp: cast("sext"),
    arith.ExtUIOp: cast("zext"),
    arith.TruncIOp: cast("trunc"),
    arith.ExtFOp: float_cast,
    arith.TruncFOp: float_cast,
    arith.SIToFPOp: cast("sitofp"),
    arith.UIToFPOp: cast("uitofp"),
    arith.FPToSIOp: float_to_int("fptosi", "fptosi.sat"),
    arith.FPToUIOp: float_to_int("fptoui", "fptoui.sat"),
    arith.IndexCastOp: cast("sext"),
    arith.BitcastOp: bitcast,
    math.AbsFOp: intrinsic("fabs"),
    math.AbsIOp: absolute_int,
    math.FmaOp: _fused_multiply_add,
    math.FloorOp: intrinsic("floor"),
    math.CeilOp: intrinsic("ceil"),
    **{
        op: math_function(name, None)
        for op, name in (
            (math.ExpOp, "exp"),
            (math.Exp2Op, "exp2"),
            (math.LogOp, "log"),
            (math.Log2Op, "log2"),
            (math.SinOp, "sin"),
            (math.CosOp, "cos"),
            (math.SqrtOp, "sqrt"),
            (math.RsqrtOp, "rsqrt"),
            (math.ErfOp, "erf"),
            (math.TanhOp, "tanh"),
        )
    },
    tile.PreciseSqrtOp: math_function("precise_sqrt", intrinsic("sqrt")),
    tile.PreciseDivFOp: math_function("precise_div", binary("fdiv")),
    tile.MulhiUIOp: multiply_high,
    tile.ClampFOp: clamp,
    tile.FpToFpOp: fp_to_fp,
    tile.BitcastOp: bitcast,
    tile.IntToPtrOp: cast("inttoptr"),
    tile.PtrToIntOp: cast("ptrtoint"),
    tile.AddPtrOp: add_pointer,
}

__all__ = ["TABLE", "combine", "convert_tile", "format_name", "of"]
