"""The layouts of products by unit, shape, type and number of warps, as a table.

A worse choice is slower and nothing else, so that only a table notices it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from tritonx.backends.amd.matrix_units import WaveMatrixCore, WaveMatrixMultiply
from tritonx.backends.nvidia.matrix_units import WarpMatrixUnit
from tritonx.conversion.tile_to_gpu.dots import dot_layouts
from tritonx.conversion.tile_to_gpu.matrix_unit import MatrixUnit
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.ir.failure import PassError
from tritonx.ir.text import parse_module

TYPES = frozenset(("f16", "f32", "i8", "f8E5M2", "f8E4M3FN"))


def of_all_types(unit: type[MatrixUnit], *arguments: Any) -> MatrixUnit:
    """The unit, if it multiplied all of `TYPES`."""
    made: Any = type(unit.__name__, (unit,), {"types": TYPES})
    return made(*arguments)


WARP = of_all_types(WarpMatrixUnit, 90)
TARGETS = {
    "fma": GpuTarget("test"),
    "mma": GpuTarget("test", units=(WARP,)),
    "mma, 4 CTAs": GpuTarget("test", num_ctas=4, units=(WARP,)),
    "mfma 3": GpuTarget("test", 64, units=(of_all_types(WaveMatrixCore, 3),)),
    "mfma 4": GpuTarget("test", 64, units=(of_all_types(WaveMatrixCore, 4, 0, 2),)),
    "mfma 3, 16": GpuTarget("test", 64, units=(of_all_types(WaveMatrixCore, 3, 16),)),
    "mfma 3, 32": GpuTarget("test", 64, units=(of_all_types(WaveMatrixCore, 3, 32),)),
    "wmma 1": GpuTarget("test", units=(of_all_types(WaveMatrixMultiply, 1),)),
    "wmma 2": GpuTarget("test", units=(of_all_types(WaveMatrixMultiply, 2),)),
    "wmma 3": GpuTarget("test", units=(of_all_types(WaveMatrixMultiply, 3),)),
}
SHAPES = (
    (2, 2, 2), (8, 64, 16), (16, 8, 16), (16, 16, 8), (16, 16, 16), (16, 16, 32), (32, 32, 8), (32, 32, 16),
    (64, 16, 64),    (16, 128, 32), (128, 32, 64), (32, 128, 16), (128, 128, 64), (256, 64, 32),
)  # fmt: skip
"""M, N, K."""
ELEMENTS = (
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("f32", "f32", "f32"),
    ("i8", "i8", "i32"),
    ("f8E5M2", "f8E4M3FN", "f32"),
)


def text(
    m: int, n: int, k: int, a: str, b: str, d: str, *, batch: str = "", precision: str = "tf32", more: str = ""
) -> str:
    types = f"tensor<{batch}{m}x{k}x{a}>", f"tensor<{batch}{k}x{n}x{b}>", f"tensor<{batch}{m}x{n}x{d}>"
    return f"""tt.func public @f(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) {{
  %d = tt.dot %a, %b, %c, inputPrecision = {precision} : {types[0]} * {types[1]} -> {types[2]}
{more}  tt.return
}}
"""


def shown(module: Any, target: GpuTarget) -> str:
    """Every product's layouts in short, or why there are none."""
    try:
        found = dot_layouts(module.walk(), target)
    except PassError as refused:
        return f"refused: {refused}"
    return "; ".join(_short(layout) for layout in found.values())


def _short(layout: Any) -> str:
    result = layout.result
    instruction = getattr(result, "instr_shape", None) or result.size_per_thread
    words = [type(result).__name__.removesuffix("Encoding"), _times(instruction), "warps", _times(result.warps_per_cta)]
    if not hasattr(result, "instr_shape"):
        words += ["lanes", _times(result.threads_per_warp)]
    if result.cga:
        words += ["ctas", " ".join(map(_times, result.cga))]
    return " ".join([*words, "operands", f"{layout.a.k_width}, {layout.b.k_width}"])


def _times(numbers: tuple[int, ...]) -> str:
    return "x".join(map(str, numbers))


CHAIN = """  %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  %e = tt.dot %h, %b, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
"""
SUM = "  %e = tt.dot %a, %b, %d : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>\n"


def programs() -> Iterator[tuple[str, str]]:
    """A name and the text of each."""
    for (m, n, k), (a, b, d) in product(SHAPES, ELEMENTS):
        if d == "f32" == a or b == "f16" != d or (m, n, k) in SHAPES[3:7]:
            yield f"{m}x{n}x{k} {a} {b} {d}", text(m, n, k, a, b, d)
    yield "exact", text(64, 64, 64, "f32", "f32", "f32", precision="ieee")
    yield "mixed", text(64, 64, 64, "f16", "f8E5M2", "f32")
    yield "few batches", text(64, 64, 64, "f16", "f16", "f32", batch="2x")
    yield "batches", text(32, 64, 64, "f16", "f16", "f32", batch="16x")
    yield "chained", text(64, 64, 64, "f16", "f16", "f32", more=CHAIN)
    yield "summed", text(64, 64, 64, "f16", "f16", "f32", more=SUM)


def table() -> str:
    modules = {what: parse_module(program) for what, program in programs()}
    lines: list[str] = []
    for (name, target), warps in product(TARGETS.items(), (1, 8)):
        lines.append(f"{name}, {warps} warps")
        lines += [f"  {what}: {shown(module, replace(target, num_warps=warps))}" for what, module in modules.items()]
    return "\n".join(lines) + "\n"
