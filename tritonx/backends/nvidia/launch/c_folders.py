"""Where a C compiler finds what a program that calls the driver needs: cuda.h and libcuda.

Programs that compile such a program of their own, as those around ``triton.tools.compile`` do, ask for the folders;
tritonx compiles none. A Triton wheel's header comes first, since it is what they are written with: of CUDA 12, where
CUDA 13 gives some functions other parameters."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tritonx.backends.nvidia.knobs import knobs
from tritonx.runtime.devices import installed
from tritonx.runtime.errors import MissingLibrary

libraries = ["libcuda.so.1"]
"""What is linked, as gcc's ``-l:`` names it."""

_LIBRARY_NAMES = "libcuda.so", "libcuda.so.1"


class NoDriverLibrary(MissingLibrary, AssertionError):
    """There is no libcuda to link with. Triton asserts it."""


def include_dirs() -> list[str]:
    """The folders with a cuda.h: of a Triton wheel, of PyPI's packages, of CUDA installations."""
    candidates = installed.triton_folders("backends", "nvidia", "include")
    candidates += [folder for root in installed.folders("nvidia") for folder in sorted(root.glob("*/include"))]
    return installed.having([*candidates, *(root / "include" for root in _toolkits())], "cuda.h")


def libcuda_dirs() -> list[str]:
    """The folder that ``knobs.nvidia.libcuda_path`` names, or those where the system's loader finds libcuda. Raises
    an AssertionError that says so where it finds none.

    >>> from tritonx.backends.nvidia.driver import libcuda_dirs
    >>> with tritonx.knobs.nvidia.scope():
    ...     tritonx.knobs.nvidia.libcuda_path = "/opt/driver"
    ...     libcuda_dirs()
    ['/opt/driver']
    """
    if knobs.libcuda_path:
        return [knobs.libcuda_path]
    found = installed.having(_searched_by_the_loader(), *_LIBRARY_NAMES)
    if not found:
        raise NoDriverLibrary(
            "no NVIDIA driver is installed: neither ldconfig nor LD_LIBRARY_PATH knows a libcuda.so.1; "
            "TRITON_LIBCUDA_PATH (knobs.nvidia.libcuda_path) may name a folder that has one"
        )
    return found


def library_dirs() -> list[str]:
    """`libcuda_dirs`, and behind them the folders of CUDA installations with a libcuda to link with where the driver
    itself is not in them. Raises an AssertionError where there is neither.

    >>> from tritonx.backends.nvidia.driver import library_dirs
    >>> with tritonx.knobs.nvidia.scope():
    ...     tritonx.knobs.nvidia.libcuda_path = "/opt/driver"
    ...     library_dirs()[0]
    '/opt/driver'
    """
    stubs = installed.having((root / "lib64" / "stubs" for root in _toolkits()), "libcuda.so")
    try:
        return [*libcuda_dirs(), *stubs]
    except NoDriverLibrary:
        if stubs:
            return stubs
        raise


def _toolkits() -> list[Path]:
    """Where CUDA installations may be."""
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    return [Path(root) for root in roots if root]


def _searched_by_the_loader() -> Iterator[Path]:
    for entry in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry)
    ldconfig = shutil.which("ldconfig") or shutil.which("ldconfig", path="/sbin:/usr/sbin")
    if ldconfig is None:
        return
    listed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, errors="replace", check=False).stdout
    for line in listed.splitlines():  # libcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1
        name, arrow, path = line.strip().partition(" => ")
        if arrow and name.split()[0] in _LIBRARY_NAMES:
            yield Path(path).parent
