"""The memory behind a pointer argument: for a device that does not see it, and gets a copy (`copies`).

A pointer says where, and not how much. What a kernel may reach through one is the memory that the argument was cut
from, since kernels do arithmetic on pointers: the base of a view (NumPy's ``base``, and what that lies in; the storage
of a torch tensor), or the argument's own extent where its protocol tells no more (DLPack, array interfaces).

Addresses that a kernel finds in memory, or makes of integers, are not seen here: what they lead to is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast
from typing import Protocol as Typed

from tritonx.backends.api import Parameter
from tritonx.runtime.errors import UnreachableArgument
from tritonx.runtime.launch.arguments import HOST_INTERFACE, Protocol, array_source, dlpack_tensor
from tritonx.runtime.launch.descriptor_parameters import Descriptor, is_descriptor
from tritonx.runtime.launch.tensor_wrapper import TensorWrapper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tritonx.runtime.devices.device_array import DeviceArray

Bounds = tuple[int, int]
"""The addresses of memory's first byte and of the one behind its last."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a launch hands on for a pointer where the driver takes spans (``Driver.takes_spans``).

    The pointer is ``address``, and may reach the ``nbytes`` from ``start`` on. ``read_only``: the argument may not be
    written to. ``on_device``: the memory is the driver's own, from its ``allocate``, and ``address`` is good there.

    >>> from tritonx.backends.gpu import Span
    >>> Span(address=4096, start=4000, nbytes=200).end
    4200
    """

    address: int
    start: int
    nbytes: int
    read_only: bool = False
    on_device: bool = False

    @property
    def end(self) -> int:
        return self.start + self.nbytes

    def data_ptr(self) -> int:
        return self.address


@dataclass(frozen=True, slots=True)
class SpannedDescriptor:
    """A tensor descriptor whose base is a span, or what took the span's place."""

    base: object
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str
    round_f32_to_tf32: bool = False

    @staticmethod
    def of(descriptor: Descriptor, base: object) -> SpannedDescriptor:
        padding = getattr(descriptor, "padding", "zero")
        rounds = getattr(descriptor, "round_f32_to_tf32", False)
        return SpannedDescriptor(base, descriptor.shape, descriptor.strides, descriptor.block_shape, padding, rounds)


def is_pointer(parameter: Parameter) -> bool:
    """Whether a parameter leads to memory: a pointer, or a descriptor."""
    return parameter.type.startswith("*") or is_descriptor(parameter)


def spanned(value: object) -> object:
    """What a launch hands on for the argument ``value`` of a pointer parameter: the span of an array, a descriptor with
    the span of its base; an address, which says nothing of what lies there, as it is. Raises UnreachableArgument."""
    if value is None or isinstance(value, int | Span | SpannedDescriptor):
        return value
    if hasattr(value, "block_shape"):
        descriptor = cast("Descriptor", value)
        return SpannedDescriptor.of(descriptor, spanned(descriptor.base))
    return span_of(value)


def span_of(array: object) -> Span:
    """The span of an array. Raises UnreachableArgument for one that does not tell how large it is."""
    if isinstance(array, TensorWrapper):
        return span_of(array.base)
    source = array_source(type(array))
    if source is None:
        raise UnreachableArgument(f"{type(array).__name__} is no array, so that nothing is known of its memory")
    address = int(source.facts(array)[2])
    if source.protocol == "own":
        return Span(address, address, cast("DeviceArray", array).nbytes, on_device=True)
    low, high = _BOUNDS[source.protocol](array, address)
    is_read_only = source.read_only
    return Span(address, low, high - low, read_only=is_read_only is not None and is_read_only(array))


def extent(address: int, shape: Iterable[int], strides: Iterable[int], itemsize: int) -> Bounds:
    """The bytes that an array's own elements are in; ``strides`` in bytes, of any sign."""
    low, high = address, address + itemsize
    for length, stride in zip(shape, strides, strict=True):
        if length == 0:
            return address, address
        reach = (length - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high


def _contiguous(shape: Sequence[int], itemsize: int) -> list[int]:
    strides: list[int] = []
    for length in reversed(shape):
        strides.append(itemsize)
        itemsize *= length
    return strides[::-1]


def _joined(own: Bounds, outer: Bounds) -> Bounds:
    """Both, where they touch: what does not is no memory that a view was cut from."""
    if max(own[0], outer[0]) > min(own[1], outer[1]):
        return own
    return min(own[0], outer[0]), max(own[1], outer[1])


def _of_numpy(array: object, address: int) -> Bounds:
    """The array, those that it is a view of, and the buffer or tensor that the last of them lies in."""

    lying = cast("NDArray[np.generic]", array)
    found = extent(address, lying.shape, lying.strides, lying.itemsize)
    base: object = lying.base
    while base is not None:
        found = _joined(found, _of_base(base, found))
        base = _base_of(base)
    return found


def _base_of(base: object) -> object:
    """What a base of an array was itself cut from: of an array, of a memoryview, of a ctypes object, of what stands in
    between for NumPy's ``as_strided``; None where that is not known."""
    if isinstance(base, memoryview):
        return base.obj
    if hasattr(base, HOST_INTERFACE):
        return getattr(base, "base", None)
    return getattr(base, "_b_base_", None)


def _of_base(base: object, otherwise: Bounds) -> Bounds:
    import numpy as np

    if isinstance(base, np.ndarray):
        view = cast("NDArray[np.generic]", base)
        return extent(_start_of(view), view.shape, view.strides, view.itemsize)
    if hasattr(base, "untyped_storage"):
        return _of_tensor(base, otherwise[0])
    try:
        buffer = np.frombuffer(cast("bytes", base), np.uint8)
    except (TypeError, ValueError, BufferError):  # no buffer, one with holes, one that is closed
        return otherwise
    return _start_of(buffer), _start_of(buffer) + buffer.nbytes


def _start_of(array: NDArray[np.generic]) -> int:
    return array.__array_interface__["data"][0]


class _Storage(Typed):
    """Of torch's tensors, which all views of one memory share."""

    def data_ptr(self) -> int: ...
    def nbytes(self) -> int: ...


class _Strided(Typed):
    """What is like a torch tensor."""

    shape: Sequence[int]

    def stride(self) -> Sequence[int]: ...
    def element_size(self) -> int: ...


def _of_tensor(tensor: object, address: int) -> Bounds:
    """A tensor's storage; of what is like a tensor and has none, the extent by shape and strides, or its bytes."""
    storage: Callable[[], _Storage] | None = getattr(tensor, "untyped_storage", None)
    if storage is not None:
        memory = storage()
        return memory.data_ptr(), memory.data_ptr() + memory.nbytes()
    if all(hasattr(tensor, name) for name in ("shape", "stride", "element_size")):
        strided = cast("_Strided", tensor)
        itemsize = strided.element_size()
        return extent(address, strided.shape, [step * itemsize for step in strided.stride()], itemsize)
    nbytes: object = getattr(tensor, "nbytes", None)
    if not isinstance(nbytes, int):
        raise UnreachableArgument(
            f"{type(tensor).__name__} does not tell how large it is (by untyped_storage(), by shape, stride() and "
            f"element_size(), or by nbytes), and the device does not see the host's memory"
        )
    return address, address + nbytes


class _Interface(TypedDict):
    """Of NumPy's array interface, version 3."""

    shape: tuple[int, ...]
    typestr: str
    strides: NotRequired[tuple[int, ...] | None]


def _of_interface(array: object, address: int) -> Bounds:
    interface: _Interface | None = getattr(array, HOST_INTERFACE, None)
    if interface is None:
        return _of_dlpack(array, address)
    shape, itemsize = interface["shape"], int(interface["typestr"][2:])
    return extent(address, shape, interface.get("strides") or _contiguous(shape, itemsize), itemsize)


def _of_dlpack(array: object, address: int) -> Bounds:
    _capsule, tensor = dlpack_tensor(array)
    itemsize = -(-tensor.bits * tensor.lanes // 8)
    shape: list[int] = tensor.shape[: tensor.ndim]
    strides = [step * itemsize for step in tensor.strides[: tensor.ndim]] if tensor.strides else None
    return extent(address, shape, strides or _contiguous(shape, itemsize), itemsize)


_BOUNDS: Mapping[Protocol, Callable[[object, int], Bounds]] = {
    "numpy": _of_numpy,
    "data_ptr": _of_tensor,
    "interface": _of_interface,
    "dlpack": _of_dlpack,
}
