"""Global memory that the programs of a launch have while it runs (descriptors that a kernel makes itself).

Where the user has named an allocator (`tritonx.set_allocator`), that is asked. Otherwise the driver's stream-ordered
allocator is (CUDA driver API, "Stream Ordered Memory Allocator"): memory is taken in front of the launch and given back
behind it, in the order of the launch's stream. So two launches that may overlap never share any, whatever streams they
are in, and what a launch gave back the next one in its stream gets again at once; a launch that is captured into a
graph has an allocation of the graph's own. The pool keeps what it has when the device is waited for, as the device's
default pool does not."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from tritonx.runtime._allocation import allocate, has_allocator
from tritonx.runtime.launch.parameter_values import address_of

_PINNED, _DEVICE = 1, 1
"""CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE."""
_RELEASE_THRESHOLD = 4
"""CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: bytes (u64) that a pool keeps."""
_OUT_OF_MEMORY = 2


class PoolProperties(ctypes.Structure):
    """CUmemPoolProps; the end is reserved and must be 0."""

    _fields_ = (
        ("allocation", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", ctypes.c_int),
        ("device", ctypes.c_int),
        ("security", ctypes.c_void_p),
        ("reserved", ctypes.c_ubyte * 64),
    )


class ScratchMemory:
    """Of one device; ``check(code, call)`` raises an error with the ``code``."""

    def __init__(self, cuda: ctypes.CDLL, device: int, check: Callable[[int, str], None]) -> None:
        self.cuda = cuda
        self.device = device
        self.check = check
        self._pool: ctypes.c_void_p | None = None
        self._lock = threading.Lock()

    @contextmanager
    def lent(self, nbytes: int, alignment: int, stream: int) -> Generator[int]:
        """The address of so many bytes, for what is enqueued inside. A context of the device must be current."""
        if has_allocator():
            buffer = allocate(nbytes, alignment, stream)
            yield address_of(buffer)  # whose allocator knows the stream, and so keeps the memory for the launch
            return
        # cuMemAllocFromPoolAsync aligns to 256 bytes at least, as cuMemAlloc does.
        address, order = ctypes.c_uint64(), ctypes.c_void_p(stream)
        code = self.cuda.cuMemAllocFromPoolAsync(
            ctypes.byref(address), ctypes.c_size_t(max(nbytes, 1)), self.pool(), order
        )
        if code == _OUT_OF_MEMORY:
            raise MemoryError(f"the device has no {nbytes} bytes left for a launch's scratch memory")
        self.check(code, "cuMemAllocFromPoolAsync")
        try:
            yield address.value
        finally:
            self.check(self.cuda.cuMemFreeAsync(address, order), "cuMemFreeAsync")

    def pool(self) -> ctypes.c_void_p:
        with self._lock:
            if self._pool is None:
                self._pool = self._made()
        return self._pool

    def _made(self) -> ctypes.c_void_p:
        pool, everything = ctypes.c_void_p(), ctypes.c_uint64(2**64 - 1)
        wanted = PoolProperties(allocation=_PINNED, location=_DEVICE, device=self.device)
        self.check(self.cuda.cuMemPoolCreate(ctypes.byref(pool), ctypes.byref(wanted)), "cuMemPoolCreate")
        code = self.cuda.cuMemPoolSetAttribute(pool, ctypes.c_int(_RELEASE_THRESHOLD), ctypes.byref(everything))
        self.check(code, "cuMemPoolSetAttribute")
        return pool
