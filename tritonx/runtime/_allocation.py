"""The scratch memory that some kernels need (descriptors made on the device): who provides it.

``tritonx.set_allocator(fn)`` with ``fn(size, alignment, stream)`` → an object with ``data_ptr()``, at least ``size``
bytes. Where there is one, a driver asks ``allocate`` for it at each launch of a kernel with
``metadata.global_scratch_size``; otherwise it provides the memory itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

from tritonx.runtime.errors import NoAllocator


class Buffer(Protocol):
    """Device memory."""

    def data_ptr(self) -> int: ...


Allocator = Callable[[int, int, int | None], Any]


class NullAllocator:
    """The allocator where none was set."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        raise NoAllocator(
            "Kernel requires a runtime memory allocation, but no allocator was set. "
            "Use triton.set_allocator to specify an allocator."
        )


_UNSET = NullAllocator()
_allocator: ContextVar[Allocator] = ContextVar("_allocator", default=_UNSET)
_profile_allocator: ContextVar[Allocator] = ContextVar("_profile_allocator", default=_UNSET)


def set_allocator(allocator: Allocator | None) -> None:
    """Use ``allocator(size, alignment, stream)`` for kernels' scratch memory; None forgets it.

    >>> tritonx.set_allocator(lambda size, alignment, stream: np.empty(size, np.int8))
    >>> tritonx.set_allocator(None)
    """
    _allocator.set(allocator if allocator is not None else _UNSET)


def set_profile_allocator(allocator: Allocator | None) -> None:
    """The same for the buffers of instrumentation."""
    _profile_allocator.set(allocator if allocator is not None else _UNSET)


def has_allocator() -> bool:
    return _allocator.get() is not _UNSET


def allocate(size: int, alignment: int, stream: int | None) -> Any:
    """Scratch memory of ``size`` bytes. Raises NoAllocator."""
    return _allocator.get()(size, alignment, stream)
