"""PTX to a cubin: by the ptxas program, or by nvJitLink (``jit_link``).

nvJitLink needs no subprocess, but it assembles for linking: with relocatable code the register allocator must keep
the calling convention's registers, and a layer norm over 5000 columns takes 111 registers instead of 80 and runs at
3400 GB/s instead of 4050 (H200, 13.0.88). So a ptxas is used where one is found, and nvJitLink where there is none,
or where ``TRITONX_ASSEMBLER=nvjitlink`` asks for it."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from tritonx.backends.nvidia.assembler.assembler_faults import takes_and_for_or, without_joined_predicates
from tritonx.backends.nvidia.assembler.jit_link import LinkFailure, link, linker
from tritonx.backends.nvidia.assembler.live_registers import live_registers
from tritonx.backends.nvidia.assembler.loops import has_loop
from tritonx.backends.nvidia.targets import GRANULE, MAX_REGISTERS, Capability
from tritonx.runtime import knobs
from tritonx.runtime.devices import installed
from tritonx.runtime.errors import PTXASError
from tritonx.runtime.isolation.helper import FunctionFailed, HelperFailure
from tritonx.runtime.isolation.pool import pool
from tritonx.runtime.settings.environment import read
from tritonx.runtime.settings.setting_texts import parse_program


@dataclass(frozen=True)
class Assembled:
    """``registers``, ``spills`` (bytes stored and loaded) and ``local`` (bytes of a thread's own memory, what it spills
    included) of the kernel; ``log`` is all that the assembler said. ``traded``: the bytes of ``local`` that are given
    for one more block (`SPILLED`)."""

    cubin: bytes
    registers: int
    spills: int
    local: int
    log: str
    traded: int = 0

    @property
    def warnings(self) -> list[str]:
        """Lines with a code: C7510 and its family say that wgmma was serialised."""
        return [line for line in self.log.splitlines() if re.search(r"warning|\bC7\d\d\d\b", line)]


def assemble(
    ptx: str,
    capability: Capability,
    *,
    options: str | None = None,
    line_info: bool = True,
    may_drop_limit: bool = False,
    foreign: bool = False,
    shared: int = 0,
) -> Assembled:
    """Assemble for ``capability``; raises ``PTXASError`` with the assembler's words, and where to get one if there is
    none. A kernel that spills is assembled a second time, for one block on a multiprocessor, unless it has the
    registers of one, or less than a granule fewer; the better one is kept.
    One whose values take far more registers at once than there are is assembled like that first: if it takes all of
    them even so, there is nothing to gain from the other way.
    One that misses room for another block by a few registers is asked to do without them, and may spill a few bytes for
    it (`SPILLED`), but not serialise asynchronous products.
    One of asynchronous copies is told how few blocks shared memory has room for, where registers are left over.
    With ``may_drop_limit`` a limit of registers in the PTX, which a pass has set, holds unless the kernel spills less
    without; where it is nearly all registers that there are, that is not tried. ``foreign``: code of the user is in
    the PTX. ``shared`` are the bytes of shared memory of a block.
    """
    if may_drop_limit and (free := without_limit(ptx)) is not None:
        limited = None
        with suppress(PTXASError):  # C7602, as below; any other is met again
            limited = _assemble(ptx, capability, options, line_info, foreign)
        if limited is not None and (not limited.spills or _little_to_gain(limited)):
            return limited
        made = assemble(free, capability, options=options, line_info=line_info, foreign=foreign, shared=shared)
        return made if limited is None or made.spills < limited.spills else limited
    few = blocks_with_all_registers(ptx, shared, capability)
    told = with_blocks(ptx, few) if few else None
    if told is not None:
        made = _assemble(told, capability, options, line_info, foreign)
        if not made.spills:
            return made
    roomy = with_blocks(ptx, 1)
    first = None
    if roomy is not None and _takes_far_more(ptx):
        first = _assemble(roomy, capability, options, line_info, foreign)
        if first.spills or first.registers >= MAX_REGISTERS:
            return first
    made = _assemble(ptx, capability, options, line_info, foreign)
    if roomy is None:
        return made
    if made.spills:
        if made.registers + GRANULE > capability.thread_registers(threads_of(ptx)):
            return made
        again = first or _assemble(roomy, capability, options, line_info, foreign)
        return again if again.spills < made.spills else made
    blocks = one_more_block(ptx, made.registers, capability, shared)
    dense = with_blocks(ptx, blocks) if blocks else None
    if dense is not None:
        try:
            again = _assemble(dense, capability, options, line_info, foreign)
        except PTXASError:  # C7602: an instruction needs more registers at once than a thread would have
            return made
        is_worse = again.local > made.local + again.spills or len(again.warnings) > len(made.warnings)
        if again.spills and not is_worse:
            is_worse = again.spills > _spills_worth(ptx, made.registers - again.registers)
        return made if is_worse else replace(again, traded=max(0, again.local - made.local))
    return made


SPILLED = 4
"""Bytes stored and loaded, for each register less, that another block is worth in code without loops. With 24 bytes for
six registers a kernel of PyTorch's (rotary embedding, two powers, two sines, a cosine) has all warps of a
multiprocessor in place of three quarters: with the sine's own registers 1,094 → 878 µs (Triton 965). A layer norm of
16 rows in turn has four blocks in place of three for 8 bytes: 45 → 35 µs (Triton 37). H200."""


def _spills_worth(ptx: str, fewer: int) -> int:
    """Bytes that may be spilled for so many registers less. A loop may spill them in each iteration: a quarter, and
    none where it multiplies matrices."""
    if not has_loop(ptx):
        return SPILLED * fewer
    multiplies = "mma.sync" in ptx or "wgmma.mma_async" in ptx  # not "mma": kernels have names like `gamma`
    return 0 if multiplies else SPILLED * fewer // 4


SAVED = 64
"""Bytes of spills that a register more has saved at most (30 to 53: a logarithm of sums of 65,536 elements in 32 and 64
threads, with 248 and 255 registers)."""


def _little_to_gain(limited: Assembled) -> bool:
    """Whether all registers would save less than an eighth of the spills, or are not a granule more and leave some: 8.7
    s of assembling once more, for 20,296 bytes in place of 20,670; 0.9 s for 1,744 in place of 1,932."""
    more = MAX_REGISTERS - limited.registers
    return more * SAVED < (limited.spills if more < GRANULE else limited.spills // 8)


LARGE = 5000
"""Virtual registers of 32 bits from which kernels of straight-line code often need more than there are. A product of
128×256×32 in multiply-adds by 128 threads has 10754: 6.4 s for 91 KB of spills as it is, 4.5 s for 31 KB for one
block."""

MANY = 600
"""Registers that values take at once, as the PTX puts them, from which a kernel needs more than there are in nearly any
order (one of 644 fits). ptxas falls back on 32 for most of these (678 to 1,558), which takes as long again; of those
with 479 to 570 for one, and the others spill up to 1 KB more when they are told of one block."""


def _takes_far_more(ptx: str) -> bool:
    """Whether a kernel is hardly going to fit. Values are only counted where there are names for as many; those of
    asynchronous products are not, for which ptxas does not fall back on 32 registers."""
    virtual = virtual_registers(ptx)
    if virtual >= LARGE:
        return True
    return virtual >= MANY and "wgmma.mma_async" not in ptx and live_registers(ptx) >= MANY


def virtual_registers(ptx: str) -> int:
    """How many 32-bit registers the largest function declares."""
    return max((int(n) for n in re.findall(r"^\s*\.reg \.b32 +\t?%r<(\d+)>;", ptx, re.MULTILINE)), default=0)


def without_limit(ptx: str) -> str | None:
    """The PTX without its ``.maxnreg``; None where it has none."""
    free, count = re.subn(r"^\s*\.maxnreg\b.*\n", "", ptx, flags=re.MULTILINE)
    return free if count else None


def threads_of(ptx: str) -> int:
    """Threads of a block; 0 where the PTX leaves that to the launch."""
    found = re.search(r"^\.reqntid (\d+)(?:, (\d+))?(?:, (\d+))?", ptx, re.MULTILINE)
    return 0 if found is None else math.prod(int(n) for n in found.groups() if n)


def with_blocks(ptx: str, blocks: int) -> str | None:
    """The PTX with ``.minnctapersm``; None where the kernel sets a limit of its own.

    ptxas 13.0 falls back on 32 registers for some kernels that need more than 255 (a block of 256 threads: 2240 bytes
    of stores instead of 476). Asked for one block it uses what there is; but kernels that fit get other schedules and
    twice the registers, so this is no default."""
    if re.search(r"^\s*\.(minnctapersm|maxnreg)\b", ptx, re.MULTILINE):
        return None
    limited, count = re.subn(r"^(\.reqntid .*)$", rf"\1\n.minnctapersm {blocks}", ptx, flags=re.MULTILINE)
    return limited if count == 1 else None


def blocks_with_all_registers(ptx: str, shared: int, capability: Capability) -> int:
    """How many blocks a multiprocessor's shared memory has room for, where these are so few that each thread may take
    all registers that it can name; 0 otherwise: for kernels that copy nothing asynchronously, and for large ones, which
    take what there is in any case.

    Registers that no other block can use ptxas saves all the same: a product of 64×32×128 in 128 threads with five
    stages, alone on its multiprocessor, takes 58, and 8 of its loop's 12 copies have their address in one pair, so
    that each waits until the one before has read it. Told of one block it takes 72, and they have six pairs."""
    threads = threads_of(ptx)
    if not threads or not shared or "cp.async" not in ptx or virtual_registers(ptx) >= SMALL:
        return 0
    blocks = max(1, capability.shared_bytes // shared)
    return blocks if capability.thread_registers(threads * blocks) == MAX_REGISTERS else 0


SMALL = 700
"""Virtual registers of 32 bits below which ptxas may take fewer than it has. The loops of products of the benchmarks
that it assembles otherwise when it is told of their blocks have 250 to 440; 128×256×64 has 500, and stays the same."""


FEW_BLOCKS = 4
"""From as many resident blocks on another one hides little (cumulative sum, 4 → 5 blocks of 256: 4023 → 4006 GB/s),
unless all threads that a multiprocessor holds are resident with it."""

MOST_GIVEN_UP = 24
"""Registers that a thread is asked to do without. Of 18 of 821 kernels of libraries that are an eighth away, those that
want 15 or fewer get them (143 → 128, 176 → 168, 70 → 64, 36 → 32), and the three that want 20 (188 → 168) spill, for a
tenth of a second; a layer norm of 16×1024 f16 in 128 threads gets them (189 → 167)."""


def one_more_block(ptx: str, registers: int, capability: Capability, shared: int = 0) -> int:
    """How many blocks a multiprocessor would hold if a thread took at most an eighth and `MOST_GIVEN_UP` fewer
    registers, a quarter where it calls a function, whose registers are put above those of its caller; 0 if not more, or
    if shared memory, of which a block takes ``shared`` bytes, has no room for them.

    Registers are given out to warps in eights a thread. A softmax of 8192 f32 in 1024 threads takes 36 and runs alone,
    at 2480 GB/s; with 32 there are two blocks (layer norm of 8192 f16 in 256 threads: 68 registers and 3 blocks, 3890
    GB/s; 64 and 4, 3995). A kernel of asynchronous products that is alone leaves the tensor cores idle while it works
    on their results: a second block fills that time. Two blocks fill it already: with 166 registers instead of 188,
    an attention forward over 33792 tokens took 840 µs instead of 680, though three blocks fitted and not two. H200."""
    threads = threads_of(ptx)
    if not threads or not registers:
        return 0
    blocks = capability.registers // (threads * (-(-registers // GRANULE) * GRANULE))
    wanted = blocks + 1
    if (blocks > 1 and "wgmma.mma_async" in ptx) or wanted > capability.blocks_with(shared):
        return 0
    allowed = capability.thread_registers(threads * wanted)
    most = capability.resident_threads // threads
    few = min(registers // (4 if "call.uni" in ptx else 6), MOST_GIVEN_UP)
    if wanted > most or registers - allowed > few:
        return 0
    return wanted if blocks < FEW_BLOCKS or allowed == capability.thread_registers(threads * most) else 0


def _assemble(
    ptx: str, capability: Capability, options: str | None, line_info: bool, foreign: bool = False
) -> Assembled:
    """Once more in other words where the assembler may have taken an "and" for an "or" (``assembler_faults``)."""
    for words in chain((ptx,), without_joined_predicates(ptx)):
        made = assemble_once(words, capability, options, line_info, foreign)
        if not takes_and_for_or(made.cubin):
            return made
    raise PTXASError("the assembler may take an `and` of predicates for their `or`, however they are written")


def assemble_once(
    ptx: str, capability: Capability, options: str | None = None, line_info: bool = True, foreign: bool = False
) -> Assembled:
    """What the assembler makes of this text, whatever that is worth."""
    ptxas = find_ptxas()
    in_process = read("TRITONX_ASSEMBLER", _parse_assembler) == "nvjitlink"
    if ptxas is not None and not in_process:
        return _by_ptxas(ptxas, ptx, capability, options, line_info)
    if linker() is not None:
        return _by_nvjitlink(ptx, capability, line_info, foreign)
    raise PTXASError(
        "neither ptxas nor nvJitLink was found: pip install 'tritonx[nvidia]', "
        "or set TRITONX_PTXAS_PATH to a ptxas 13.0"
    )


def _parse_assembler(text: str) -> str:
    if text not in ("", "ptxas", "nvjitlink"):
        raise ValueError(f"expected ptxas or nvjitlink, got {text!r}")
    return text


def _by_nvjitlink(ptx: str, capability: Capability, line_info: bool, foreign: bool) -> Assembled:
    """Linked in this process; in a helper where code of the user is in the PTX, over which nvJitLink may end it."""
    processor = capability.processor
    try:
        if foreign or knobs.compilation.isolate:
            function, seconds = "tritonx.backends.nvidia.assembler.jit_link:link", knobs.compilation.isolate_timeout
            made = pool().run(function, ptx, {"processor": processor, "line_info": line_info}, seconds)
        else:
            made = link(ptx, processor, line_info)
    except (HelperFailure, FunctionFailed, LinkFailure) as error:
        raise PTXASError(str(error)) from None
    cubin, log = made["cubin"], made["log"]
    assert isinstance(cubin, bytes) and isinstance(log, str)
    return Assembled(cubin, *resources(log), log)


def _by_ptxas(ptxas: str, ptx: str, capability: Capability, options: str | None, line_info: bool) -> Assembled:
    with tempfile.TemporaryDirectory(prefix="tritonx-") as folder:
        source, result = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        command = [ptxas, "-v", f"--gpu-name={capability.processor}", str(source), "-o", str(result)]
        if line_info:
            command.insert(1, "-lineinfo")
        command += (options or "").split()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = done.stdout + done.stderr
        if done.returncode:
            raise PTXASError(f"`{' '.join(command)}` failed with exit code {done.returncode}:\n{log}")
        return Assembled(result.read_bytes(), *resources(log), log)


def resources(log: str) -> tuple[int, int, int]:
    """(registers, spill bytes, bytes of local memory) out of the assembler's verbose log; the largest of all functions
    in it."""
    registers = [int(x) for x in re.findall(r"Used (\d+) registers", log)]
    frames = [int(x) for x in re.findall(r"(\d+) bytes stack frame", log)]
    spills = [int(a) + int(b) for a, b in re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", log)]
    return max(registers, default=0), max(spills, default=0), max(frames, default=0)


def find_ptxas() -> str | None:
    """A ptxas: the environment's (``knobs.nvidia.ptxas``), PyPI's nvidia-cuda-nvcc, a CUDA installation's, the
    path's."""
    return read("TRITON_PTXAS_PATH", parse_program) or installed_ptxas()


@lru_cache(maxsize=1)
def installed_ptxas() -> str | None:
    """Where the environment names none; looked for once."""
    for root in installed.folders("nvidia"):
        for candidate in sorted(root.glob("*/bin/ptxas")):
            return str(candidate)
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if (given := os.environ.get(name)) and (Path(given) / "bin" / "ptxas").is_file():
            return str(Path(given) / "bin" / "ptxas")
    if Path("/usr/local/cuda/bin/ptxas").is_file():
        return "/usr/local/cuda/bin/ptxas"
    return shutil.which("ptxas")
