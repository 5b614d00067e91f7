"""libcuda with an emulator for a GPU: launches, by the launcher's own machine code as well, execute PTX."""

from __future__ import annotations

import ctypes
import os
import traceback
from typing import Any

from tritonx.backends.nvidia.launch.launcher import LaunchConfig
from tritonx_testing.emulators.ptx import tensor_map, warp_group
from tritonx_testing.emulators.ptx.memory import Segment
from tritonx_testing.emulators.ptx.run import execute, window
from tritonx_testing.emulators.ptx.tensor_map import NBYTES
from tritonx_testing.emulators.ptx.text import Program, parse
from tritonx_testing.emulators.ptx.threads import Fault
from tritonx_testing.emulators.simulated_cuda import ATTRIBUTES, SimulatedCuda

ALIGNMENT = 256
INVALID_VALUE, LAUNCH_FAILED, NOT_SUPPORTED = 1, 719, 801
MAJOR, MINOR, MULTIPROCESSORS = 75, 76, 16
_CLUSTER = 4
"""CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION."""


class EmulatedCuda(SimulatedCuda):
    """One device. Its memory is what was allocated, each allocation by itself; an argument that points to other memory
    leads to what this process may write there. A fault is the name of the error that the launch returns."""

    def __init__(self, arch: int, *, multiprocessors: int = 4) -> None:
        super().__init__(devices=1)
        self.attributes = {**ATTRIBUTES, MAJOR: arch // 10, MINOR: arch % 10, MULTIPROCESSORS: multiprocessors}
        self.seed = int(os.environ.get("TRITONX_SEED") or 0)
        self.modules: list[tuple[str, Program]] = []
        self.fault = ""
        self.executed = ""
        """The PTX of the last launch."""
        pointer, number = ctypes.c_void_p, ctypes.c_uint
        kernel = ctypes.CFUNCTYPE(ctypes.c_int, pointer, *[number] * 7, *[pointer] * 3)
        self.cuLaunchKernel = kernel(self._launch)
        self.cuCtxGetCurrent = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(pointer))(self._current)
        self.cuTensorMapEncodeTiled = tensor_map.encode

    def _current(self, out: Any) -> int:
        out[0] = self.current
        return 0

    def _cuGetErrorName(self, code: int, out: Any) -> None:
        out._obj.value = (self.fault or f"CUDA_ERROR_{code}").encode()

    def _cuDeviceGetAttribute(self, out: Any, number: int, handle: Any) -> None:
        out._obj.value = self.attributes[number]

    # ---- memory

    def _cuMemAlloc_v2(self, out: Any, size: Any) -> int:
        held = ctypes.create_string_buffer(size.value + ALIGNMENT)
        address = -(-ctypes.addressof(held) // ALIGNMENT) * ALIGNMENT
        out._obj.value = address
        self.memory[address] = held, size.value
        return 0

    def _cuMemAllocFromPoolAsync(self, out: Any, size: Any, pool: Any, stream: Any) -> int:
        return self._cuMemAlloc_v2(out, size)

    def _cuMemFreeAsync(self, address: Any, stream: Any) -> None:
        self._cuMemFree_v2(address)

    def _cuMemsetD32Async(self, address: Any, value: int, count: Any, stream: Any) -> None:
        (ctypes.c_uint32 * count.value).from_address(address.value)[:] = [value] * count.value

    def segments(self, arguments: list[bytes]) -> list[Segment]:
        """What a kernel with these arguments may reach. A tensor map begins with its tensor's address."""
        allocations = self.memory.copy()  # arrays without references are freed at any time
        own = [window(address, nbytes, "an allocation") for address, (_, nbytes) in allocations.items()]
        pointers = {int.from_bytes(a[:8], "little") for a in arguments if len(a) in (8, NBYTES)}
        elsewhere = {p for p in pointers if all(not s.start <= p <= s.end for s in own)}
        places = writable() if elsewhere else []
        return own + [window(a, b - a, "this process") for a, b in places if any(a <= p < b for p in elsewhere)]

    # ---- kernels

    def _cuModuleLoadData(self, out: Any, binary: bytes | str) -> None:
        text = binary.decode() if isinstance(binary, bytes) else binary
        self.modules.append((text, parse(text)))
        out._obj.value = len(self.modules)

    def _cuModuleGetFunction(self, out: Any, module: Any, name: bytes) -> None:
        out._obj.value = module.value

    def _cuFuncGetAttribute(self, out: Any, number: int, function: Any) -> None:
        out._obj.value = (1024, 0, 0, 0, 32)[number]

    def _cuFuncGetParamInfo(self, function: Any, index: Any, offset: Any, size: Any) -> int:
        program = self.modules[function.value - 1][1]
        parameters = program.functions[program.kernel].parameters
        if index.value >= len(parameters):
            return INVALID_VALUE
        size._obj.value = parameters[index.value].nbytes
        return 0

    def _cuEventElapsedTime_v2(self, out: Any, start: Any, stop: Any) -> None:
        out._obj.value = 1.0

    def _launch(self, function: int, x: int, y: int, z: int, *rest: int) -> int:
        """Called from C, which no exception may pass."""
        try:
            self._execute(*self.modules[function - 1], (x, y, z), *rest)
        except Exception as problem:
            self.fault = f"{problem}"
            if not isinstance(problem, Fault):  # a fault of the emulator
                self.fault = "".join(traceback.format_exception(problem))
            return LAUNCH_FAILED
        return 0

    def _execute(
        self, text: str, program: Program, grid: tuple[int, int, int], threads: int, y: int, z: int, shared: int,
        stream: int, block: int, extra: int, cluster: int = 1,
    ) -> None:  # fmt: skip
        kernel = program.functions[program.kernel]
        if program.threads != threads * y * z:
            raise Fault(f"{threads} threads are launched of a kernel of {program.threads}")
        if program.cluster != cluster or grid[0] % cluster:
            raise Fault(f"{grid[0]} blocks in clusters of {cluster} are launched of a kernel of {program.cluster}")
        cells = (ctypes.c_void_p * len(kernel.parameters)).from_address(block) if kernel.parameters else ()
        arguments = [ctypes.string_at(c, p.nbytes) for c, p in zip(cells, kernel.parameters, strict=True)]
        self.seed += 1
        self.executed = text
        try:
            execute(program, grid, arguments, self.segments(arguments), shared, self.seed, warp_group.TABLE)
        except Fault as fault:
            raise Fault(f"{kernel.name}: {fault}") from None

    def _cuLaunchKernelEx(self, config: Any, function: Any, block: Any, extra: Any) -> int:
        made = LaunchConfig.from_buffer_copy(config._obj)
        shapes = [made.attributes[n].value[:3] for n in range(made.count) if made.attributes[n].id == _CLUSTER]
        x, y, z = shapes[0] if shapes else (1, 1, 1)
        if y * z != 1:
            self.fault = "clusters of several rows of blocks are not executed here"
            return NOT_SUPPORTED
        grid, threads = (made.gx, made.gy, made.gz), (made.bx, made.by, made.bz)
        return self._launch(function.value, *grid, *threads, made.shared, 0, ctypes.addressof(block), 0, x)


def writable() -> list[tuple[int, int]]:
    """Where this process may write, neighbours as one."""
    found: list[tuple[int, int]] = []
    with open("/proc/self/maps", encoding="utf-8") as lines:
        for line in lines:
            place, rights, *_ = line.split()
            start, end = (int(number, 16) for number in place.split("-"))
            if not rights.startswith("rw"):
                continue
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, end))
    return found
