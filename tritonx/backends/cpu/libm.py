"""The C mathematics library: what ``tl.extra.libdevice`` names mean on a host, and where their symbols are."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache

from tritonx.conversion.tile_to_loops.libm import LIBM, PREDICATES, SIGNATURES

OVERLOADS: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {}
"""name → argument types → (C symbol, result type)."""

for _symbol, (_arguments, _result) in SIGNATURES.items():
    _name = _symbol[:-1] if _result == "fp32" else _symbol
    OVERLOADS.setdefault(_name, {})[_arguments] = (_symbol, _result)
for _name in PREDICATES:
    _types = {"finitef": ("fp32",), "isfinited": ("fp64",)}.get(_name, ("fp32", "fp64"))
    OVERLOADS[_name] = {(t,): (_name, "int32") for t in _types}


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")


def resolve_symbols(binary: bytes) -> dict[str, int]:
    """Addresses of the libm functions that an object may refer to: those whose name occurs in it."""
    found: dict[str, int] = {}
    for symbol in LIBM:
        if b"\0" + symbol.encode() + b"\0" in binary:
            function = getattr(_library(), symbol, None)
            address = ctypes.cast(function, ctypes.c_void_p).value if function is not None else None
            if address:
                found[symbol] = address
    return found
