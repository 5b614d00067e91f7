"""Shared memory ends where the kernel said it would.

An address beyond it is other memory of the process where a CPU runs the block, which a read may find as it was left: a
wrong address that is wrong for the store and the load alike would go unnoticed. So an access that is not inside goes to
a place of its own instead, one for all, and what comes back from there is another thread's or element's."""

from __future__ import annotations

import re

from tritonx.conversion.data_layout import layout_of, pointer_bits
from tritonx.conversion.legalize.operands import bytes_of, vector_of

SYMBOL = "@shared_memory"
SINK = "@outside_of_shared_memory"
SINK_BYTES = 256
"""As many as the widest access has: 16 elements of 8 bytes, twice."""

_SIZE = re.compile(rf"{SYMBOL} = .* global \[(\d+) x i8\]")
_ACCESSES = (
    r"load (?:volatile )?(<[^>]+>|ptr addrspace\(\d+\)|\w+), ptr addrspace\({}\) ",
    r"store (?:volatile )?(<[^>]+>|ptr addrspace\(\d+\)|\w+) .*, ptr addrspace\({}\) ",
    r"atomicrmw (?:volatile )?\w+ ptr addrspace\({}\) [^,]*, (\w+) ",
)


def guarded(text: str, space: int) -> str:
    """The module with every access to shared memory, address space ``space``, looked at first. ``text`` has an
    instruction a line."""
    pointer_type, accesses = f"ptr addrspace({space})", [re.compile(one.format(space)) for one in _ACCESSES]
    found = _SIZE.search(text)
    if found is None:
        return text
    layout = layout_of(text)
    word = f"i{pointer_bits(layout, space)}"
    size, out, count = int(found[1]), list[str](), 0
    for line in text.splitlines():
        type_ = next((m[1] for pattern in accesses if (m := pattern.search(line))), None)
        if type_ is None:
            out.append(line)
            continue
        count += 1
        before, pointer, after = _around_the_pointer(line, pointer_type)
        name = f"%outside{count}"
        out += [
            f"  {name}.at = ptrtoint {pointer_type} {pointer} to {word}",
            f"  {name}.by = sub {word} {name}.at, ptrtoint ({pointer_type} {SYMBOL} to {word})",
            f"  {name}.no = icmp ule {word} {name}.by, {size - _bytes(type_, layout)}",
            f"  {name} = select i1 {name}.no, {pointer_type} {pointer}, {pointer_type} {SINK}",
            f"{before}{pointer_type} {name}{after}",
        ]
    sink = f"{SINK} = internal addrspace({space}) global [{SINK_BYTES} x i8] undef, align 16"
    return "\n".join(out).replace(found[0], f"{sink}\n{found[0]}", 1) + "\n"


def _around_the_pointer(line: str, pointer_type: str) -> tuple[str, str, str]:
    """The text before the operand in shared memory, its value, and what follows."""
    start = (
        line.rindex(f"{pointer_type} ") if "getelementptr" not in line else line.index(f"{pointer_type} getelementptr")
    )
    at = start + len(pointer_type) + 1
    depth = 0
    for end in range(at, len(line)):
        depth += (line[end] == "(") - (line[end] == ")")
        if line[end] == "," and depth == 0:
            return line[:start], line[at:end], line[end:]
    return line[:start], line[at:], ""


def _bytes(type_: str, layout: str) -> int:
    shape = vector_of(type_)
    return bytes_of(type_, layout) if shape is None else shape[0] * bytes_of(shape[1], layout)
