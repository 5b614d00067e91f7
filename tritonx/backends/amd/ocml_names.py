"""``tl.extra.libdevice`` names as symbols of ROCm's device library; the emission has its own code for those it
lists.
"""

from __future__ import annotations

from collections.abc import Mapping

from tritonx.language.libdevice_table import overloads

Overloads = dict[tuple[str, ...], tuple[str, str]]

_NAMES = (
    "ceil", "copysign", "cos", "erf", "exp", "exp2", "expm1", "floor", "fma", "fmod", "log", "log10", "log1p", "log2",
    "pow", "rint", "round", "rsqrt", "sin", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_FAST = {"fast_expf": "exp", "fast_dividef": "div", "fast_logf": "log", "fast_log2f": "log2", "fast_tanhf": "tanh"}
_SUFFIX = {"fp32": "f32", "fp64": "f64"}


def table() -> dict[str, Overloads]:
    found: dict[str, Overloads] = {}
    for name in _NAMES:
        found[name] = {
            types: (f"__ocml_{name}_{_SUFFIX[types[0]]}", result)
            for types, result in overloads(name).items()
            if all(t in _SUFFIX for t in types)
        }
    found["abs"] = {(t,): (f"__ocml_fabs_{_SUFFIX[t]}", t) for t in _SUFFIX}
    for name, plain in _FAST.items():
        if plain != "div":
            found[name] = {("fp32",): (f"__ocml_{plain}_f32", "fp32")}
    return found


FUNCTIONS: Mapping[str, Overloads] = table()
