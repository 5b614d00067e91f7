"""LLVM text that reads a Python float into a kernel parameter's cell, for the builtins that launch kernels.

The object is ``%o<i>``, the cell's address ``%c<i>``; other names that start with ``%f`` and end in ``<i>`` are
taken. Values are rounded to nearest even, as ``struct.pack`` does it. LLVM's own truncation of a double to 16 bits is
a call of a function that the process may not have. An object that is no number leaves CPython's exception set.
"""

from __future__ import annotations

DECLARATIONS = """declare double @PyFloat_AsDouble(ptr)
declare i32 @PyFloat_Pack2(double, ptr, i32)"""


def read_float(i: int, type_: str) -> list[str]:
    """Argument ``i``, of type fp16, bf16, fp32 or fp64."""
    lines = [f"  %fd{i} = call double @PyFloat_AsDouble(ptr %o{i})"]
    if type_ == "fp64":
        return [*lines, f"  store double %fd{i}, ptr %c{i}, align 8"]
    if type_ == "fp16":
        return [*lines, f"  %fp{i} = call i32 @PyFloat_Pack2(double %fd{i}, ptr %c{i}, i32 1)"]
    lines.append(f"  %fs{i} = fptrunc double %fd{i} to float")
    if type_ == "fp32":
        return [*lines, f"  store float %fs{i}, ptr %c{i}, align 8"]
    return [
        *lines,
        f"  %fw{i} = bitcast float %fs{i} to i32",
        f"  %fh{i} = lshr i32 %fw{i}, 16",
        f"  %fo{i} = and i32 %fh{i}, 1",
        f"  %fa{i} = add i32 %fo{i}, 32767",
        f"  %fu{i} = add i32 %fw{i}, %fa{i}",
        f"  %fr{i} = lshr i32 %fu{i}, 16",
        f"  %fq{i} = or i32 %fh{i}, 64",
        f"  %fn{i} = fcmp uno float %fs{i}, %fs{i}",
        f"  %fb{i} = select i1 %fn{i}, i32 %fq{i}, i32 %fr{i}",
        f"  %ft{i} = trunc i32 %fb{i} to i16",
        f"  store i16 %ft{i}, ptr %c{i}, align 8",
    ]
