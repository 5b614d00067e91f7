"""Layouts of matrix products: which unit multiplies, and how its results and operands lie.

A product goes to the matrix unit when the unit takes its types in the precision that is asked for; otherwise every
thread computes its elements with multiply-adds, from a blocked layout of small squares.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.tile_to_gpu.blocked import blocked
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.failure import PassError
from tritonx.ir.types import bit_width, element_type, shape_of, type_of
from tritonx.layouts import matrix_units
from tritonx.layouts.encodings import DistributedEncoding, DotOperandEncoding, Ints

FMA_SQUARE = 4
"""Side of a thread's square of results in a product by multiply-adds: 4x4 reads 8 operands for 16 multiply-adds."""

MFMA_K = {
    "f16": (8, 16),
    "bf16": (8, 16),
    "f32": (2, 4),
    "i8": (16, 32),
    "f8E4M3FN": (16, 32),
    "f8E5M2": (16, 32),
    "f8E4M3FNUZ": (16, 32),
    "f8E5M2FNUZ": (16, 32),
    "f64": (0, 4),
}
"""K of the 32x32 and of the 16x16 instruction (CDNA3 instruction set, "Matrix Arithmetic Instructions")."""


@dataclass(frozen=True)
class DotLayout:
    """Encodings of the result (and accumulator) and of the two operands."""

    result: DistributedEncoding
    a: DistributedEncoding
    b: DistributedEncoding


def type_name(type_: Any) -> str:
    """The IR's name of an element type."""
    element = element_type(type_)
    width = getattr(element, "width", None)
    return f"i{width.data}" if width is not None else element.name


def dot_layouts(ops: Iterable[Operation], target: GpuTarget) -> dict[Operation, DotLayout]:
    """The layouts of every `tt.dot`."""
    dots = [op for op in ops if isinstance(op, tile.DotOp)]
    return {op: _layout(op, dots, target) for op in dots}


def _layout(op: tile.DotOp, dots: list[tile.DotOp], target: GpuTarget) -> DotLayout:
    shape = shape_of(type_of(op.d))
    name = type_name(type_of(op.a))
    if uses_matrix_unit(op, target):
        width = bit_width(type_of(op.a))
        chained = _feeds_another(op, dots) or _fed_by_another(op, dots)
        match target.matrix:
            case "mma":
                parent = _mma(shape, target, chained)
                k_width = max(1, min(32 // _narrowest(op, width), k_of(op) // 8))
                return _operands(parent, k_width, k_width)
            case "mfma":
                parent, k_width = _mfma(op, shape, name, target, chained)
                return _operands(parent, k_width, k_width)
            case "wmma":
                parent = _wmma(shape, target, chained)
                k_width = 16 if target.matrix_version == 1 else 8
                return _operands(parent, k_width, k_width)
            case _:
                pass
    per_thread = [1] * len(shape)
    for d in (-1, -2):
        per_thread[d] = min(FMA_SQUARE, shape[d])
    elements = 1
    for size in shape:
        elements *= size
    while per_thread[-1] * per_thread[-2] * target.num_warps * target.warp_size > elements and max(per_thread[-2:]) > 1:
        d = -2 if per_thread[-2] >= per_thread[-1] else -1
        per_thread[d] //= 2
    order = tuple(reversed(range(len(shape))))
    parent = blocked(shape, tuple(per_thread), order, target.num_warps, target.warp_size, target.num_ctas)
    return _operands(parent, 0, 0)


def _operands(parent: Any, a_width: int, b_width: int) -> DotLayout:
    return DotLayout(parent, DotOperandEncoding(0, parent, a_width), DotOperandEncoding(1, parent, b_width))


def k_of(op: tile.DotOp) -> int:
    """Extent of the summed dim."""
    return shape_of(type_of(op.a))[-1]


def uses_matrix_unit(op: tile.DotOp, target: GpuTarget) -> bool:
    """Whether the unit takes the product as it stands."""
    a, b, d = (type_name(type_of(v)) for v in (op.a, op.b, op.d))
    if not target.matrix or a not in target.matrix_types or b not in target.matrix_types:
        return False
    if a != b and not (a.startswith("f8") and b.startswith("f8")):
        return False
    if a == "f32" and op.inputPrecision.value.data == InputPrecision.IEEE and target.matrix != "mfma":
        return False
    accumulator = {"i8": "i32", "f64": "f64"}.get(a, "f32")
    if d != accumulator and not (d == a == "f16" and target.matrix_f16_accumulator):
        return False
    shape = shape_of(type_of(op.d))
    m, n, k = shape[-2], shape[-1], k_of(op)
    if target.matrix == "mma":
        return m >= 16 and n >= 8 and k * bit_width(type_of(op.a)) >= 256
    if target.matrix == "mfma":
        return m >= 16 and n >= 16 and k >= MFMA_K.get(a, (0, 1 << 30))[1]
    return m >= 16 and n >= 16 and k >= 16


# --- warps
# ------------------------------------------------------------------------------------------------------------


def _feeds_another(op: tile.DotOp, dots: list[tile.DotOp]) -> bool:
    """Whether the result becomes an operand (not the accumulator) of another product in the same block."""
    return any(other is not op and other.parent is op.parent and _reaches(op.d, (other.a, other.b)) for other in dots)


def _fed_by_another(op: tile.DotOp, dots: list[tile.DotOp]) -> bool:
    return any(other is not op and other.parent is op.parent and _reaches(other.d, (op.a, op.b)) for other in dots)


def _reaches(value: SSAValue, goals: tuple[SSAValue, ...]) -> bool:
    """Whether a goal is computed from `value` in its own block."""
    block = value.owner.parent if isinstance(value.owner, Operation) else None
    work, seen = list(goals), set[SSAValue]()
    while work:
        current = work.pop()
        if current is value:
            return True
        owner = current.owner
        if current in seen or not isinstance(owner, Operation) or owner.parent is not block:
            continue
        seen.add(current)
        work += owner.operands
    return False


def _warps(shape: Ints, tile_m: int, tile_n: int, num_warps: int, chained: bool) -> tuple[int, ...]:
    """Warps over the result: along M alone for chained products, so that rows stay inside a warp; otherwise so that
    the instruction tiles of a warp come close to a square of elements. Batches first, where there are any."""
    warps = [1] * len(shape)
    left = num_warps
    if len(shape) == 3:
        warps[0] = min(left, shape[0])
        left //= warps[0]
    if chained:
        warps[-2] = left
        return tuple(warps)
    while left > 1:
        rows, columns = shape[-2] / (tile_m * warps[-2]), shape[-1] / (tile_n * warps[-1])
        if (rows * tile_m >= columns * tile_n and rows > 1) or (columns <= 1 and rows > 1):
            warps[-2] *= 2
        elif columns > 1:
            warps[-1] *= 2
        else:  # more warps than tiles: copies along M
            warps[-2] *= 2
        left //= 2
    return tuple(warps)


def _narrowest(op: tile.DotOp, bits: int) -> int:
    """Width of the narrowest load that an operand is widened from: a register then holds whole words of what was
    loaded.
    """
    narrow = bits
    for start in (op.a, op.b):
        current = start
        for _ in range(16):
            owner = current.owner
            if not isinstance(owner, Operation) or not owner.operands or isinstance(owner, tile.DotOp | tile.ReduceOp):
                break
            if isinstance(owner, tile.LoadOp):
                narrow = min(narrow, max(8, bit_width(type_of(current))))
                break
            current = owner.operands[0]
    return narrow


def _mma(shape: Ints, target: GpuTarget, chained: bool) -> DistributedEncoding:
    warps = _warps(shape, 16, 8, target.num_warps, chained)
    instruction = (*(1,) * (len(shape) - 2), 16, 8)
    return matrix_units.mma(2, warps, instruction, ((0,) * len(shape),) * (target.num_ctas.bit_length() - 1))


def _mfma(op: tile.DotOp, shape: Ints, name: str, target: GpuTarget, chained: bool) -> tuple[DistributedEncoding, int]:
    large, small = MFMA_K[name]
    k = k_of(op)
    fits = min(shape[-2:]) >= 32 and large and k >= large
    if target.matrix_side == 32 and not fits:
        raise PassError(
            op,
            f"the matrix unit has no 32x32 instruction for a {shape[-2]}x{shape[-1]}x{k} product of {name}",
            f"it takes 32x32 results and K of {large}; let the compiler choose (0), or ask for 16"
            if large
            else "ask for 16",
        )
    side = 32 if fits and target.matrix_side != 16 else 16
    depth = large if side == 32 else small
    if target.matrix_version >= 4 and name in ("f16", "bf16") and k >= 2 * depth:
        depth *= 2
    warps = _warps(shape, side, side, target.num_warps, chained)
    width = 64 if name == "f64" else 32
    encoding = matrix_units.mfma(target.matrix_version, warps, (side, side, depth), width)
    packing = target.operand_packing if k % (depth * target.operand_packing) == 0 else 1
    return encoding, packing * depth * side // 64


def _wmma(shape: Ints, target: GpuTarget, chained: bool) -> DistributedEncoding:
    warps = _warps(shape, 16, 16, target.num_warps, chained)
    k = 32 if target.matrix_version == 3 else 16
    return matrix_units.wmma(target.matrix_version, warps, (16, 16, k))
