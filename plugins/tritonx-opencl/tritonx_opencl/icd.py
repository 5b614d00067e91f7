"""Finding an OpenCL loader, and telling it where the implementation from the wheels is.

The wheels bring both, but the file by which an implementation makes itself known (cl_khr_icd) names a path on the
machine where the wheel was built. So a folder with the right path is named in the environment while the loader
starts."""

from __future__ import annotations

import os
import tempfile
from ctypes import CDLL
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tritonx.backends.gpu import NoDevice

RUNTIME = "intel-opencl-rt"
LOADERS = ("libOpenCL.so.1", "libOpenCL.so")
VENDORS = "OCL_ICD_VENDORS"


def load() -> CDLL:
    """The OpenCL loader: that of ``TRITONX_OPENCL_LOADER``, of the wheels, of the system. Raises NoDevice."""
    implementation, shipped = installed("libintelocl.so"), installed(LOADERS[0])
    if implementation is None or VENDORS in os.environ:  # what the user has set is left alone
        return _started(shipped)
    CDLL(str(implementation))  # brings the libraries that the wheel's loader needs too, and knows where they are
    with tempfile.TemporaryDirectory(prefix="tritonx-opencl-") as folder:
        Path(folder, "implementation.icd").write_text(f"{implementation}\n")
        os.environ[VENDORS] = folder
        try:
            return _started(shipped)
        finally:
            del os.environ[VENDORS]


def installed(name: str) -> Path | None:
    """The file ``name`` of the wheel with the implementation."""
    try:
        files = distribution(RUNTIME).files or ()
    except PackageNotFoundError:
        return None
    found = (Path(str(file.locate())).resolve() for file in files if file.name == name)
    return next((path for path in found if path.exists()), None)


def _started(shipped: Path | None) -> CDLL:
    """The first loader that is there. It reads the folder at the first call."""
    named = os.environ.get("TRITONX_OPENCL_LOADER")
    candidates = [named] if named else [*filter(None, [shipped and str(shipped)]), *LOADERS]
    for candidate in candidates:
        try:
            loader = CDLL(candidate)
        except OSError:
            continue
        loader.clGetPlatformIDs(0, None, None)
        return loader
    raise NoDevice(f"no OpenCL loader was found (tried {', '.join(candidates)}): pip install {RUNTIME} brings one")
