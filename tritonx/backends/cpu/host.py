"""What the host CPU is, and the instruction sets that one can compile for anywhere."""

from __future__ import annotations

import os
import platform
from functools import cache

from tritonx.backends.api import Target
from tritonx.conversion.llvm_binding import binding
from tritonx.conversion.tile_to_loops.isa import AVX2, AVX512, HostIsa

NAMED: dict[str, HostIsa] = {isa.name: isa for isa in (AVX2, AVX512)}
"""Instruction sets by the name after the colon of a target: ``cpu:x86-64-v3`` has AVX2, ``cpu:x86-64-v4`` AVX-512."""

_AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd")
_NEEDED = ("avx2", "fma", "f16c", "bmi2")


@cache
def host_isa() -> HostIsa:
    """The machine this process runs on; ``TRITONX_CPU_ISA=x86-64-v3`` leaves instructions unused (for tests)."""
    forced = os.environ.get("TRITONX_CPU_ISA", "")
    if forced:
        if forced not in NAMED:
            raise ValueError(f"TRITONX_CPU_ISA is {forced!r}; known: {', '.join(NAMED)}")
        return NAMED[forced]
    llvm = binding()

    triple = llvm.get_process_triple()
    features = llvm.get_host_cpu_features()
    cpu = llvm.get_host_cpu_name()
    text = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(features.items()))
    if triple.startswith(("aarch64", "arm64")):
        return HostIsa("host", triple, cpu, text, 16, 32)
    wide = all(features.get(f) for f in _AVX512)
    native = all(features.get(f) for f in _NEEDED)
    return HostIsa("host", triple, cpu, text, 64 if wide else 32 if native else 16, 32 if wide else 16, native)


_IDENTIFYING = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU part")
"""What /proc/cpuinfo says of a processor that decides the code for it (x86 and Arm)."""


@cache
def fingerprint() -> str:
    """Whatever makes the code for the host different from another machine's; asks LLVM only where the system does not
    say."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(1 << 14).partition("\n\n")[0]
    except OSError:
        return repr(host_isa())
    known: dict[str, str] = {}
    for line in first.splitlines():
        key, _, value = line.partition(":")
        known[key.strip()] = value.strip()
    chosen = [known.get(key, "") for key in _IDENTIFYING]
    forced = os.environ.get("TRITONX_CPU_ISA", "")
    return " ".join([forced, platform.machine(), *chosen]) if any(chosen) else repr(host_isa())


def isa_of(target: Target) -> HostIsa:
    """The instruction set of a target; the default target is the host."""
    return NAMED[str(target.arch)] if target.arch != "" else host_isa()


def available_threads() -> int:
    """``TRITONX_CPU_THREADS``, or the cores that the process may run on."""
    wanted = os.environ.get("TRITONX_CPU_THREADS", "")
    if wanted:
        try:
            count = int(wanted)
        except ValueError:
            count = 0
        if count < 1:
            raise ValueError(f"TRITONX_CPU_THREADS must be a positive number, got {wanted!r}")
        return count
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
