"""``python measure_ulps.py (AVX2|AVX512) WIDTH SEED``: the worst error of each vector function at ``WIDTH`` lanes, in
units in the last place, with its kind and arguments, as JSON.

The arguments are special ones, and random ones of every size and of the kinds that are hard for one function or
another; the reference is NumPy's f64."""

# pyright: basic
from __future__ import annotations

import ctypes
import json
import math
import sys

import llvmlite.binding as llvm
import numpy as np

from tritonx.backends.cpu.codegen import compile_object, data_layout, target_machine
from tritonx.conversion.llvm_writer import Module
from tritonx.conversion.mathlib import F32
from tritonx.conversion.tile_to_loops.isa import AVX2, AVX512
from tritonx.conversion.tile_to_loops.vector_functions import emit_function
from tritonx.conversion.tile_to_loops.writer import LoopWriter

isa = {"AVX2": AVX2, "AVX512": AVX512}[sys.argv[1]]
width, count = int(sys.argv[2]), 1 << 15
module = Module()
for name, (_, arity) in F32.items():
    w = LoopWriter(module)
    ty = f"<{width} x float>" if width else "float"
    with w.loop("each", count, max(width, 1)) as i:
        args = []
        for k in range(arity):
            at = w.inst(f"getelementptr float, ptr %p{k}, i64 {i}")
            args.append(w.inst(f"load {ty}, ptr {at}, align 4"))
        result = emit_function(w, name, args, width, isa)
        at = w.inst(f"getelementptr float, ptr %out, i64 {i}")
        w.line(f"store {ty} {result}, ptr {at}, align 4")
    w.return_()
    parameters = ", ".join(f"ptr %p{k}" for k in range(arity))
    header = f"define void @test_{name}({parameters}, ptr %out) {isa.function_attributes()}"
    module.define(f"@test_{name}", f"{header} {{\n{w.body()}\n}}")
head = [f'target triple = "{isa.triple}"', f'target datalayout = "{data_layout(isa)}"']
module.define("@tx.program", "define void @tx.program() { ret void }")
binary = compile_object(module.print(head), isa)
jit = llvm.create_lljit_compiler(target_machine(isa))
builder = llvm.JITLibraryBuilder().add_object_img(binary).add_current_process()
for name in F32:
    builder.export_symbol(f"test_{name}")
library = builder.link(jit, "test")

special = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, 3, -3, 1e-45, 1e38, -1e-40, 88.7, -103.9, 128]
special = np.array(special, np.float32)
rng = np.random.default_rng([int(sys.argv[3]), width])
np.seterr(all="ignore")


def erf(x):
    # By NumPy, a lane at a time, but what is 1 anyway.
    return np.where(np.abs(x) < 6, np.array([math.erf(v) if abs(v) < 6 else 0.0 for v in x.tolist()]), np.sign(x))


def sized(low, high):
    """Of either sign, of every size from 2^low to 2^high."""
    return np.exp2(rng.uniform(low, high, count)) * rng.choice([-1.0, 1.0], count)


KINDS = {
    "bits": lambda: rng.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32),
    "subnormal": lambda: sized(-149, -126),
    "small": lambda: sized(-30, 0),
    "middle": lambda: rng.uniform(-110, 130, count),
    "large": lambda: sized(3, 17),
    "near one": lambda: 1 + sized(-24, -1),
    "near quarter turns": lambda: rng.integers(-31000, 31000, count) * (np.pi / 2) + sized(-30, -2),
    "near eighth turns": lambda: (2 * rng.integers(-15000, 15000, count) + 1) * (np.pi / 4) + sized(-20, -1),
}


def pairs():
    """Bases and exponents whose power is in range, most of them."""
    base = np.abs(KINDS[rng.choice(["bits", "small", "near one", "large"])]()).astype(np.float32)
    exponent = (rng.uniform(-150, 129, count) / np.log2(base.astype(np.float64))).astype(np.float32)
    return [base, np.where(rng.random(count) < 0.1, rng.integers(-40, 40, count), exponent)]


def drawn(arity):
    """(kind, arguments) of each kind."""
    if arity == 2:
        yield from ((str(n), [x.astype(np.float32) for x in pairs()]) for n in range(6))
        yield "bits", [KINDS["bits"](), KINDS["bits"]()]
    else:
        yield from ((kind, [make().astype(np.float32)]) for kind, make in KINDS.items())


def errors(out, exact):
    """In units in the last place. Infinity is the number that would follow the largest one."""
    rounded = exact.astype(np.float32)
    same = (out == rounded) | (np.isnan(out) & np.isnan(rounded))
    size = np.clip(np.abs(exact), 2.0**-126, 2.0**127)
    unit = np.exp2(np.floor(np.log2(size)) - 23)
    got = np.where(np.isinf(out), np.copysign(2.0**128, out), out.astype(np.float64))
    error = np.abs(got - np.clip(exact, -(2.0**128), 2.0**128)) / unit
    signs = (out == 0) & (exact == 0) & (np.signbit(out) != np.signbit(exact))
    lost = (np.isnan(out) != np.isnan(rounded)) | signs
    return np.where(lost, np.inf, np.where(same & ~np.isfinite(error), 0, error))


worst = {}
for name, (_, arity) in F32.items():
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (arity + 1))(library[f"test_{name}"])
    reference = {"erf": erf, "pow": np.power}.get(name) or getattr(np, name)
    for kind, xs in drawn(arity):
        n = len(special)
        xs[0][: n * n] = np.repeat(special, n)
        if arity == 2:
            xs[1][: n * n] = np.tile(special, n)
        out = np.empty(count, np.float32)
        function(*[x.ctypes.data for x in xs], out.ctypes.data)
        error = errors(out, reference(*[x.astype(np.float64) for x in xs]))
        at = int(error.argmax())
        found = [float(error[at]), kind, *(x[at].item().hex() for x in xs)]
        worst[name] = max(worst.get(name, [0.0]), found, key=lambda item: item[0])
print(json.dumps(worst))
