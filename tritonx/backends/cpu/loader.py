"""Object files in this process: linking, the table of globals that compiled kernels read, and calling them.

Each kernel is a library of one LLJIT; a cached object is linked and ready in about 0.4 ms. The kernel's builtin (see
`conversion/tile_to_loops/entry.py`) is made into a Python function object here. On interpreters whose objects it cannot
read (no GIL, not CPython) the same entry point is called through ctypes with a packed context.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import struct
import sys
import sysconfig
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, cached_property
from typing import cast
from weakref import WeakSet

from tritonx.backends.api import KernelImage
from tritonx.backends.cpu.argument_memory import address_of
from tritonx.backends.cpu.host import available_threads, host_isa
from tritonx.backends.cpu.overlap import overlap
from tritonx.conversion.llvm_binding import Jit, Library, binding
from tritonx.conversion.tile_to_loops.disjoint import Pair
from tritonx.conversion.tile_to_loops.entry import CALLABLES, EXPORTED, RECORD_BYTES, Context
from tritonx.runtime.errors import DeviceAssertError, IrregularArgument, NullPointer, TritonError
from tritonx.runtime.launch.descriptor_parameters import FlatParameters
from tritonx.runtime.launch.parameter_values import bfloat16_bits

_METH_FASTCALL = 0x0080
_RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_WORKER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_names = itertools.count()
_lock = threading.Lock()


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef; it must outlive the function made from it."""

    _fields_ = (  # pyright: ignore[reportUnannotatedClassAttribute]  # ctypes reads the plain attribute
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtins_work() -> bool:
    """Whether a METH_FASTCALL function that reads object headers is right for this interpreter."""
    if sys.implementation.name != "cpython":
        return False
    flags = getattr(sys, "abiflags", None)  # where there are none, asking for the variable reads no file
    return not sysconfig.get_config_var("Py_GIL_DISABLED") if flags is None else "t" not in flags


@cache
def _jit() -> Jit:
    from tritonx.backends.cpu.codegen import target_machine

    llvm = binding()

    return llvm.create_lljit_compiler(target_machine(host_isa()), use_jit_link=False)


@cache
def parallel_function() -> int:
    """The address of ``GOMP_parallel``, or 0 where there is no libgomp."""
    for find in (lambda: "libgomp.so.1", _find_gomp):
        name = find()
        if name is None:
            continue
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
            return ctypes.cast(library.GOMP_parallel, ctypes.c_void_p).value or 0
        except (OSError, AttributeError):
            continue
    return 0


def _find_gomp() -> str | None:
    """Its name here, which another program is run for."""
    from ctypes.util import find_library  # which imports much

    return find_library("gomp")


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="tritonx")


def _link(binary: bytes, foreign: bool) -> Library:
    """The object in this process: symbol → address. By our own linker where it can, since that loads no LLVM. LLVM's
    gets a ``foreign`` object, one of text that is not wholly ours, only after it has linked it in a helper process:
    raises ``TritonError`` where it did not."""
    from tritonx.backends.cpu.libm import addresses, resolve_symbols
    from tritonx.runtime.devices import elf

    reason = ""
    if elf.supported():
        try:
            return elf.Library(binary, addresses())
        except elf.LinkError as error:
            reason = str(error)
    if foreign:
        _try_elsewhere(binary, reason)
    return _by_llvm(binary, resolve_symbols(binary))


def _by_llvm(binary: bytes, imports: Mapping[str, int]) -> Library:
    llvm = binding()
    builder = llvm.JITLibraryBuilder().add_object_img(binary).add_current_process()
    for name, address in imports.items():
        builder.import_symbol(name, address)
    for name in (*EXPORTED, "tx.launch"):
        builder.export_symbol(name)
    with _lock:
        return builder.link(_jit(), f"kernel{next(_names)}")


def _try_elsewhere(binary: bytes, reason: str) -> None:
    from tritonx.runtime import knobs
    from tritonx.runtime.isolation.helper import FunctionFailed, HelperFailure
    from tritonx.runtime.isolation.pool import pool

    try:
        text, seconds = binary.hex(), knobs.compilation.isolate_timeout
        pool().run("tritonx.backends.cpu.loader:try_to_link", text, {}, seconds)
    except (HelperFailure, FunctionFailed) as error:
        words = "; ".join(filter(None, ("the kernel's object cannot be linked", reason, str(error))))
        raise UnlinkableObject(words) from None


def try_to_link(text: str) -> dict[str, str | bytes]:
    """Link an object, given in hexadecimal digits, by LLVM: what a helper process is asked to survive."""
    from tritonx.backends.cpu.libm import resolve_symbols

    binary = bytes.fromhex(text)
    _by_llvm(binary, resolve_symbols(binary))
    return {}


class UnlinkableObject(TritonError):
    """The object that was made of a user's LLVM text needs what this process does not have; the linker's words."""


_kernels: WeakSet[CpuKernel] = WeakSet()


def _after_fork() -> None:
    """libgomp's threads do not survive a fork, and it waits for them: a child runs its grids on one thread."""
    for kernel in _kernels:
        kernel.use_one_thread()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


NULL_POINTER = "null pointer: "
"""How the messages of the assertions of ``guard-null-pointers`` begin; an argument's name follows."""

_STRUCT_CODES = {"fp32": "f4x", "fp64": "d", "fp16": "e6x"}


class CpuKernel:
    """A kernel in this process's memory."""

    n_regs = 0
    n_spills = 0
    n_max_threads = 1

    def __init__(self, image: KernelImage) -> None:
        self.image = image
        self._assertions: tuple[str, ...] = tuple(image.metadata.get("assertions") or ())
        self._library = _link(image.binary, bool(image.metadata.get("foreign")))
        self.function = int(self._library["tx.run"])
        self._threads = int(image.metadata.get("num_threads") or 0) or available_threads()
        self._keep: list[object] = []
        self._set_globals()
        self.flat = FlatParameters.of(image.parameters)
        self._apart = tuple(map(Pair.read, image.metadata.get("apart") or ()))
        self.compared = self.flat.owners(image.metadata.get("compared") or ())
        self._is_regular = image.metadata.get("otherwise") is not None
        self.otherwise: Callable[[], CpuKernel | None] = lambda: None
        """Gives the code for the arguments that this code is not for, where there is such code."""
        _kernels.add(self)

    def _set_globals(self) -> None:
        import numpy as np

        def pointer(name: str, value: int) -> None:
            ctypes.c_void_p.from_address(self._library[name]).value = value

        ctypes.c_int32.from_address(self._library["tx.threads"]).value = self._threads
        pointer("tx.parallel", parallel_function() if self._threads > 1 else 0)
        self._keep = [np.ndarray, address_of, self._raise_assertion, self._launch_irregular]
        for name, value in zip(CALLABLES, self._keep, strict=True):
            pointer(name, id(value))

    def use_one_thread(self) -> None:
        ctypes.c_void_p.from_address(self._library["tx.parallel"]).value = 0
        self._threads = 1

    # What the way without the builtin needs, and that of irregular arguments.

    @cached_property
    def _run(self) -> Callable[[int, int], int]:
        return _RUN(self.function)

    @cached_property
    def _worker(self) -> Callable[[int], None]:
        return _WORKER(self._library["tx.worker"])

    @cached_property
    def _types(self) -> list[str]:
        return self.flat.types

    @cached_property
    def _layout(self) -> struct.Struct:
        """That of the context."""
        cells = "".join(self._code(t) for t in self._types)
        return struct.Struct(f"=qq3i4xqQ{cells}")

    @staticmethod
    def _code(kind: str) -> str:
        return _STRUCT_CODES.get(kind, "q" if kind.startswith("i") else "Q")

    # ---- launching

    def builtin(self) -> Callable[..., None]:
        """``(x, y, z, stream, *args)`` as a builtin function."""
        definition = _MethodDef(b"launch", self._library["tx.launch"], _METH_FASTCALL, None)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        self._keep.append(definition)
        # `self` of the builtin is this object: whoever holds the function holds the code.
        return make(ctypes.addressof(definition), self, None)

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[object]) -> None:
        """Run the grid through the plain C entry point; the way without the builtin."""
        flat = self.flat.values(args)
        is_other = self._is_regular and grid[0] * grid[1] * grid[2]
        if not is_other or self._launch_irregular(*grid, stream, *flat) is False:
            self._launch_flat(grid, flat)

    def _launch_flat(self, grid: tuple[int, int, int], flat: Sequence[object]) -> None:
        total = grid[0] * grid[1] * grid[2]
        if not total:
            return
        values = [self._cell(t, a) for t, a in zip(self._types, flat, strict=True)]
        context = ctypes.create_string_buffer(Context.ARGUMENTS + 8 * max(1, len(values)))
        self._layout.pack_into(context, 0, 0, total, *grid, total, self._library["tx.record"], *values)
        address = ctypes.addressof(context)
        if self._threads > 1 and not parallel_function() and total > 1:
            self._launch_on_pool(context, total)
            failed = ctypes.c_int32.from_address(self._library["tx.record"]).value
        else:
            failed = self._run(address, self._threads)
        if failed:
            self._raise_assertion()

    # ---- irregular arguments

    def _nulls(self, flat: Sequence[object]) -> list[int]:
        """The places of null pointers."""
        return [i for i, kind in enumerate(self._types) if kind.startswith("*") and address_of(flat[i]) == 0]

    def _launch_irregular(self, x: int, y: int, z: int, stream: int, *flat: object) -> bool | None:
        """Launch the code that reads tiles whole and looks at each access, or return False if this code is right.
        Raises NullPointer; at once where there is no such code."""
        nulls = self._nulls(flat)
        overlapping = () if nulls else overlap(self._apart, flat, (x, y, z))
        if not nulls and not overlapping:
            return False
        other = self.otherwise()
        if other is not None:
            other._launch_flat((x, y, z), flat)
            return None
        names = [self.image.parameters[i].name for i in self.flat.owners(nulls or overlapping)]
        if nulls:
            raise NullPointer(self.image.name, names[0])
        raise IrregularArgument(
            f"the arguments {' and '.join(names)} of {self.image.name} overlap in part, and its code, which was made "
            "of text, stores parts of a tile before it has read all of it. Pass copies, or the kernel's source."
        )

    def _launch_on_pool(self, context: ctypes.Array[ctypes.c_char], total: int) -> None:
        """Without libgomp: the same workers in Python's threads (ctypes releases the interpreter lock)."""
        threads = min(self._threads, total)
        struct.pack_into("=q", context, Context.CHUNK, max(1, total // (threads * 8)))
        address = ctypes.addressof(context)
        wait([_pool(self._threads).submit(self._worker, address) for _ in range(threads)])

    @staticmethod
    def _cell(kind: str, value: object) -> int | float:
        if kind.startswith("*"):
            return address_of(value)
        if kind in _STRUCT_CODES:
            return float(cast(float, value))
        if kind == "bf16":
            return bfloat16_bits(cast(float, value))
        number = int(cast(int, value))
        return number if kind.startswith("i") else number & (1 << 64) - 1

    # ---- assertions

    def _raise_assertion(self) -> None:
        record = (ctypes.c_char * RECORD_BYTES).from_address(self._library["tx.record"])
        number, x, y, z, element = struct.unpack_from("=iiiiq", record)
        ctypes.memset(self._library["tx.record"], 0, RECORD_BYTES)
        message = self._assertions[number - 1] if 0 < number <= len(self._assertions) else "assertion failed"
        place, null, name = message.partition(NULL_POINTER)
        if null:
            where = f" (program ({x}, {y}, {z}), element {element})"
            raise NullPointer(self.image.name, name, where, place.replace("assertion failed: ", ""))
        raise DeviceAssertError(f"{message} (device-side assert in program ({x}, {y}, {z}), element {element})")
