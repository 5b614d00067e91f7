"""Why some variants are worse: the case's title (`fnmatch`), a rewriting, columns, the reason.

``original`` is the kernel as it stands in `kernels/`, ``*`` any rewriting or column. The first row that fits counts.
"""

from __future__ import annotations

REASONS: tuple[tuple[str, str, str, str], ...] = (
    ("*", "unknown_unit_strides", "load store copied bulk", "nothing says that elements of a row are neighbours"),
    ("*", "while_loops", "copied bulk", "loops by while have no schedule, in Triton neither"),
    ("*", "persistent", "bulk", "the copy engine need not see what the tile before stored"),
    ("*", "descriptors", "bulk", "a descriptor whose extents change in a loop is made of pointers"),
    ("*", "unknown_unit_strides", "loop shared spills", "a 64-bit offset for each element: kind J of issue 36"),
    ("int[48]_weights", "*", "shared", "a dequantised operand has slots beside the copies': issue 36, section 1"),
    ("*", "chosen_for_masks", "shared", "an operand that is selected has slots beside the copies': kind I"),
    ("*", "wide_ranges", "loop", "a shift by an i64 amount is one of 64 bits; LLVM narrows Triton's"),
    ("*", "wide_program_ids", "loop", "an i64 addition is two instructions"),
    ("*", "wide_ranges", "code", "offsets of 64 bits"),
    ("*", "one_axis_by_rows", "code", "a division by a size that is known at run time"),
    ("*", "one_axis_by_columns", "code", "a division by a size that is known at run time"),
    ("*", "one_axis_in_groups", "code", "three divisions by sizes that are known at run time"),
    ("*", "wide_strides", "code", "an i64 product is three multiplications"),
    ("*", "descriptors", "shared", "blocks of the copy engine pass through shared memory"),
    ("matmul_f32", "descriptors", "loop", "14 instructions more a round: not traced"),
    ("rotary", "descriptors", "code", "barriers of the copy engine are made, waited for and dropped"),
    ("matmul_two_axes", "descriptors", "loop", "15 instructions more a round: not traced"),
    ("quantise_rows", "*", "code loop", "a conversion to i8 is defined for NaN and for what is out of range"),
    ("running_sums", "*", "code loop", "a scan has fewer shuffles and more additions"),
    ("cross_entropy", "while_loops", "loop", "the loop is not unrolled to have more loads under way"),
)
