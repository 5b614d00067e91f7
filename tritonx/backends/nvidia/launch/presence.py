"""Whether there is an NVIDIA GPU, told without starting CUDA: a process forked after that could not use it.

NVML, the library behind nvidia-smi, counts the GPUs of the machine; which of them a process sees is CUDA's rule (CUDA
C++ programming guide, "CUDA environment variables"): the entries of ``CUDA_VISIBLE_DEVICES`` up to the first one that
names none."""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache

LIBRARIES = "libcuda.so.1", "nvcuda.dll"
_NVML = "libnvidia-ml.so.1", "nvml.dll"
_UUID_BYTES = 96
"""NVML_DEVICE_UUID_V2_BUFFER_SIZE, nvml.h of CUDA 13.0."""


def gpu_visible() -> bool | None:
    """Whether CUDA would find a GPU in this process; None where only CUDA itself can tell."""
    return _gpu_visible(os.environ.get("CUDA_VISIBLE_DEVICES"))


@lru_cache(maxsize=4)
def _gpu_visible(visible: str | None) -> bool | None:
    if load(LIBRARIES) is None:
        return False
    uuids = _uuids()
    if uuids is None:
        return None
    if visible is None:
        return bool(uuids)
    first = visible.split(",")[0].strip()
    if first.startswith("MIG-"):  # a part of a GPU
        return None
    if first.startswith("GPU-"):
        return any(uuid.startswith(first) for uuid in uuids)
    return first.isdecimal() and int(first) < len(uuids)


def load(names: tuple[str, ...]) -> ctypes.CDLL | None:
    """The first of these libraries that is there; loading starts nothing."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _uuids() -> list[str] | None:
    """The names of the machine's GPUs; None where NVML cannot tell them."""
    nvml = load(_NVML)
    try:
        if nvml is None or nvml.nvmlInit_v2():
            return None
    except AttributeError:  # another library of that name
        return None
    try:
        count, found = ctypes.c_uint(), list[str]()
        if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
            return None
        for index in range(count.value):
            device, uuid = ctypes.c_void_p(), ctypes.create_string_buffer(_UUID_BYTES)
            if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
                continue  # lost, or not this user's
            if nvml.nvmlDeviceGetUUID(device, uuid, _UUID_BYTES):
                return None
            found.append(uuid.value.decode())
        return found
    finally:
        nvml.nvmlShutdown()
