"""The arrangement of operands that threads store from registers and a matrix unit reads: what is stored together lies
together in a thread's registers, and two accesses of 8 bytes are one instruction."""

from tritonx.layouts import linear_layout
from tritonx.layouts.access import placement, shared_access
from tritonx.layouts.encodings import AmdMfmaEncoding, BlockedEncoding, DotOperandEncoding
from tritonx.layouts.operand_memory import issued, operand_memory, put_in_place
from tritonx.layouts.swizzle import arrange, phase_directions

SHAPE = (128, 32)
UNIT = AmdMfmaEncoding(3, (2, 2), (32, 32, 8), True)
WRITTEN = linear_layout(BlockedEncoding((1, 8), (16, 4), (4, 1), (1, 0)), SHAPE)
READ = linear_layout(DotOperandEncoding(0, UNIT, 4), SHAPE)


def test_vectors_of_two_rows_are_stored_in_halves():
    """Of 8 neighbours along K the unit reads 4: 16 bytes would be those of two rows, which no load brings together."""
    memory = operand_memory(WRITTEN, READ, 16)
    store, load = (shared_access(placement(layout, memory), 16) for layout in (WRITTEN, READ))
    assert put_in_place(memory, WRITTEN, READ, 16) == 0
    assert (store.vec, len(store.accesses), load.vec, len(load.accesses)) == (4, 4, 4, 8)
    assert issued(store, 16) == 2 + 4 * store.wavefronts
    assert issued(load, 16) == 4 + 8 * load.wavefronts, "as many instructions as of 16 bytes"


def test_words_of_two_loads_are_put_side_by_side():
    """Of 4 words, two of each of two rows, two move."""
    vector = tuple(WRITTEN.apply(register=r, lane=0, warp=0) for r in (1, 2, 8))
    assert vector == ((0, 1), (0, 2), (64, 0))
    rows = tuple(WRITTEN.apply_packed({"register": r}) for r in (1, 2, 8))
    phases = [phase_directions(layout, 128) for layout in (WRITTEN, READ)]
    memory = arrange(WRITTEN, READ, 16, rows, *phases)
    assert shared_access(placement(WRITTEN, memory), 16).vec == 8
    assert put_in_place(memory, WRITTEN, READ, 16) == 2 * 2
