"""Functions of f64 in LLVM IR for targets without a library of their own: one internal function of a module for each.

Arithmetic is double-double where a digit would be lost (`pairs`), there is no table in memory and nothing of a target,
so that every one computes the same bits. f32 functions that have no code of their own are these, rounded."""
