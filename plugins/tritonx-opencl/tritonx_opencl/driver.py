"""Launches through OpenCL on a device that shares the host's memory: an array is passed by its address."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from ctypes import byref, c_size_t
from typing import Any

from tritonx.backends.api import Backend, KernelImage, LoadedKernel, Target
from tritonx.backends.gpu import HostDriver, NoDevice, OutOfResources, host_address, packed
from tritonx_opencl import SUB_GROUP, icd, opencl

ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
UNOPTIMISED = "-cl-opt-disable"
"""A kernel of 4,000 lines builds in 1.3 s instead of 70. Sub-groups need the optimiser: without it Intel's have one
work item whatever size is required."""


class OpenCLKernel:
    """A built program, and the function that a launch enqueues."""

    n_regs = 0
    n_spills = 0

    def __init__(self, driver: OpenCLDriver, image: KernelImage) -> None:
        self.driver, lanes = driver, int(image.metadata["warp_size"])
        self.threads, self.n_max_threads = int(image.metadata["num_warps"]) * lanes, driver.max_threads
        if self.threads > driver.max_threads:
            raise OutOfResources(self.threads, driver.max_threads, "threads")
        if (shared := int(image.metadata["shared"])) > driver.local_bytes:
            raise OutOfResources(shared, driver.local_bytes, "shared memory")
        options = ROUNDED if lanes > 1 else f"{ROUNDED} {UNOPTIMISED}"
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
        size, local = (c_size_t * 3)(grid[0] * self.threads, *grid[1:]), (c_size_t * 3)(self.threads, 1, 1)
        call("clEnqueueNDRangeKernel", self.driver.queue, self.function, 3, None, size, local, 0, None, None)
        self.driver.synchronize()  # the caller's arrays may be gone once this returns


class OpenCLDriver(HostDriver):
    """One device, for which ``TRITONX_OPENCL_TARGET`` chooses the target: sub-groups, unless it has none."""

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        cl = self.cl = opencl.OpenCL(icd.load())
        device = self.device = cl.find_device()
        self.backend = backend
        self.context = cl.make("clCreateContext", None, 1, byref(device), None, None)
        self.queue = cl.make("clCreateCommandQueueWithProperties", self.context, device, None)
        self.local_bytes = cl.number(device, opencl.DEVICE_LOCAL_MEM_SIZE)
        self.max_threads = cl.number(device, opencl.DEVICE_MAX_WORK_GROUP_SIZE)

    def current_target(self, device: int | None = None) -> Target:
        has_sub_groups = self.cl.has(self.device, opencl.SUB_GROUPS)
        target = self.backend.parse_target(
            os.environ.get("TRITONX_OPENCL_TARGET") or ("" if has_sub_groups else "items")
        )
        if target.warp_size > 1 and not has_sub_groups:
            raise NoDevice(f"the device has no {opencl.SUB_GROUPS}, which {target} needs; opencl:items needs none")
        return target

    def known_properties(self) -> Mapping[str, int]:
        units = self.cl.number(self.device, opencl.DEVICE_MAX_COMPUTE_UNITS)
        return {"multiprocessor_count": units, "max_shared_mem": self.local_bytes, "warpSize": SUB_GROUP}

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        return OpenCLKernel(self, image)

    def synchronize(self, device: int | None = None) -> None:
        self.cl.call("clFinish", self.queue)
