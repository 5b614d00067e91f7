"""Where the elements of a product lie: the compiler's layouts against what the instruction sets say of the registers.

The layouts are those of the compiled kernel's own ``tt.dot``; what the instructions read and write is in
``matrix_unit``, which knows nothing of the compiler. The code of every product is run in ``test_emulator`` too, but not
on gfx90a, which no emulator knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.backends.amd.shared_kernels import matmul
from tritonx.backends.amd.emit.dot import choose, type_name
from tritonx.backends.amd.targets import PROCESSORS
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.dialects.gpu_layout import LocalDotOp
from tritonx.dialects.tile import DotOp
from tritonx.ir.types import shape_of, type_of
from tritonx.layouts.lookup import linear_layout
from tritonx_testing.emulators.amd.matrix_unit import Mfma, Wmma

Compile = Callable[..., Any]


RESULTS = {np.int8: np.int32, np.float64: np.float64}
CASES = [
    *[("gfx90a", t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8)],
    *[("gfx942", t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8)],
    *[("gfx942", t) for t in (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz)],
    *[("gfx950", t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8)],
    *[("gfx950", t) for t in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)],
    *[("gfx1100", t) for t in (np.float16, ml_dtypes.bfloat16, np.int8)],
    *[("gfx1201", t) for t in (np.float16, ml_dtypes.bfloat16, np.int8)],
    *[("gfx1201", t) for t in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)],
]


def unit_of(target: str, symbol: str, dtype: Any) -> Any:
    """What the instruction set says of the intrinsic ``symbol``."""
    found = re.search(r"\.(\d+)x\d+x(\d+)", symbol)
    assert found is not None
    if "mfma" in symbol:
        return Mfma(int(found[1]), int(found[2]), dtype is np.float64, 16 if "f8f6f4" in symbol else 0)
    return Wmma(PROCESSORS[target].matrix_version, 8 * np.dtype(dtype).itemsize)


class Held:
    """The elements of a tile in the registers of one wave. ``along`` is the dim that the instruction's rows run along
    (columns, for the second operand), ``across`` the other."""

    def __init__(self, type_: Any, wave: int, along: int, across: int) -> None:
        self.layout: Any = linear_layout(type_encoding(type_), shape_of(type_))
        self.wave, self.along, self.across = wave, along, across
        self.registers = {self.at(r, 0, 0): r for r in reversed(range(self.layout.in_size("register")))}

    def at(self, register: int, lane: int, wave: int | None = None) -> tuple[int, int]:
        place = self.layout.apply(register=register, lane=lane, warp=self.wave if wave is None else wave, block=0)
        return place[self.along], place[self.across]

    def row(self, along: int) -> list[int]:
        """The registers of one row by K, as lane 0 of wave 0 sees it."""
        return [self.registers[p] for p in sorted(self.registers) if p[0] == along]


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("shape", [(16, 16, 64), (64, 32, 32), (64, 64, 32)], ids=str)
@pytest.mark.parametrize("target, dtype", CASES, ids=lambda x: x if isinstance(x, str) else np.dtype(x).name)
def test_elements_lie_where_the_instruction_has_them(
    compiled: Compile, target: str, dtype: Any, shape: tuple[int, int, int], num_warps: int
) -> None:
    m, n, depth = shape
    shapes = (((m, depth), dtype), ((depth, n), dtype), ((m, n), RESULTS.get(dtype, np.float32)))
    arrays = [np.zeros(*each) for each in shapes]
    made = compiled(target, matmul, arrays, {"M": m, "N": n, "K": depth}, num_warps=num_warps, until="ttgir")
    dot = next(op for op in made.stages["ttgir"].walk() if isinstance(op, DotOp | LocalDotOp))
    types = dot.operand_types if isinstance(dot, LocalDotOp) else (type_of(dot.a), type_of(dot.b))
    encoding: Any = type_encoding(dot.c.type)
    turned = encoding.is_transposed
    first, second = reversed(types) if turned else types
    for wave in range(num_warps):
        result = Held(dot.c.type, wave, *((1, 0) if turned else (0, 1)))
        left = Held(first, wave, *((1, 0) if turned else (0, 1)))
        right = Held(second, wave, *((0, 1) if turned else (1, 0)))
        held = len(left.row(0))
        names = (type_name(first), type_name(second))
        instruction = choose(PROCESSORS[target], encoding, names, held, dot)
        unit = unit_of(target, instruction.symbol, dtype)
        assert (instruction.per_lane, len(instruction.offsets)) == (unit.per_lane, unit.results)
        starts = [p for p in result.registers if not any(p[0] & offset for offset in instruction.offsets)]
        assert len(starts) * unit.results == len(result.registers)
        for tall, broad in starts:
            registers = [result.registers[tall + offset, broad] for offset in instruction.offsets]
            origin = result.at(registers[0], 0)
            for lane, (element, register) in product(range(unit.lanes), enumerate(registers)):
                row, column = unit.result(lane, element)
                assert result.at(register, lane) == (origin[0] + row, origin[1] + column)
            summed: list[int] = []
            for chunk in range(0, held, unit.per_lane):
                depth_of: dict[int, int] = {}
                for operand, at, corner in ((left, tall, origin[0]), (right, broad, origin[1])):
                    taken = operand.row(at)[chunk : chunk + unit.per_lane]
                    for lane, (element, register) in product(range(unit.lanes), enumerate(taken)):
                        row, k = unit.operand(lane, element)
                        along, of = operand.at(register, lane)
                        assert along == corner + row
                        assert depth_of.setdefault(k, of) == of, "A and B are multiplied at different K"
                assert sorted(depth_of) == list(range(unit.k))
                summed += depth_of.values()
            assert sorted(summed) == list(range(depth)), "every element of K is summed once"
