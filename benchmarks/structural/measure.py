"""What a compiled kernel is made of, as numbers by column.

Accesses, copies, matrix instructions and barriers are counted in the PTX, where the assembler has unrolled nothing;
instructions, loops and spills in the machine code. For AMD's processors all of it is in the assembly."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import listing, work
from .cubin import registers
from .lds_waits import exposed_waits
from .listing import Function, Instruction
from .loops import innermost, natural_loops

Row = dict[str, float]

_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
_ACCESS = re.compile(r"\b(ld|st|red|atom)\.(?:[a-z]+\.)*?global([.\w:]*)\s")
_COPY = re.compile(r"cp\.async\.c[ag]\.shared(?:::cta)?\.global[^;]*?\],\s*\[[^\]]*\],\s*(0x[0-9a-f]+|\d+)")
_BULK_IN = re.compile(r"cp\.async\.bulk\.(?:tensor\.[\w.]*)?shared::\w+\.global")
_BULK_OUT = re.compile(r"cp\.(?:reduce\.)?async\.bulk\.(?:tensor\.[\w.]*)?global\.shared::cta")
_MATRIX = re.compile(r"\b(wgmma\.mma_async|mma\.sync)[.\w]*?\.m(\d+)n(\d+)k(\d+)")
_BARRIER = re.compile(r"\bbar(?:rier)?(?:\.cta)?\.(?:sync|red)\b")


def measured(asm: Mapping[str, Any], shared: int, threads: int) -> Row:
    """The row of one compiled kernel, of the stages' texts by name; ``threads`` of a block if the PTX has no others."""
    if "amdgcn" in asm:
        return {**of_amdgcn(str(asm["amdgcn"])), "shared": shared, "threads": threads}
    ptx = str(asm["ptx"])
    required = re.search(r"\.(?:req|max)ntid (\d+)", ptx)
    row = {"shared": shared, "threads": int(required[1]) if required else threads}
    return {**of_ptx(ptx), **of_cubin(asm["cubin"]), **row}


def width(accesses: Mapping[int, int]) -> float:
    """The width of the access by which a byte moves, in the mean over bytes: few narrow accesses beside many wide ones
    hardly count."""
    total = sum(size * count for size, count in accesses.items())
    return sum(size * size * count for size, count in accesses.items()) / total if total else 0.0


def of_ptx(ptx: str) -> Row:
    loads, stores = Counter[int](), Counter[int]()
    for line in ptx.splitlines():
        if found := _ACCESS.search(line):
            (stores if found[1] in ("st", "red", "atom") else loads)[_bytes(found[2])] += 1
    copies = [int(size, 0) for size in _COPY.findall(ptx)]
    bulk, out = len(_BULK_IN.findall(ptx)), len(_BULK_OUT.findall(ptx))
    loads.update(copies)
    row = _accesses(loads, stores, len(copies), bulk, out)
    macs = [int(m) * int(n) * int(k) for _, m, n, k in _MATRIX.findall(ptx)]
    return {**row, **_matrix(macs), "barriers": len(_BARRIER.findall(ptx))}


def _bytes(suffix: str) -> int:
    parts = suffix.split(".")
    vector = next((int(p[1:]) for p in parts if re.fullmatch(r"v\d", p)), 1)
    size = next((_SIZES[p.lstrip("bufsx")] for p in reversed(parts) if p.lstrip("bufsx") in _SIZES), 4)
    return vector * size


def _accesses(loads: Counter[int], stores: Counter[int], copies: int, bulk: int, out: int) -> Row:
    """``copies`` are counted among the loads as well."""
    whole = dict(loads)
    if bulk:
        whole[work.BULK_WIDTH] = whole.get(work.BULK_WIDTH, 0) + bulk * work.BULK // work.BULK_WIDTH
    kept = dict(stores)
    if out:
        kept[work.BULK_WIDTH] = kept.get(work.BULK_WIDTH, 0) + out * work.BULK // work.BULK_WIDTH
    return {"load": width(whole), "store": width(kept), "copies": copies, "bulk": bulk}


def _matrix(macs: list[int]) -> Row:
    return {"matrix": sum(macs) / len(macs) if macs else 0.0, "products": len(macs)}


def of_cubin(cubin: bytes) -> Row:
    """By the vendor's disassembler, the environment's NVDISASM."""
    with tempfile.TemporaryDirectory(prefix="structure-") as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        command = [os.environ.get("NVDISASM", "nvdisasm"), "-c", str(path)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {"registers": registers(cubin), **of_code(listing.sass(text))}


def of_amdgcn(text: str) -> Row:
    """``registers`` are those of both files together, of which ``agprs`` are accumulators'; ``scratch`` is in bytes of
    a thread; ``lds_waits`` are the exposed ones of the hottest loop, and are not compared."""
    code = listing.amdgcn(text)
    every = [i for f in code for i in f.code]
    loads, stores = Counter[int](), Counter[int]()
    read, written = Counter[int](), Counter[int]()
    for each in every:
        if size := work.moved(each):
            (stores if "_store_" in each.opcode or "_atomic_" in each.opcode else loads)[size] += 1
        if size := work.shared(each):
            (read if each.opcode.startswith(("ds_read", "ds_load")) else written)[size] += 1
    copies = sum(bool(re.search(r"\blds\b", i.operands)) or "_lds_" in i.opcode for i in every)
    macs = [m for i in every if (m := work.multiplied(i))]
    barriers = sum(i.opcode in ("s_barrier", "s_barrier_wait") for i in every)
    lds = {"lds_load": width(read), "lds_loads": read.total()}
    lds |= {"lds_store": width(written), "lds_stores": written.total()}
    row = {**_accesses(loads, stores, copies, 0, 0), **_matrix(macs), "barriers": barriers}
    waits = {"lds_waits": exposed_waits(_hottest(code))}
    return {**row, **lds, **waits, **_noted(text), **of_code(code)}


def _noted(text: str) -> Row:
    """What the metadata of the assembly's kernels says. Accumulators begin behind the others' registers."""

    def most(pattern: str) -> int:
        return max(map(int, re.findall(pattern, text)), default=0)

    registers, others = most(r"\.vgpr_count:\s+(\d+)"), most(r"\.amdhsa_accum_offset\s+(\d+)")
    return {"registers": registers, "agprs": max(0, registers - others) if others else 0,
            "sgprs": most(r"\.sgpr_count:\s+(\d+)"),
            "scratch": most(r"\.private_segment_fixed_size:\s+(\d+)")}  # fmt: skip


def of_code(functions: Iterable[Function]) -> Row:
    """Instructions in all and in the hottest loop, and spills."""
    functions = list(functions)
    every = [i for f in functions for i in f.code]
    multiplied, moved, count = _work(_hottest(functions))
    return {"spills": sum(map(work.spills, every)), "instructions": len(every), "loop": count,
            "loop_multiplies": multiplied, "loop_moves": moved}  # fmt: skip


def _hottest(functions: Iterable[Function]) -> list[Instruction]:
    """The instructions of the loop with the most multiply-adds, then bytes, in their order."""
    loops = ([f.code[i] for i in sorted(body)] for f in functions for body in _inner(f))
    return max(loops, key=_work, default=[])


def _inner(function: Function) -> list[frozenset[int]]:
    return innermost(natural_loops(function), lambda i: work.works(function.code[i]))


def _work(code: Sequence[Instruction]) -> tuple[int, int, int]:
    """A loop's multiply-adds, its bytes, its instructions: the greatest is the hottest."""
    return sum(map(work.multiplied, code)), sum(map(work.moved, code)), len(code)
