"""Every access is checked before memory is touched, and the message says which lane and how far off."""

from __future__ import annotations

import numpy as np
import pytest

from tritonx.interpreter.errors import MisalignedAccess, OutOfBoundsAccess, ReadOnlyWrite, UninitialisedRead
from tritonx.interpreter.memory import Lanes, Memory, byte_bounds

F32 = np.dtype(np.float32)


def test_reads_and_writes_the_array_itself() -> None:
    memory, array = Memory(), np.arange(8, dtype=np.float32)
    base = memory.register(array, "a")
    addresses = base + 4 * np.array([7, 0, 3])
    np.testing.assert_array_equal(memory.load(addresses, F32), [7, 0, 3])
    memory.store(addresses, np.array([1, 2, 3], np.float32))
    np.testing.assert_array_equal(array[[7, 0, 3]], [1, 2, 3])


def test_the_later_lane_wins() -> None:
    memory, array = Memory(), np.zeros(2, np.int32)
    base = memory.register(array, "a")
    memory.store(np.array([base, base, base]), np.array([1, 2, 3], np.int32))
    assert array[0] == 3


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        (40, r"lane 1 reads 4 bytes at .*, element 10 of a \(40 bytes, 10 elements of float32\)"),
        (-4, r"lane 1 reads .*, 4 bytes before a"),
    ],
)
def test_out_of_bounds(offset: int, text: str) -> None:
    memory, array = Memory(), np.zeros(10, np.float32)
    base = memory.register(array, "a")
    with pytest.raises(OutOfBoundsAccess, match=text):
        memory.load(np.array([base, base + offset]), F32)


def test_an_element_must_lie_inside_whole() -> None:
    memory, array = Memory(), np.zeros(6, np.uint8)
    base = memory.register(array, "a")
    with pytest.raises(OutOfBoundsAccess):
        memory.load(np.array([base + 4]), F32)


def test_lanes_are_named_in_the_tile() -> None:
    memory, array = Memory(), np.zeros(4, np.float32)
    base = memory.register(array, "a")
    lanes = Lanes((2, 2), np.array([True, False, False, True]))
    with pytest.raises(OutOfBoundsAccess, match=r"lane \(1, 1\) writes"):
        memory.store(np.array([base, base + 400]), np.zeros(2, np.float32), lanes)
    assert not array.any()


def test_null_pointer() -> None:
    with pytest.raises(OutOfBoundsAccess, match="a null pointer"):
        Memory().load(np.array([0]), F32)


def test_misaligned() -> None:
    memory, array = Memory(), np.zeros(4, np.float32)
    base = memory.register(array, "a")
    with pytest.raises(MisalignedAccess, match="not a multiple of 4"):
        memory.load(np.array([base + 2]), F32)


def test_uninitialised() -> None:
    memory, array = Memory(), np.empty(4, np.int32)
    base = memory.register(array, "out", initialised=False)
    memory.store(np.array([base + 4]), np.array([5], np.int32))
    assert memory.load(np.array([base + 4]), np.dtype(np.int32))[0] == 5
    with pytest.raises(UninitialisedRead, match="lane 1 reads element 2 of out, which was never written"):
        memory.load(np.array([base + 4, base + 8]), np.dtype(np.int32))


def test_read_only() -> None:
    memory, array = Memory(), np.zeros(4, np.int32)
    array.flags.writeable = False
    base = memory.register(array, "x")
    with pytest.raises(ReadOnlyWrite, match="x, which is read-only"):
        memory.store(np.array([base]), np.array([1], np.int32))


def test_lanes_in_several_arrays() -> None:
    memory, a, b = Memory(), np.arange(4, dtype=np.int32), np.arange(10, 14, dtype=np.int32)
    addresses = np.array([memory.register(a, "a"), memory.register(b, "b") + 4])
    np.testing.assert_array_equal(memory.load(addresses, np.dtype(np.int32)), [0, 11])
    memory.store(addresses, np.array([7, 8], np.int32))
    assert (a[0], b[1]) == (7, 8)


def test_views_of_one_array_are_one_range() -> None:
    memory, array = Memory(), np.arange(10, dtype=np.int32)
    memory.register(array[:6], "low")
    base = memory.register(array[4:], "high")
    np.testing.assert_array_equal(memory.load(np.array([base - 16, base + 20]), np.dtype(np.int32)), [0, 9])


@pytest.mark.parametrize("view", [np.s_[::2], np.s_[::-1], np.s_[1:, 1:], np.s_[:, ::-2], np.s_[:0]])
def test_bounds_of_strided_views(view: object) -> None:
    array = np.zeros((4, 6), np.int16)
    part = array[view]  # type: ignore[index]
    low, high = byte_bounds(part)
    start = array.__array_interface__["data"][0]
    marked = np.zeros(array.nbytes, bool)
    part[...] = 1
    touched = np.flatnonzero(array.reshape(-1).view(np.uint8).reshape(-1, 2).any(axis=1))
    if touched.size == 0:
        assert low == high
        return
    marked[low - start : high - start] = True
    assert (low - start, high - start) == (2 * touched[0], 2 * touched[-1] + 2)
