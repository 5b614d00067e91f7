"""Linking an ELF object into this process, without LLVM: what makes a kernel from the cache ready in a fifth of a
millisecond.

The object is LLVM's own output for x86-64 Linux, position independent with the small code model, so few things occur in
it: sections of code, constants and data, and the relocations of `_apply` (System V ABI for x86-64, table 4.9).
Everything goes into one mapping, code first, so that all distances fit 32 bits; symbols outside of it are reached
through a table of addresses and jumps, as a dynamic linker does it. Code is never writeable once it can run. Anything
unexpected is a `LinkError`, and the loader leaves the object to LLVM.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from tritonx.runtime.errors import TritonError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_U64, _I64, _I32 = struct.Struct("<Q"), struct.Struct("<q"), struct.Struct("<i")

_MACHINE_X86_64, _RELOCATABLE = 62, 1
_SYMTAB, _RELOCATIONS, _NOBITS = 2, 4, 8
_WRITE, _ALLOC, _EXEC, _TLS = 1, 2, 4, 0x400
_UNDEFINED, _ABSOLUTE, _COMMON = 0, 0xFFF1, 0xFFF2
_WEAK = 2

# Relocation types by what they compute: S the symbol, A the addend, P the place, G the symbol's slot in the address
# table.
_ABSOLUTE_64 = 1  # S + A
_RELATIVE_32 = 2  # S + A - P
_CALL_32 = 4  # the same, to the symbol or to a jump to it
_SLOT_32 = (9, 41, 42)  # G + A - P: GOTPCREL, GOTPCRELX, REX_GOTPCRELX
_RELATIVE_64 = 24


class _Cell(NamedTuple):
    """What a relocation writes. ``mask``: of a number that is taken modulo a power of two."""

    number: struct.Struct
    relative: bool
    mask: int = 0


_CELLS = {
    _ABSOLUTE_64: _Cell(_U64, relative=False, mask=(1 << 64) - 1),
    _RELATIVE_64: _Cell(_I64, relative=True),
    **dict.fromkeys((_RELATIVE_32, _CALL_32, *_SLOT_32), _Cell(_I32, relative=True)),
}

_MOST_BYTES = 1 << 30
"""So that 32 bits reach from everywhere to everywhere; also what a damaged object may ask for."""

_JUMP = b"\xff\x25"  # jmp [rip + displacement]
_JUMP_TO = struct.Struct("<2si")
_JUMP_BYTES = 8
_SLOT_BYTES = 8


class LinkError(TritonError):
    """The object is not of the kind that this linker knows, or refers to a symbol that this process does not have."""


def supported() -> bool:
    """Whether objects for this machine can be linked here."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.byteorder == "little"


@cache
def _process() -> tuple[ctypes.CDLL, ...]:
    """Where symbols are looked for: the process itself, then the mathematics library."""
    return ctypes.CDLL(None), mathematics_library()


@cache
def mathematics_library() -> ctypes.CDLL:
    """The C library's mathematics."""
    try:
        return ctypes.CDLL("libm.so.6")
    except OSError:
        from ctypes.util import find_library  # which imports much, and runs another program to find a name

        return ctypes.CDLL(find_library("m") or "libm.so.6")


@cache
def address_of_symbol(name: str) -> int | None:
    """The address of a function or an object of this process."""
    for library in _process():
        try:
            return ctypes.addressof(ctypes.c_char.in_dll(library, name))
        except ValueError:
            continue
    return None


class _Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class _Symbol(NamedTuple):
    name: str
    kind: int
    binding: int
    section: int
    value: int


class Library:
    """An object's code and data in memory. ``library[name]`` is a symbol's address; the memory lives as long as this
    does."""

    def __init__(self, binary: bytes, imports: Mapping[str, int]) -> None:
        """``imports`` are looked up before the process. Raises LinkError."""
        self._imports = imports
        self._offsets: dict[int, int] = {}
        """section → offset in the mapping"""
        self._slots: dict[int, int] = {}
        """symbol → offset of its slot"""
        self._jumps: dict[int, int] = {}
        """symbol → offset of the jump to it"""
        try:
            self._sections = list(_sections(binary))
            self._symbols = _symbols(binary, self._sections)
            self._defined = {s.name: i for i, s in reversed([*enumerate(self._symbols)]) if s.section != _UNDEFINED}
            self._place()
            self._copy(binary)
            self._relocate(binary)
        except (struct.error, IndexError, ValueError, OverflowError, OSError, MemoryError) as error:
            raise LinkError(f"a damaged object: {error}") from error
        self._protect()

    def __getitem__(self, name: str) -> int:
        return self._address(self._defined[name])

    # Layout ----------------------------------------------------------------------------------------------------------

    def _place(self) -> None:
        """Give each section its offset: code and jumps, constants, data and the address table, each on pages of its
        own."""
        most = len(self._symbols)  # slots and jumps: one for each symbol at most
        cursor = self._place_kind(0, _EXEC, _EXEC)
        self._first_jump = -(-cursor // 16) * 16
        self._code_end = cursor = _page(self._first_jump + _JUMP_BYTES * most)
        self._constants_end = cursor = _page(self._place_kind(cursor, _EXEC | _WRITE, 0))
        cursor = self._place_kind(cursor, _EXEC | _WRITE, _WRITE)
        self._first_slot = -(-cursor // _SLOT_BYTES) * _SLOT_BYTES
        self._size = _page(self._first_slot + _SLOT_BYTES * most)

    def _place_kind(self, cursor: int, asked: int, wanted: int) -> int:
        """Place the sections of whose flags those of ``asked`` are ``wanted``, from ``cursor`` on."""
        for index, section in enumerate(self._sections):
            if section.flags & _ALLOC and section.flags & asked == wanted:
                if section.flags & _TLS or (section.flags & _WRITE and section.flags & _EXEC):
                    raise LinkError("a section for threads' own data, or of writeable code")
                align = max(section.align, 1)
                cursor = -(-cursor // align) * align
                self._offsets[index] = cursor
                cursor += section.size
        return cursor

    def _copy(self, binary: bytes) -> None:
        if self._size > _MOST_BYTES:
            raise LinkError(f"an object of {self._size} bytes")
        self._map = mmap.mmap(-1, self._size)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        for index, offset in self._offsets.items():
            section = self._sections[index]
            if section.kind != _NOBITS:
                data = binary[section.offset : section.offset + section.size]
                if len(data) != section.size:
                    raise LinkError("a truncated object")
                self._map[offset : offset + section.size] = data

    # Symbols ---------------------------------------------------------------------------------------------------------

    def _address(self, index: int) -> int:
        symbol = self._symbols[index]
        if symbol.section == _ABSOLUTE:
            return symbol.value
        if symbol.section == _COMMON:
            raise LinkError(f"{symbol.name} is a common symbol")
        if symbol.section == _UNDEFINED:
            found = self._imports.get(symbol.name) or address_of_symbol(symbol.name)
            if found is None and symbol.binding != _WEAK:
                raise LinkError(f"this process has no symbol {symbol.name}")
            return found or 0
        if symbol.section not in self._offsets:
            raise LinkError(f"{symbol.name} is in a section that is not loaded")
        return self._base + self._offsets[symbol.section] + symbol.value

    def _slot(self, index: int) -> int:
        """The place of the symbol's address in the table, filled in."""
        offset = self._slots.get(index)
        if offset is None:
            offset = self._slots[index] = self._first_slot + _SLOT_BYTES * len(self._slots)
            _U64.pack_into(self._map, offset, self._address(index))
        return self._base + offset

    def _jump(self, index: int) -> int:
        """A jump to the symbol, near enough for a call."""
        offset = self._jumps.get(index)
        if offset is None:
            offset = self._jumps[index] = self._first_jump + _JUMP_BYTES * len(self._jumps)
            after = self._base + offset + _JUMP_TO.size
            _JUMP_TO.pack_into(self._map, offset, _JUMP, self._slot(index) - after)
        return self._base + offset

    # Relocation ------------------------------------------------------------------------------------------------------

    def _relocate(self, binary: bytes) -> None:
        reached: dict[int, int] = {}
        for section in self._sections:
            if section.kind != _RELOCATIONS or section.info not in self._offsets:
                continue
            start = self._offsets[section.info]
            for offset, info, addend in _RELA.iter_unpack(_whole(binary, section, _RELA.size)):
                kind, symbol = info & 0xFFFFFFFF, info >> 32
                target = reached.get(info)
                if target is None:
                    target = reached[info] = self._target(kind, symbol)
                self._write(_CELLS[kind], start + offset, target + addend, symbol)

    def _write(self, cell: _Cell, offset: int, value: int, symbol: int) -> None:
        if cell.relative:
            value -= self._base + offset
        try:
            cell.number.pack_into(self._map, offset, value & cell.mask if cell.mask else value)
        except struct.error as error:
            raise LinkError(f"{self._symbols[symbol].name} is too far away") from error

    def _target(self, kind: int, symbol: int) -> int:
        """The address that relocations of this kind to the symbol lead to."""
        if kind in _SLOT_32:
            return self._slot(symbol)
        if kind == _CALL_32 and self._symbols[symbol].section == _UNDEFINED:
            return self._jump(symbol)
        if kind in _CELLS:
            return self._address(symbol)
        raise LinkError(f"relocations of type {kind}")

    def _protect(self) -> None:
        libc = _process()[0]
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        constants = self._constants_end - self._code_end
        for start, size, protection in (
            (0, self._code_end, mmap.PROT_READ | mmap.PROT_EXEC),
            (self._code_end, constants, mmap.PROT_READ),
        ):
            if size and libc.mprotect(self._base + start, size, protection):
                raise LinkError("the system does not let this process make code")


def _page(offset: int) -> int:
    return -(-offset // mmap.PAGESIZE) * mmap.PAGESIZE


def _sections(binary: bytes) -> Iterator[_Section]:
    magic, kind, machine, _, _, _, table, _, _, _, _, size, count, _ = _HEADER.unpack_from(binary, 0)
    if magic[:6] != b"\x7fELF\x02\x01" or kind != _RELOCATABLE or machine != _MACHINE_X86_64 or size != _SECTION.size:
        raise LinkError("not a relocatable ELF object for x86-64")
    for i in range(count):
        _, kind, flags, _, offset, nbytes, link, info, align, entry = _SECTION.unpack_from(binary, table + i * size)
        yield _Section(kind, flags, offset, nbytes, link, info, align, entry)


def _whole(binary: bytes, table: _Section, size: int) -> bytes:
    """The entries of a table."""
    entries = binary[table.offset : table.offset + table.size]
    if len(entries) != table.size or table.size % size:
        raise LinkError("a truncated object")
    return entries


def _symbols(binary: bytes, sections: list[_Section]) -> list[_Symbol]:
    tables = [s for s in sections if s.kind == _SYMTAB]
    if len(tables) != 1:
        raise LinkError("an object with other than one symbol table")
    (table,) = tables
    strings = sections[table.link].offset
    found: list[_Symbol] = []
    for name, info, _, section, value, _ in _SYMBOL.iter_unpack(_whole(binary, table, _SYMBOL.size)):
        start = strings + name
        text = binary[start : binary.index(b"\0", start)].decode()
        found.append(_Symbol(text, info & 15, info >> 4, section, value))
    return found
