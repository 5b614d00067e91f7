"""Finding an OpenCL loader, and telling it where the implementation from the wheels is.

The wheels bring both, but the file by which an installable client driver makes itself known (OpenCL ICD extension,
cl_khr_icd) names a path on the machine where the wheel was built. So a folder of our own with the right path is made,
and named in the environment before the loader starts. What the user has set in OCL_ICD_VENDORS is left alone."""

from __future__ import annotations

import os
import tempfile
from ctypes import CDLL
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tritonx.runtime.errors import NoDevice

RUNTIME = "intel-opencl-rt"
LOADERS = ("libOpenCL.so.1", "libOpenCL.so")
VENDORS = "OCL_ICD_VENDORS"


def load() -> CDLL:
    """The OpenCL loader: that of ``TRITONX_OPENCL_LOADER``, of the wheels, of the system. Raises NoDevice."""
    implementation, shipped = installed("libintelocl.so"), installed(LOADERS[0])
    if implementation is not None and VENDORS not in os.environ:
        CDLL(str(implementation))  # brings the libraries that the wheel's loader needs too, and knows where they are
        with vendors_folder(implementation) as folder:
            os.environ[VENDORS] = folder
            try:
                return _started(_first(shipped))
            finally:
                del os.environ[VENDORS]
    return _started(_first(shipped))


def installed(name: str) -> Path | None:
    """The file ``name`` of the wheel with the implementation."""
    try:
        files = distribution(RUNTIME).files or ()
    except PackageNotFoundError:
        return None
    found = (Path(str(file.locate())).resolve() for file in files if file.name == name)
    return next((path for path in found if path.exists()), None)


def vendors_folder(implementation: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder with the one file that names ``implementation``."""
    folder = tempfile.TemporaryDirectory(prefix="tritonx-opencl-")
    Path(folder.name, "implementation.icd").write_text(f"{implementation}\n")
    return folder


def _first(shipped: Path | None) -> CDLL:
    named = os.environ.get("TRITONX_OPENCL_LOADER")
    candidates = [named] if named else [*filter(None, [shipped and str(shipped)]), *LOADERS]
    for candidate in candidates:
        try:
            return CDLL(candidate)
        except OSError:
            continue
    raise NoDevice(f"no OpenCL loader was found (tried {', '.join(candidates)}): pip install {RUNTIME} brings one")


def _started(loader: CDLL) -> CDLL:
    """The loader reads the folder at the first call."""
    loader.clGetPlatformIDs(0, None, None)
    return loader
