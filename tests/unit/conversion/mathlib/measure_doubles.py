"""``python measure_doubles.py SEED COUNT``: the worst error of each function of f64 in units in the last place, with
its arguments, as JSON; a special value that is not C's counts as infinite.

The reference is the C library's ``long double`` (64 bits of mantissa), called from LLVM; inverses are measured by what
they invert, Bessel functions of imaginary arguments by their series."""

# pyright: basic
from __future__ import annotations

import ctypes
import json
import math
import sys
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np

from tritonx.conversion.llvm_writer import Module
from tritonx.conversion.mathlib.doubles.table import FUNCTIONS, define, parameter_types

L = np.longdouble
rng = np.random.default_rng(int(sys.argv[1]))
N = int(sys.argv[2])
np.seterr(all="ignore")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
CTYPES = {"double": np.float64, "float": np.float32, "i32": np.int32}


def loop(name: str, symbol: str, types: list[str], result: str, stride: dict[str, int]) -> str:
    """A function that applies another one to arrays."""
    lines = [
        f"define void @{name}({', '.join(f'ptr %p{k}' for k in range(len(types)))}, ptr %out, i64 %n) {{",
        "entry:",
    ]
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [0, %entry], [%j, %loop]"]
    for k, type_ in enumerate(types):
        lines += [f"  %a{k} = getelementptr i8, ptr %p{k}, i64 %o{k}", f"  %x{k} = load {type_}, ptr %a{k}, align 4"]
        lines.insert(-2, f"  %o{k} = mul i64 %i, {stride[type_]}")
    arguments = ", ".join(f"{type_} %x{k}" for k, type_ in enumerate(types))
    lines += [f"  %r = call {result} {symbol}({arguments})", f"  %at = mul i64 %i, {stride[result]}"]
    lines += ["  %o = getelementptr i8, ptr %out, i64 %at", f"  store {result} %r, ptr %o, align 4"]
    lines += ["  %j = add i64 %i, 1", "  %c = icmp ult i64 %j, %n", "  br i1 %c, label %loop, label %end", "end:"]
    return "\n".join([*lines, "  ret void", "}"])


def compiled(text: str, fast: bool) -> llvm.ExecutionEngine:
    module = llvm.parse_assembly(text)
    module.verify()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2 if fast else 0)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


STRIDE = {"double": 8, "float": 4, "i32": 4, "x86_fp80": 16}
module = Module()
loops = []
for name in FUNCTIONS:
    types = parameter_types(name, "double")
    loops.append(loop(f"run_{name}", define(module, name, double=True), types, "double", STRIDE))
engine = compiled("\n".join([module.print([]), *loops]), True)

C = "exp exp2 exp10 expm1 sinh cosh tanh log log2 log10 log1p asinh acosh atanh sin cos tan asin acos atan cbrt erf"
C += " erfc tgamma lgamma j0 j1 y0 y1"
ARITY = {**dict.fromkeys(C.split(), 1), "pow": 2, "atan2": 2, "hypot": 2}
text = []
for name, arity in ARITY.items():
    types = ["x86_fp80"] * arity
    text += [
        f"declare x86_fp80 @{name}l({', '.join(types)})",
        loop(f"ref_{name}", f"@{name}l", types, "x86_fp80", STRIDE),
    ]
reference_engine = compiled("\n".join(text), False)


def applied(engine: llvm.ExecutionEngine, symbol: str, arrays: list[np.ndarray], dtype: type) -> np.ndarray:
    out = np.zeros(arrays[0].shape, dtype)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(arrays) + 1), ctypes.c_int64)(
        engine.get_function_address(symbol)
    )
    function(*(a.ctypes.data for a in arrays), out.ctypes.data, len(out))
    return out


def own(name: str, *xs: np.ndarray) -> np.ndarray:
    kinds = parameter_types(name, "double")
    return applied(
        engine, f"run_{name}", [np.ascontiguousarray(x, CTYPES[t]) for x, t in zip(xs, kinds, strict=True)], np.float64
    )


def c(name: str) -> Callable[..., np.ndarray]:
    return lambda *xs: applied(reference_engine, f"ref_{name}", [np.ascontiguousarray(x, L) for x in xs], L)


PI = L("3.14159265358979323846264338327950288")


def half_turns(function: str) -> Callable[..., np.ndarray]:
    def reference(x: np.ndarray) -> np.ndarray:
        n = np.rint(2 * x)
        r = PI * (x - n / 2)
        shift = n % 4 if function == "sin" else (n % 4 + 1) % 4
        value = np.where(shift % 2 == 0, c("sin")(r), c("cos")(r)) * np.where(shift < 2, 1, -1)
        zero = np.copysign(L(0), x) if function == "sin" else L(0)
        return np.where(value == 0, zero, value)

    return reference


def length(*xs: np.ndarray) -> np.ndarray:
    return np.where(
        np.isinf(sum(np.where(np.isinf(x), x, 0) ** 2 for x in xs)), np.inf, np.sqrt(sum(x * x for x in xs))
    )


def modified(order: int) -> Callable[..., np.ndarray]:
    def reference(x: np.ndarray) -> np.ndarray:
        term = np.ones_like(x) if order == 0 else x / 2
        total = term.copy()
        for k in range(1, 900):
            term = term * ((x / 2) ** 2) / (k * (k + order))
            total = total + term
        return np.where(np.isinf(x), abs(x) if order == 0 else x, total)

    return reference


def _c99(function: Callable[[float, float], float], x: float, y: float) -> float:
    try:
        return function(float(x), float(y))
    except ValueError:
        return math.nan


def exactly(function: Callable[[float, float], float]) -> Callable[..., np.ndarray]:
    return lambda x, y: np.array([_c99(function, *v) for v in zip(x, y, strict=True)], L)


def powers(low: float, high: float, n: int = N) -> np.ndarray:
    return np.exp2(rng.uniform(low, high, n))


def signed(x: np.ndarray) -> np.ndarray:
    return x * rng.choice([-1, 1], len(x))


def within(low: float, high: float) -> np.ndarray:
    return rng.uniform(low, high, N)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, 5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308, np.inf, -np.inf]
SPECIAL += [np.nan, 710.0, -746.0, 1e22, 2.0**53 + 2]
EVERY = [np.concatenate([signed(powers(-1070, 1023.9)), signed(powers(-30, 10))])]
UNIT = [np.concatenate([within(-1, 1), signed(powers(-1060, -1)), signed(1 - powers(-53, -1))])]
POSITIVE = [np.concatenate([powers(-1074, 1023.9), 1 + signed(powers(-53, -1)), within(0.5, 2)])]
EXPONENTS = [np.concatenate([within(-745, 709.7), signed(powers(-60, 5))])]
WAVES = [np.concatenate([signed(powers(-30, 1023.9)), within(-800, 800), np.round(within(0, 1e6)) * (np.pi / 2)])]


def vectors(count: int) -> list[np.ndarray]:
    size = powers(-1000, 1020)
    return [np.concatenate([signed(powers(-3, 3)), signed(size * powers(-60, 0))]) for _ in range(count)]


pairs = np.array([(a, b) for a in SPECIAL for b in SPECIAL]).T
CASES: dict[str, tuple[Callable[..., np.ndarray], list[np.ndarray]]] = {
    **{name: (c(name), EXPONENTS) for name in ("exp", "expm1", "sinh", "cosh", "tanh")},
    "exp2": (c("exp2"), [within(-1074, 1023.9)]),
    "exp10": (c("exp10"), [within(-323, 308.2)]),
    **{name: (c(name), POSITIVE) for name in ("log", "log2", "log10", "acosh")},
    "log1p": (c("log1p"), [np.concatenate([POSITIVE[0], UNIT[0]])]),
    **{name: (c(name), EVERY) for name in ("asinh", "atan", "cbrt")},
    **{name: (c(name), UNIT) for name in ("atanh", "asin", "acos")},
    "pow": (c("pow"), [np.concatenate([powers(-20, 20), 1 + signed(powers(-30, -2))]), np.concatenate([within(-50, 50),
            within(-3e3, 3e3)])]),
    **{name: (c(name), WAVES) for name in ("sin", "cos", "tan")},
    "sinpi": (half_turns("sin"), [np.concatenate([within(-3, 3), signed(powers(-1000, 54))])]),
    "cospi": (half_turns("cos"), [np.concatenate([within(-3, 3), signed(powers(-100, 54))])]),
    "atan2": (c("atan2"), [np.concatenate([signed(powers(-3, 3)), signed(powers(-1070, 1020))]) for _ in range(2)]),
    "rcbrt": (lambda x: 1 / c("cbrt")(x), EVERY),
    "rsqrt": (lambda x: 1 / np.sqrt(x), POSITIVE),
    "hypot": (length, vectors(2)), "norm3d": (length, vectors(3)), "norm4d": (length, vectors(4)),
    "rhypot": (lambda *x: 1 / length(*x), vectors(2)), "rnorm3d": (lambda *x: 1 / length(*x), vectors(3)),
    "rnorm4d": (lambda *x: 1 / length(*x), vectors(4)),
    "erf": (c("erf"), [np.concatenate([within(-6, 6), signed(powers(-1000, 2))])]),
    "erfc": (c("erfc"), [np.concatenate([within(-6, 6), within(0, 26)])]),
    "erfcx": (lambda x: np.exp(x * x) * c("erfc")(x), [np.concatenate([within(-9, 9), signed(powers(-30, 0))])]),
    "normcdf": (lambda x: c("erfc")(-x * np.sqrt(L(0.5))) / 2, [within(-9, 9)]),
    "tgamma": (c("tgamma"), [np.concatenate([within(0, 171.6), within(-30, 0), signed(powers(-1000, 3))])]),
    "lgamma": (c("lgamma"), [np.concatenate([within(0, 171.6), within(0, 4), powers(-1000, 1000)])]),
    **{name: (c(name), [np.concatenate([within(0, 10), powers(-30, 14)])]) for name in ("j0", "j1", "y0", "y1")},
    "cyl_bessel_i0": (modified(0), [np.concatenate([within(-10, 10), within(0, 600)])]),
    "cyl_bessel_i1": (modified(1), [np.concatenate([within(-10, 10), within(0, 600)])]),
    "fmod": (exactly(math.fmod), [EVERY[0], EVERY[0][::-1]]),
    "remainder": (exactly(math.remainder), [EVERY[0], EVERY[0][::-1]]),
}  # fmt: skip


ENTIRE_OF_SPECIAL = {"erfcx", "normcdf"}
"""Whose reference is no good far out."""
POLES = {"tgamma": (0.0, -0.0)}


def ulps(name: str, found: np.ndarray, wanted: np.ndarray, xs: list[np.ndarray]) -> np.ndarray:
    """The errors; infinite where a NaN, an infinity or the sign of a zero differs."""
    nearest = wanted.astype(np.float64)
    unit = np.spacing(np.maximum(abs(nearest), 2.0**-1022)).astype(L)
    error = abs(found.astype(L) - wanted) / unit
    if name in ("j0", "j1", "y0", "y1"):  # near a zero far out, of the amplitude
        amplitude = np.sqrt(1 / np.maximum(abs(xs[0]), 8))
        error = np.where(abs(xs[0]) > 8, abs(found - wanted) / np.maximum(unit, L(2.0**-53) * amplitude), error)
        error = np.where((abs(xs[0]) <= 8) & (abs(wanted) < 1e-3), 0, error)  # the reference's own error
    error = np.where((found == nearest) & np.isinf(nearest), 0, error)
    error = np.where(np.isnan(found) & np.isnan(nearest), 0, error)
    edge = np.isinf(found) & (abs(nearest) >= np.finfo(np.float64).max)
    error = np.where(edge, 0, error)
    wrong_zero = (nearest == 0) & (wanted == 0) & (np.signbit(found) != np.signbit(nearest))
    return np.where(np.isnan(error) | wrong_zero, np.inf, error)


def inverse(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How far y is from the inverse of x, by Newton's step."""
    z = y.astype(L)
    if name == "normcdfinv":
        value, slope = c("erfc")(-z * np.sqrt(L(0.5))) / 2, np.exp(-z * z / 2) / np.sqrt(2 * PI)
    elif name == "erfcinv":
        value, slope = c("erfc")(z), -2 / np.sqrt(PI) * np.exp(-z * z)
    else:
        small = abs(x) < 0.5
        value = np.where(small, c("erf")(z), np.sign(z) * (1 - c("erfc")(abs(z))))
        value = np.where(small, value - x, np.sign(z) * ((1 - abs(x.astype(L))) - c("erfc")(abs(z)))) + x
        slope = 2 / np.sqrt(PI) * np.exp(-z * z)
    return abs((value - x) / slope) / np.spacing(np.maximum(abs(y), 2.0**-1022)).astype(L)


found: dict[str, list[object]] = {}


def record(name: str, errors: np.ndarray, xs: list[np.ndarray]) -> None:
    worst = int(np.argmax(errors))
    before = found.get(name)
    if before is None or errors[worst] > before[0]:
        found[name] = [float(errors[worst]), [float(x[worst]) for x in xs]]


for name, (reference, arrays) in CASES.items():
    sets = [arrays]
    if len(arrays) < 3 and name not in ENTIRE_OF_SPECIAL:
        sets.append([np.array(SPECIAL)] if len(arrays) == 1 else list(pairs))
    for xs in sets:
        wanted = reference(*(x.astype(L) for x in xs))
        if name in ("j0", "j1", "y0", "y1") and xs is not arrays:
            keep = ~((abs(xs[0]) > 1e15) & np.isfinite(xs[0]))
            xs, wanted = [x[keep] for x in xs], wanted[keep]
        record(name, ulps(name, own(name, *xs), wanted, xs), list(xs))
for name, x in {
    "erfinv": np.concatenate([within(-1, 1), signed(powers(-60, -1)), signed(1 - powers(-52, -1))]),
    "erfcinv": np.concatenate([within(0, 1), powers(-60, 0)]),
    "normcdfinv": np.concatenate([within(0, 0.5), powers(-60, -1)]),
}.items():
    record(name, inverse(name, x, own(name, x)), [x])
print(json.dumps(found))
