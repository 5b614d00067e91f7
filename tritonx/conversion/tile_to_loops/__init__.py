"""Tiles to loop nests: from a module of the tile dialect to LLVM text for a host.

The way of a kernel through this package:

* `lower.py` puts the op families' tables together, and the kernel's program between the entry points of `entry.py`;
* `plan.py` (its words in `groups.py`) decides, for each block, which tiles become memory and which loops are shared
  (read its essay first), with the ops' roles in `families.py`, the formulas of addresses in `index.py`, which accesses
  may share a loop in `accesses.py`, and what may be overwritten in `in_place.py`;
* `emitter.py` holds where every value is, and evaluates a tile at a position; `loops.py`, `reduce.py` and `control.py`
  write the loops, `branches.py` the rest of the control flow; `elementwise.py`, `memory.py`, `shape.py`, `scan.py`,
  `dot.py`, `atomic.py`, `debug.py`, `external.py` write what the loops contain, one op family each;
  `vector_functions.py` puts those of `conversion/mathlib` into the module;
* `prefixes.py`, with the polynomials of `exact.py`, finds up to where the masks of a loop are all true, for which it is
  written without them, and `streaming.py` which of its stores go past the caches; `demand.py` finds what part of a
  padded product is needed;
* `writer.py` adds loops to `conversion/llvm_writer`, `types.py` is the representation of element types, `numbers.py`
  what `conversion/scalar` must know of it, `isa.py` what is known of the host.

Importing the package imports none of this: the driver needs `entry.py` alone.
"""
