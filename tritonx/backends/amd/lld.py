"""Which linker makes the code object: the built-in one, or an external ld.lld where ``TRITONX_LLD_PATH`` names one."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tritonx.backends.amd.link import link
from tritonx.runtime.errors import TritonError
from tritonx.runtime.settings.environment import read
from tritonx.runtime.settings.setting_texts import parse_program


class LinkerFailure(TritonError):
    """The external linker refused the object; carries its words."""


def link_object(data: bytes) -> bytes:
    """The code object of one relocatable object."""
    external = read("TRITONX_LLD_PATH", parse_program)
    external = external or read("TRITON_HIP_LLD_PATH", parse_program)
    if not external:
        return link(data)
    with tempfile.TemporaryDirectory(prefix="tritonx-") as folder:
        source, result = Path(folder) / "kernel.o", Path(folder) / "kernel.hsaco"
        source.write_bytes(data)
        command = [external, "-flavor", "gnu", "-shared", str(source), "-o", str(result)]
        if Path(external).name.startswith("ld.lld"):
            command = [external, "-shared", str(source), "-o", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LinkerFailure(f"`{' '.join(command)}` failed with exit code {done.returncode}:\n{done.stderr}")
        return result.read_bytes()
