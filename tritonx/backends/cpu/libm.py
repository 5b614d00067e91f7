"""Where the symbols of the C mathematics library are in this process."""

from __future__ import annotations

import ctypes

from tritonx.conversion.tile_to_loops.libm import LIBM
from tritonx.runtime.devices.elf import mathematics_library


def resolve_symbols(binary: bytes) -> dict[str, int]:
    """Addresses of the functions that an object may refer to: those whose name occurs in it."""
    found: dict[str, int] = {}
    for symbol in LIBM:
        if b"\0" + symbol.encode() + b"\0" in binary:
            function = getattr(mathematics_library(), symbol, None)
            address = ctypes.cast(function, ctypes.c_void_p).value if function is not None else None
            if address:
                found[symbol] = address
    return found
