"""In which registers threads have a tile of tensor memory, so that `tcgen05.ld` and `tcgen05.st` move it.

PTX ISA 9.0, section 9.7.16.8. An instruction is executed by a warp, which reaches 32 rows. Its *shape* says which rows
and columns the bits of a lane's number, and of a register's, add. What it leaves over are further registers, and warps
beyond four. Columns are counted in 32-bit words, which 8-bit and 16-bit elements may share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tritonx.dialects.nvidia.tensor_memory import COLUMN, ROW, WORD
from tritonx.experimental.gluon.layouts.base import GluonLayoutError
from tritonx.experimental.gluon.layouts.distributed import DistributedLinearLayout
from tritonx.layouts import LinearLayout
from tritonx.layouts.dims import BLOCK

Basis = tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """Rows (``r``) and columns (``c``) by the number of their bit: those of the lanes, and of the first registers."""

    lanes: str
    registers: str = ""


SHAPES = {
    "32x32b": Shape("r0 r1 r2 r3 r4"),
    "16x64b": Shape("r3 c0 r0 r1 r2"),
    "16x128b": Shape("c0 c1 r0 r1 r2", "r3"),
    "16x256b": Shape("c1 c2 r0 r1 r2", "c0 r3"),
}
HALVES = "16x32bx2"
SPLIT = "32x32b_splitn"
"""`32x32b` with the two halves of the columns in two registers of a thread, for `split`."""

VARIANTS = (*SHAPES, HALVES, SPLIT)


def register_layout(
    memory: LinearLayout, shape: Sequence[int], bits: int, warps: int, variant: str
) -> DistributedLinearLayout:
    """The layout in registers of a tile of ``shape`` and of elements of ``bits`` bits that lies by ``memory`` (row,
    column, block → index). Raises GluonLayoutError for a variant that cannot move the tile, and for a number of warps
    that is none of 4, 8, 16, …."""
    if variant not in VARIANTS:
        raise GluonLayoutError(f"unknown instr_variant: {variant}; there are {', '.join(VARIANTS)}")
    if variant == HALVES:
        raise GluonLayoutError(f"{HALVES} cannot be asked for: 32x32b stands for it where a tile has 64 rows")
    if warps < 4 or warps & (warps - 1):
        raise GluonLayoutError(f"num_warps must be a power of two and at least 4, got {warps}")
    rows = memory.bases(ROW)
    in_word, words = _words(memory.bases(COLUMN), bits)
    wanted = SHAPES["32x32b" if variant == SPLIT else variant]
    named = {f"c{bit}": basis for bit, basis in enumerate(words)} | {f"r{bit}": rows[bit] for bit in range(5)}
    taken = [*wanted.lanes.split(), *wanted.registers.split()]
    if any(not any(named.get(name, ())) for name in taken if name != "r4"):
        raise GluonLayoutError(f"'{variant}' does not move a tile of {[*shape]} by {warps} warps")
    lanes = [named[name] for name in wanted.lanes.split()]
    left = [basis for name, basis in named.items() if name not in taken and name != "r4"]
    more, outer, nowhere = warps.bit_length() - 3, list[Basis](), (0,) * len(shape)
    if "r4" not in taken and any(rows[4]):  # the other half of a warp's rows: of the next warps, if there are more
        (outer if more else left).append(rows[4])
    kept = max(len(left) - more + len(outer), 0)
    outer += left[kept:]
    outer += [nowhere] * (more - len(outer))
    if lanes[-1] == nowhere and kept:
        kept -= 1
        lanes[-1] = left[kept]
    registers = [*(named[name] for name in wanted.registers.split()), *left[:kept]]
    groups = [*in_word, *registers], lanes, [*rows[5:7], *outer], memory.bases(BLOCK)
    register, lane, warp, block = ([[*basis] for basis in bases] for bases in groups)
    if variant == SPLIT:
        _split(register, lane, warp, shape, bits)
    return DistributedLinearLayout(register, lane, warp, block, [*shape])


def _words(columns: Sequence[Basis], bits: int) -> tuple[Sequence[Basis], Sequence[Basis]]:
    """The columns of the elements that a register holds beside one another, and the columns of words."""
    together = 0
    while bits << together < WORD and columns[together : together + 1] == ((0, 1 << together),):
        together += 1
    held, rest, wide = columns[:together], columns[together:], bits << together
    if wide == WORD // 2 and rest[:2] == ((0, 0), (0, 1 << together)):  # two halves of columns, which are packed
        return (*held, rest[1]), rest[2:]
    alone = (WORD // wide).bit_length() - 1
    if any(map(any, rest[:alone])):
        raise GluonLayoutError(f"elements of {bits} bits neither fill the columns of tensor memory nor have one each")
    return held, rest[alone:]


def _split(
    register: list[list[int]], lane: list[list[int]], warp: list[list[int]], shape: Sequence[int], bits: int
) -> None:
    """Make the last register's bit that of the halves of the columns, by exchange with a lane or with a warp."""
    half = [0, shape[1] // 2]
    if not register:
        if lane[-1] != half:
            raise GluonLayoutError(f"'{SPLIT}' needs a register of each half of the columns")
        register.append(half)
        lane[-1] = [0, 0]
        return
    if register[-1] == half:
        return
    if 1 << len(register) <= WORD // bits:
        raise GluonLayoutError(f"'{SPLIT}' needs more than {WORD // bits} registers of {bits} bits: convert the layout")
    for bases, first in ((lane, 0), (warp, 2)):
        for number in range(first, len(bases)):
            if bases[number] == half:
                register[-1], bases[number] = half, register[-1]
                return
    raise GluonLayoutError(f"'{SPLIT}' finds the halves of the columns in no lane and no warp")
