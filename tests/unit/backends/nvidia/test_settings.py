"""``knobs.nvidia``: programs, what the assembler is told, and what is printed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import tritonx
from tritonx.backends.nvidia import BACKEND
from tritonx.backends.nvidia.knobs import NoTool, NvidiaTool
from tritonx.compiler import ASTSource

knobs = tritonx.knobs.nvidia
TARGET = BACKEND.parse_target("90")


def program(path: Path, said: str) -> str:
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_program_by_its_path(tmp_path: Path) -> None:
    path = program(tmp_path / "ptxas", "Cuda compilation tools, release 12.3, V12.3.1")
    with knobs.scope():
        knobs.ptxas = path
        assert knobs.ptxas == NvidiaTool(path, "12.3")


def test_a_program_that_tells_no_version_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonx.backends.nvidia.knobs._finder", lambda binary: lambda: None)
    with knobs.scope():
        knobs.cuobjdump = program(tmp_path / "cuobjdump", "hello")
        with pytest.raises(NoTool, match="Cannot find cuobjdump"):
            _ = knobs.cuobjdump


def test_what_the_assembler_is_told() -> None:
    assert BACKEND.parse_options(TARGET, {}).ptx_options is None
    with knobs.scope():
        knobs.ptxas_options = "-v"
        assert BACKEND.parse_options(TARGET, {}).ptx_options == "-v"
        knobs.disable_ptxas_opt = True
        assert BACKEND.parse_options(TARGET, {}).ptx_options == "--opt-level 0 -v"
        assert BACKEND.parse_options(TARGET, {"ptx_options": "-w"}).ptx_options == "-w"


def test_the_ptx_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @tritonx.jit
    def printed_kernel(x):
        pass

    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    with knobs.scope():
        knobs.dump_nvptx = True
        kernel = tritonx.compile(ASTSource(printed_kernel, {"x": "*fp32"}), target=TARGET)
    assert kernel.asm["ptx"] in capsys.readouterr().out
