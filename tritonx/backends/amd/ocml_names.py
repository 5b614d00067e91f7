"""``tl.extra.libdevice`` names as symbols of ROCm's OCML, as Triton's modules have them. The emission has code of its
own for all of them."""

from __future__ import annotations

from collections.abc import Mapping

from tritonx.language.extra.libdevice_table import overloads

Overloads = dict[tuple[str, ...], tuple[str, str]]

_NAMES = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "cospi",
    "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp", "exp10", "exp2", "expm1", "fdim", "floor", "fma", "fmod",
    "hypot", "ilogb", "isinf", "isnan", "j0", "j1", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "logb",
    "nearbyint", "nextafter", "pow", "rcbrt", "remainder", "rhypot", "rint", "round", "rsqrt", "scalbn", "signbit",
    "sin", "sinh", "sinpi", "sqrt", "tan", "tanh", "tgamma", "trunc", "y0", "y1",
)  # fmt: skip
_RENAMED = {
    "cyl_bessel_i0": "i0", "cyl_bessel_i1": "i1", "normcdf": "ncdf", "normcdfinv": "ncdfinv", "norm3d": "len3",
    "norm4d": "len4", "rnorm3d": "rlen3", "rnorm4d": "rlen4",
    **{f"{name}_{ours}": f"{name}_{theirs}" for name in ("add", "sub", "mul", "fma")
       for ours, theirs in (("rn", "rte"), ("rd", "rtn"), ("ru", "rtp"), ("rz", "rtz"))},
}  # fmt: skip
"""Names of the language that OCML spells otherwise."""

_FAST = {"fast_expf": "exp", "fast_dividef": "div", "fast_logf": "log", "fast_log2f": "log2", "fast_tanhf": "tanh"}
_SUFFIX = {"fp32": "f32", "fp64": "f64"}


def _symbol(name: str, type_: str) -> str:
    return f"__ocml_{name}_{_SUFFIX[type_]}"


def table() -> dict[str, Overloads]:
    found: dict[str, Overloads] = {}
    for name, theirs in {**{name: name for name in _NAMES}, **_RENAMED}.items():
        found[name] = {
            types: (_symbol("pown" if name == "pow" and types[1] == "int32" else theirs, types[0]), result)
            for types, result in overloads(name).items()
            if types[0] in _SUFFIX
        }
    found["abs"] = {(t,): (_symbol("fabs", t), t) for t in _SUFFIX}
    for name, plain in _FAST.items():
        if plain != "div":
            found[name] = {("fp32",): (f"__ocml_{plain}_f32", "fp32")}
    return found


FUNCTIONS: Mapping[str, Overloads] = table()

KNOWN = frozenset(symbol for overloads_ in FUNCTIONS.values() for symbol, _ in overloads_.values())
"""All symbols."""

_NAMES_OF = {theirs: ours for ours, theirs in _RENAMED.items()}


def own_name(symbol: str) -> str:
    """The name of a known symbol in `conversion.mathlib`: ``__ocml_len3_f64`` is ``norm3d``."""
    theirs = symbol.removeprefix("__ocml_").rpartition("_")[0]
    return _NAMES_OF.get(theirs, theirs)
