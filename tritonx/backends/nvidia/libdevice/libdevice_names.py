"""``tl.extra.libdevice`` names as symbols of NVIDIA's device library.

Most names follow one rule: the f64 function is ``__nv_<name>`` and the f32 one has an ``f`` behind it. Functions with a
rounding mode name the type in front (``__nv_fadd_rn``, ``__nv_dadd_rn``); functions of 64-bit integers end in ``ll``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tritonx.language.extra.libdevice_table import names, overloads

Overloads = dict[tuple[str, ...], tuple[str, str]]

_ROUNDED = re.compile(r"(add|sub|mul|div|rcp|sqrt)_(rd|rn|ru|rz)")
_WIDE = {"clz": "clzll", "ffs": "ffsll", "popc": "popcll", "brev": "brevll"}
_SPECIAL: dict[tuple[str, tuple[str, ...]], str] = {
    ("abs", ("int32",)): "abs",
    ("abs", ("int64",)): "llabs",
    ("abs", ("fp32",)): "fabsf",
    ("abs", ("fp64",)): "fabs",
    ("isnan", ("fp32",)): "isnanf",
    ("isnan", ("fp64",)): "isnand",
    ("isinf", ("fp32",)): "isinff",
    ("isinf", ("fp64",)): "isinfd",
    ("signbit", ("fp32",)): "signbitf",
    ("signbit", ("fp64",)): "signbitd",
    ("finitef", ("fp32",)): "finitef",
    ("fast_dividef", ("fp32", "fp32")): "fast_fdividef",
    ("rsqrt_rn", ("fp32",)): "frsqrt_rn",
    ("pow", ("fp32", "int32")): "powif",
    ("pow", ("fp64", "int32")): "powi",
    ("mulhi", ("int32", "int32")): "mulhi",
    ("mulhi", ("uint32", "uint32")): "umulhi",
    ("mulhi", ("int64", "int64")): "mul64hi",
    ("mulhi", ("uint64", "uint64")): "umul64hi",
    ("mul24", ("uint32", "uint32")): "umul24",
    ("sad", ("uint32", "uint32", "uint32")): "usad",
    ("hadd", ("uint32", "uint32")): "uhadd",
    ("rhadd", ("uint32", "uint32")): "urhadd",
}  # fmt: skip
_PLAIN = re.compile(
    r"(fast_|float2|double2|int2|uint2|ll2|ull2|float_as|double_as|int_as|uint_as|longlong_as|hiloint2|byte_perm|saturatef"
    r"|rcp64h|isfinited|finitef|mul24|sad|hadd|rhadd)"
)


def symbol(name: str, types: tuple[str, ...]) -> str:
    """The library's symbol of one overload."""
    if (found := _SPECIAL.get((name, types))) is not None:
        return f"__nv_{found}"
    single = types[0] == "fp32" or (name in ("jn", "yn") and types[-1] == "fp32")
    if _ROUNDED.fullmatch(name):
        return f"__nv_{'f' if single else 'd'}{name}"
    if (rounded := re.fullmatch(r"fma_(rd|rn|ru|rz)", name)) is not None:
        return f"__nv_{'fmaf' if single else 'fma'}_{rounded[1]}"
    if name in _WIDE:
        return f"__nv_{_WIDE[name] if types[0] == 'int64' else name}"
    if _PLAIN.match(name):
        return f"__nv_{name}"
    return f"__nv_{name}{'f' if single else ''}"


FUNCTIONS: Mapping[str, Overloads] = {
    name: {types: (symbol(name, types), result) for types, result in overloads(name).items()} for name in names()
}
