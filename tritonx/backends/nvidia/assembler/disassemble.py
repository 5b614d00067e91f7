"""A cubin as SASS, the machine's own instructions, by the nvdisasm program.

The text is meant for reading and for FileCheck: a line ``Function:name`` for each function, labels, and one
instruction a line with its predicate, without addresses, encodings and the assembler's bookkeeping."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tritonx.runtime.devices import installed
from tritonx.runtime.errors import TritonError
from tritonx.runtime.settings.environment import read
from tritonx.runtime.settings.setting_texts import parse_program

_SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+)")
_LABEL = re.compile(r"^(\.L_\w+):")
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;")
_LINE = re.compile(r"^\s*(//## File .*)")


class NoDisassembler(TritonError):
    """No nvdisasm was found; the message says where one comes from."""


class DisassemblerError(TritonError):
    """nvdisasm refused the cubin; the message has its words."""


def disassemble(cubin: bytes, *, lines: bool = False) -> str:
    """The cubin's instructions; with ``lines`` also where in the source they come from, as lines ``//## File "name",
    line number`` in front, of a cubin with line information. Raises ``NoDisassembler`` and ``DisassemblerError``."""
    program = find_nvdisasm()
    if program is None:
        raise NoDisassembler(
            "no nvdisasm was found: pip install nvidia-cuda-nvdisasm, or set TRITONX_NVDISASM_PATH to one"
        )
    with tempfile.TemporaryDirectory(prefix="tritonx-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        command = [program, "--print-code", *(["--print-line-info"] if lines else []), str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise NoDisassembler(f"{program} cannot be run: {error.strerror}") from None
    if done.returncode:
        raise DisassemblerError(f"`{' '.join(command)}` failed with exit code {done.returncode}:\n{done.stderr}")
    return "\n".join(_lines(done.stdout)) + "\n"


def _lines(listing: str) -> Iterator[str]:
    for line in listing.splitlines():
        if found := _SECTION.match(line):
            yield f"Function:{found[1]}"
        elif found := _LABEL.match(line):
            yield f"{found[1]}:"
        elif found := _INSTRUCTION.match(line):
            yield f"    {found[1]}"
        elif found := _LINE.match(line):
            yield found[1]


def find_nvdisasm() -> str | None:
    """An nvdisasm: the environment's, PyPI's nvidia-cuda-nvdisasm, a CUDA installation's, the path's, the one that a
    Triton wheel brings."""
    return read("TRITON_NVDISASM_PATH", parse_program) or find_program("nvdisasm")


@lru_cache
def find_program(name: str) -> str | None:
    """A program of the vendor's: PyPI's, a CUDA installation's, the path's, the one that a Triton wheel brings."""
    candidates = [candidate for root in installed.folders("nvidia") for candidate in sorted(root.glob(f"*/bin/{name}"))]
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    candidates += [Path(root) / "bin" / name for root in roots if root]
    if (on_path := shutil.which(name)) is not None:
        candidates.append(Path(on_path))
    candidates += [folder / name for folder in installed.triton_folders("backends", "nvidia", "bin")]
    return next((str(path) for path in candidates if os.access(path, os.X_OK) and path.is_file()), None)
