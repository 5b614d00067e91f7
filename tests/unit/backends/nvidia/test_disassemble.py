"""SASS listings: what is in them, through ``asm`` and in the tools, and what is said where there is no nvdisasm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx.backends.nvidia.assembler.disassemble import (
    DisassemblerError,
    NoDisassembler,
    disassemble,
    find_nvdisasm,
    find_program,
)
from tritonx.runtime.devices import installed
from tritonx.runtime.errors import BadSetting
from tritonx.tools.disasm import get_sass

needs_both = pytest.mark.skipif(find_ptxas() is None or find_nvdisasm() is None, reason="no ptxas or no nvdisasm")


@tritonx.jit
def copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i))


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Looking for the program again in another environment."""
    find_program.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    find_program.cache_clear()


@needs_both
def test_a_compiled_kernel_shows_its_instructions() -> None:
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "BLOCK": "constexpr"}
    attrs = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}
    source = tritonx.compiler.ASTSource(copy, signature, {(2,): 512}, attrs)
    kernel = tritonx.compile(source, target="cuda:90")
    lines = kernel.asm["sass"].splitlines()
    assert lines[0] == "Function:copy"
    assert sum("LDG.E.128" in line for line in lines) == sum("STG.E.128" in line for line in lines) == 1
    assert not [line for line in lines if "/*" in line or ";" in line]
    with pytest.raises(KeyError):
        kernel.asm["beans"]
    assert get_sass(kernel.asm["cubin"]) == get_sass(kernel.asm["cubin"], "copy") == kernel.asm["sass"]
    with pytest.raises(ValueError, match="no function 'beans'; there are copy"):
        get_sass(kernel.asm["cubin"], "beans")


@needs_both
def test_what_is_no_cubin_is_refused_with_the_words_of_the_program() -> None:
    with pytest.raises(DisassemblerError, match=r"exit code \d+:\n.*nvdisasm"):
        disassemble(b"beans")


def test_without_the_program_the_error_says_where_to_get_it(search: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TRITONX_NVDISASM_PATH", "TRITON_NVDISASM_PATH", "CUDA_HOME", "CUDA_PATH"):
        search.delenv(name, raising=False)
    search.setenv("PATH", str(tmp_path))
    search.setattr(installed, "folders", lambda package: [])
    search.setattr(installed, "triton_folders", lambda *parts: [])
    if find_nvdisasm() is not None:
        pytest.skip("this machine has one under /usr/local/cuda")
    with pytest.raises(NoDisassembler, match="pip install nvidia-cuda-nvdisasm"):
        disassemble(b"")


def test_the_environment_names_one(search: pytest.MonkeyPatch, tmp_path: Path) -> None:
    search.setenv("TRITONX_NVDISASM_PATH", str(tmp_path / "beans"))
    with pytest.raises(BadSetting, match=r"TRITONX_NVDISASM_PATH: expected the path of a program.*beans"):
        disassemble(b"")
