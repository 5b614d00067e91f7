"""Launches through OpenCL on a device that shares the host's memory: an array is passed by its address."""

from __future__ import annotations

import ctypes
import os
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_size_t
from typing import Any

from tritonx.backends.api import Driver, KernelImage, LoadedKernel, Target
from tritonx.runtime.errors import OutOfResources
from tritonx.runtime.parameter_values import bfloat16_bits, letter
from tritonx_opencl import BACKEND, SUB_GROUP, icd, opencl

ALIGNMENT = 128
"""Bytes; LLVM's data layout aligns nothing more."""


class OpenCLKernel:
    """A built program, and the function that a launch enqueues."""

    n_regs = 0
    n_spills = 0

    def __init__(self, driver: OpenCLDriver, image: KernelImage) -> None:
        self.driver = driver
        self.threads = int(image.metadata["num_warps"]) * int(image.metadata["warp_size"])
        self.n_max_threads = driver.max_threads
        if self.threads > driver.max_threads:
            raise OutOfResources(self.threads, driver.max_threads, "threads")
        if (shared := int(image.metadata["shared"])) > driver.local_bytes:
            raise OutOfResources(shared, driver.local_bytes, "shared memory")
        options = f"{image.metadata['build_options']} {os.environ.get('TRITONX_OPENCL_BUILD', '')}"
        program = driver.cl.build(driver.context, driver.device, bytes(image.binary), options)
        self.function: Any = driver.cl.make("clCreateKernel", program, image.name.encode())
        self.types = [parameter.type for parameter in image.parameters]

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[Any]) -> None:
        call = self.driver.cl.call
        for at, (type_, value) in enumerate(zip(self.types, args, strict=True)):
            if type_.startswith("*"):
                call("clSetKernelArgSVMPointer", self.function, at, host_address(value))
            else:
                cell = packed(type_, value)
                call("clSetKernelArg", self.function, at, len(cell), cell)
        size = (c_size_t * 3)(grid[0] * self.threads, grid[1], grid[2])
        local = (c_size_t * 3)(self.threads, 1, 1)
        call("clEnqueueNDRangeKernel", self.driver.queue, self.function, 3, None, size, local, 0, None, None)
        self.driver.synchronize()  # the caller's arrays may be gone once this returns


def host_address(value: Any) -> int:
    """The address of an array on the host, or an address itself."""
    if isinstance(value, int):
        return value
    if value is None:
        return 0
    if (method := getattr(value, "data_ptr", None)) is not None:
        return int(method())
    return int(value.__array_interface__["data"][0])


def packed(type_: str, value: Any) -> bytes:
    """A scalar argument as OpenCL takes it; an i1 takes a byte."""
    return struct.pack(f"={letter(type_)}", bfloat16_bits(value) if type_ == "bf16" else value)


class OpenCLDriver(Driver):
    """One device, for which ``TRITONX_OPENCL_TARGET`` chooses the target (``TARGETS``). Its compiler is given
    what stands in ``TRITONX_OPENCL_BUILD`` beside a kernel's ``build_options``."""

    def __init__(self) -> None:
        cl = self.cl = opencl.OpenCL(icd.load())
        device = self.device = cl.find_device()
        self.name = cl.text(device, opencl.DEVICE_NAME)
        self.context = cl.make("clCreateContext", None, 1, byref(device), None, None)
        self.queue = cl.make("clCreateCommandQueueWithProperties", self.context, device, None)
        self.local_bytes = cl.number(device, opencl.DEVICE_LOCAL_MEM_SIZE)
        self.max_threads = cl.number(device, opencl.DEVICE_MAX_WORK_GROUP_SIZE)
        self._allocated: dict[int, Any] = {}

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def current_stream(self, device: int) -> int:
        return 0

    def current_target(self, device: int | None = None) -> Target:
        return BACKEND.parse_target(os.environ.get("TRITONX_OPENCL_TARGET", ""))

    def properties(self, device: int) -> Mapping[str, int]:
        return {
            "multiprocessor_count": self.cl.number(self.device, opencl.DEVICE_MAX_COMPUTE_UNITS),
            "max_shared_mem": self.local_bytes,
            "max_num_regs": 0,
            "warpSize": SUB_GROUP,
            "sm_clock_rate": self.cl.number(self.device, opencl.DEVICE_MAX_CLOCK_FREQUENCY) * 1000,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
        }

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        return OpenCLKernel(self, image)

    # ---- memory: the host's own

    def allocate(self, nbytes: int, device: int) -> int:
        buffer = ctypes.create_string_buffer(nbytes + ALIGNMENT)
        address = -(-ctypes.addressof(buffer) // ALIGNMENT) * ALIGNMENT
        self._allocated[address] = buffer
        return address

    def free(self, address: int, device: int) -> None:
        del self._allocated[address]

    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None:
        ctypes.memmove(destination, bytes(source), source.nbytes)

    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None:
        destination.cast("B")[:] = ctypes.string_at(source, destination.nbytes)

    # ---- time

    def synchronize(self, device: int | None = None) -> None:
        self.cl.call("clFinish", self.queue)

    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        times: list[float] = []
        for _ in range(repeat):
            start = time.perf_counter_ns()
            run()
            self.synchronize()
            times.append((time.perf_counter_ns() - start) / 1e6)
        return times
