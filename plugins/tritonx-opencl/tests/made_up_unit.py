"""A matrix unit that no chip has: what a unit from outside tritonx needs is executed with it (`made_up_backend`).

Its instruction multiplies 4x4 by 4x4 elements of a warp of one lane, in f32, and wants them in orders of its own.
tritonx has no encodings by the name of such a unit, so its layouts are written out as linear ones."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.backends.gpu import (
    DotLayout,
    DotProduct,
    FunctionEmitter,
    LinearEncoding,
    MatrixUnit,
    PassError,
    Product,
    Rows,
    Threads,
    Tile,
    has_types,
    positions,
    type_encoding,
    warps_over,
)

SIDE = 4
"""Of the instruction's three matrices."""

Bases = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class MadeUp(MatrixUnit):
    """f16 and f32, summed in f32; no batches."""

    @property
    def types(self) -> frozenset[str]:
        return frozenset({"f16", "f32"})

    def takes(self, product: Product, threads: Threads) -> bool:
        whole = len(product.shape) == 2 and min(*product.shape, product.k) >= SIDE
        return whole and product.sums == "f32" and has_types(product, self.types)

    def cycles(self, product: Product) -> int:
        """None: whatever it can take is to go through it."""
        return 0

    def layout(self, product: Product, threads: Threads) -> DotLayout:
        """The result by columns, A by rows and B by columns: K is what is next to each other in both."""
        down, across = warps_over(product, SIDE, SIDE, threads.num_warps)
        k = _steps(product.k)
        row, row_warps, rows = (_down(steps) for steps in _dealt(_steps(product.rows), down))
        column, column_warps, columns = (_across(steps) for steps in _dealt(_steps(product.columns), across))
        return DotLayout(
            LinearEncoding(row + column + columns + rows, (), row_warps + column_warps, ()),
            LinearEncoding(_across(k) + row + rows, (), row_warps + _nowhere(column_warps), ()),
            LinearEncoding(_down(k) + column + columns, (), _nowhere(row_warps) + column_warps, ()),
        )


def _steps(extent: int) -> list[int]:
    """The powers of two below ``extent``."""
    return [1 << bit for bit in range(extent.bit_length() - 1)]


def _dealt(steps: list[int], warps: int) -> tuple[list[int], list[int], list[int]]:
    """Those inside an instruction, those between ``warps``, which hold copies where there are too few, and the rest."""
    inside, outside = steps[: SIDE.bit_length() - 1], steps[SIDE.bit_length() - 1 :]
    bits = warps.bit_length() - 1
    between = outside[:bits]
    return inside, between + [0] * (bits - len(between)), outside[bits:]


def _down(steps: list[int]) -> Bases:
    return tuple((step, 0) for step in steps)


def _across(steps: list[int]) -> Bases:
    return tuple((0, step) for step in steps)


def _nowhere(bases: Bases) -> Bases:
    return ((0, 0),) * len(bases)


def multiply(f: FunctionEmitter, product: DotProduct) -> bool:
    """Emit a product if its result has the unit's layout: the instruction as its definition, one k after the other."""
    if not isinstance(type_encoding(product.d.type), LinearEncoding):
        return False
    left, right = Rows(f, product.a, along=-1), Rows(f, product.b, along=-2)
    totals = list(f.scalars(f.get(product.c)))
    fma = f.module.declare("float", "@llvm.fma.f32", ["float"] * 3)
    for k in range(left.depth(product.op)):
        a = {row: _single(f, left, registers[k]) for row, registers in left.registers.items()}
        b = {column: _single(f, right, registers[k]) for column, registers in right.registers.items()}
        for r, (row, column) in enumerate(positions(f.layout(product.d.type))):
            if (row,) not in a or (column,) not in b:
                raise PassError(product.op, "the operands of the product are not laid out for its result")
            x, y = a[row,], b[column,]
            totals[r] = f.inst(f"call float {fma}(float {x}, float {y}, float {totals[r]})")
    f.result(product.op, Tile.wide("float", len(totals), f.pack("float", totals)))
    return True


def _single(f: FunctionEmitter, operand: Rows, register: int) -> str:
    """An element as f32."""
    name = operand.packed([register])
    return name if operand.elem == "float" else f.inst(f"fpext {operand.elem} {name} to float")
