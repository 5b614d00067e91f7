"""The few functions of OpenCL 3.0 that the driver calls, with their types, and an exception for what they return."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from tritonx.runtime.errors import NoDevice, TritonError

# cl.h
DEVICE_TYPE_ALL = 0xFFFFFFFF
DEVICE_MAX_COMPUTE_UNITS = 0x1002
DEVICE_MAX_WORK_GROUP_SIZE = 0x1004
DEVICE_MAX_CLOCK_FREQUENCY = 0x100C
DEVICE_LOCAL_MEM_SIZE = 0x1023
DEVICE_NAME = 0x102B
DEVICE_EXTENSIONS = 0x1030
DEVICE_SVM_CAPABILITIES = 0x1053
SVM_FINE_GRAIN_SYSTEM = 1 << 2
PROGRAM_BUILD_LOG = 0x1183
NEEDED = ("cl_khr_il_program", "cl_khr_subgroup_shuffle")

_ARGUMENTS: dict[str, tuple[Any, list[Any]]] = {
    "clGetPlatformIDs": (c_int32, [c_uint32, POINTER(c_void_p), POINTER(c_uint32)]),
    "clGetDeviceIDs": (c_int32, [c_void_p, c_uint64, c_uint32, POINTER(c_void_p), POINTER(c_uint32)]),
    "clGetDeviceInfo": (c_int32, [c_void_p, c_uint32, c_size_t, c_void_p, POINTER(c_size_t)]),
    "clCreateContext": (c_void_p, [c_void_p, c_uint32, POINTER(c_void_p), c_void_p, c_void_p, POINTER(c_int32)]),
    "clCreateCommandQueueWithProperties": (c_void_p, [c_void_p, c_void_p, c_void_p, POINTER(c_int32)]),
    "clCreateProgramWithIL": (c_void_p, [c_void_p, c_char_p, c_size_t, POINTER(c_int32)]),
    "clBuildProgram": (c_int32, [c_void_p, c_uint32, POINTER(c_void_p), c_char_p, c_void_p, c_void_p]),
    "clGetProgramBuildInfo": (c_int32, [c_void_p, c_void_p, c_uint32, c_size_t, c_void_p, POINTER(c_size_t)]),
    "clCreateKernel": (c_void_p, [c_void_p, c_char_p, POINTER(c_int32)]),
    "clSetKernelArg": (c_int32, [c_void_p, c_uint32, c_size_t, c_void_p]),
    "clSetKernelArgSVMPointer": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "clEnqueueNDRangeKernel": (
        c_int32,
        [c_void_p, c_void_p, c_uint32, c_void_p, POINTER(c_size_t), POINTER(c_size_t), c_uint32, c_void_p, c_void_p],
    ),
    "clFinish": (c_int32, [c_void_p]),
}


class OpenCLError(TritonError):
    """An OpenCL function returned an error; says which and its number in cl.h."""

    def __init__(self, function: str, status: int, said: str = "") -> None:
        super().__init__(function, status, said)

    def __str__(self) -> str:
        function, status, said = self.args
        return f"{function} failed with OpenCL error {status}{said and ': '}{said}"


class OpenCL:
    """The functions of a loader, by name: those that return a status raise, those that make an object return it."""

    def __init__(self, loader: ctypes.CDLL) -> None:
        self._functions: dict[str, Any] = {}
        for name, (result, arguments) in _ARGUMENTS.items():
            function = self._functions[name] = getattr(loader, name)
            function.restype, function.argtypes = result, arguments

    def call(self, name: str, *arguments: Any) -> None:
        status = self._functions[name](*arguments)
        if status:
            raise OpenCLError(name, status)

    def make(self, name: str, *arguments: Any) -> c_void_p:
        status = c_int32()
        made = self._functions[name](*arguments, byref(status))
        if status.value:
            raise OpenCLError(name, status.value)
        return c_void_p(made)

    # ---- devices

    def text(self, device: c_void_p, key: int) -> str:
        size = c_size_t()
        self.call("clGetDeviceInfo", device, key, 0, None, byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call("clGetDeviceInfo", device, key, size.value, text, None)
        return text.value.decode()

    def number(self, device: c_void_p, key: int) -> int:
        cell = c_uint64()
        self.call("clGetDeviceInfo", device, key, ctypes.sizeof(cell), byref(cell), None)
        return cell.value

    def find_device(self) -> c_void_p:
        """The first device that runs SPIR-V with sub-groups on the host's memory. Raises NoDevice with the reasons."""
        reasons: list[str] = []
        for device in self._devices():
            said = self.text(device, DEVICE_EXTENSIONS).split()
            missing = [extension for extension in NEEDED if extension not in said]
            if not self.number(device, DEVICE_SVM_CAPABILITIES) & SVM_FINE_GRAIN_SYSTEM:
                missing.append("access to the host's memory (fine-grained system SVM)")
            if not missing:
                return device
            reasons.append(f"{self.text(device, DEVICE_NAME)} has no {', no '.join(missing)}")
        raise NoDevice("; ".join(reasons) or "the OpenCL loader finds no device (OCL_ICD_VENDORS says where it looks)")

    def _devices(self) -> list[c_void_p]:
        found: list[c_void_p] = []
        for platform in self._list("clGetPlatformIDs"):
            try:
                found += self._list("clGetDeviceIDs", platform, DEVICE_TYPE_ALL)
            except OpenCLError:  # CL_DEVICE_NOT_FOUND
                continue
        return found

    def _list(self, name: str, *arguments: Any) -> list[c_void_p]:
        count = c_uint32()
        try:
            self.call(name, *arguments, 0, None, byref(count))
        except OpenCLError:  # no platform is an error of the ICD extension's own
            return []
        made = (c_void_p * count.value)()
        self.call(name, *arguments, count.value, made, None)
        return [c_void_p(one) for one in made]

    # ---- programs

    def build(self, context: c_void_p, device: c_void_p, binary: bytes, options: str) -> c_void_p:
        """A program from SPIR-V. Raises OpenCLError with what the compiler says."""
        program = self.make("clCreateProgramWithIL", context, binary, len(binary))
        try:
            self.call("clBuildProgram", program, 1, byref(device), options.encode(), None, None)
        except OpenCLError as problem:
            raise OpenCLError("clBuildProgram", problem.args[1], self._log(program, device)) from None
        return program

    def _log(self, program: c_void_p, device: c_void_p) -> str:
        size = c_size_t()
        self.call("clGetProgramBuildInfo", program, device, PROGRAM_BUILD_LOG, 0, None, byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        self.call("clGetProgramBuildInfo", program, device, PROGRAM_BUILD_LOG, size.value, log, None)
        return log.value.decode(errors="replace")[:2000]
