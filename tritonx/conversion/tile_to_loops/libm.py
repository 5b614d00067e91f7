"""The functions of the C library that kernels may call, and which of them have a vector form in `mathlib`."""

from __future__ import annotations

_ONE = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2 expm1 fabs floor lgamma log log10 "
    "log1p log2 logb nearbyint rint round sin sinh sqrt tan tanh tgamma trunc j0 j1 y0 y1"
).split()
_TWO = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder".split()

_SHAPES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(_ONE, ("x", "x")),
    **dict.fromkeys(_TWO, ("xx", "x")),
    "fma": ("xxx", "x"),
    "ldexp": ("xi", "x"),
    "scalbn": ("xi", "x"),
    "ilogb": ("x", "i"),
    "llrint": ("x", "l"),
    "llround": ("x", "l"),
    "jn": ("ix", "x"),
    "yn": ("ix", "x"),
}
"""C name → (parameters, result); x is the float type that the name's suffix says."""

_FIXED = {"i": "int32", "l": "int64"}

SIGNATURES: dict[str, tuple[str, tuple[str, ...], str]] = {
    f"{name}{suffix}": (name, tuple(_FIXED.get(p, kind) for p in parameters), _FIXED.get(result, kind))
    for name, (parameters, result) in _SHAPES.items()
    for suffix, kind in (("f", "fp32"), ("", "fp64"))
}
"""C symbol → (name, argument types, result type)."""

LIBM: frozenset[str] = frozenset(SIGNATURES)

VECTOR_FORMS: dict[str, str] = {
    f"{name}f": name
    for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh", "erf", "pow")
}
"""Symbols of f32 functions that `mathlib` has in vector form."""
