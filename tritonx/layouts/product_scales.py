"""Where the scales of a product lie for V_MFMA_SCALE (CDNA 4 ISA, "Matrix Arithmetic Instructions").

An instruction multiplies 64 or 128 elements of K, two or four blocks of 32 that have a scale each, in tiles of 32 by 32
or 16 by 16. A lane supplies one scale of each operand: of the row (column, for B) ``lane % side``, for the block
``lane // side``. That is not the block of its own elements where these have 8 bits: a lane has 16 bytes of a row, and
as many half of the instruction's K further on, which are halves of two blocks.
"""

from __future__ import annotations

from tritonx.layouts import linear_layout
from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.encodings import AmdMfmaEncoding, DotOperandEncoding, Ints, LinearEncoding

LANE_BYTES = 16
"""That a lane has as neighbours along K, at most: as many as one access of the LDS moves."""
GROUP = 32
"""Elements of K that share a scale."""


def scale_encoding(result: AmdMfmaEncoding, index: int, shape: Ints, depth: int) -> LinearEncoding:
    """The layout of the scales, [batch,] rows x blocks, of operand ``index`` (0 is A, 1 is B) of a product with a
    result of ``shape`` and ``depth`` elements of K. Lanes, warps and further registers have the rows that they have of
    the operand; blocks behind an instruction's are in registers, which come first."""
    batch, rows = shape[:-2], shape[-2 + index]
    operand = linear_layout(
        DotOperandEncoding(index, result, LANE_BYTES),
        (*batch, rows, depth) if index == 0 else (*batch, depth, rows),
    )
    place = len(batch) + index  # of the rows in the operand's coordinates

    def along_rows(basis: Ints) -> Ints:
        return (*basis[: len(batch)], basis[place], 0)

    side = result.instr_shape[0]
    at_once = 64 // side
    row_bits = side.bit_length() - 1

    def block(number: int) -> Ints:
        return (*(0 for _ in batch), 0, number)

    blocks = [1 << bit for bit in range((depth // GROUP).bit_length() - 1)]
    further = [along_rows(basis) for basis in operand.bases(REGISTER)]
    return LinearEncoding(
        register=(*(block(n) for n in blocks if n >= at_once), *(basis for basis in further if any(basis))),
        lane=(
            *(along_rows(basis) for basis in operand.bases(LANE)[:row_bits]),
            *(block(n) if n in blocks else block(0) for n in (1 << bit for bit in range(at_once.bit_length() - 1))),
        ),
        warp=tuple(along_rows(basis) for basis in operand.bases(WARP)),
        block=tuple(along_rows(basis) for basis in operand.bases(BLOCK)),
    )
