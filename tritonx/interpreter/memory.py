"""The memory a kernel may touch: the arrays that it was given, at their own addresses, every access checked.

Pointers inside the interpreter are the real addresses of host memory, as int64, so that pointer arithmetic, pointers
to pointers and comparisons mean what they mean on a device. Nothing is copied: a load reads the caller's array. An
access is checked lane by lane before any memory is touched, without a Python loop:

* the address must lie in one registered range, whole elements only (`OutOfBoundsAccess` names the nearest array, the
  lane and the distance from it);
* it must be a multiple of the element's size (`MisalignedAccess`);
* a byte of a range that was registered as uninitialised must have been written before (`UninitialisedRead`);
* a range that is not writeable takes no stores (`ReadOnlyWrite`).

Lanes that are masked off take no part in any of it. A range keeps its array alive.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tritonx.interpreter.errors import MisalignedAccess, OutOfBoundsAccess, ReadOnlyWrite, UninitialisedRead


def byte_bounds(array: np.ndarray) -> tuple[int, int]:
    """Addresses of the first byte of `array` and of the one after its last; strides may be negative or zero."""
    low = high = array.__array_interface__["data"][0]
    if array.size == 0:
        return low, low
    for extent, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            low += stride * (extent - 1)
        else:
            high += stride * (extent - 1)
    return low, high + array.itemsize


@dataclass(eq=False)
class Range:
    """`size` bytes at `base` that belong to the argument `name`."""

    base: int
    size: int
    name: str
    writeable: bool
    keeper: object
    written: np.ndarray | None = None
    """One flag a byte, for a range registered as uninitialised."""
    views: dict[np.dtype, tuple[int, np.ndarray]] = field(default_factory=dict[np.dtype, tuple[int, np.ndarray]])

    @property
    def end(self) -> int:
        return self.base + self.size

    def elements(self, dtype: np.dtype) -> tuple[int, np.ndarray]:
        """The memory as elements of `dtype`, and the address of the first: the first multiple of the size in the
        range."""
        known = self.views.get(dtype)
        if known is None:
            start = self.base + -self.base % dtype.itemsize
            count = max(self.end - start, 0) // dtype.itemsize
            raw: Any = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(start)
            known = self.views[dtype] = (start, np.frombuffer(raw, dtype=np.uint8).view(dtype))
        return known


@dataclass(frozen=True)
class Lanes:
    """Which lanes of a tile of `shape` an access is about (`active`, flat; None stands for all), to name one in an
    error."""

    shape: tuple[int, ...] = ()
    active: np.ndarray | None = None

    def name(self, index: int) -> str:
        """The lane that is the `index`-th of the access."""
        if self.active is not None:
            index = int(np.flatnonzero(self.active)[index])
        if not self.shape:
            return "the program"
        if len(self.shape) == 1:
            return f"lane {index}"
        return f"lane {tuple(int(i) for i in np.unravel_index(index, self.shape))}"


_ALL = Lanes((0,))


class Memory:
    """The registered ranges, ordered by address.

    >>> memory = Memory()
    >>> x = np.arange(4.0)
    >>> memory.register(x, "x") == x.ctypes.data
    True
    """

    def __init__(self) -> None:
        self._ranges: list[Range] = []
        self._bases: list[int] = []
        self._last: Range | None = None

    def register(
        self, array: np.ndarray, name: str, *, initialised: bool = True, written: np.ndarray | None = None
    ) -> int:
        """Let the kernel use the memory of `array`, whatever its strides; returns the address of its element 0.
        `written`: see `register_range`.

        Where ranges overlap (two views of one array) they are merged under the first one's name.
        """
        low, high = byte_bounds(array)
        address: int = array.__array_interface__["data"][0]
        self.register_range(
            low,
            high - low,
            name,
            keeper=array,
            writeable=array.flags.writeable,
            initialised=initialised,
            written=written,
        )
        return address

    def register_range(
        self,
        base: int,
        size: int,
        name: str,
        *,
        keeper: object = None,
        writeable: bool = True,
        initialised: bool = True,
        written: np.ndarray | None = None,
    ) -> None:
        """Let the kernel use `size` bytes at `base`; `keeper` is kept alive as long as this memory.

        `written` has a flag for each byte that says whether it holds something; stores set it.
        """
        if size <= 0:
            return
        if written is None and not initialised:
            written = np.zeros(size, dtype=np.bool_)
        new = Range(base, size, name, writeable, keeper, written)
        overlapping = [r for r in self._ranges if r.base < new.end and new.base < r.end]
        if overlapping:
            new = _merge([*overlapping, new])
        self._ranges = sorted([*(r for r in self._ranges if r not in overlapping), new], key=lambda r: r.base)
        self._bases = [r.base for r in self._ranges]
        self._last = None

    def holds(self, low: int, high: int) -> bool:
        """Whether one array that the kernel may use has the bytes at these addresses, and those between them."""
        found = self._range_of(low)
        return found is not None and high < found.end

    def load(self, addresses: np.ndarray, dtype: np.dtype, lanes: Lanes = _ALL) -> np.ndarray:
        """The elements at `addresses` (a flat int64 array, no masked lanes in it)."""
        if addresses.size == 0:
            return np.empty(0, dtype)
        found = self._find(addresses, dtype, "reads", lanes)
        if found is None:
            return self._scattered(addresses, dtype, None)
        where, indices = found
        if where.written is not None:
            self._check_written(where, addresses, dtype, lanes)
        return where.elements(dtype)[1][indices]

    def store(self, addresses: np.ndarray, values: np.ndarray, lanes: Lanes = _ALL) -> None:
        """Write `values` (flat, as many as addresses) there; where an address occurs twice, the later lane wins."""
        if addresses.size == 0:
            return
        found = self._find(addresses, values.dtype, "writes", lanes)
        if found is None:
            self._scattered(addresses, values.dtype, values)
            return
        where, indices = found
        if not where.writeable:
            raise ReadOnlyWrite(f"the kernel writes to {where.name}, which is read-only")
        where.elements(values.dtype)[1][indices] = values
        if where.written is not None:
            offsets = addresses - where.base
            for byte in range(values.dtype.itemsize):
                where.written[offsets + byte] = True

    def _find(
        self, addresses: np.ndarray, dtype: np.dtype, action: str, lanes: Lanes
    ) -> tuple[Range, np.ndarray] | None:
        """The range that holds all the elements and their indices in it; None where they lie in several ranges."""
        low, high = int(addresses.min()), int(addresses.max())
        where = self._last
        if where is None or low < where.base or high + dtype.itemsize > where.end:
            where = self._range_of(low)
            if where is None or high + dtype.itemsize > where.end:
                self._check_bounds(addresses, dtype, action, lanes)
                return None
            self._last = where
        start, _ = where.elements(dtype)
        offsets = addresses - start
        size = dtype.itemsize
        if size > 1:
            indices, remainders = offsets // size, offsets % size
            if remainders.any():
                lane = int(np.flatnonzero(remainders)[0])
                raise MisalignedAccess(
                    f"{lanes.name(lane)} {action} {size} bytes at address {int(addresses[lane]):#x} in {where.name}, "
                    f"which is not a multiple of {size}"
                )
            return where, indices
        return where, offsets

    def _range_of(self, address: int) -> Range | None:
        index = bisect_right(self._bases, address) - 1
        if index >= 0 and address < self._ranges[index].end:
            return self._ranges[index]
        return None

    def _check_bounds(self, addresses: np.ndarray, dtype: np.dtype, action: str, lanes: Lanes) -> None:
        """Raise for the first lane that is in no range, if there is one."""
        bases = np.array(self._bases, dtype=np.int64)
        ends = np.array([r.end for r in self._ranges], dtype=np.int64)
        if bases.size:
            index = np.searchsorted(bases, addresses, side="right") - 1
            inside = (index >= 0) & (addresses + dtype.itemsize <= ends[np.maximum(index, 0)])
        else:
            inside = np.zeros(addresses.shape, dtype=np.bool_)
        if inside.all():
            return
        lane = int(np.flatnonzero(~inside)[0])
        count = int(np.count_nonzero(~inside))
        raise self.out_of_bounds(lanes.name(lane), count, action, int(addresses[lane]), dtype.itemsize, dtype.name)

    def out_of_bounds(
        self, lane: str, count: int, action: str, address: int, size: int, element: str
    ) -> OutOfBoundsAccess:
        """The fault of ``count`` lanes outside, of which the first, ``lane``, ``action`` (reads, writes) an element of
        ``size`` bytes at ``address``."""
        others = "" if count == 1 else f" (and {count - 1} more)"
        return OutOfBoundsAccess(f"{lane}{others} {action} {self._describe(address, size, element)}")

    def bounds(self) -> list[tuple[int, int]]:
        """Of each range the address of its first byte, and of the one behind its last."""
        return [(r.base, r.end) for r in self._ranges]

    def _describe(self, address: int, size: int, element: str) -> str:
        text = f"{size} byte{'s' if size > 1 else ''} at address {address:#x}"
        if address == 0:
            return f"{text}: a null pointer"
        if not self._ranges:
            return f"{text}: the kernel was given no arrays"
        nearest = min(self._ranges, key=lambda r: max(r.base - address, address - r.end + 1, 0))
        length = f"{nearest.name} ({nearest.size} bytes, {nearest.size // size} elements of {element})"
        if address < nearest.base:
            return f"{text}, {nearest.base - address} bytes before {length}"
        index = (address - nearest.base) // size
        return f"{text}, element {index} of {length}"

    def _check_written(self, where: Range, addresses: np.ndarray, dtype: np.dtype, lanes: Lanes) -> None:
        assert where.written is not None
        offsets = addresses - where.base
        fine = where.written[offsets]
        for byte in range(1, dtype.itemsize):
            fine = fine & where.written[offsets + byte]
        if not fine.all():
            lane = int(np.flatnonzero(~fine)[0])
            element = int(offsets[lane]) // dtype.itemsize
            raise UninitialisedRead(
                f"{lanes.name(lane)} reads element {element} of {where.name}, which was never written"
            )

    def _scattered(self, addresses: np.ndarray, dtype: np.dtype, values: np.ndarray | None) -> np.ndarray:
        """Loads or stores (where `values` is given) of lanes that lie in several ranges, one range after the other."""
        result = np.zeros(addresses.shape, dtype)
        owner = np.searchsorted(np.array(self._bases, dtype=np.int64), addresses, side="right") - 1
        for index in np.unique(owner):
            lanes = owner == index
            if values is None:
                result[lanes] = self.load(addresses[lanes], dtype)
            else:
                self.store(addresses[lanes], values[lanes])
        return result


def _merge(ranges: list[Range]) -> Range:
    base, end = min(r.base for r in ranges), max(r.end for r in ranges)
    written: np.ndarray | None = None
    if any(r.written is not None for r in ranges):
        # A byte counts as written where any of the views says so; an initialised view covers all of its bytes.
        written = np.zeros(end - base, dtype=np.bool_)
        for r in ranges:
            written[r.base - base : r.end - base] |= True if r.written is None else r.written
    keepers = [r.keeper for r in ranges]
    return Range(base, end - base, ranges[0].name, any(r.writeable for r in ranges), keepers, written)
