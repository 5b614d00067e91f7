"""Triton's names in ``triton.backends.nvidia.driver``, which `tritonx.backends.nvidia.driver` gives on."""

from __future__ import annotations

from tritonx.backends.api import Target as GPUTarget
from tritonx.backends.driver import GPUDriver
from tritonx.backends.nvidia import BACKEND
from tritonx.runtime.build import compile_module_from_src
from tritonx.runtime.cpp_types import FLOAT_PACK_FUNCTION, FLOAT_STORAGE_TYPE, cpp_type
from tritonx.runtime.driver import driver_class
from tritonx.runtime.refusals import refusing

__all__ = [
    "FLOAT_PACK_FUNCTION",
    "FLOAT_STORAGE_TYPE",
    "CudaDriver",
    "GPUDriver",
    "GPUTarget",
    "compile_module_from_src",
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
_COMPILE = "nothing is compiled against the driver's library, which is called through ctypes"

__getattr__ = refusing(
    "tritonx.backends.nvidia.driver",
    {
        "CudaLauncher": _LAUNCH,
        "CudaUtils": "the driver is called through ctypes; ``driver.active.utils`` has the devices' properties",
        "PyCUtensorMap": "descriptors are encoded by the launch itself",
        "TMA_DTYPE_DEVICE_TO_HOST": "descriptors are encoded by the launch itself",
        "include_dirs": _COMPILE,
        "libcuda_dirs": _COMPILE,
        "libdevice_dir": "``knobs.nvidia.libdevice_path`` names the file",
        "libraries": _COMPILE,
        "library_dirs": _COMPILE,
        "make_launcher": _LAUNCH,
        "make_tensordesc_arg": _LAUNCH,
        "wrap_handle_tensordesc": _LAUNCH,
    },
)
