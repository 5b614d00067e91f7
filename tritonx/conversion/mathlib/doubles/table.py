"""The functions by name, with the error of each, and what puts one into a module.

A name is that of ``tl.extra.libdevice``. The errors are in units in the last place of the result (of the smallest
normal number's for a subnormal one): a little over what `tests/unit/conversion/mathlib` measures, and what 140 bits
found."""

from __future__ import annotations

from collections.abc import Callable

from tritonx.conversion.llvm_writer import Module, Writer
from tritonx.conversion.mathlib.code import Code
from tritonx.conversion.mathlib.doubles import (
    arc,
    bessel,
    error_functions,
    exponential,
    gamma,
    logarithm,
    parts,
    remainders,
    roots,
    rounding,
    trigonometry,
)
from tritonx.conversion.mathlib.doubles.values import Double, Truth, Word

Function = Callable[..., Double]

FUNCTIONS: dict[str, tuple[Function, int, float]] = {
    "exp": (exponential.exp, 1, 1.0),
    "exp2": (exponential.exp2, 1, 1.0),
    "exp10": (exponential.exp10, 1, 1.0),
    "expm1": (exponential.expm1, 1, 0.6),
    "sinh": (exponential.sinh, 1, 0.55),
    "cosh": (exponential.cosh, 1, 0.55),
    "tanh": (exponential.tanh, 1, 0.55),
    "log": (logarithm.log, 1, 0.51),
    "log2": (logarithm.log2, 1, 0.51),
    "log10": (logarithm.log10, 1, 0.51),
    "log1p": (logarithm.log1p, 1, 0.51),
    "asinh": (logarithm.asinh, 1, 0.51),
    "acosh": (logarithm.acosh, 1, 0.51),
    "atanh": (logarithm.atanh, 1, 0.51),
    "pow": (logarithm.pow, 2, 0.55),
    "sin": (trigonometry.sin, 1, 0.85),
    "cos": (trigonometry.cos, 1, 0.85),
    "tan": (trigonometry.tan, 1, 1.0),
    "sinpi": (trigonometry.sinpi, 1, 0.85),
    "cospi": (trigonometry.cospi, 1, 0.85),
    "asin": (arc.asin, 1, 0.51),
    "acos": (arc.acos, 1, 0.51),
    "atan": (arc.atan, 1, 0.51),
    "atan2": (arc.atan2, 2, 0.51),
    "cbrt": (roots.cbrt, 1, 0.51),
    "rcbrt": (roots.rcbrt, 1, 0.51),
    "rsqrt": (roots.rsqrt, 1, 0.51),
    "hypot": (roots.norm, 2, 0.75),
    "rhypot": (roots.rnorm, 2, 0.51),
    "norm3d": (roots.norm, 3, 0.75),
    "rnorm3d": (roots.rnorm, 3, 0.51),
    "norm4d": (roots.norm, 4, 0.75),
    "rnorm4d": (roots.rnorm, 4, 0.51),
    "erf": (error_functions.erf, 1, 1.25),
    "erfc": (error_functions.erfc, 1, 2.5),
    "erfcx": (error_functions.erfcx, 1, 3.5),
    "erfinv": (error_functions.erfinv, 1, 4.0),
    "erfcinv": (error_functions.erfcinv, 1, 4.0),
    "normcdf": (error_functions.normcdf, 1, 2.5),
    "normcdfinv": (error_functions.normcdfinv, 1, 4.5),
    "tgamma": (gamma.tgamma, 1, 1.0),
    "lgamma": (gamma.lgamma, 1, 2.5),
    "j0": (bessel.j0, 1, 6.5),
    "j1": (bessel.j1, 1, 6.5),
    "y0": (bessel.y0, 1, 6.5),
    "y1": (bessel.y1, 1, 6.5),
    "cyl_bessel_i0": (bessel.i0, 1, 5.0),
    "cyl_bessel_i1": (bessel.i1, 1, 5.0),
    "fmod": (remainders.fmod, 2, 0.0),
    "remainder": (remainders.remainder, 2, 0.0),
    **{
        f"{kind}_{mode}": (*rounding.directed(f"{kind}_{mode}"), 0.0)
        for kind in ("add", "sub", "mul", "fma")
        for mode in ("rd", "ru", "rz")
    },
    "ldexp": (parts.ldexp, 2, 0.0),
}
"""Name → (writer of the code, number of arguments, largest error). Of j0 to y1 beyond 8 it is the error in units of the
amplitude, 2^-53 · √(1 / x), where the result is smaller than that. Those with 0 are exact, or rounded as they say."""

SINGLE: dict[str, tuple[Function, int]] = {
    f"{kind}_{mode}": rounding.directed_single(f"{kind}_{mode}")
    for kind in ("add", "sub", "mul", "fma")
    for mode in ("rd", "ru", "rz")
}
"""Functions of f32 that are not those of f64 rounded."""

PARTS: dict[str, tuple[Callable[..., Double | Word | Truth], int]] = {
    "logb": (parts.logb, 1),
    "ilogb": (parts.ilogb, 1),
    "nextafter": (parts.nextafter, 2),
    "fdim": (parts.fdim, 2),
    "isnan": (parts.isnan, 1),
    "isinf": (parts.isinf, 1),
    "signbit": (parts.signbit, 1),
}
"""Functions written for both formats."""

NAMES = frozenset({*FUNCTIONS, *PARTS, "scalbn"})

_INTEGER_SECOND = frozenset({"ldexp", "pown"})
_INTEGER_RESULT = frozenset({"ilogb", "isnan", "isinf", "signbit"})


def define(module: Module, name: str, *, double: bool) -> str:
    """Put the function ``name`` of `NAMES` or ``pown`` into the module, once; returns its symbol. Its parameters and
    result are of f64 or f32, but the second of ``ldexp``, ``scalbn`` and ``pown`` is i32, as are the results of
    ``ilogb`` and the predicates."""
    name = "ldexp" if name == "scalbn" else name
    symbol = f"@tx.{'f64' if double else 'f32'}.{name}"
    if symbol in module.definitions:
        return symbol
    module.define(symbol, "")  # so that it precedes what it calls
    w = Writer(module)
    code = Code(w, 0, double=double)
    types = parameter_types(name, code.scalar)
    parameters = ", ".join(f"{type_} %x{k}" for k, type_ in enumerate(types))
    result = result_type(name, code.scalar)
    own = double or name in PARTS or name in SINGLE
    value = _own(code, name, types) if own else _rounded(code, name, types)
    head = f"define internal {result} {symbol}({parameters}) nounwind {{"
    return module.define(symbol, "\n".join([head, "entry:", *w.lines, f"  ret {result} {value}", "}"]))


def parameter_types(name: str, scalar: str) -> list[str]:
    """The LLVM types of a function's parameters, of the format ``scalar``."""
    if name in _INTEGER_SECOND:
        return [scalar, "i32"]
    return [scalar] * (PARTS[name][1] if name in PARTS else FUNCTIONS[name][1])


def result_type(name: str, scalar: str) -> str:
    """The LLVM type of a function's result."""
    return "i32" if name in _INTEGER_RESULT else scalar


def _own(code: Code, name: str, types: list[str]) -> str:
    """The function on the parameters."""
    given: list[Double | Word] = []
    for k, type_ in enumerate(types):
        if type_ == code.scalar:
            given.append(Double(code, f"%x{k}"))
        else:
            given.append(Word(code, code.writer.inst(f"sext i32 %x{k} to {code.integer}")))
    if name == "pown":
        name, exponent = "pow", given[1]
        given[1] = exponent.converted() if isinstance(exponent, Word) else exponent
    function = PARTS[name][0] if name in PARTS else FUNCTIONS[name][0] if code.double else SINGLE[name][0]
    value = function(*given)
    if isinstance(value, Truth):
        return code.writer.inst(f"zext i1 {value.text} to i32")
    narrow = isinstance(value, Word) and code.double
    return code.writer.inst(f"trunc i64 {value.text} to i32") if narrow else value.text


def _rounded(code: Code, name: str, types: list[str]) -> str:
    """The function of f64, rounded to f32."""
    w = code.writer
    symbol = define(w.module, name, double=True)
    wide = [("double", w.inst(f"fpext float %x{k} to double")) if t == "float" else (t, f"%x{k}")
            for k, t in enumerate(types)]  # fmt: skip
    return w.inst(f"fptrunc double {w.call('double', symbol, *wide)} to float")
