"""Where a launch runs: the arguments decide, unless a backend was chosen for all launches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tritonx.backends.registry as registry
from tritonx.backends.api import Backend, Target
from tritonx.runtime import driver
from tritonx.runtime.devices.drivers import driver_of
from tritonx.runtime.errors import MixedDevices, NoBackend, UnreachableArgument
from tritonx.runtime.launch.arg_spec import ArgSpec
from tritonx.runtime.launch.arguments import Location, describe_location


@dataclass(frozen=True)
class Placement:
    """A backend, one of its devices, and that device's target."""

    backend: Backend
    device: int
    target: Target


def _located(names: Sequence[str], specs: Sequence[ArgSpec]) -> Iterator[tuple[str, Location]]:
    for name, spec in zip(names, specs, strict=True):
        if spec.elements is not None:
            yield from _located([f"{name}[{i}]" for i in range(len(spec.elements))], spec.elements)
        elif spec.location is not None:
            yield name, spec.location


def _require_served(backend: Backend, located: Sequence[tuple[str, Location]]) -> None:
    for name, location in located:
        if not backend.serves(location):
            raise UnreachableArgument(
                f"argument {name!r} lives in {describe_location(location)}, where the backend {backend.name!r} that "
                f"set_active or TRITONX_BACKEND chose cannot reach it; copy it there "
                f"(tritonx.runtime.arrays.to_device) or call tritonx.runtime.driver.reset_active()"
            )


def _common_backend(located: Sequence[tuple[str, Location]]) -> Backend:
    """The first backend that reaches every argument."""
    backends = registry.available()
    firsts: dict[Location, str] = {}
    for name, location in located:
        firsts.setdefault(location, name)
    for backend in backends.values():
        if all(registry.serves(backend, location) for location in firsts):
            return backend
    for location, name in firsts.items():
        if not registry.serving(location):
            raise NoBackend(
                f"argument {name!r} lives in {describe_location(location)}, and no installed backend runs there "
                f"(there are {', '.join(backends) or 'none'})"
            )
    first_name, first = located[0]
    home = set(registry.serving(first))
    other_name, other = next(((n, at) for n, at in located if not home & set(registry.serving(at))), located[-1])
    raise MixedDevices(
        f"argument {first_name!r} lives in {describe_location(first)} and argument {other_name!r} in "
        f"{describe_location(other)}: copy one of them, so that one device reaches both"
    )


def place(names: Sequence[str], specs: Sequence[ArgSpec]) -> Placement:
    """The placement of a launch with these arguments. Raises MixedDevices, NoBackend, UnsupportedArgument, NoDevice."""
    located = list(_located(names, specs))
    chosen = driver.override()
    if chosen is not None:
        backend = chosen.backend
        _require_served(backend, located)
    elif located:
        backend = _common_backend(located)
    else:
        backend = driver.get_active().backend
    own = driver_of(backend)
    device = own.current_device()
    devices = [(name, at) for name, at in located if at[0] in ("torch", "backend", "dlpack") and own.device_count() > 1]
    for name, location in devices:
        if location[2] != devices[0][1][2]:
            raise MixedDevices(
                f"argument {devices[0][0]!r} lives in {describe_location(devices[0][1])} and argument {name!r} in "
                f"{describe_location(location)}: a kernel runs on one device"
            )
    if devices:
        device = devices[0][1][2]
    return Placement(backend, device, own.current_target(device))
