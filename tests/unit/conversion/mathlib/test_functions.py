"""The vector functions against NumPy's f64: random and special arguments, AVX2 and AVX-512.

The code is compiled and run in a child process: a defect in it would end the process.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

_CHILD = r"""
import ctypes, json, math, sys
import numpy as np
import llvmlite.binding as llvm
from tritonx.backends.cpu.codegen import compile_object, data_layout, target_machine
from tritonx.conversion.mathlib import F32
from tritonx.conversion.tile_to_loops.vector_functions import emit_function
from tritonx.conversion.tile_to_loops.isa import AVX2, AVX512
from tritonx.conversion.tile_to_loops.writer import Module, Writer

isa = {"AVX2": AVX2, "AVX512": AVX512}[sys.argv[1]]
width, count = int(sys.argv[2]), 1 << 14
module = Module()
for name, (_, arity) in F32.items():
    w = Writer(module)
    ty = f"<{width} x float>" if width else "float"
    with w.loop("each", count, max(width, 1)) as i:
        args = []
        for k in range(arity):
            at = w.let(f"getelementptr float, ptr %p{k}, i64 {i}")
            args.append(w.let(f"load {ty}, ptr {at}, align 4"))
        result = emit_function(w, name, args, width, isa.function_attributes())
        at = w.let(f"getelementptr float, ptr %out, i64 {i}")
        w.do(f"store {ty} {result}, ptr {at}, align 4")
    w.return_()
    parameters = ", ".join(f"ptr %p{k}" for k in range(arity))
    header = f"define void @test_{name}({parameters}, ptr %out) {isa.function_attributes()}"
    module.define(name, f"{header} {{\n{w.body()}\n}}")
header = f'target triple = "{isa.triple}"\ntarget datalayout = "{data_layout(isa)}"'
module.define("tx.program", "define void @tx.program() { ret void }")
binary = compile_object(module.print(header), isa)
jit = llvm.create_lljit_compiler(target_machine(isa))
builder = llvm.JITLibraryBuilder().add_object_img(binary).add_current_process()
for name in F32:
    builder.export_symbol(f"test_{name}")
library = builder.link(jit, "test")

special = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, 3, -3, 1e-45, 1e38, -1e-40, 88.7, -103.9, 128]
special = np.array(special, np.float32)
rng = np.random.default_rng(1)
erf = np.vectorize(math.erf)
np.seterr(all="ignore")

def arguments(kind):
    if kind == "bits":
        return rng.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)
    if kind == "near one":
        return (1 + 0.01 * rng.standard_normal(count)).astype(np.float32)
    return (float(kind) * rng.standard_normal(count)).astype(np.float32)

worst = {}
for name, (_, arity) in F32.items():
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (arity + 1))(library[f"test_{name}"])
    reference = {"erf": erf, "pow": np.power}.get(name) or getattr(np, name)
    for kind in ("bits", "1", "10", "1000", "near one"):
        xs = [arguments(kind) for _ in range(arity)]
        n = len(special)
        xs[0][: n * n] = np.repeat(special, n)
        if arity == 2:
            xs[1][: n * n] = np.tile(special, n)
        out = np.empty(count, np.float32)
        function(*[x.ctypes.data for x in xs], out.ctypes.data)
        exact = reference(*[x.astype(np.float64) for x in xs])
        rounded = exact.astype(np.float32)
        same = (out == rounded) | (np.isnan(out) & np.isnan(rounded))
        finite = np.isfinite(out) & np.isfinite(rounded)
        spacing = np.spacing(np.abs(np.where(finite, rounded, 1)))
        error = np.where(finite, np.abs(out - exact) / spacing, np.where(same, 0, 1e9))
        worst[name] = max(worst.get(name, 0), float(error.max()))
print(json.dumps(worst))
"""

LIMITS = {"tan": 3.0, "tanh": 2.2}
"""In units in the last place; 2 for the others."""


@pytest.mark.parametrize("isa", ["AVX2", "AVX512"])
@pytest.mark.parametrize("width", [0, 2, 16])
def test_accuracy(isa: str, width: int) -> None:
    if isa == "AVX512":
        from tritonx.backends.cpu.host import host_isa

        if host_isa().vector_bytes < 64:
            pytest.skip("this machine has no AVX-512")
    command = [sys.executable, "-c", _CHILD, isa, str(width)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr[-2000:]
    for name, ulps in json.loads(result.stdout).items():
        assert ulps <= LIMITS.get(name, 2.0), (name, ulps)
