"""What the examples share: a device to put arrays on, and a report of what a kernel did."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from tritonx.runtime import driver, knobs
from tritonx.runtime.arrays import DeviceArray, empty, to_device

T = TypeVar("T")

BY_LINES = knobs.runtime.interpret
"""Whether kernels run line by line (``TRITONX_INTERPRET=1``): then once, since their time says nothing."""


@dataclass(frozen=True)
class Case:
    """One run of an example.

    ``launch`` enqueues the kernel, ``result`` brings its output to the host, ``numpy`` computes the same in the
    kernel's own precision and ``exact`` in float64. ``tolerance`` bounds ‖result - exact‖ / ‖exact‖."""

    title: str
    shapes: str
    launch: Callable[[], Any]
    result: Callable[[], np.ndarray]
    numpy: Callable[[], np.ndarray]
    exact: Callable[[], np.ndarray]
    tolerance: float


class Device:
    """Where an example runs: the active backend's device, or the host itself.

    Host kernels take NumPy arrays as they are, so nothing is copied for them.
    """

    def __init__(self) -> None:
        self.active = driver.get_active()
        self.target = self.active.get_current_target()
        self.on_host = self.target.backend == "cpu"

    def __str__(self) -> str:
        return str(self.target)

    def put(self, array: np.ndarray) -> np.ndarray | DeviceArray:
        return array if self.on_host else to_device(array)

    def empty(self, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray | DeviceArray:
        """Filled with NaN (integers: all bits set), so that an element that the kernel forgets is seen."""
        host = np.empty(shape, dtype)
        host.fill(np.nan if host.dtype.kind == "f" else -1)
        if self.on_host:
            return host
        made = empty(host.shape, host.dtype)
        return made.copy_from(host)

    def fill(self, array: np.ndarray | DeviceArray, value: int) -> None:
        if isinstance(array, np.ndarray):
            array.fill(value)
        else:
            array.copy_from(value)

    def get(self, array: np.ndarray | DeviceArray) -> np.ndarray:
        return array if isinstance(array, np.ndarray) else array.numpy()

    def synchronize(self) -> None:
        if not self.on_host:
            self.active.get_device_interface().synchronize()


def progress(steps: Iterable[T], count: int, label: str) -> Iterator[T]:
    """Yield ``steps`` with a bar on a terminal that appears once a second has passed."""
    start = time.perf_counter()
    shown = False
    for number, step in enumerate(steps):
        if sys.stderr.isatty() and (shown or time.perf_counter() - start > 1):
            shown = True
            filled = 30 * number // max(count, 1)
            print(f"\r{label} [{'#' * filled}{'.' * (30 - filled)}]", end="", file=sys.stderr, flush=True)
        yield step
    if shown:
        print(f"\r{' ' * (len(label) + 34)}\r", end="", file=sys.stderr, flush=True)


def milliseconds(run: Callable[[], Any], finish: Callable[[], None], label: str, repeat: int = 15) -> float:
    """The least time of ``run``, with what it started: on a busy machine the others measure what else runs."""
    times: list[float] = []
    for _ in progress(range(repeat), repeat, label):
        start = time.perf_counter()
        run()
        finish()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def report(case: Case, device: Device) -> bool:
    """Run ``case``, print a line about it, and say whether it was right."""
    if BY_LINES:
        print(f"{case.title:24s} {case.shapes:32s} line by line, once", end=": ", flush=True)
    start = time.perf_counter()
    case.launch()
    device.synchronize()
    first = (time.perf_counter() - start) * 1e3
    result, exact = case.result().astype(np.float64), case.exact()
    error = float(np.linalg.norm(result - exact) / (np.linalg.norm(exact) or 1.0))
    right = bool(error <= case.tolerance)
    if BY_LINES:
        print(f"error {error:.1e} {'ok' if right else 'WRONG'}, {first / 1e3:.1f} s", flush=True)
        return right
    ours = milliseconds(case.launch, device.synchronize, case.title)
    theirs = milliseconds(case.numpy, lambda: None, f"{case.title}, NumPy")
    print(
        f"{case.title:24s} {case.shapes:32s} on {device}: error {error:.1e} {'ok' if right else 'WRONG'}, "
        f"{ours:8.3f} ms, NumPy {theirs:8.3f} ms ({theirs / ours:.1f}×), first run {first:.0f} ms",
        flush=True,
    )
    return right


def main(make: Callable[[Device, np.random.Generator], Case]) -> None:
    """The body of an example that is run by itself."""
    device = Device()
    sys.exit(0 if report(make(device, np.random.default_rng()), device) else 1)
