"""CUPTI's buffers of activity records, read by columns.

The package `cupti-python` makes an object of each record that is handed to Python, which takes longer than the launch
that the record is of. Here the library that the package has loaded gives the buffers themselves: one is put aside when
CUPTI is done with it, and read when its records are asked for."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

BUFFER_BYTES = 2 << 20
"""Of the records of about 6000 launches."""

SPARE = 8
"""Buffers that are kept to be used again."""

KERNEL, EXTERNAL, DRIVER, RUNTIME = 10, 39, 4, 5
"""The kinds of records that are read: concurrent kernels, external correlations, and calls of both APIs."""

_NAMES = ("libcupti.so.13", "libcupti.so.12", "libcupti.so")

_AT_END = 12
"""CUPTI_ERROR_MAX_LIMIT_REACHED."""

FEW = 16
"""Repetitions that are looked for before all are."""

Words = NDArray[np.uint64]
Places = NDArray[np.intp]

_Pointer = ctypes.c_void_p
_Size = ctypes.c_size_t
_Requested = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Pointer), ctypes.POINTER(_Size), ctypes.POINTER(_Size))
_Completed = ctypes.CFUNCTYPE(None, _Pointer, ctypes.c_uint32, _Pointer, _Size, _Size)


class Library(Protocol):
    """What is used of libcupti."""

    def cuptiActivityRegisterCallbacks(self, requested: object, completed: object, /) -> int: ...
    def cuptiActivityGetNextRecord(self, buffer: object, size: object, record: object, /) -> int: ...


class Cell(Protocol):
    """A pointer to what CUPTI is told."""

    def __setitem__(self, at: int, value: int, /) -> None: ...


@cache
def loaded() -> Library:
    """The libcupti that this process has. Raises OSError where it has none."""
    for name in _NAMES:
        try:
            return cast(Library, ctypes.CDLL(name, mode=os.RTLD_NOLOAD))
        except OSError:
            continue
    raise OSError(f"none of {', '.join(_NAMES)} is loaded")


KERNELS = np.dtype(
    [
        ("correlation", "u4"),
        ("device", "u4"),
        ("stream", "u4"),
        ("rounds", "u4"),
        ("start", "i8"),
        ("stop", "i8"),
        ("name", "u8"),
        ("node", "u8"),
        ("number", "u8"),
    ]
)
"""A kernel that is over. ``name`` is a key of `Records.names`, ``node`` is of the graph that has launched it, or 0. A
reader counts ``rounds`` and notes the ``number`` that was pushed when it was launched."""

PUSHED = np.dtype([("correlation", "u4"), ("number", "u8")])
"""A call in which a kernel may have been launched, and the number on top of its thread's stack."""

CALLS = np.dtype([("correlation", "u4"), ("start", "i8")])


@dataclass
class Records:
    kernels: NDArray[np.void]
    pushed: NDArray[np.void]
    calls: NDArray[np.void]
    names: dict[int, str]


class Buffers:
    """Nothing is raised into a launch: what cannot be read is reported."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.kind = 0
        self.report: Callable[[str], None] = lambda _: None
        self.callbacks = _Requested(self._requested), _Completed(self._completed)
        """What CUPTI calls, in any thread."""
        self._sizes: dict[int, int] = {}
        """Kind of a record → its size, in halves of words."""
        self._lent: dict[int, Words] = {}
        self._spare: list[Words] = []
        self._full: deque[tuple[Words, int]] = deque()
        """Those that CUPTI is done with, and the bytes of each that it has written."""

    def __len__(self) -> int:
        return len(self._full)

    def _requested(self, buffer: Cell, size: Cell, most: Cell) -> None:
        try:
            words = self._spare.pop()
        except IndexError:
            words = np.empty(BUFFER_BYTES // 8, np.uint64)
        self._lent[words.ctypes.data] = words
        buffer[0], size[0], most[0] = words.ctypes.data, BUFFER_BYTES, 0

    def _completed(self, context: object, stream: int, buffer: int, size: int, valid: int) -> None:
        words = self._lent.pop(buffer, None)
        if words is None and valid:  # another profiler's, which CUPTI had begun to fill: it stays that profiler's
            words = np.frombuffer(ctypes.string_at(buffer, valid), np.uint64).copy()
        if words is not None:
            self._full.append((words, valid))

    def take(self) -> Records:
        """Of the buffers that CUPTI is done with, in the order in which they came."""
        kernels: list[NDArray[np.void]] = []
        pushed: list[NDArray[np.void]] = []
        calls: list[NDArray[np.void]] = []
        names: dict[int, str] = {}
        for _ in range(len(self._full)):
            words, valid = self._full.popleft()
            at = self._walked(words, valid)
            kernels.append(_kernels(words, at[KERNEL]))
            pushed.append(_pushed(words, at[EXTERNAL], self.kind))
            calls += [_calls(words, at[kind]) for kind in (DRIVER, RUNTIME)]
            for name in np.unique(kernels[-1]["name"]).tolist():
                names[name] = (ctypes.string_at(name) if name else b"").decode(errors="replace")
            if len(self._spare) < SPARE and words.nbytes == BUFFER_BYTES:
                self._spare.append(words)
        return Records(joined(kernels, KERNELS), joined(pushed, PUSHED), joined(calls, CALLS), names)

    def _walked(self, words: Words, valid: int) -> dict[int, Places]:
        """Where the records of each kind are, in halves of words.

        Records have sizes by their kinds, so each says where the next one is. What a program does again and again is
        not walked: the records up to a kernel are compared with those that follow, all at once."""
        walked: dict[int, list[int]] = {kind: [] for kind in (KERNEL, EXTERNAL, DRIVER, RUNTIME)}
        again: list[tuple[list[int], int, int]] = []
        """Records, what one set of them takes, and how often it follows."""
        halves = words.view(np.int32)[: valid // 4]
        sizes, kinds = self._sizes, halves.data
        at, end, row, before, left = 0, len(halves), list[int](), (0, 0), 0
        while at < end:
            kind = kinds[at]
            size = sizes.get(kind) or self._size(words, valid, at, kind)
            if not size:
                break
            row.append(at)
            if kind in walked:
                walked[kind].append(at)
            at += size
            if kind == KERNEL:
                period = at - row[0]
                left -= 1
                if left < 0 and before == (period, len(row)):
                    count = _repeated(halves, row, period)
                    left = 0 if count >= FEW else 4 * FEW
                    again.append((row, period, count))
                    at += period * count
                before, row = (period, len(row)), []
        return {
            kind: np.concatenate(
                [np.array(each, np.intp), *(_places(row, halves[row] == kind, period, n) for row, period, n in again)]
            )
            for kind, each in walked.items()
        }

    def _size(self, words: Words, valid: int, at: int, kind: int) -> int:
        """Of a record, as CUPTI knows it, in halves of words; 0 if it does not."""
        base = words.ctypes.data
        record = _Pointer(base + 4 * at)
        code = self._library.cuptiActivityGetNextRecord(_Pointer(base), _Size(valid), ctypes.byref(record))
        if code not in (0, _AT_END):
            self.report(f"records of CUPTI were dropped: one of kind {kind} cannot be read ({code})")
            return 0
        after = valid if code else (record.value or 0) - base
        self._sizes[kind] = after // 4 - at
        return self._sizes[kind]


def _repeated(halves: NDArray[np.int32], row: list[int], period: int) -> int:
    """How often records of the same kinds follow those of ``row``, which are ``period`` halves of words."""
    start, offsets = row[0] + period, np.array(row) - row[0]
    kinds, count = halves[row], 0
    for most in (FEW, len(halves)):
        rows = min(most, (len(halves) - start) // period)
        same = (halves[start : start + rows * period].reshape(rows, period)[:, offsets] == kinds).all(axis=1)
        count = rows if same.all() else int(same.argmin())
        if count < FEW:
            break
    return count


def _places(row: list[int], chosen: NDArray[np.bool_], period: int, count: int) -> Places:
    """Of the chosen records in all repetitions of a row."""
    return (np.arange(1, count + 1)[:, None] * period + np.array(row)[chosen]).ravel()


def joined(parts: Sequence[NDArray[np.void]], dtype: np.dtype[np.void]) -> NDArray[np.void]:
    parts = [part for part in parts if len(part)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0, dtype)


def _kernels(words: Words, at: Places) -> NDArray[np.void]:
    """By the offsets of ``CUpti_ActivityKernel``, which are the same in its versions 5 to 10."""
    found = np.zeros(len(at), KERNELS)
    halves, wholes = words.view(np.uint32), at // 2
    found["correlation"] = halves[at + 23]
    found["device"], found["stream"] = halves[at + 10], halves[at + 12]
    for field, offset in (("start", 2), ("stop", 3), ("name", 13), ("node", 18)):
        found[field] = words[wholes + offset]
    return found


def _pushed(words: Words, at: Places, kind: int) -> NDArray[np.void]:
    """By those of ``CUpti_ActivityExternalCorrelation``."""
    halves = words.view(np.uint32)
    at = at[halves[at + 1] == kind]
    found = np.empty(len(at), PUSHED)
    found["correlation"], found["number"] = halves[at + 4], words[at // 2 + 1]
    return found


def _calls(words: Words, at: Places) -> NDArray[np.void]:
    """By those of ``CUpti_ActivityAPI``."""
    found = np.empty(len(at), CALLS)
    found["correlation"], found["start"] = words.view(np.uint32)[at + 8], words[at // 2 + 1]
    return found


@cache
def _of(library: Library) -> Buffers:
    return Buffers(library)


def registered(library: Library, kind: int, report: Callable[[str], None]) -> Buffers:
    """The process's buffers, which CUPTI writes to from now on: it may do so after a timer is closed, so they stay.
    ``kind`` is that of the numbers that are read; ``report`` is told what cannot be. Raises OSError."""
    buffers = _of(library)
    buffers.kind, buffers.report = kind, report
    if code := library.cuptiActivityRegisterCallbacks(*buffers.callbacks):
        raise OSError(f"cuptiActivityRegisterCallbacks returns {code}")
    return buffers
