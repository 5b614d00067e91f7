"""Triton's names in ``triton.backends.amd.driver``, which `tritonx.backends.amd.driver` gives on."""

from __future__ import annotations

from tritonx.backends.amd import BACKEND
from tritonx.backends.amd.launch import c_folders
from tritonx.backends.api import Target as GPUTarget
from tritonx.backends.driver import GPUDriver
from tritonx.runtime.build import compile_module_from_src
from tritonx.runtime.devices.cpp_types import FLOAT_PACK_FUNCTION, FLOAT_STORAGE_TYPE, cpp_type
from tritonx.runtime.driver import driver_class
from tritonx.runtime.refusals import refusing

__all__ = [
    "FLOAT_PACK_FUNCTION",
    "FLOAT_STORAGE_TYPE",
    "GPUDriver",
    "GPUTarget",
    "HIPDriver",
    "compile_module_from_src",
    "ty_to_cpp",
]

HIPDriver = driver_class(BACKEND)
"""What ``driver.active`` is an instance of where kernels run on these GPUs."""


def ty_to_cpp(ty: str) -> str:
    """The C++ type of a kernel's parameter of this type (``*fp32``, ``i64``). Raises KeyError for a type that is none.

    >>> ty_to_cpp("*fp32"), ty_to_cpp("u8")
    ('hipDeviceptr_t', 'uint8_t')
    """
    return cpp_type(BACKEND, ty)


def _looked_for(name: str) -> object:
    """What is looked for on the machine when it is asked for."""
    if name == "include_dirs":
        return c_folders.include_dirs()
    raise AttributeError(f"module 'tritonx.backends.amd.driver' has no attribute {name!r}")


_LAUNCH = "kernels are launched without a compiled C launcher; ``CompiledKernel.run`` launches"
__getattr__ = refusing(
    "tritonx.backends.amd.driver",
    {
        "HIPLauncher": _LAUNCH,
        "HIPUtils": "the driver is called through hip-python; ``driver.active.utils`` has the devices' properties",
        "PyTDMDescriptor": "descriptors are arguments of the launch itself",
        "make_launcher": _LAUNCH,
        "make_tensordesc_arg": _LAUNCH,
        "wrap_handle_tensordesc": _LAUNCH,
    },
    _looked_for,
)
