"""Reading a relocatable ELF64 object: sections, symbols, relocations. Source: the ELF gABI; LLVM's AMDGPU usage
guide, "ELF".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

EM_AMDGPU = 224
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_HASH, SHT_DYNAMIC, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    11,
)
SHT_GNU_HASH = 0x6FFFFFF6
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4
SHN_UNDEF, SHN_LORESERVE = 0, 0xFF00
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STT_SECTION = 3
STV_DEFAULT, STV_HIDDEN, STV_PROTECTED = 0, 2, 3


class ElfError(ValueError):
    """The bytes are not an object that this linker can read."""


@dataclass(eq=False)
class Section:
    """One input section. ``address`` and ``offset`` are set when it is placed, ``number`` when it gets an output
    header.
    """

    name: bytes
    type: int
    flags: int
    data: bytearray
    alignment: int
    link: int
    info: int
    entry_size: int
    address: int = 0
    offset: int = 0
    number: int = 0

    @property
    def size(self) -> int:
        return len(self.data)


@dataclass(eq=False)
class Symbol:
    """``section`` is None for absolute symbols; ``dynamic_name`` is its offset in .dynstr where it is exported."""

    name: bytes
    binding: int
    type: int
    other: int
    section: Section | None
    index: int
    value: int
    size: int
    dynamic_name: int = 0

    @property
    def visibility(self) -> int:
        return self.other & 3

    @property
    def address(self) -> int:
        return self.value if self.section is None else self.section.address + self.value


@dataclass(frozen=True)
class Relocation:
    section: Section
    offset: int
    type: int
    symbol: Symbol
    addend: int


@dataclass
class Object:
    """``identity`` is e_ident's 16 bytes, ``flags`` e_flags: the processor and its features."""

    identity: bytes
    flags: int
    sections: list[Section]
    symbols: list[Symbol] = field(default_factory=list[Symbol])
    relocations: list[Relocation] = field(default_factory=list[Relocation])


def _string(table: bytes | bytearray, start: int) -> bytes:
    return bytes(table[start : table.index(b"\0", start)])


def read(data: bytes) -> Object:
    """Parse a relocatable AMDGPU object; raises ``ElfError`` for anything else."""
    if data[:4] != b"\x7fELF" or len(data) < 64:
        raise ElfError("not an ELF file")
    kind, machine = struct.unpack_from("<HH", data, 16)
    if kind != 1 or machine != EM_AMDGPU:
        raise ElfError("not a relocatable AMDGPU object")
    (table,) = struct.unpack_from("<Q", data, 40)
    (flags,) = struct.unpack_from("<I", data, 48)
    count, names_at = struct.unpack_from("<HH", data, 60)
    raw = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]

    def content(entry: tuple[int, ...]) -> bytearray:
        return bytearray(data[entry[4] : entry[4] + entry[5]]) if entry[1] != SHT_NOBITS else bytearray(entry[5])

    names = content(raw[names_at])
    sections = [Section(_string(names, e[0]), e[1], e[2], content(e), max(1, e[8]), e[6], e[7], e[9]) for e in raw]
    out = Object(data[:16], flags, sections)
    table_of_symbols = next((s for s in sections if s.type == SHT_SYMTAB), None)
    if table_of_symbols is None:
        raise ElfError("the object has no symbols")
    strings = sections[table_of_symbols.link].data
    for at in range(0, table_of_symbols.size, 24):
        name, info, other, index, value, size = struct.unpack_from("<IBBHQQ", table_of_symbols.data, at)
        section = sections[index] if SHN_UNDEF < index < SHN_LORESERVE else None
        out.symbols.append(Symbol(_string(strings, name), info >> 4, info & 15, other, section, index, value, size))
    for relocations in sections:
        if relocations.type != SHT_RELA or not sections[relocations.info].flags & SHF_ALLOC:
            continue
        target = sections[relocations.info]
        for at in range(0, relocations.size, 24):
            offset, info, addend = struct.unpack_from("<QQq", relocations.data, at)
            out.relocations.append(Relocation(target, offset, info & 0xFFFFFFFF, out.symbols[info >> 32], addend))
    return out
