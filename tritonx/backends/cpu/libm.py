"""Where the symbols of the C mathematics library are in this process."""

from __future__ import annotations

import ctypes
from functools import cache

from tritonx.conversion.tile_to_loops.libm import LIBM
from tritonx.runtime.devices.elf import mathematics_library


@cache
def addresses() -> dict[str, int]:
    """Of the functions that objects may refer to."""
    library, found = mathematics_library(), dict[str, int]()
    for symbol in LIBM:
        function = getattr(library, symbol, None)
        address = ctypes.cast(function, ctypes.c_void_p).value if function is not None else None
        if address:
            found[symbol] = address
    return found


def resolve_symbols(binary: bytes) -> dict[str, int]:
    """Addresses of the functions whose name occurs in an object."""
    return {name: address for name, address in addresses().items() if b"\0" + name.encode() + b"\0" in binary}
