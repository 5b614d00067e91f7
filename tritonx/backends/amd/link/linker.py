"""From one AMDGPU object to a code object that ROCm loads, laid out as ld.lld lays it out.

A kernel's object needs little of a linker: its notes (the kernels' metadata), read-only data (the kernel descriptors)
and code are placed on pages of their own, four tables for the loader are made, and the descriptors' distances to
their code are filled in. This does exactly that; the segments come out byte for byte as ld.lld 22 writes them. What
it does not do (writable data, imported symbols, a global offset table) it refuses, and an external linker can be used
instead.

Order of the file: headers, notes, .dynsym, .gnu.hash, .hash, .dynstr, read-only data | code | .dynamic, each part
after a bar on the next page of memory; then, not loaded, .symtab, .shstrtab, .strtab and the section headers."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from tritonx.backends.amd.link import elf, hashes
from tritonx.backends.amd.link.elf import ElfError, Object, Relocation, Section, Symbol

PAGE = 0x1000
_PROGRAM_HEADERS = 8
_DYNAMIC_ENTRIES = 7
# R_AMDGPU_*: LLVM's AMDGPU usage guide, "Relocation Records"
_ABS32_LO, _ABS32_HI, _ABS64, _REL32, _REL64, _ABS32, _REL32_LO, _REL32_HI, _REL16 = 1, 2, 3, 4, 5, 6, 10, 11, 14
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE, _PT_PHDR, _PT_GNU_STACK, _PT_GNU_RELRO = 1, 2, 4, 6, 0x6474E551, 0x6474E552


class LinkError(ValueError):
    """The object needs more than this linker does; says what."""


def align(value: int, to: int) -> int:
    return -(-value // to) * to


@dataclass(frozen=True)
class Table:
    """A table for the loader: where it is in memory and in the file."""

    name: bytes
    address: int
    offset: int
    size: int


@dataclass(frozen=True)
class OutputSection:
    """A section header of the result."""

    name: bytes
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


@dataclass
class Plan:
    """Everything's place. ``cursor`` ends as the size of the loaded part of the file."""

    notes: list[Section]
    constants: list[Section]
    code: list[Section]
    exported: list[Symbol]
    strings: bytes
    tables: dict[bytes, Table]
    constants_end: int = 0
    code_start: int = 0
    code_end: int = 0
    cursor: int = 0


def link(data: bytes) -> bytes:
    """The code object of one relocatable object; raises ``LinkError``."""
    try:
        obj = elf.read(data)
    except ElfError as error:
        raise LinkError(str(error)) from None
    plan = place(obj)
    for relocation in obj.relocations:
        relocate(relocation)
    return write(obj, plan)


def classify(obj: Object) -> tuple[list[Section], list[Section], list[Section]]:
    """Notes, read-only data, code; refuses what else would have to be loaded."""
    loaded = [s for s in obj.sections if s.flags & elf.SHF_ALLOC and (s.size or s.type == elf.SHT_NOTE)]
    if any(s.flags & elf.SHF_WRITE for s in loaded):
        raise LinkError("the object has writable data")
    notes = [s for s in loaded if s.type == elf.SHT_NOTE]
    code = [s for s in loaded if s.flags & elf.SHF_EXECINSTR]
    constants = [s for s in loaded if s not in notes and s not in code]
    if not code or not notes:
        raise LinkError("the object has no code or no metadata")
    return notes, constants, code


def place(obj: Object) -> Plan:
    """Give every section and table its address: file offset plus one page for each bar passed."""
    notes, constants, code = classify(obj)
    for relocation in obj.relocations:
        if relocation.symbol.section is None and relocation.symbol.index == elf.SHN_UNDEF:
            raise LinkError(f"undefined symbol {relocation.symbol.name.decode(errors='replace')}")
    exported = [
        s
        for s in obj.symbols
        if s.binding != elf.STB_LOCAL
        and s.index != elf.SHN_UNDEF
        and s.visibility in (elf.STV_DEFAULT, elf.STV_PROTECTED)
    ]
    strings = b"\0"
    for symbol in exported:  # names in the order of the object, symbols in the order of the hash table
        symbol.dynamic_name = len(strings)
        strings += symbol.name + b"\0"
    exported = hashes.gnu_order(exported)
    plan = Plan(notes, constants, code, exported, strings, {})
    cursor = 64 + 56 * _PROGRAM_HEADERS

    def put(section: Section, cursor: int, shift: int) -> int:
        section.offset = align(cursor, section.alignment)
        section.address = section.offset + shift
        return section.offset + section.size

    def table(name: bytes, size: int, alignment: int, cursor: int, shift: int) -> int:
        offset = align(cursor, alignment)
        plan.tables[name] = Table(name, offset + shift, offset, size)
        return offset + size

    for section in notes:
        cursor = put(section, cursor, 0)
    count = len(exported)
    cursor = table(b".dynsym", 24 * (count + 1), 8, cursor, 0)
    cursor = table(b".gnu.hash", hashes.gnu_size(count), 8, cursor, 0)
    cursor = table(b".hash", hashes.sysv_size(count), 4, cursor, 0)
    cursor = table(b".dynstr", len(strings), 1, cursor, 0)
    for section in constants:
        cursor = put(section, cursor, 0)
    plan.constants_end = cursor
    plan.code_start = cursor = align(cursor, max(s.alignment for s in code))
    for section in code:
        cursor = put(section, cursor, PAGE)
    plan.code_end = cursor
    plan.cursor = table(b".dynamic", 16 * _DYNAMIC_ENTRIES, 8, align(cursor, 8), 2 * PAGE)
    return plan


def relocate(relocation: Relocation) -> None:
    """Write one relocated field into its section."""
    value = relocation.symbol.address + relocation.addend
    distance = value - (relocation.section.address + relocation.offset)
    fields: dict[int, tuple[str, int]] = {
        _ABS32_LO: ("<I", value & 0xFFFFFFFF),
        _ABS32: ("<I", value & 0xFFFFFFFF),
        _ABS32_HI: ("<I", value >> 32 & 0xFFFFFFFF),
        _REL32: ("<I", distance & 0xFFFFFFFF),
        _REL32_LO: ("<I", distance & 0xFFFFFFFF),
        _REL32_HI: ("<I", distance >> 32 & 0xFFFFFFFF),
        _REL64: ("<Q", distance & (1 << 64) - 1),
        _REL16: ("<H", (distance - 4) // 4 & 0xFFFF),
    }
    if relocation.type == _ABS64 and relocation.symbol.section is None:
        fields[_ABS64] = ("<Q", value & (1 << 64) - 1)
    if relocation.type not in fields:
        raise LinkError(f"relocation of type {relocation.type} needs a dynamic relocation or a global offset table")
    form, number = fields[relocation.type]
    struct.pack_into(form, relocation.section.data, relocation.offset, number)


def write(obj: Object, plan: Plan) -> bytes:
    out = bytearray(plan.cursor)

    def at(offset: int, data: bytes | bytearray) -> None:
        out[offset : offset + len(data)] = data

    for section in (*plan.notes, *plan.constants, *plan.code):
        at(section.offset, section.data)
    headers = number_sections(plan)
    tables = plan.tables
    at(tables[b".dynsym"].offset, bytes(24) + b"".join(entry(s, s.dynamic_name) for s in plan.exported))
    at(tables[b".gnu.hash"].offset, hashes.gnu_table(plan.exported))
    at(tables[b".hash"].offset, hashes.sysv_table(plan.exported))
    at(tables[b".dynstr"].offset, plan.strings)
    at(tables[b".dynamic"].offset, dynamic(tables))
    section_table = append_unloaded(obj, plan, headers, out)
    at(64, program_headers(plan))
    names = len(headers) + 1
    at(0, obj.identity + struct.pack("<HHIQQQIHHHHHH", 3, elf.EM_AMDGPU, 1, 0, 64, section_table, obj.flags, 64, 56,
                                     _PROGRAM_HEADERS, 64, names, headers_index(headers)))  # fmt: skip
    return bytes(out)


def output_name(name: bytes) -> bytes:
    """``.rodata.cst16`` and the like become part of ``.rodata``, as in lld."""
    for stem in (b".rodata", b".text"):
        if name.startswith(stem + b"."):
            return stem
    return name


def number_sections(plan: Plan) -> list[OutputSection]:
    """The loaded sections' headers, in file order; also tells the input sections their numbers."""
    headers: list[OutputSection] = []

    def own(section: Section) -> None:
        name = output_name(section.name)
        last = headers[-1] if headers else None
        if last is not None and last.name == name and section.type == last.type:
            size = section.offset + section.size - last.offset
            headers[-1] = replace(last, size=size, alignment=max(last.alignment, section.alignment))
        else:
            headers.append(
                OutputSection(name, section.type, section.flags & 7, section.address, section.offset, section.size,
                              0, 0, section.alignment, 0)
            )  # fmt: skip
        section.number = len(headers)

    def table(name: bytes, kind: int, flags: int, link: int, info: int, alignment: int, entry_size: int) -> int:
        t = plan.tables[name]
        headers.append(OutputSection(name, kind, flags, t.address, t.offset, t.size, link, info, alignment, entry_size))
        return len(headers)

    for section in plan.notes:
        own(section)
    symbols = len(headers) + 1
    strings = symbols + 3
    table(b".dynsym", elf.SHT_DYNSYM, elf.SHF_ALLOC, strings, 1, 8, 24)
    table(b".gnu.hash", elf.SHT_GNU_HASH, elf.SHF_ALLOC, symbols, 0, 8, 0)
    table(b".hash", elf.SHT_HASH, elf.SHF_ALLOC, symbols, 0, 4, 4)
    table(b".dynstr", elf.SHT_STRTAB, elf.SHF_ALLOC, 0, 0, 1, 0)
    for section in (*plan.constants, *plan.code):
        own(section)
    table(b".dynamic", elf.SHT_DYNAMIC, elf.SHF_ALLOC | elf.SHF_WRITE, strings, 0, 8, 16)
    return headers


def entry(symbol: Symbol, name: int) -> bytes:
    index = symbol.index if symbol.section is None else symbol.section.number
    return struct.pack(
        "<IBBHQQ", name, symbol.binding << 4 | symbol.type, symbol.other, index, symbol.address, symbol.size
    )


def dynamic(tables: dict[bytes, Table]) -> bytes:
    entries = (
        (6, tables[b".dynsym"].address),  # DT_SYMTAB
        (11, 24),  # DT_SYMENT
        (5, tables[b".dynstr"].address),  # DT_STRTAB
        (10, tables[b".dynstr"].size),  # DT_STRSZ
        (0x6FFFFEF5, tables[b".gnu.hash"].address),  # DT_GNU_HASH
        (4, tables[b".hash"].address),  # DT_HASH
        (0, 0),
    )
    return b"".join(struct.pack("<QQ", *e) for e in entries)


def append_unloaded(obj: Object, plan: Plan, headers: list[OutputSection], out: bytearray) -> int:
    """Append .symtab, .shstrtab, .strtab and the section headers; returns where the headers start."""
    strings, table = b"\0", bytes(24)
    for symbol in obj.symbols[1:]:
        if (
            symbol.binding == elf.STB_LOCAL
            and symbol.type != elf.STT_SECTION
            and (symbol.section is None or symbol.section.number)
        ):
            table += entry(symbol, len(strings))
            strings += symbol.name + b"\0"
    dynamic_number = next(i for i, h in enumerate(headers, 1) if h.name == b".dynamic")
    table += struct.pack(
        "<IBBHQQ", len(strings), 0, elf.STV_HIDDEN, dynamic_number, plan.tables[b".dynamic"].address, 0
    )
    strings += b"_DYNAMIC\0"
    first_global = len(table) // 24
    for symbol in obj.symbols:
        if symbol.binding != elf.STB_LOCAL and symbol.index != elf.SHN_UNDEF:
            table += entry(symbol, len(strings))
            strings += symbol.name + b"\0"
    out += bytes(align(len(out), 8) - len(out))
    count = len(headers)
    headers.append(
        OutputSection(b".symtab", elf.SHT_SYMTAB, 0, 0, len(out), len(table), count + 3, first_global, 8, 24)
    )
    out += table
    names, offsets = b"\0", dict[bytes, int]()
    for name in [h.name for h in headers] + [b".shstrtab", b".strtab"]:
        if name not in offsets:
            offsets[name] = len(names)
            names += name + b"\0"
    headers.append(OutputSection(b".shstrtab", elf.SHT_STRTAB, 0, 0, len(out), len(names), 0, 0, 1, 0))
    out += names
    headers.append(OutputSection(b".strtab", elf.SHT_STRTAB, 0, 0, len(out), len(strings), 0, 0, 1, 0))
    out += strings
    out += bytes(align(len(out), 8) - len(out))
    start = len(out)
    out += bytes(64)
    for h in headers:
        out += struct.pack("<IIQQQQIIQQ", offsets[h.name], h.type, h.flags, h.address, h.offset, h.size, h.link, h.info,
                           h.alignment, h.entry_size)  # fmt: skip
    return start


def headers_index(headers: list[OutputSection]) -> int:
    return next(i for i, h in enumerate(headers, 1) if h.name == b".shstrtab")


def program_headers(plan: Plan) -> bytes:
    def header(
        kind: int, flags: int, offset: int, address: int, file_size: int, memory_size: int, alignment: int
    ) -> bytes:
        return struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, file_size, memory_size, alignment)

    read, write_, execute = 4, 2, 1
    table = 56 * _PROGRAM_HEADERS
    loader = plan.tables[b".dynamic"]
    page_end = align(loader.address + loader.size, PAGE) - loader.address
    code = plan.code_end - plan.code_start
    notes = plan.notes[-1].offset + plan.notes[-1].size - plan.notes[0].offset
    return b"".join(
        (
            header(_PT_PHDR, read, 64, 64, table, table, 8),
            header(_PT_LOAD, read, 0, 0, plan.constants_end, plan.constants_end, PAGE),
            header(_PT_LOAD, read | execute, plan.code_start, plan.code_start + PAGE, code, code, PAGE),
            header(_PT_LOAD, read | write_, loader.offset, loader.address, loader.size, page_end, PAGE),
            header(_PT_DYNAMIC, read | write_, loader.offset, loader.address, loader.size, loader.size, 8),
            header(_PT_GNU_RELRO, read, loader.offset, loader.address, loader.size, page_end, 1),
            header(_PT_GNU_STACK, read | write_, 0, 0, 0, 0, 0),
            header(_PT_NOTE, read, plan.notes[0].offset, plan.notes[0].address, notes, notes, 4),
        )
    )
