"""How threads store a tile that is read transposed."""

from __future__ import annotations

import pytest

from tritonx.layouts import linear_layout
from tritonx.layouts.access import placement
from tritonx.layouts.convert import conversion_layout
from tritonx.layouts.dims import OFFSET
from tritonx.layouts.encodings import AmdMfmaEncoding, BlockedEncoding, DotOperandEncoding
from tritonx.layouts.transposed_access import TransposedAccess, read_accesses, stored_for_transposed_reads

SHAPE = (64, 128)


def operand(version: int, number: int, bits: int) -> DotOperandEncoding:
    unit = AmdMfmaEncoding(version, (4, 2), (32, 32, 16 if bits == 16 else 32), True)
    return DotOperandEncoding(number, unit, 128 // bits)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("share", [(1, 8), (1, 16), (2, 16), (2, 1)])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("version", [3, 4])
def test_stored(version: int, number: int, share: tuple[int, int], bits: int) -> None:
    """All is in memory once; what lies along K, or is for a processor without such reads, stays as it is."""
    lanes = (4, 16) if share[1] > 1 else (1, 64)
    source = linear_layout(BlockedEncoding(share, lanes, (8, 1), (1, 0)), SHAPE)
    encoding = operand(version, number, bits)
    target = linear_layout(encoding, SHAPE)
    own = conversion_layout(source, target, bits)
    memory = stored_for_transposed_reads(source, target, encoding, bits, own)
    assert memory.is_invertible and memory.in_size(OFFSET) == SHAPE[0] * SHAPE[1]
    read = read_accesses(placement(target, memory), bits, encoding)
    assert isinstance(read, TransposedAccess) == (version == 4 and number == 1 and share[1] > 1)
    assert version == 4 or memory == own
