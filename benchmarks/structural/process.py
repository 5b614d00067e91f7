"""The processes of a run: one that says which jobs there are, and one of each compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .job import Job, read
from .line_process import LineProcess

Compiler = Literal["tritonx", "triton"]
COMPILERS: tuple[Compiler, ...] = ("tritonx", "triton")

FOLDER = Path(__file__).parent
TREE = FOLDER.parents[1]
LIMIT = 300.0
"""Seconds that one compile, with its imports, may take."""


@dataclass(frozen=True)
class Peer:
    """An installed Triton: its version, and the folder that its package is in."""

    version: str
    folder: Path


@dataclass(frozen=True)
class Programs:
    """The vendor's. Both compilers assemble with the same ptxas, so that compilers are compared and not assemblers."""

    ptxas: str
    nvdisasm: str

    @property
    def variables(self) -> dict[str, str]:
        return {"NVDISASM": self.nvdisasm, "TRITON_PTXAS_PATH": self.ptxas, "TRITONX_PTXAS_PATH": self.ptxas}


def find_programs() -> Programs | None:
    """Those that tritonx finds: it needs a ptxas that knows the PTX it writes."""
    from tritonx.backends.nvidia.assembler.assemble import find_ptxas
    from tritonx.backends.nvidia.assembler.disassemble import find_nvdisasm

    ptxas, nvdisasm = find_ptxas(), find_nvdisasm()
    return Programs(ptxas, nvdisasm) if ptxas and nvdisasm else None


@dataclass(frozen=True)
class Setting:
    """Of a run: both compilers' kernels stay in ``cache``, under keys that hold versions and sources."""

    peer: Peer
    programs: Programs
    cache: Path

    def environment(self, compiler: Compiler) -> dict[str, str]:
        """With these modules behind the compiler's on the path, at the level of the peer."""
        first = TREE if compiler == "tritonx" else self.peer.folder
        path = os.pathsep.join([str(first), str(FOLDER.parent)])
        own = {"PYTHONPATH": path, "TRITON_LAUNCH_MAPS": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore",
               "TRITON_CACHE_DIR": str(self.cache / f"triton-{self.peer.version}"),
               "TRITONX_CACHE_DIR": str(self.cache / "tritonx"), "TRITONX_LEVEL": self.peer.version}  # fmt: skip
        return {**os.environ, **self.programs.variables, **own}


def find_peer(path: Path | None) -> Peer | None:
    """The Triton in the folder ``path``, which ``pip install --target`` made, or the installed one."""
    code = (
        "import importlib.util as u, importlib.metadata as m; print(u.find_spec('triton').origin, m.version('triton'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(path or "")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        return None
    origin, version = done.stdout.split()
    return Peer(".".join(version.split(".")[:2]), Path(origin).parents[1])


def collected(cache: Path, environment: Mapping[str, str], outside: Sequence[Path]) -> list[Job]:
    """All jobs, of no target yet; texts that are written for them go to ``cache``."""
    work = str(cache / "texts")
    command = [sys.executable, "-m", "tritonx.compat", "-m", "structural.collect", work, *map(str, outside)]
    with (cache / "collect.log").open("w") as log:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=True, env=environment)
    return [read(line) for line in done.stdout.splitlines()]


class Worker(LineProcess):
    """A process of a compiler. Its death costs a row."""

    def __init__(self, compiler: Compiler, setting: Setting, dump: Path | None) -> None:
        own = ["-m", "tritonx.compat"] if compiler == "tritonx" else []
        kept = ["--dump", str(dump.resolve() / compiler)] if dump else []
        command = [sys.executable, *own, "-m", "structural.worker", *kept]
        log = setting.cache / f"{compiler}-{os.getpid()}.log"
        super().__init__(command, setting.environment(compiler), log, LIMIT)

    def __call__(self, job: Job) -> dict[str, Any]:
        """A row, or an error."""
        return self.ask(job.line())

    def stop(self) -> None:
        super().stop()
        self.log.unlink(missing_ok=True)
