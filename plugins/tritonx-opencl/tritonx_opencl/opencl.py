"""The few functions of OpenCL 3.0 that the driver calls, and an exception for what they return."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from tritonx.backends.gpu import NoDevice, TritonError

# cl.h
DEVICE_TYPE_ALL = 0xFFFFFFFF
DEVICE_MAX_COMPUTE_UNITS = 0x1002
DEVICE_MAX_WORK_GROUP_SIZE = 0x1004
DEVICE_LOCAL_MEM_SIZE = 0x1023
DEVICE_NAME = 0x102B
DEVICE_EXTENSIONS = 0x1030
DEVICE_SVM_CAPABILITIES = 0x1053
SVM_COARSE_GRAIN_BUFFER, SVM_FINE_GRAIN_SYSTEM = 1 << 0, 1 << 2
PROGRAM_BUILD_LOG = 0x1183
IL, SUB_GROUPS = "cl_khr_il_program", "cl_khr_subgroup_shuffle"
MOST, TEXT = 64, 1 << 16
"""Platforms, or devices of one, that are looked at, and characters of a text."""

_FOUND, _SIZES = [c_uint32, POINTER(c_void_p), POINTER(c_uint32)], [c_uint32, *[POINTER(c_size_t)] * 3]
_INFO, _STATUS = [c_uint32, c_size_t, c_void_p, c_void_p], POINTER(c_int32)
_RETURN_STATUS: dict[str, list[Any]] = {
    "clGetPlatformIDs": _FOUND,
    "clGetDeviceIDs": [c_void_p, c_uint64, *_FOUND],
    "clGetDeviceInfo": [c_void_p, *_INFO],
    "clBuildProgram": [c_void_p, c_uint32, POINTER(c_void_p), c_char_p, c_void_p, c_void_p],
    "clGetProgramBuildInfo": [c_void_p, c_void_p, *_INFO],
    "clSetKernelArg": [c_void_p, c_uint32, c_size_t, c_void_p],
    "clSetKernelArgSVMPointer": [c_void_p, c_uint32, c_void_p],
    "clEnqueueNDRangeKernel": [c_void_p, c_void_p, *_SIZES, c_uint32, c_void_p, c_void_p],
    "clEnqueueSVMMemcpy": [c_void_p, c_uint32, c_void_p, c_void_p, c_size_t, c_uint32, c_void_p, c_void_p],
    "clFinish": [c_void_p],
}
_MAKE: dict[str, list[Any]] = {
    "clCreateContext": [c_void_p, c_uint32, POINTER(c_void_p), c_void_p, c_void_p, _STATUS],
    "clCreateCommandQueueWithProperties": [c_void_p, c_void_p, c_void_p, _STATUS],
    "clCreateProgramWithIL": [c_void_p, c_char_p, c_size_t, _STATUS],
    "clCreateKernel": [c_void_p, c_char_p, _STATUS],
}
_PLAIN = {"clSVMAlloc": [c_void_p, c_uint64, c_size_t, c_uint32], "clSVMFree": [c_void_p, c_void_p]}


class OpenCLError(TritonError):
    """An OpenCL function returned an error; says which and its number in cl.h."""

    def __str__(self) -> str:
        function, status, *said = self.args
        return ": ".join([f"{function} failed with OpenCL error {status}", *said])


class OpenCL:
    """The functions of a loader, by name: those that return a status raise, those that make an object return it,
    others are attributes."""

    def __init__(self, loader: ctypes.CDLL) -> None:
        self._functions: dict[str, Any] = {name: getattr(loader, name) for name in (*_RETURN_STATUS, *_MAKE, *_PLAIN)}
        for name, function in self._functions.items():
            function.argtypes = _RETURN_STATUS.get(name) or _MAKE.get(name) or _PLAIN[name]
            function.restype = c_int32 if name in _RETURN_STATUS else c_void_p
        self.svm_alloc, self.svm_free = (self._functions[name] for name in _PLAIN)

    def call(self, name: str, *arguments: Any) -> None:
        if status := self._functions[name](*arguments):
            raise OpenCLError(name, status)

    def make(self, name: str, *arguments: Any) -> c_void_p:
        made = self._functions[name](*arguments, byref(status := c_int32()))
        if status.value:
            raise OpenCLError(name, status.value)
        return c_void_p(made)

    def text(self, name: str, *of: Any) -> str:
        self.call(name, *of, TEXT, text := ctypes.create_string_buffer(TEXT), None)
        return text.value.decode(errors="replace")

    def number(self, device: c_void_p, key: int) -> int:
        self.call("clGetDeviceInfo", device, key, 8, byref(cell := c_uint64()), None)
        return cell.value

    def find_device(self) -> c_void_p:
        """The first device that runs SPIR-V and takes pointers: one that sees the host's memory before others, then one
        with sub-groups. Raises NoDevice with the reasons."""
        reasons, found = list[str](), list[c_void_p]()
        platforms = self._list("clGetPlatformIDs")
        for device in [d for platform in platforms for d in self._list("clGetDeviceIDs", platform, DEVICE_TYPE_ALL)]:
            missing = [] if self.has(device, IL) else [IL]
            if not self.number(device, DEVICE_SVM_CAPABILITIES) & SVM_COARSE_GRAIN_BUFFER:
                missing.append("shared virtual memory (SVM, whose pointers a kernel can be given)")
            if missing:
                reasons.append(f"{self.text('clGetDeviceInfo', device, DEVICE_NAME)} has no {', no '.join(missing)}")
            else:
                found.append(device)
        if found:
            return max(found, key=lambda device: (self.sees_host(device), self.has(device, SUB_GROUPS)))
        raise NoDevice("; ".join(reasons) or "the OpenCL loader finds no device (OCL_ICD_VENDORS says where it looks)")

    def sees_host(self, device: c_void_p) -> bool:
        return bool(self.number(device, DEVICE_SVM_CAPABILITIES) & SVM_FINE_GRAIN_SYSTEM)

    def has(self, device: c_void_p, extension: str) -> bool:
        return extension in self.text("clGetDeviceInfo", device, DEVICE_EXTENSIONS).split()

    def _list(self, name: str, *arguments: Any) -> list[c_void_p]:
        count, found = c_uint32(), (c_void_p * MOST)()
        try:
            self.call(name, *arguments, MOST, found, byref(count))
        except OpenCLError:  # no platform is an error of the ICD extension's own, no device one of a platform's
            return []
        return [c_void_p(one) for one in found[: min(count.value, MOST)]]

    def build(self, context: c_void_p, device: c_void_p, binary: bytes, options: str) -> c_void_p:
        """A program from SPIR-V. Raises OpenCLError with what the compiler says."""
        program = self.make("clCreateProgramWithIL", context, binary, len(binary))
        try:
            self.call("clBuildProgram", program, 1, byref(device), options.encode(), None, None)
        except OpenCLError as problem:
            log = self.text("clGetProgramBuildInfo", program, device, PROGRAM_BUILD_LOG)
            raise OpenCLError(*problem.args, log[:2000]) from None
        return program
