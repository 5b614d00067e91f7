"""The built-in linker: the same bytes in memory as lld, and refusals that say what is missing."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tritonx.backends.amd import codegen
from tritonx.backends.amd.link import LinkError, link
from tritonx.backends.amd.targets import PROCESSORS

LLD = next((p for n in ("ld.lld-22", "ld.lld-21", "ld.lld-20", "ld.lld-19", "ld.lld") if (p := shutil.which(n))), None)


def module(name: str, wave: int, kernels: int, extra: str = "") -> str:
    bodies = "\n".join(
        f"""define amdgpu_kernel void @kernel_{i}_{"x" * i}(ptr addrspace(1) inreg %a, i32 inreg %n) #0 {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %c = icmp slt i32 %t, %n
  br i1 %c, label %x, label %y
x:
  %p = getelementptr float, ptr addrspace(1) %a, i32 %t
  %v = load float, ptr addrspace(1) %p
  %k = getelementptr [4 x float], ptr addrspace(4) @table, i32 0, i32 %n
  %u = load float, ptr addrspace(4) %k
  %w = fadd float %v, %u
  store float %w, ptr addrspace(1) %p
  br label %y
y:
  ret void
}}"""
        for i in range(kernels)
    )
    return f"""target datalayout = "{codegen.data_layout(name, wave)}"
target triple = "{codegen.TRIPLE}"
@table = private unnamed_addr addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 3.0, float 5.0]
{extra}
declare i32 @llvm.amdgcn.workitem.id.x()
{bodies}
attributes #0 = {{ "amdgpu-flat-work-group-size"="1,256" "uniform-work-group-size"="true" }}
!llvm.module.flags = !{{!0}}
!0 = !{{i32 1, !"amdhsa_code_object_version", i32 500}}
"""


def compiled(name: str, kernels: int = 1, extra: str = "") -> bytes:
    wave = PROCESSORS[name].wave
    return codegen.object_code(codegen.optimised(module(name, wave, kernels, extra), name, wave), name, wave)


def segments(data: bytes) -> list[tuple[int, int, int, bytes]]:
    """(flags, address, size, bytes) of each loaded segment, without the ELF header, whose table positions differ."""
    (table,) = struct.unpack_from("<Q", data, 32)
    (count,) = struct.unpack_from("<H", data, 56)
    out: list[tuple[int, int, int, bytes]] = []
    for i in range(count):
        kind, flags, offset, address, _, size, memory, _ = struct.unpack_from("<IIQQQQQQ", data, table + 56 * i)
        if kind == 1:
            out.append((flags, address, memory, data[max(offset, 64) : offset + size]))
    return out


@pytest.mark.skipif(LLD is None, reason="no lld to compare with")
@pytest.mark.parametrize("kernels", [1, 2, 5])
@pytest.mark.parametrize("name", sorted(PROCESSORS))
def test_loaded_bytes_are_those_of_lld(name: str, kernels: int, tmp_path: Path) -> None:
    data = compiled(name, kernels)
    (tmp_path / "k.o").write_bytes(data)
    subprocess.run([str(LLD), "-shared", tmp_path / "k.o", "-o", tmp_path / "k.hsaco"], check=True)
    reference = segments((tmp_path / "k.hsaco").read_bytes())
    assert len(reference) == 3
    assert segments(link(data)) == reference


def test_kernel_descriptors_are_exported() -> None:
    assert b"kernel_0_.kd\0" in link(compiled("gfx942"))


def test_writable_data_is_refused() -> None:
    used = "[ptr addrspacecast (ptr addrspace(1) @counter to ptr)]"
    extra = f"@counter = addrspace(1) global i32 7\n@llvm.used = appending global [1 x ptr] {used}"
    with pytest.raises(LinkError, match="writable data"):
        link(compiled("gfx942", extra=extra))


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + bytes(100), b"not an object at all" * 10])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(LinkError):
        link(data)
