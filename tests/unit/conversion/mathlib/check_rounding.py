"""``python check_rounding.py (double|float) SEED``: functions with a direction of rounding, and those that look at a
number's parts, on random and special arguments against exact fractions and NumPy; what is wrong, as JSON."""

# pyright: basic
from __future__ import annotations

import ctypes
import json
import sys
from fractions import Fraction

import llvmlite.binding as llvm
import numpy as np

from tritonx.conversion.llvm_writer import Module
from tritonx.conversion.mathlib.doubles.table import define, parameter_types, result_type

KIND = sys.argv[1]
DOUBLE = KIND == "double"
T = np.float64 if DOUBLE else np.float32
COUNT = 400
TYPES = {"double": np.float64, "float": np.float32, "i32": np.int32}
rng = np.random.default_rng(int(sys.argv[2]))
np.seterr(all="ignore")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
INFO = np.finfo(T)
LOW, HIGH = (-1074, 1023.9) if DOUBLE else (-149, 127.9)

ROUNDED = [f"{kind}_{mode}" for kind in ("add", "sub", "mul", "fma") for mode in ("rd", "ru", "rz")]
PARTS = ["logb", "ilogb", "nextafter", "fdim", "isnan", "isinf", "signbit", "ldexp"]
module, text = Module(), []
for name in ROUNDED + PARTS:
    types, result = parameter_types(name, KIND), result_type(name, KIND)
    symbol = define(module, name, double=DOUBLE)
    parameters = ", ".join(f"{t} %x{k}" for k, t in enumerate(types))
    text.append(f"define {result} @run_{name}({parameters}) {{\n  %r = call {result} {symbol}({parameters})\n"
                f"  ret {result} %r\n}}")  # fmt: skip
parsed = llvm.parse_assembly("\n".join([module.print([]), *text]))
parsed.verify()
machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
engine = llvm.create_mcjit_compiler(parsed, machine)
engine.finalize_object()
C = {"double": ctypes.c_double, "float": ctypes.c_float, "i32": ctypes.c_int32}


def function(name: str):
    types = parameter_types(name, KIND)
    found = ctypes.CFUNCTYPE(C[result_type(name, KIND)], *(C[t] for t in types))(
        engine.get_function_address(f"run_{name}")
    )
    return lambda *xs: TYPES[result_type(name, KIND)](found(*(C[t](x) for t, x in zip(types, xs, strict=True))))


def numbers() -> np.ndarray:
    sizes = [rng.uniform(LOW, HIGH, COUNT), rng.uniform(-3, 3, COUNT), rng.uniform(LOW, LOW * 0.9, COUNT)]
    sizes.append(rng.uniform(HIGH * 0.98, HIGH, COUNT))
    made = np.exp2(np.choose(rng.integers(0, 4, COUNT), sizes)) * rng.choice([-1, 1], COUNT)
    return np.where(rng.random(COUNT) < 0.2, np.round(made), made).astype(T)


def directed(exact: Fraction, mode: str):
    """The exact number, not 0, rounded to the format."""
    low = T(float(min(max(exact, Fraction(float(INFO.min))), Fraction(float(INFO.max)))))
    while not np.isneginf(low) and Fraction(float(low)) > exact:
        low = np.nextafter(low, T(-np.inf))
    while (
        not np.isposinf(after := np.nextafter(low, T(np.inf)))
        and not np.isneginf(low)
        and Fraction(float(after)) <= exact
    ):
        low = after
    if not np.isneginf(low) and Fraction(float(low)) == exact:
        return low
    high = np.nextafter(low, T(np.inf)) if not np.isneginf(low) else T(INFO.min)
    return {"rd": low, "ru": high, "rz": low if exact > 0 else high}[mode]


wrong: list[object] = []


def check(name: str, xs, found, wanted) -> None:
    same = found == wanted or (np.isnan(found) and np.isnan(wanted))
    if not same or (wanted == 0 and np.signbit(found) != np.signbit(wanted) and name not in ("fdim", "ldexp")):
        wrong.append([name, [float(x) for x in xs], float(found), float(wanted)])


a, b, c = numbers(), numbers(), numbers()
near = (-a.astype(np.float64) * b).astype(T)  # where the sum of a fused multiply-add is small
c = np.where((rng.random(COUNT) < 0.3) & np.isfinite(near), near, c)
EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "fma": lambda x, y, z: x * y + z,
}
for name in ROUNDED:
    kind, mode = name.split("_")
    run, count = function(name), len(parameter_types(name, KIND))
    for xs in zip(*(a, b, c)[:count], strict=True):
        exact = EXACT[kind](*(Fraction(float(x)) for x in xs))
        if exact:
            check(name, xs, run(*xs), directed(exact, mode))
    for xs in [(1, -1), (0.0, -0.0), (0.0, 0.0)]:
        if kind == "add":
            check(
                name, xs, run(*xs), T(0.0) if mode != "rd" or (xs == (0.0, 0.0) and not np.signbit(xs[1])) else T(-0.0)
            )
    for x in (np.inf, -np.inf, np.nan):
        xs = (x, 2.0, 1.0)[:count]
        check(name, xs, run(*xs), T(x))

special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, INFO.max, INFO.tiny, INFO.smallest_subnormal], T)
x, y = np.concatenate([special, a]), np.concatenate([rng.permutation(special), b])
for name, wanted in {
    "nextafter": np.nextafter(x, y),
    "fdim": np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0)).astype(T),
    "isnan": np.isnan(x), "isinf": np.isinf(x), "signbit": np.signbit(x),
    "logb": np.where(x == 0, -np.inf, np.where(np.isfinite(x), np.frexp(x)[1] - 1.0, abs(x))),
}.items():  # fmt: skip
    run = function(name)
    for u, v, w in zip(x, y, wanted, strict=True):
        check(name, (u, v), run(*(u, v)[: len(parameter_types(name, KIND))]), w)
run, exponent = function("ldexp"), function("ilogb")
exponents = rng.integers(-2300, 2300, len(x)) // (1 if DOUBLE else 8)
for u, n in zip(x, exponents, strict=True):
    check("ldexp", (u, n), run(u, int(n)), np.ldexp(u, n))
    if u != 0 and np.isfinite(u):
        check("ilogb", (u,), exponent(u), np.frexp(u)[1] - 1)
print(json.dumps(wrong[:20]))
