"""Launches of kernels whose accesses are checked (`check-bounds`): the table of ranges, and the reports.

A pointer among a launch's values is an address, so that such a launch needs the arguments themselves: which memory each
leads to is decided as the interpreter decides it. Each launch builds its table, waits for the kernel and reads the
reports; it costs that much more than another one. A launch that a graph records can neither allocate nor wait: it runs
the kernel without checks."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.backends.api import Driver, Parameter
from tritonx.ir.access_table import EVERYTHING, first_report, table_words
from tritonx.runtime.devices.drivers import driver_of, find_backend
from tritonx.runtime.devices.host_driver import HostDriver
from tritonx.runtime.errors import DeviceAssertError, UnreachableArgument
from tritonx.runtime.launch.spans import is_pointer, span_of

if TYPE_CHECKING:
    from tritonx.interpreter.memory import Memory
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel, RawLaunch

NamedArrays = Sequence[tuple[str, object]]
"""The arguments that lead to memory: how each is written, and its value."""


def named_arrays(parameters: Sequence[Parameter], values: Sequence[object]) -> NamedArrays:
    """The arguments of a launch by position that lead to memory."""
    return [(p.name, value) for p, value in zip(parameters, values, strict=True) if is_pointer(p)]


@dataclass(frozen=True)
class CheckedLaunch:
    """What a launch is, but for its values."""

    kernel: CompiledKernel
    launch: RawLaunch
    device: int
    grid: tuple[int, int, int]
    stream: int

    def __call__(self, *values: object) -> None:
        self.launch(*self.grid, self.stream, *values)


def run_checked(launch: CheckedLaunch, values: Sequence[object], arrays: NamedArrays) -> None:
    """Launch, wait, and raise `OutOfBoundsAccess` for what the kernel reports."""
    driver = driver_of(find_backend(launch.kernel.target.backend))
    ranges, on_host = int(launch.kernel.metadata.access_ranges), isinstance(driver, HostDriver)
    if driver.is_recording():
        launch.kernel.unchecked().load(launch.device)[1](*launch.grid, launch.stream, *values)
        return
    memory = memory_of(arrays, on_host=on_host)
    found = [EVERYTHING] if memory is None else memory.bounds()
    words = table_words(found, ranges)
    table = (ctypes.c_uint64 * len(words))(*words)
    run = _run_on_host if on_host else _run_on_device
    failure = run(launch, driver, values, table)
    report = first_report(table, ranges)  # pyright: ignore[reportArgumentType]  # a ctypes array is a sequence
    if report is not None and memory is not None:
        from tritonx.runtime.launch.bounds_report import fault_of

        raise fault_of(launch.kernel, report, memory, launch.grid) from None
    if failure is not None:
        raise failure


Table = ctypes.Array[ctypes.c_uint64]


def _run_on_host(
    launch: CheckedLaunch, driver: Driver, values: Sequence[object], table: Table
) -> DeviceAssertError | None:
    """The kernel reads the table where it is. A program that has reported ends by an assertion."""
    try:
        launch(*values, ctypes.addressof(table))
    except DeviceAssertError as error:
        return error
    return None


def _run_on_device(
    launch: CheckedLaunch, driver: Driver, values: Sequence[object], table: Table
) -> DeviceAssertError | None:
    """The kernel gets a copy, on its device."""
    nbytes, device = ctypes.sizeof(table), launch.device
    view = memoryview(table).cast("B")
    driver.synchronize(device)
    address = driver.allocate(nbytes, device)
    try:
        driver.copy_to_device(address, view, device)
        driver.synchronize(device)
        launch(*values, address)
        driver.synchronize(device)
        driver.copy_to_host(view, address, device)
    finally:
        driver.free(address, device)
    return None


def memory_of(arrays: NamedArrays, *, on_host: bool) -> Memory | None:
    """The memory of the arguments; None where one of them does not tell how large its memory is, as an address."""
    from tritonx.interpreter.errors import InvalidLaunch
    from tritonx.interpreter.host import HostMemory

    host = HostMemory()
    for name, value in arrays:
        array: object = getattr(value, "base", None) if hasattr(value, "block_shape") else value
        if array is None:
            continue
        if isinstance(array, int):
            return None
        try:
            if on_host:
                host.address(array, name)
            else:
                span = span_of(array)
                host.memory.register_range(span.start, span.nbytes, name, keeper=array)
        except (InvalidLaunch, UnreachableArgument):
            return None
    return host.memory
