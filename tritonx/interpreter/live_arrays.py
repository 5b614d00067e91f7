"""The arrays of this process by the addresses in them: what a table of addresses points into.

A kernel may read addresses from memory and access what lies there: grouped products and mixtures of experts have such
tables. The interpreter checks every access against the arrays that it knows, and the launch passes the table alone. So
where a kernel makes a pointer of an integer, or loads one, each address that lies in no known array is looked up among
the arrays that are alive: NumPy's, PyTorch's on the host, and any object with an ``__array_interface__``. What is found
becomes memory of the launch, bounds and all; an address that lies in none stays unknown, and an access is an error.

An array is found that a frame of a running thread, a module or any object of Python holds. Memory that no array
describes is named by ``reachable``.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any, cast

import numpy as np

from tritonx.interpreter.memory import Memory, byte_bounds


@dataclass(frozen=True, slots=True)
class Extent:
    """Memory at [``low``, ``high``) that ``keeper`` owns."""

    low: int
    high: int
    name: str
    keeper: object
    writeable: bool = True


_named: ContextVar[tuple[Extent, ...]] = ContextVar("tritonx_reachable", default=())


@contextmanager
def reachable(*memory: object) -> Generator[None]:
    """Interpreted kernels that read addresses from memory may access this: arrays, or (address, bytes).

    >>> from tritonx.interpreter import reachable
    >>> x = np.ones(4, np.float32)
    >>> with reachable(x, (x.ctypes.data, x.nbytes)):
    ...     pass
    """
    found = [_named_extent(each) for each in memory]
    token = _named.set((*_named.get(), *found))
    try:
        yield
    finally:
        _named.reset(token)


def _named_extent(memory: object) -> Extent:
    if isinstance(memory, tuple):
        address, nbytes = (int(number) for number in cast("tuple[int, int]", memory))
        return Extent(address, address + nbytes, f"the memory at {address:#x}", None)
    found = _extent_of(memory)
    if found is None:
        raise TypeError(f"reachable takes arrays of the host and pairs (address, bytes), got {type(memory).__name__}")
    return found


class LiveArrays:
    """Finds, for one launch, the memory that addresses lie in, and registers it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._extents: list[Extent] | None = None
        self._unknown: set[int] = set()

    def admit(self, addresses: np.ndarray) -> None:
        """Make memory of the launch of what these addresses lie in, as far as it is known."""
        if not np.size(addresses) or self._memory.holds(int(np.min(addresses)), int(np.max(addresses))):
            return
        for address in {int(each) for each in np.unique(addresses)} - self._unknown:
            if address and not self._memory.holds(address, address) and not self._found(address):
                self._unknown.add(address)

    def _found(self, address: int) -> bool:
        if self._extents is None:
            self._extents = [*_named.get(), *_live_extents()]
        found = [each for each in self._extents if each.low <= address < each.high]
        if not found:
            return False
        widest = max(found, key=lambda each: each.high - each.low)
        self._memory.register_range(
            widest.low, widest.high - widest.low, widest.name, keeper=widest.keeper, writeable=widest.writeable
        )
        return True


def _live_extents() -> list[Extent]:
    found = (_extent_of(each) for each in _live_arrays())
    return [each for each in found if each is not None and each.high > each.low]


def _extent_of(value: object) -> Extent | None:
    if isinstance(value, np.ndarray):
        array = cast(np.ndarray, value)
        low, high = byte_bounds(array)
        name = f"the array {array.dtype}{list(array.shape)} at {low:#x}"
        return Extent(low, high, name, array, array.flags.writeable)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _tensor_extent(value)
    return None


def _tensor_extent(tensor: Any) -> Extent | None:
    """The whole storage, as for an argument; None of a tensor that has none here."""
    try:
        if tensor.device.type != "cpu":
            return None
        storage = tensor.untyped_storage()
        low, size = int(storage.data_ptr()), int(storage.nbytes())
    except (RuntimeError, NotImplementedError):  # sparse, fake and functional tensors
        return None
    name = f"the tensor {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)} at {tensor.data_ptr():#x}"
    return Extent(low, low + size, name, tensor)


def _live_arrays() -> Iterable[object]:
    """The arrays among all objects that the collector knows, what they and the frames of threads hold."""
    kinds = _kinds()
    left: list[object] = gc.get_referents(*gc.get_objects())
    for frame in sys._current_frames().values():  # pyright: ignore[reportPrivateUsage]  # documented all the same
        left += _held_by(frame)
    found: dict[int, object] = {}
    opened: dict[int, object] = {}
    while left:
        holders: dict[int, object] = {}
        for each in left:  # millions, in a large process
            kind = type(each)
            if kind in kinds:
                found[id(each)] = each
            elif (kind is tuple or kind is dict) and not gc.is_tracked(each):
                # A tuple or a dictionary of arrays alone is no object of the collector's.
                holders[id(each)] = each
        fresh = [each for key, each in holders.items() if key not in opened]
        opened |= holders
        left = gc.get_referents(*fresh)
    return found.values()


def _kinds() -> set[type]:
    """The classes of arrays, with those derived from them."""
    torch = sys.modules.get("torch")
    kinds: set[type] = set()
    left: list[type] = [np.ndarray] if torch is None else [np.ndarray, torch.Tensor]
    while left:
        kind = left.pop()
        if kind not in kinds:
            kinds.add(kind)
            left += type.__subclasses__(kind)
    return kinds


def _held_by(frame: FrameType | None) -> list[object]:
    """The local variables of a frame and of those that called it."""
    held: list[object] = []
    while frame is not None:
        held += frame.f_locals.values()
        frame = frame.f_back
    return held
