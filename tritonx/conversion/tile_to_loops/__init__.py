"""Tiles to loop nests: from a module of the tile dialect to LLVM text for a host."""

from tritonx.conversion.tile_to_loops.lower import Lowered, lower_module

__all__ = ["Lowered", "lower_module"]
