"""What can be a pointer argument: how to read an array's dtype, device and address, by the protocol its class offers.

| protocol | arrays | device |
|---|---|---|
| NumPy's own structure | ``numpy.ndarray`` and its subclasses | host |
| ``data_ptr()``, ``dtype``, ``device`` | torch, and whatever follows it | the tensor's |
| tritonx's own | ``tritonx.runtime.arrays.DeviceArray`` | the backend's |
| array interfaces (the attributes that backends name) | CuPy, Numba, NumPy-likes | by attribute |
| DLPack | JAX and the rest | DLPack's number |

The address is read at every launch, so this is part of the hot path. NumPy's public ways to an address cost a
microsecond; the pointer is the first field of the array's structure (NumPy's C API, ``PyArrayObject``), at 16 bytes
from the object on a CPython with the GIL. That is checked against the public way before it is relied on.
"""

from __future__ import annotations

import ctypes
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import tritonx.backends.registry as registry
from tritonx.runtime.errors import UnsupportedArgument

Facts = tuple[Any, Any, int]
"""(dtype, something hashable that tells devices apart, address)."""

Location = tuple[str, Any, int]
"""(protocol, device kind in that protocol, device index)."""

HOST_INTERFACE = "__array_interface__"

Protocol = Literal["numpy", "own", "data_ptr", "interface", "dlpack"]
"""The rows of the table above."""


@dataclass(frozen=True)
class ArraySource:
    """How to read arrays of one class.

    ``location`` is called once per (dtype, device, alignment), ``facts`` at every launch.
    """

    facts: Callable[[Any], Facts]
    location: Callable[[Any], Location | None]
    protocol: Protocol
    is_tensor: bool = False
    """Every array of the class has ``dtype``, ``device`` and ``data_ptr()``, as torch's."""

    memory: Any = None
    """The words of memory from ``HEAD_BYTES`` on, where the arrays are on the host and hold their address there: the
    address in ``array`` is ``memory[id(array) >> 3]``."""

    read_only: Callable[[Any], bool] | None = None
    """Whether an array may not be written to; None where the protocol does not tell."""


def array_source(kind: type) -> ArraySource | None:
    """The way to read arrays of class ``kind``; None if it is no array."""
    source = _source_by_protocol(kind)
    if source is not None and any(map(_is_jax, kind.__mro__)):
        return replace(source, read_only=_is_immutable)
    return source


def _is_immutable(array: object) -> bool:
    """JAX's arrays are, and share their memory."""
    return True


def _is_jax(base: type) -> bool:
    """Whether it is ``jax.Array``, which names itself by where it is defined."""
    return base.__module__.partition(".")[0] in ("jax", "jaxlib") and base.__name__.rpartition(".")[2] == "Array"


def _source_by_protocol(kind: type) -> ArraySource | None:
    if any(base.__module__ == "numpy" and base.__name__ == "ndarray" for base in kind.__mro__):
        return _numpy_source()
    if getattr(kind, "__tritonx_array__", False):
        return ArraySource(lambda a: (a.dtype, a.place, a.address), lambda a: a.place, "own")
    if hasattr(kind, "data_ptr"):
        return ArraySource(_data_ptr_facts, _data_ptr_location, "data_ptr", is_tensor=hasattr(kind, "device"))
    interfaces = [name for name in _interface_names() if hasattr(kind, name)]
    dlpack = hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__")
    if interfaces:
        return _interface_source(interfaces, dlpack)
    if dlpack:
        return ArraySource(_dlpack_facts, _dlpack_location, "dlpack", read_only=_is_read_only_dlpack)
    return None


def describe_location(location: Location | None) -> str:
    """For messages: ``host memory``, ``cuda:1``."""
    if location is None:
        return "nowhere"
    protocol, kind, index = location
    if kind in (HOST_INTERFACE, "cpu") or (protocol == "dlpack" and kind == 1):
        return "host memory"
    if protocol == "dlpack":
        return f"DLPack device ({kind}, {index})"
    if protocol == "interface":
        return f"device memory ({kind})"
    return f"{kind}:{index}"


# NumPy ---------------------------------------------------------------------------------------------------------------

HEAD_BYTES = 16
"""PyObject_HEAD, a reference count and a type, which the address follows."""

FLAGS_BYTE = HEAD_BYTES + 48 + 1
"""Where the second byte of the array's flags is, behind its address, number of dimensions, two pointers, base and
dtype."""

WRITEABLE = 0x4
"""``NPY_ARRAY_WRITEABLE``, in that byte."""


@cache
def flag_bytes() -> Any:
    """The bytes of memory from ``FLAGS_BYTE`` on: those flags of ``array`` are ``flag_bytes()[id(array)]``."""
    return (ctypes.c_uint8 * (1 << 62)).from_address(FLAGS_BYTE)


def _is_read_only_numpy(array: Any) -> bool:
    return not array.flags.writeable


def _public_facts(array: Any) -> Facts:
    return array.dtype, 1, array.__array_interface__["data"][0]


def _numpy_source() -> ArraySource:
    def location(_: object) -> Location:
        return ("interface", HOST_INTERFACE, 0)

    memory = _words_of_memory()
    if memory is None:
        return ArraySource(_public_facts, location, "numpy", read_only=_is_read_only_numpy)
    facts: Callable[[Any], Facts] = lambda a: (a.dtype, 1, memory[id(a) >> 3])  # noqa: E731
    return ArraySource(facts, location, "numpy", memory=memory, read_only=_is_read_only_numpy)


def _words_of_memory() -> Any:
    """``ArraySource.memory``, indexing which is one C call; None where NumPy's arrays are not laid out as expected."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    import numpy

    memory: Any = (ctypes.c_uint64 * (1 << 59)).from_address(HEAD_BYTES)
    fixed = numpy.zeros((2, 3))
    fixed.flags.writeable = False
    for sample in (numpy.zeros(3), numpy.zeros(64, numpy.int8)[5:], numpy.zeros((4, 4))[1:, 1:], numpy.zeros(0), fixed):
        if id(sample) & 7 or memory[id(sample) >> 3] != sample.ctypes.data:
            return None
        if bool(flag_bytes()[id(sample)] & WRITEABLE) != sample.flags.writeable:
            return None
    return memory


# torch and its like --------------------------------------------------------------------------------------------------


def _data_ptr_facts(tensor: Any) -> Facts:
    return tensor.dtype, getattr(tensor, "device", None), tensor.data_ptr()


def _data_ptr_location(tensor: object) -> Location | None:
    device = getattr(tensor, "device", None)
    if device is None:
        return None  # a stand-in that is nowhere
    kind = getattr(device, "type", None)
    if kind is None:  # a device given as text
        kind, _, index = str(device).partition(":")
        return ("torch", kind, int(index or 0))
    return ("torch", kind, device.index or 0)


# Array interfaces and DLPack -----------------------------------------------------------------------------------------


def _interface_names() -> tuple[str, ...]:
    """Every attribute that a backend names; the host's last, because device arrays may offer both."""
    names = {name for backend in registry.available().values() for name in backend.array_interfaces}
    return (*sorted(names - {HOST_INTERFACE}), HOST_INTERFACE)


_KINDS = {"f": "float", "i": "int", "u": "uint", "b": "bool", "c": "complex", "V": "void"}


def _typestr_name(typestr: str) -> str:
    order, kind, size = typestr[0], typestr[1], int(typestr[2:])
    if order == (">" if sys.byteorder == "little" else "<") and size > 1:
        return f"byte-swapped {typestr}"
    return "bool" if kind == "b" else f"{_KINDS.get(kind, kind)}{8 * size}"


def _interface_source(names: list[str], dlpack: bool) -> ArraySource:
    def find(array: Any) -> tuple[str, Any]:
        for name in names:
            try:
                return name, getattr(array, name)
            except (AttributeError, RuntimeError, TypeError):  # the class has the attribute, this array does not
                continue
        return "", None

    def facts(array: object) -> Facts:
        name, interface = find(array)
        if interface is None:
            if dlpack:
                return _dlpack_facts(array)
            raise UnsupportedArgument(f"{type(array).__name__} offers none of {', '.join(names)}")
        dtype = getattr(array, "dtype", None)
        device = getattr(array, "device", None)
        index = getattr(device, "id", 0) if device is not None else 0
        known = dtype if dtype is not None else _typestr_name(interface["typestr"])
        return known, (name, index), interface["data"][0] or 0

    def location(array: object) -> Location | None:
        name, interface = find(array)
        if interface is None:
            return _dlpack_location(array)
        index = getattr(getattr(array, "device", None), "id", 0)
        return ("interface", name, index if isinstance(index, int) else 0)

    def read_only(array: object) -> bool:
        _, interface = find(array)
        if interface is None:
            return dlpack and _is_read_only_dlpack(array)
        return bool(interface["data"][1])

    return ArraySource(facts, location, "interface", read_only=read_only)


class DLTensor(ctypes.Structure):
    """``DLTensor`` of dlpack.h; a managed tensor of the unversioned protocol begins with it."""

    _fields_ = [  # ctypes' own convention
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_DLPACK_DTYPES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}


class _Exporter(typing.Protocol):
    def __dlpack__(self) -> object: ...


def dlpack_tensor(array: object) -> tuple[object, DLTensor]:
    """The capsule of ``array``, and the `DLTensor` in it, which is there as long as the capsule is."""
    capsule = typing.cast("_Exporter", array).__dlpack__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return capsule, DLTensor.from_address(get_pointer(capsule, b"dltensor"))


def _dlpack_facts(array: Any) -> Facts:
    _capsule, tensor = dlpack_tensor(array)
    kind = _DLPACK_DTYPES.get(tensor.code, f"dlpack type {tensor.code} of ")
    name = "bool" if kind == "bool" else f"{kind}{tensor.bits}"
    address = (tensor.data or 0) + tensor.byte_offset
    return name, (tensor.device_type, tensor.device_id), address


def _dlpack_location(array: Any) -> Location:
    kind, index = array.__dlpack_device__()
    return ("dlpack", int(kind), int(index))


_VERSIONED_FLAGS = 24
"""Bytes of a ``DLManagedTensorVersioned`` before its flags: two words of the version, two pointers."""

_READ_ONLY = 1
"""``DLPACK_FLAG_BITMASK_READ_ONLY``."""


def _is_read_only_dlpack(array: Any) -> bool:
    """What the versioned protocol says. The older one has no words for it: there an exporter of read-only memory has to
    refuse."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # an exporter from before there were versions
        return False
    name = b"dltensor_versioned"
    if not ctypes.pythonapi.PyCapsule_IsValid(ctypes.py_object(capsule), name):
        return False
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return bool(ctypes.c_uint64.from_address(get_pointer(capsule, name) + _VERSIONED_FLAGS).value & _READ_ONLY)
