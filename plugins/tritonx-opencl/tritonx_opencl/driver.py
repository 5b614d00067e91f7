"""Launches through OpenCL: an array is passed by its address where the device sees the host's memory, and copied to
memory of the device's and back where it does not (coarse-grained SVM)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from ctypes import byref, c_size_t
from threading import Lock
from typing import Any

import numpy as np

from tritonx.backends.api import Backend, KernelImage, LoadedKernel, Target
from tritonx.backends.gpu import FlatParameters, HostDriver, NoDevice, OutOfResources, host_address, on_copies, packed
from tritonx_opencl import SUB_GROUP, icd, opencl

ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
UNOPTIMISED = "-cl-opt-disable"
"""A kernel of 4,000 lines builds in 1.3 s instead of 70. Sub-groups need the optimiser: without it Intel's have one
work item whatever size is required."""


class OpenCLKernel:
    """A built program, and the function that a launch enqueues."""

    n_regs = n_spills = 0

    def __init__(self, driver: OpenCLDriver, image: KernelImage) -> None:
        self.driver, self.image, lanes = driver, image, int(image.metadata["warp_size"])
        self.threads, self.n_max_threads = int(image.metadata["num_warps"]) * lanes, driver.max_threads
        if self.threads > driver.max_threads:
            raise OutOfResources(self.threads, driver.max_threads, "threads")
        if (shared := int(image.metadata["shared"])) > driver.local_bytes:
            raise OutOfResources(shared, driver.local_bytes, "shared memory")
        options = ROUNDED if lanes > 1 else f"{ROUNDED} {UNOPTIMISED}"
        program = driver.cl.build(driver.context, driver.device, bytes(image.binary), options)
        self.function: Any = driver.cl.make("clCreateKernel", program, image.name.encode())
        self.parameters = FlatParameters.of(image.parameters)

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[Any]) -> None:
        # The function holds its arguments, and two launches on one array may not be on two copies of it.
        with self.driver.one_at_a_time, on_copies(self.driver, self.image, args) as reachable:
            self.run(grid, self.parameters.values(reachable))

    def run(self, grid: tuple[int, int, int], values: Sequence[Any]) -> None:
        call = self.driver.cl.call
        for at, (type_, value) in enumerate(zip(self.parameters.types, values, strict=True)):
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
        self.backend, self.one_at_a_time = backend, Lock()
        self.takes_spans = bool(os.environ.get("TRITONX_OPENCL_COPIES")) or not cl.sees_host(device)
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

    def allocate(self, nbytes: int, device: int) -> int:
        if address := self.cl.svm_alloc(self.context, 0, nbytes, 0):
            return int(address)
        raise MemoryError(f"the OpenCL device has no {nbytes} bytes")

    def free(self, address: int, device: int) -> None:
        self.cl.svm_free(self.context, address)

    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None:
        self.copy(destination, host_address(np.asarray(source)), source.nbytes)

    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None:
        self.copy(host_address(np.asarray(destination)), source, destination.nbytes)

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        self.cl.call("clEnqueueSVMMemcpy", self.queue, True, destination, source, nbytes, 0, None, None)

    def synchronize(self, device: int | None = None) -> None:
        self.cl.call("clFinish", self.queue)
