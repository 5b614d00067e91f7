"""Tiles to loop nests: from a module of the tile dialect to LLVM text for a host.

Loaded when it is used: a launch that finds its kernel in the cache reads ``entry`` and ``isa`` of this package only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.lower import Lowered, lower_module

__all__ = ["Lowered", "lower_module"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from tritonx.conversion.tile_to_loops import lower

        return getattr(lower, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
