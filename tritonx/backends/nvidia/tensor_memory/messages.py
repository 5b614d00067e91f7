"""Which `tcgen05.ld` and `tcgen05.st` move a tile between registers and tensor memory.

PTX ISA 9.0, section 9.7.16.8. One instruction is executed by a warp, which reaches the 32 rows of its number modulo
four, and moves a shape (`Shape`) repeated over columns. A shape says where the lanes' registers lie; the lanes of the
tile's layout must be just there, and its registers, in any order, must make up the shape, its repetition and the
remaining instructions.

Registers are words of 32 bits. Narrow elements fill a word where the layout has them in neighbouring columns. 16-bit
elements that have a 32-bit column each are packed two to a word by the instruction (`.pack::16b`, `.unpack::16b`);
others that are alone in their column take a word each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tritonx.dialects.nvidia.tensor_memory import COLUMN, ROW, WORD
from tritonx.layouts import LayoutError, LinearLayout
from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.index_math import all_xors

Basis = tuple[int, int]
"""What a bit adds to the row and to the column."""

MOST_REGISTERS = 256
"""Of a thread, where no limit is stated."""


@dataclass(frozen=True)
class Shape:
    """What one repetition of an instruction moves: where the bits of a lane's number, and of its registers', lie.
    ``free``: the fifth bit of a lane may lie anywhere, and the instruction says where."""

    name: str
    lanes: tuple[Basis, ...]
    registers: tuple[Basis, ...] = ()
    free: bool = False

    @property
    def columns(self) -> int:
        """Bits of the column that a repetition takes."""
        return sum(bool(column) for _, column in (*self.lanes, *self.registers))


_ROWS = (1, 0), (2, 0), (4, 0)
SHAPES = (
    Shape("32x32b", (*_ROWS, (8, 0), (16, 0))),
    Shape("16x256b", ((0, 2), (0, 4), *_ROWS), ((0, 1), (8, 0))),
    Shape("16x64b", ((8, 0), (0, 1), *_ROWS)),
    Shape("16x128b", ((0, 1), (0, 2), *_ROWS), ((8, 0),)),
    Shape("16x32bx2", (*_ROWS, (8, 0)), free=True),
)
"""In the order in which they are tried; a layout of lanes fits one of them."""

_WARPS = (32, 0), (64, 0)
"""The rows of the first four warps."""


@dataclass(frozen=True)
class Transfer:
    """The instructions for a tile.

    ``offsets``: for each instruction what it adds to the address (row in the upper 16 bits, column in the lower).
    ``words``: for each register of all instructions, in order, the tile's registers in it; ``spare``, by register of
    the tile, the register that holds the same element. ``warps``: what each bit of a warp's number adds to the
    address. ``second``: where the second half of the lanes lies. ``packs``: whether 16-bit elements are packed."""

    shape: str
    repeat: int
    offsets: tuple[int, ...]
    words: tuple[tuple[int, ...], ...]
    spare: tuple[int, ...]
    warps: tuple[int, ...]
    second: int | None = None
    packs: bool = False

    @property
    def registers(self) -> int:
        """Of one instruction."""
        return len(self.words) // len(self.offsets)


@dataclass(frozen=True)
class _Bits:
    """The bits of a tile's registers, lanes and warps in memory, and which bit of the register's number each first one
    is."""

    registers: tuple[Basis, ...]
    numbers: tuple[int, ...]
    lanes: tuple[Basis, ...]
    warps: tuple[Basis, ...]

    def scaled(self, by: int, numbers: Sequence[int], *, skip: int) -> _Bits | None:
        """Columns divided by ``by``, without the first ``skip`` registers; None where that does not divide them."""
        given = (*self.registers[skip:], *self.lanes, *self.warps)
        if any(column % by for _, column in given):
            return None
        a, b, c = (
            tuple((row, column // by) for row, column in bits)
            for bits in (self.registers[skip:], self.lanes, self.warps)
        )
        return _Bits(a, tuple(numbers), b, c)


@lru_cache(maxsize=512)
def transfer(tile: LinearLayout, memory: LinearLayout, bits: int, limit: int = MOST_REGISTERS) -> Transfer:
    """How a tile of that layout, of elements of ``bits`` bits, is moved from or to memory of that layout; ``limit``
    registers may be had by a thread. Raises LayoutError where no instruction does it."""
    if tile.bases(BLOCK) != memory.order_outs(tile.out_dims).bases(BLOCK) and tile.in_size(BLOCK) > 1:
        raise LayoutError("the blocks of a cluster have other parts of the tile than their tensor memory")
    inside = tile.sublayout((REGISTER, LANE, WARP), tile.out_dims)
    rows = memory.bases(ROW)
    if len(tile.bases(WARP)) < 2 or tile.bases(WARP)[:2] != rows[5:7]:
        raise LayoutError("tensor memory is accessed by groups of four warps, each of which has its 32 rows")
    places = inside.invert_and_compose(memory.sublayout((ROW, COLUMN), memory.out_dims)).order_outs((ROW, COLUMN))
    found = {dim: tuple((r, c) for r, c in places.bases(dim)) for dim in (REGISTER, LANE, WARP)}
    distinct = tuple(bit for bit, basis in enumerate(found[REGISTER]) if basis != (0, 0))
    spare = all_xors([(1 << bit) if bit in distinct else 0 for bit in range(len(found[REGISTER]))])
    own = _Bits(tuple(found[REGISTER][bit] for bit in distinct), distinct, found[LANE], (*_WARPS, *found[WARP][2:]))
    words, in_word, packs = _words(own, bits)
    made = _of_words(words, limit, packs=packs)
    if made is None:
        raise LayoutError("no access to tensor memory has its lanes as the layout of the tile has them")
    return replace(made, words=_with(made.words, in_word), spare=tuple(spare))


def _with(words: tuple[tuple[int, ...], ...], in_word: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Each word's first register, with the others of the word."""
    return tuple(tuple(first ^ other for other in in_word) for (first,) in words)


def _words(own: _Bits, bits: int) -> tuple[_Bits, Sequence[int], bool]:
    """The layout of 32-bit words, the registers of a word, and whether the instruction packs them."""
    per = WORD // bits
    if per == 1:
        return own, (0,), False
    together = 0
    while 1 << together < per and own.registers[together : together + 1] == ((0, 1 << together),):
        together += 1
    in_word = all_xors([1 << bit for bit in own.numbers[:together]])
    if 1 << together == per and (whole := own.scaled(per, own.numbers[together:], skip=together)):
        return whole, in_word, False
    if bits << together == 16 and own.registers[together : together + 1] == ((0, per),):
        both = all_xors([1 << bit for bit in own.numbers[: together + 1]])
        apart = own.scaled(per, own.numbers[together + 1 :], skip=together + 1)
        if apart is not None and all(column % 2 == 0 for _, column in (*apart.registers, *apart.lanes, *apart.warps)):
            return apart, both, True
    alone = own.scaled(per, own.numbers, skip=0)
    if together == 0 and alone is not None:
        return alone, (0,), False
    raise LayoutError(f"elements of {bits} bits neither fill the columns of tensor memory nor have one each")


def _of_words(words: _Bits, limit: int, *, packs: bool) -> Transfer | None:
    return next((made for shape in SHAPES if (made := _by(shape, words, limit, packs=packs)) is not None), None)


def _by(shape: Shape, words: _Bits, limit: int, *, packs: bool) -> Transfer | None:
    """The instructions of that shape; None where lanes or registers differ. Half of the registers that there
    may be are moved at a time, and a quarter where that is not all and nothing limits them: ptxas's scheduling suffers
    from more (as Triton has it)."""
    step = 1 if packs else 0
    wide = tuple((row, column << step) for row, column in shape.lanes)
    lanes = len(wide)
    if words.lanes[:lanes] != wide or words.warps[:2] != _WARPS:
        return None
    count = 1 << len(words.registers)
    most = limit // 2
    if limit == MOST_REGISTERS and count > most:
        most //= 2
    chosen: list[int] = []
    for basis in ((row, column << step) for row, column in shape.registers):
        if basis not in words.registers:
            return None
        chosen.append(words.registers.index(basis))
    best: list[int] | None = None
    column, taken = 1 << shape.columns + step, chosen
    while 1 << len(taken) <= most:
        if _apart(words, lanes, taken):
            best = list(taken)
        elif best is not None:
            break
        if (0, column) not in words.registers:
            break
        taken = [*taken, words.registers.index((0, column))]
        column *= 2
    if best is None:
        return None
    rest = [bit for bit in range(len(words.registers)) if bit not in best]
    offsets = all_xors([_address(words.registers[bit]) for bit in rest])
    firsts = all_xors([1 << words.numbers[bit] for bit in rest])
    inside = all_xors([1 << words.numbers[bit] for bit in best])
    return Transfer(
        shape.name,
        (1 << len(best)) >> len(chosen),
        tuple(offsets),
        tuple((first ^ other,) for first in firsts for other in inside),
        (),
        (0, 0, *map(_address, words.warps[2:])),
        _address(words.lanes[lanes]) if shape.free else None,
        packs,
    )


def _apart(words: _Bits, lanes: int, taken: Sequence[int]) -> bool:
    """Whether what the instruction moves, and what the rest adds to its address, have no bit in common."""
    own = [words.registers[bit] for bit in taken] + [*words.lanes[:lanes], *words.warps[:2]]
    rest = [basis for bit, basis in enumerate(words.registers) if bit not in taken]
    rest += [*words.lanes[lanes:], *words.warps[2:]]
    rows = columns = 0
    for row, column in own:
        rows |= row
        columns |= column
    return not any(row & rows or column & columns for row, column in rest)


def _address(basis: Basis) -> int:
    return basis[0] << 16 | basis[1]
