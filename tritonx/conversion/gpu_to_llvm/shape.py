"""Ops that move no data between threads: the result's registers are the operand's, renumbered or repeated.

Layout assignment gives these ops operand and result layouts between which this holds; where it does not, the conversion
before the op has made it so.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.conversion.gpu_to_llvm.constant_offsets import Sum
from tritonx.conversion.gpu_to_llvm.elementwise import combine, convert_tile, lanewise, of
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import register_constants
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.scalar.conversions import nibble_to_float
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.tile.shape import ANEW
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import shape_of
from tritonx.layouts import LinearLayout

Position = tuple[int, ...]


def positions(layout: LinearLayout) -> list[Position]:
    """The part of every register's coordinates that does not depend on the thread."""
    dims = [register_constants(layout, d) for d in range(len(layout.out_dims))]
    count = 1 << layout.in_bits("register")
    return [tuple(dim[r] for dim in dims) for r in range(count)]


def make_range(op: tile.MakeRangeOp, f: FunctionEmitter) -> None:
    known = f.threads.indices(f.layout(op.results[0].type))
    indices = known.dim_anew(0) if ANEW in op.attributes else known.dim(0)
    start = op.start.value.data
    if start:
        made = {x: f.inst(f"add i32 {x}, {start}") for x in dict.fromkeys(indices)}
        for x, name in made.items():
            if (sum_ := f.sums.of(x)) is not None:
                f.sums.know(name, Sum(sum_.base, sum_.constant + start, sum_.below + start))
        indices = [made[x] for x in indices]
    f.result(op, Tile.of("i32", indices))


def splat(op: tile.SplatOp, f: FunctionEmitter) -> None:
    source = f.get(op.src)
    (name,) = f.scalars(source)
    f.uniform.add(name)
    f.result(op, Tile.splat(source.elem, f.registers(op.results[0].type), name))


def unsplat(op: tile.UnsplatOp, f: FunctionEmitter) -> None:
    source = f.get(op.src)
    f.result(op, Tile.of(source.elem, [f.scalars(source)[0]]))


def by_position(op: Operation, f: FunctionEmitter, to_source: Callable[[Position], Position]) -> None:
    """Take each result register from the operand register at the position ``to_source`` maps its own to."""
    source = f.get(op.operands[0])
    where = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.operands[0].type)))))}
    order: list[int] = []
    for p in positions(f.layout(op.results[0].type)):
        register = where.get(to_source(p))
        if register is None:
            raise PassError(op, f"{op.name}: the result's layout does not follow from the operand's")
        order.append(register)
    f.result(op, f.permute(source, order))


def expand_dims(op: tile.ExpandDimsOp, f: FunctionEmitter) -> None:
    axis: int = op.axis.value.data
    by_position(op, f, lambda p: p[:axis] + p[axis + 1 :])


def broadcast(op: tile.BroadcastOp, f: FunctionEmitter) -> None:
    shape = shape_of(op.src.type)
    by_position(op, f, lambda p: tuple(0 if n == 1 else x for x, n in zip(p, shape, strict=True)))


def trans(op: tile.TransOp, f: FunctionEmitter) -> None:
    order = [int(d) for d in op.order.get_values()]
    inverse = [order.index(d) for d in range(len(order))]
    by_position(op, f, lambda p: tuple(p[inverse[d]] for d in range(len(p))))


def reshape(op: tile.ReshapeOp, f: FunctionEmitter) -> None:
    if op.allow_reorder is not None:
        f.result(op, f.get(op.src))
        return
    source, target = shape_of(op.src.type), shape_of(op.results[0].type)

    def to_source(p: tuple[int, ...]) -> tuple[int, ...]:
        flat = 0
        for x, n in zip(p, target, strict=True):
            flat = flat * n + x
        out: list[int] = []
        for n in reversed(source):
            out.append(flat % n)
            flat //= n
        return tuple(reversed(out))

    by_position(op, f, to_source)


def join(op: tile.JoinOp, f: FunctionEmitter) -> None:
    parts = [f.scalars(f.get(op.lhs)), f.scalars(f.get(op.rhs))]
    where = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.lhs.type)))))}
    names: list[str] = []
    for p in positions(f.layout(op.results[0].type)):
        if p[:-1] not in where:
            raise PassError(op, "tt.join: the pair is not in one thread's registers")
        names.append(parts[p[-1]][where[p[:-1]]])
    f.result(op, Tile.of(f.type(op.lhs.type), names))


def split(op: tile.SplitOp, f: FunctionEmitter) -> None:
    source = f.scalars(f.get(op.src))
    where = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.src.type)))))}
    elem = f.type(op.src.type)
    for which, result in enumerate((op.outLHS, op.outRHS)):
        names: list[str] = []
        for p in positions(f.layout(result.type)):
            if (*p, which) not in where:
                raise PassError(op, "tt.split: the pair is not in one thread's registers")
            names.append(source[where[(*p, which)]])
        f.set(result, Tile.of(elem, names))


def cat(op: tile.CatOp, f: FunctionEmitter) -> None:
    """The order of the elements is the compiler's choice, so the registers are simply put one after another."""
    names = f.scalars(f.get(op.lhs)) + f.scalars(f.get(op.rhs))
    if len(names) != f.registers(op.results[0].type):
        raise PassError(op, "tt.cat: the result's layout does not hold the operands' registers")
    f.result(op, Tile.of(f.type(op.lhs.type), names))


def fp4_to_fp(op: gpu_layout.Fp4ToFpOp, f: FunctionEmitter) -> None:
    """Two e2m1 numbers a byte, the first in the low half, side by side along ``axis``."""
    f.result(op, pairs_unpacked(op, f, op.src, op.axis.value.data, f.type(op.results[0].type)))


def pairs_unpacked(op: Operation, f: FunctionEmitter, packed: SSAValue, axis: int, elem: str) -> Tile:
    """The numbers of ``fp4_to_fp`` in the layout of the op's result, as floats of the LLVM type ``elem``."""
    source = f.get(packed)
    four = Tile.splat("i8", source.n, "4")
    high = combine(f, "i8", [source, four], lambda s, x: f"lshr {of(s, 'i8')} {x[0]}, {x[1]}")
    wide = [lanewise(f, "float", [part], lambda ops, x: nibble_to_float(ops, x[0])) for part in (source, high)]
    halves = [f.scalars(convert_tile(f, "fptrunc", part, elem)) for part in wide]
    where = {p: r for r, p in reversed(list(enumerate(positions(f.layout(packed.type)))))}
    names: list[str] = []
    for p in positions(f.layout(op.results[0].type)):
        register = where.get((*p[:axis], p[axis] >> 1, *p[axis + 1 :]))
        if register is None:
            raise PassError(op, "the result's layout does not follow from the operand's")
        names.append(halves[p[axis] & 1][register])
    return f.gathered(elem, names)


def program_id(op: tile.GetProgramIdOp, f: FunctionEmitter) -> None:
    f.result(op, Tile.of("i32", [f.program_id(op.axis.value.data)]))


def num_programs(op: tile.GetNumProgramsOp, f: FunctionEmitter) -> None:
    f.result(op, Tile.of("i32", [f.num_programs(op.axis.value.data)]))


def warp_id(op: gpu_layout.WarpIdOp, f: FunctionEmitter) -> None:
    f.result(op, Tile.of("i32", [f.threads.warp]))


def rank_of(type_: Attribute) -> int:
    return len(type_.get_shape()) if isinstance(type_, TensorType) else 0


TABLE: dict[type[Operation], Emit] = {
    **case(tile.MakeRangeOp, make_range),
    **case(tile.SplatOp, splat),
    **case(tile.UnsplatOp, unsplat),
    **case(tile.ExpandDimsOp, expand_dims),
    **case(tile.BroadcastOp, broadcast),
    **case(tile.TransOp, trans),
    **case(tile.ReshapeOp, reshape),
    **case(tile.JoinOp, join),
    **case(tile.SplitOp, split),
    **case(tile.CatOp, cat),
    **case(gpu_layout.Fp4ToFpOp, fp4_to_fp),
    **case(tile.GetProgramIdOp, program_id),
    **case(tile.GetNumProgramsOp, num_programs),
    **case(gpu_layout.WarpIdOp, warp_id),
}
