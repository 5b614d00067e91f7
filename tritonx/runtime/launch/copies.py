"""Launches on a device that does not see the host's memory: on copies, of which what changed goes back.

The spans of all arguments (`spans`) that overlap are one region, so that what two arguments share stays shared: each
region is copied to memory of the driver's, every pointer becomes the one to the same byte there, and after the launch
the bytes that are no longer what was copied are written to the host. Nothing else is: bytes that the kernel left alone
may have been changed on the host meanwhile. All regions are compared, since ``written`` of a kernel's metadata does not
name every argument that it may store to (a pointer that was an integer comes from none). Pointers keep their alignment,
and there is room beside a region for an access to the whole word that holds its first or last element.

Launches on one array from several threads must be made one after the other, which is the driver's to see to."""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from tritonx.backends.api import Driver, KernelImage, Parameter
from tritonx.runtime.devices.host_driver import ALIGNMENT
from tritonx.runtime.errors import ReadOnlyArgument, UnreachableArgument
from tritonx.runtime.launch.descriptor_parameters import Descriptor, is_descriptor
from tritonx.runtime.launch.spans import Span, SpannedDescriptor, is_pointer, spanned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

_AT_ONCE = 1 << 24
"""Bytes that are compared at once."""


@dataclass
class Region:
    """Host memory of arguments that overlap, from ``start`` to ``end``, and where its copy is."""

    start: int
    end: int
    arguments: list[tuple[str, Span]]
    allocation: int = 0
    address: int = 0
    before: Bytes = field(init=False, repr=False)
    """The bytes as they were copied."""

    def copy_in(self, driver: Driver, device: int) -> None:
        nbytes = self.end - self.start
        self.allocation = driver.allocate(nbytes + 3 * ALIGNMENT, device)
        self.address = -(-self.allocation // ALIGNMENT) * ALIGNMENT + self.start % ALIGNMENT
        self.before = _bytes_at(self.start, nbytes).copy()
        if nbytes:
            driver.copy_to_device(self.address, self.before.data, device)

    def copy_back(self, driver: Driver, device: int) -> str | None:
        """Write what changed. The name of an argument that may not be written to, and was."""
        import numpy as np

        read_only = None
        for at in range(0, len(self.before), _AT_ONCE):
            before = self.before[at : at + _AT_ONCE]
            after = np.empty_like(before)
            driver.copy_to_host(after.data, self.address + at, device)
            changed = before != after
            if changed.any():
                read_only = self._forbid(changed, self.start + at) or read_only
                np.copyto(_bytes_at(self.start + at, len(after)), after, where=changed)
        return read_only

    def _forbid(self, changed: NDArray[np.bool_], start: int) -> str | None:
        """Take the bytes out of ``changed``, which begins at ``start``, that only read-only arguments reach."""
        import numpy as np

        if not any(span.read_only for _, span in self.arguments):
            return None
        allowed = np.zeros_like(changed)
        for _, span in self.arguments:
            if not span.read_only:
                allowed[max(span.start - start, 0) : max(span.end - start, 0)] = True
        wrong = np.flatnonzero(changed & ~allowed)
        changed &= allowed
        if not len(wrong):
            return None
        place = start + int(wrong[0])
        return next(name for name, span in self.arguments if span.start <= place < span.end)


def _bytes_at(start: int, nbytes: int) -> Bytes:
    """The host's memory itself."""
    import numpy as np

    return np.asarray(memoryview((ctypes.c_uint8 * nbytes).from_address(start)))


def regions_of(arguments: Sequence[tuple[str, Span]]) -> list[Region]:
    """The spans by name, those that overlap together."""
    found: list[Region] = []
    for name, span in sorted(arguments, key=lambda argument: argument[1].start):
        if found and (span.start < found[-1].end or span.start == found[-1].start):
            found[-1].end = max(found[-1].end, span.end)
            found[-1].arguments.append((name, span))
        else:
            found.append(Region(span.start, span.end, [(name, span)]))
    return found


@contextmanager
def on_copies(driver: Driver, image: KernelImage, args: Sequence[object], device: int = 0) -> Generator[list[object]]:
    """The arguments of a launch for a driver that takes spans, with addresses on the device in the place of spans; what
    the kernel changed is on the host when the block is left. For another driver the arguments as they are.

    Inside, the kernel runs, and has run at the end. Raises UnreachableArgument for an address that the user gave,
    MemoryError, and at the end ReadOnlyArgument where the kernel stored to an array that may not be written to, which
    keeps what it held."""
    if not driver.takes_spans:
        yield list(args)
        return
    bases = {i: _base(image, p, args[i]) for i, p in enumerate(image.parameters) if is_pointer(p)}
    reached = [(image.parameters[i].name, span) for i, span in bases.items() if span is not None]
    regions = regions_of([(name, span) for name, span in reached if not span.on_device])
    try:
        for region in regions:
            region.copy_in(driver, device)
        yield [_moved(value, bases[i], regions) if i in bases else value for i, value in enumerate(args)]
        written = [region.copy_back(driver, device) for region in regions]
        for name in filter(None, written):
            raise ReadOnlyArgument(image.name, name)
    except BaseException:
        driver.synchronize(device)  # a launch that Ctrl-C came behind may not run on memory that is free again
        raise
    finally:
        for region in regions:
            if region.allocation:
                driver.free(region.allocation, device)


def _base(image: KernelImage, parameter: Parameter, value: object) -> Span | None:
    """The span behind a pointer; None for the null pointer, which arrays without elements may have."""
    base = spanned(cast("Descriptor", value).base if is_descriptor(parameter) else value)
    if isinstance(base, Span):
        return base if base.address else None
    if base is None or base == 0:
        return None
    raise UnreachableArgument(
        f"argument {parameter.name!r} of {image.name}() is {base!r}: an address does not tell how much memory lies "
        f"there, and the device does not see the host's; pass the array"
    )


def _moved(value: object, base: Span | None, regions: Sequence[Region]) -> object:
    """``value``, a pointer or a descriptor with the span ``base``, as the device's code takes it."""
    address = 0 if base is None else base.address
    if base is not None and not base.on_device:
        region = next(r for r in regions if any(span is base for _, span in r.arguments))
        address += region.address - region.start
    return SpannedDescriptor.of(cast("Descriptor", value), address) if hasattr(value, "block_shape") else address
