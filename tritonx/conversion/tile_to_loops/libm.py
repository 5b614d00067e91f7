"""The functions that ``tl.extra.libdevice`` names may stand for on a host: the C library's, and the vector forms of
some.
"""

from __future__ import annotations

_ONE = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2 expm1 fabs floor lgamma log log10 "
    "log1p log2 logb nearbyint rint round sin sinh sqrt tan tanh tgamma trunc j0 j1 y0 y1"
).split()
_TWO = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder".split()
_THREE = ("fma",)

SIGNATURES: dict[str, tuple[tuple[str, ...], str]] = {
    symbol: ((kind,) * arity, kind)
    for arity, names in ((1, _ONE), (2, _TWO), (3, _THREE))
    for name in names
    for symbol, kind in ((f"{name}f", "fp32"), (name, "fp64"))
}
"""C symbol → (argument types, result type)."""

LIBM: frozenset[str] = frozenset(SIGNATURES)

VECTOR_FORMS: dict[str, str] = {
    f"{name}f": name
    for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh", "erf", "pow")
}
"""Symbols of f32 functions that `mathlib` has in vector form."""

PREDICATES: frozenset[str] = frozenset({"isnan", "isinf", "signbit", "finitef", "isfinited"})
