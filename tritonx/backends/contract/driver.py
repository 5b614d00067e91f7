"""What runs a finished compile: devices, memory, streams and launches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from tritonx.backends.contract.options import Target
from tritonx.backends.contract.timing import ClockTimer, LaunchTimer


@dataclass(frozen=True)
class Parameter:
    """One run-time parameter of a compiled kernel, in order; constexpr parameters are not among them.

    ``type`` is Triton's name: ``*fp32``, ``i32``, ``u64``, ``fp32``, ``u1``, ``tensordesc<fp16[128, 64]>``.

    >>> Parameter("x", "*fp32").type
    '*fp32'
    """

    name: str
    type: str


@dataclass(frozen=True)
class KernelImage:
    """A finished compile as the driver gets it: what is stored in the cache on disk.

    ``name`` is the entry symbol. ``metadata`` holds at least ``num_warps``, ``num_ctas``, ``shared`` (bytes of dynamic
    shared memory), ``global_scratch_size``/``global_scratch_align`` (bytes a program) and ``warp_size``.

    >>> compiled = double.warmup(np.zeros(8, np.float32), BLOCK=8, grid=(1,))
    >>> compiled.image().parameters
    (Parameter(name='x', type='*fp32'),)
    """

    name: str
    binary: bytes
    parameters: tuple[Parameter, ...]
    metadata: Mapping[str, Any]
    target: Target
    portable: Callable[[], str] | None = field(default=None, compare=False)
    """The text of `Backend.portable_stage`, which the driver may assemble for a device of another architecture than the
    target's; None where there is none."""
    signature: Callable[[], Mapping[str, object] | Mapping[int, str]] | None = field(default=None, compare=False)
    """Gives the types of the source's parameters by name, ``constexpr`` among them."""


class LoadedKernel(Protocol):
    """A kernel image in a device's memory."""

    n_regs: int
    n_spills: int
    n_max_threads: int

    @property
    def function(self) -> object:
        """The driver's handle."""
        ...

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[object]) -> None:
        """Enqueue the grid. ``args`` follow the image's parameters; pointers come as arrays or as integer addresses,
        and for a driver with ``takes_spans`` as spans."""
        ...


class Driver(ABC):
    """Devices, memory, streams and launches of one backend. Made once, at the first launch.

    >>> driver = tritonx.backends.backends["cpu"].compiler.driver()
    >>> isinstance(driver, Driver), driver.device_count(), str(driver.current_target()).partition(":")[0]
    (True, 1, 'cpu')
    """

    takes_spans: bool = False
    """Whether launches hand on, for a pointer, the memory that may be reached through it
    (`tritonx.backends.gpu.Span`) and not its address: for a device that does not see the memory which its backend
    serves. `tritonx.backends.gpu.on_copies` makes addresses of them. Each launch then looks at its arguments again;
    an integer that the user gave for a pointer stays one."""

    @abstractmethod
    def device_count(self) -> int: ...

    @abstractmethod
    def current_device(self) -> int: ...

    def activate(self, device: int) -> None:
        """Make ``device`` this thread's current one. A backend of one device has nothing to do."""
        if not 0 <= device < self.device_count():
            raise ValueError(f"there is no device {device}; there are {self.device_count()}")

    @abstractmethod
    def current_stream(self, device: int) -> int: ...

    @abstractmethod
    def current_target(self, device: int | None = None) -> Target: ...

    @abstractmethod
    def properties(self, device: int) -> Mapping[str, int]:
        """At least Triton's keys: multiprocessor_count, max_shared_mem, max_num_regs, warpSize, sm_clock_rate (kHz),
        mem_clock_rate (kHz), mem_bus_width (bits)."""

    @abstractmethod
    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        """Raises ``tritonx.runtime.errors.OutOfResources`` where the kernel needs more than the device has."""

    @abstractmethod
    def allocate(self, nbytes: int, device: int) -> int:
        """The address of new device memory; raises ``MemoryError``."""

    @abstractmethod
    def free(self, address: int, device: int) -> None: ...

    @abstractmethod
    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None: ...

    @abstractmethod
    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None: ...

    @abstractmethod
    def synchronize(self, device: int | None = None) -> None: ...

    region_record_ticks: ClassVar[int] = 0
    """What one record of a region takes of the clock that it reads, to be left out where that is asked; 0: unknown."""

    def is_recording(self) -> bool:
        """Whether this thread's launches are recorded, to be run later: nothing may wait for them."""
        return False

    @abstractmethod
    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        """Milliseconds of each of ``repeat`` runs on the device's own clock."""

    def time_graph(self, run: Callable[[], object], milliseconds: float) -> list[float]:
        """Milliseconds of each run, recorded into a graph and replayed for about ``milliseconds``. Optional."""
        raise NotImplementedError

    def launch_timers(self) -> Mapping[str, Callable[[], LaunchTimer]]:
        """The ways to time launches while a program is profiled, by name, the best one first; one that cannot be used
        raises ``NoTimer`` with the reason when it is made, and the next one is taken."""
        return {"clock": lambda: ClockTimer(self.synchronize)}

    def make_launcher(self, image: KernelImage, kernel: LoadedKernel) -> Callable[..., None]:
        """A callable ``(grid_x, grid_y, grid_z, stream, *args)``: the hot path. Override it where a faster one
        exists."""

        def launcher(x: int, y: int, z: int, stream: int, *args: object) -> None:
            kernel.launch((x, y, z), stream, args)

        return launcher
