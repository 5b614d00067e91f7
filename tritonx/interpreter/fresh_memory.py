"""Which bytes of a NumPy array were not written since `np.empty` made it.

NumPy lets a program bring its own allocator (NEP 49). The one here takes memory from NumPy's and fills what is not
asked to be zero with a random word of eight bytes, a new one in each process. Where an array still holds the word,
neither NumPy nor a kernel has written there: `written` tells by a look at the memory, when a launch is given
the array.

It costs a fill of each new array, so it is on only where every kernel is interpreted, from the first `@jit` on, and off
while kernels run. What it cannot know counts as written:

* arrays made before, or in other threads (NumPy keeps an allocator for each context), or larger than `LARGEST`, and
  those of other libraries;
* elements that share an aligned word of eight bytes with one that was written before the launch, and the last three
  bytes or fewer of an array whose size is no multiple of eight.

Memory that is copied while it holds the word (`np.empty(8).copy()`) still counts as never written.
"""

# NumPy's C interface is reached with ctypes, whose types say little.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import ctypes
import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, cast

import numpy as np

from tritonx.interpreter.memory import byte_bounds

_numpy: Any = import_module("numpy._core._multiarray_umath")  # there is no other way to its table of C functions

NAME = b"tritonx_interpreter"
LARGEST = 1 << 28
"""Bytes of the largest array that is filled: an array that is never used in full should not take all its memory."""

_WORD = 8
_SHORTEST_TAIL = 4
_BLOCK = 1 << 16
_SET_HANDLER, _DEFAULT_HANDLER = 304, 306  # in NumPy's table of C functions, whose places are fixed

_Malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Handler(ctypes.Structure):
    """`PyDataMem_Handler` of NumPy's C API, version 1."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("ctx", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]


class _Allocator:
    """The allocator, made once and never freed: arrays outlive everything of Python."""

    def __init__(self) -> None:
        capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype = ctypes.py_object
        new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        table = ctypes.cast(capsule_pointer(_numpy._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
        set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
        self.use = set_handler(cast(int, table[_SET_HANDLER]))
        self.numpys: Any = ctypes.py_object.from_address(cast(int, table[_DEFAULT_HANDLER])).value
        own = _Handler.from_buffer_copy(_Handler.from_address(cast(int, capsule_pointer(self.numpys, b"mem_handler"))))
        self.word = secrets.token_bytes(_WORD)
        filled = _filling(ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(own.malloc), self.word)
        callback = _Malloc(filled)
        own.name, own.malloc = NAME, ctypes.cast(callback, ctypes.c_void_p).value
        self.capsule: Any = new_capsule(ctypes.addressof(own), b"mem_handler", None)
        for kept in (own, callback, self.capsule):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def _filling(malloc: Any, word: bytes) -> Any:
    """`malloc` with what it gives filled with `word`. All that it uses is bound here: it may run while Python ends."""
    pattern = ctypes.create_string_buffer(word * (_BLOCK // _WORD), _BLOCK)
    source, move = ctypes.addressof(pattern), ctypes.memmove

    def filled(context: int, size: int, _keep: Any = pattern) -> int:
        address = malloc(context, size)
        if not address or size > LARGEST:
            return address or 0
        done = min(size, _BLOCK)
        move(address, source, done)
        while done < size:
            more = min(done, size - done)
            move(address + done, address, more)
            done += more
        return address

    return filled


@cache
def _allocator() -> _Allocator:
    return _Allocator()


def watch() -> None:
    """From now on NumPy's arrays of this context are filled. Does nothing where Python is not CPython."""
    if sys.implementation.name != "cpython":
        return
    allocator = _allocator()
    allocator.use(allocator.capsule)


@contextmanager
def watched() -> Generator[None]:
    """What is made inside is filled, as by `watch`."""
    if sys.implementation.name != "cpython":
        yield
        return
    allocator = _allocator()
    before = allocator.use(allocator.capsule)
    try:
        yield
    finally:
        allocator.use(before)


@contextmanager
def unwatched() -> Generator[None]:
    """What is made inside is made by NumPy's own allocator."""
    if not _allocator.cache_info().currsize:
        yield
        return
    allocator = _allocator()
    before = allocator.use(allocator.numpys)
    try:
        yield
    finally:
        allocator.use(before)


def written(array: np.ndarray) -> np.ndarray | None:
    """A flag for each byte from the first to the last of `array`: whether it holds something. None: all do, as far as
    is known."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner.base is not None or _numpy.get_handler_name(owner) != NAME.decode() or owner.nbytes > LARGEST:
        return None
    start: int = owner.__array_interface__["data"][0]
    memory = _bytes(start, owner.nbytes)
    word = np.frombuffer(_allocator().word, np.uint8)
    whole = owner.nbytes - owner.nbytes % _WORD
    holds = memory[:whole].view(np.uint64) != word.view(np.uint64)[0]
    tail = memory[whole:]
    tail_holds = tail.size < _SHORTEST_TAIL or bool((tail != word[: tail.size]).any())
    if tail_holds and holds.all():
        return None
    flags = np.concatenate([np.repeat(holds, _WORD), np.full(tail.size, tail_holds)])
    low, high = byte_bounds(array)
    return flags[low - start : high - start]


def _bytes(address: int, size: int) -> np.ndarray:
    raw: Any = (ctypes.c_uint8 * size).from_address(address)
    return np.frombuffer(raw, dtype=np.uint8)
