"""Sharing of buffers: what is needed at one time keeps memory of its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tritonx.conversion.tile_to_loops.storage import share


def mention(buffer: int) -> str:
    return f"  store i32 0, ptr %b{buffer}, align 4"


def test_buffers_one_after_the_other_share_the_larger_size() -> None:
    storage = share([mention(0), mention(0), mention(1), mention(2)], [64, 128, 64], [])
    assert storage.sizes == [128]
    assert storage.lines == [mention(0)] * 4


def test_buffers_at_one_time_do_not_share() -> None:
    storage = share([mention(0), mention(1), mention(0)], [64, 64], [])
    assert storage.sizes == [64, 64]


def test_an_address_made_from_a_buffer_keeps_it() -> None:
    lines = ["  %v1 = getelementptr i8, ptr %b0, i64 8", mention(1), "  %v2 = load i8, ptr %v1, align 1"]
    assert share(lines, [64, 64], []).sizes == [64, 64]


def test_a_loop_keeps_what_it_reads_from_before() -> None:
    """The second iteration reads buffer 0 after the first has written buffer 1."""
    lines = [mention(0), "loop:", mention(0), mention(1), mention(1), "  br"]
    assert share(lines, [64, 64], []).sizes == [64]
    assert share(lines, [64, 64], [(1, 5)]).sizes == [64, 64]


def test_a_loop_keeps_what_it_leaves_behind() -> None:
    """Buffer 1 is written a bit in each iteration and read after the loop; buffer 0 is scratch of one iteration."""
    lines = ["loop:", mention(0), mention(0), mention(1), "  br", mention(1)]
    assert share(lines, [64, 64], [(0, 4)]).sizes == [64, 64]


def test_scratch_of_one_iteration_is_free_after_it() -> None:
    lines = ["loop:", mention(0), mention(0), mention(1), mention(1), "  br"]
    assert share(lines, [64, 64], [(0, 5)]).sizes == [64]


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[tuple[int, bool]], int]:
    """A straight line of (buffer, write?) in which every buffer is written before it is read."""
    count = draw(st.integers(1, 6))
    steps = [(b, False) for b in draw(st.lists(st.integers(0, count - 1), max_size=20))]
    written: set[int] = set()
    line: list[tuple[int, bool]] = []
    for buffer, _ in steps:
        line.append((buffer, buffer not in written))
        written.add(buffer)
    return line, count


@given(programs())
def test_every_read_finds_what_was_written(program: tuple[list[tuple[int, bool]], int]) -> None:
    steps, count = program
    storage = share([mention(b) for b, _ in steps], [64] * count, [])
    memory: dict[str, int] = {}
    for (buffer, write), line in zip(steps, storage.lines, strict=True):
        place = line.split("%b")[1].split(",")[0]
        if write:
            memory[place] = buffer
        assert memory[place] == buffer
