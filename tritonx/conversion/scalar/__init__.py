"""What a scalar op means in LLVM's instructions, once for hosts and GPUs.

LLVM leaves undefined, or to the target, what the language defines: a quotient by zero, a shift by the width, the order
of zeros, the roundings of narrow floats. Here each op of `arith`, `math` and `tt` that works on elements is written as
instructions that give what `interpreter/meanings` gives. A rule gets its operands' names at one width, scalars or
vectors alike, and an `Ops` to write through:

    ops.py          Ops, and Target: how a path holds numbers and what its instructions do by themselves
    integers.py     division, shifts, comparisons, products
    floats.py       arithmetic, extrema, clamp, fma
    conversions.py  between float formats, and between floats and integers
    literals.py     constants
    table.py        op class → rule

Which elements are written, when, and in what registers is the affair of the two schedulers, `tile_to_loops` (chunks of
a loop) and `gpu_to_llvm` (a thread's share of a tile). A backend overrides a rule where an instruction of its own does
the same.
"""
