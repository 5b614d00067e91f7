"""Triton's names in ``triton.backends.nvidia.driver``, which `tritonx.backends.nvidia.driver` gives on."""

from __future__ import annotations

from tritonx.backends.api import Target as GPUTarget
from tritonx.backends.driver import GPUDriver
from tritonx.backends.nvidia import BACKEND
from tritonx.backends.nvidia.launch import c_folders
from tritonx.backends.nvidia.launch.c_folders import libcuda_dirs, libraries, library_dirs
from tritonx.runtime.build import compile_module_from_src
from tritonx.runtime.devices.cpp_types import FLOAT_PACK_FUNCTION, FLOAT_STORAGE_TYPE, cpp_type
from tritonx.runtime.driver import driver_class
from tritonx.runtime.refusals import refusing

__all__ = [
    "FLOAT_PACK_FUNCTION",
    "FLOAT_STORAGE_TYPE",
    "CudaDriver",
    "GPUDriver",
    "GPUTarget",
    "compile_module_from_src",
    "libcuda_dirs",
    "libraries",
    "library_dirs",
    "ty_to_cpp",
]

CudaDriver = driver_class(BACKEND)
"""What ``driver.active`` is an instance of where kernels run on these GPUs."""


def ty_to_cpp(ty: str) -> str:
    """The C++ type of a kernel's parameter of this type (``*fp32``, ``i64``). Raises KeyError for a type that is none.

    >>> ty_to_cpp("*fp32"), ty_to_cpp("u8")
    ('CUdeviceptr', 'uint8_t')
    """
    return cpp_type(BACKEND, ty)


_LAUNCH = "kernels are launched without a compiled C launcher; ``CompiledKernel.run`` launches"


def _looked_for(name: str) -> object:
    """What is looked for on the machine when it is asked for."""
    if name == "include_dirs":
        return c_folders.include_dirs()
    raise AttributeError(f"module 'tritonx.backends.nvidia.driver' has no attribute {name!r}")


__getattr__ = refusing(
    "tritonx.backends.nvidia.driver",
    {
        "CudaLauncher": _LAUNCH,
        "CudaUtils": "the driver is called through ctypes; ``driver.active.utils`` has the devices' properties",
        "PyCUtensorMap": "descriptors are encoded by the launch itself",
        "TMA_DTYPE_DEVICE_TO_HOST": "descriptors are encoded by the launch itself",
        "libdevice_dir": "``knobs.nvidia.libdevice_path`` names the file",
        "make_launcher": _LAUNCH,
        "make_tensordesc_arg": _LAUNCH,
        "wrap_handle_tensordesc": _LAUNCH,
    },
    _looked_for,
)
