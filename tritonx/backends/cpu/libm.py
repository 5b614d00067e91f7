"""The C mathematics library: what ``tl.extra.libdevice`` names mean on a host, and where their symbols are."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache

_ONE = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2 expm1 fabs floor lgamma log log10 log1p log2 "
    "logb nearbyint rint round sin sinh sqrt tan tanh tgamma trunc j0 j1 y0 y1"
).split()
_TWO = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder".split()
_THREE = ("fma",)

OVERLOADS: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {
    name: {("fp32",) * arity: (f"{name}f", "fp32"), ("fp64",) * arity: (name, "fp64")}
    for arity, names in ((1, _ONE), (2, _TWO), (3, _THREE))
    for name in names
}
"""name → argument types → (C symbol, result type)."""

SYMBOLS: frozenset[str] = frozenset(symbol for table in OVERLOADS.values() for symbol, _ in table.values())


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")


def resolve_symbols(binary: bytes) -> dict[str, int]:
    """Addresses of the libm functions that an object may refer to: those whose name occurs in it."""
    found: dict[str, int] = {}
    for symbol in SYMBOLS:
        if b"\0" + symbol.encode() + b"\0" in binary:
            function = getattr(_library(), symbol, None)
            address = ctypes.cast(function, ctypes.c_void_p).value if function is not None else None
            if address:
                found[symbol] = address
    return found
