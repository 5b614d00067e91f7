"""The builtin that launches a kernel: one piece of machine code for all kernels, compiled once and kept in the cache.

It is a METH_FASTCALL function whose ``self`` is a `_State`: a bytes object with the handles and addresses that one
kernel needs and a byte for each parameter that says how it is passed. The code itself refers to CPython's symbols only,
so the object file that LLVM makes of `TEXT` serves every process of the same Python on this platform: it is compiled
with the first kernel of a cache, and linked in 0.2 ms, without LLVM, by every process after that.

It runs with the GIL held, touches Python objects through the stable C API only (plus ``ob_type`` to recognise plain
ints) and hands errors back as exceptions: a failed conversion is the exception that CPython set, a failed launch is
raised by the Python callback. What it leaves to others (the thread's context is not the kernel's, the grid is beyond
the limits, a wrong number of arguments) it hands on to `State.slow`, argument by argument as it was called."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import platform
import struct
import sys
import sysconfig
import threading
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from tritonx.conversion.llvm_binding import Library, TargetMachine, binding
from tritonx.conversion.python_numbers import DECLARATIONS, read_float
from tritonx.runtime.cache import get_cache_manager
from tritonx.runtime.compiling import sealed
from tritonx.runtime.compiling.keys import compiler_key
from tritonx.runtime.devices import elf
from tritonx.runtime.launch.descriptor_parameters import MAP
from tritonx.runtime.launch.parameter_values import address_of, letter

_FASTCALL = 0x0080

_POINTER, _INTEGER, _TRUTH, _FLOAT = range(4)
_FLOATS = ("fp16", "bf16", "fp32", "fp64")
_MAP = _FLOAT + len(_FLOATS)


class State(NamedTuple):
    """What one kernel's builtin knows. Addresses, handles and limits are integers; the last three are callables."""

    launch_kernel: int
    get_current: int
    context: int
    function: int
    threads: int
    shared: int
    most_x: int
    most_y: int
    most_z: int
    on_others: int
    """The address of a byte that is set to 1 where the stream is not the default one."""
    check: Callable[[int, str], None]
    """Called with the code of a failed launch and the name of the call; must raise."""
    slow: Callable[..., None]
    """Called with the builtin's arguments where it does not launch itself."""
    address_of: Callable[[object], int] = address_of
    """The address that an argument for a pointer stands for, where it is not an int."""


def passed_as(type_: str) -> int:
    """How a parameter of a Triton type is read: as an address, an integer of any width, a truth value, a float, or the
    address of a tensor map, which the driver copies from there."""
    if type_.startswith(MAP):
        return _MAP
    if letter(type_) == "Q" and type_ != "u64":
        return _POINTER
    if type_ in ("u1", "i1"):
        return _TRUTH
    return _FLOAT + _FLOATS.index(type_) if type_ in _FLOATS else _INTEGER


# The code ------------------------------------------------------------------------------------------------------------


def _field(name: str, type_: str = "i64") -> str:
    """Loads a field of the state."""
    at = 8 * State._fields.index(name)
    return f"  %{name}.at = getelementptr i8, ptr %state, i64 {at}\n  %{name} = load {type_}, ptr %{name}.at"


def _grid() -> str:
    lines: list[str] = []
    for at, name in enumerate(("gx", "gy", "gz", "stream")):
        lines.append(f"  %{name}.at = getelementptr ptr, ptr %args, i64 {at}\n  %{name}.o = load ptr, ptr %{name}.at")
        lines.append(f"  %{name} = call i64 @PyLong_AsUnsignedLongLong(ptr %{name}.o)")
    for axis in "xyz":
        lines.append(_field(f"most_{axis}") + f"\n  %large.{axis} = icmp ugt i64 %g{axis}, %most_{axis}")
    return "\n".join(lines)


def _float(type_: str) -> str:
    """The block that reads a float. The value −1 may stand for an error."""
    kind = passed_as(type_)
    lines = [
        f"float{kind}:",
        f"  %o{kind} = load ptr, ptr %object.at",
        f"  %c{kind} = getelementptr i8, ptr %cell, i64 0",
    ]
    lines += [*read_float(kind, type_), f"  %doubt{kind} = fcmp oeq double %fd{kind}, -1.0"]
    if type_ == "fp16":  # packing may fail too: a number beyond the range
        lines += [
            f"  %unpacked{kind} = icmp slt i32 %fp{kind}, 0",
            f"  %odd{kind} = or i1 %doubt{kind}, %unpacked{kind}",
        ]
        return "\n".join([*lines, f"  br i1 %odd{kind}, label %look, label %next"])
    return "\n".join([*lines, f"  br i1 %doubt{kind}, label %look, label %next"])


_HEADER = f"""
declare ptr @PyBytes_AsString(ptr)
declare i64 @PyLong_AsUnsignedLongLong(ptr)
declare i64 @PyLong_AsUnsignedLongLongMask(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallOneArg(ptr, ptr)
declare ptr @PyObject_CallFunction(ptr, ptr, ...)
declare ptr @PyErr_Occurred()
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@PyLong_Type = external global i8
@_Py_NoneStruct = external global i8
@format = private constant [3 x i8] c"is\\00"
@call = private constant [15 x i8] c"cuLaunchKernel\\00"
{DECLARATIONS}"""

TEXT = f"""{_HEADER}
define ptr @launch(ptr %self, ptr %args, i64 %nargs) {{
entry:
  %state = call ptr @PyBytes_AsString(ptr %self)
  %kinds = getelementptr i8, ptr %state, i64 {8 * len(State._fields) + 8}
  %count.at = getelementptr i8, ptr %state, i64 {8 * len(State._fields)}
  %count = load i64, ptr %count.at
  %wanted = add i64 %count, 4
  %counted = icmp eq i64 %nargs, %wanted
  br i1 %counted, label %grid, label %leave
grid:
{_grid()}
  %cells = alloca i64, i64 %count, align 16
  %block = alloca ptr, i64 %count, align 16
  %thread = alloca ptr
  %ungrid = call ptr @PyErr_Occurred()
  %numbers = icmp eq ptr %ungrid, null
  br i1 %numbers, label %parameter, label %fail
parameter:
  %i = phi i64 [ 0, %grid ], [ %following, %next ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %read, label %ready
read:
  %place = add i64 %i, 4
  %object.at = getelementptr ptr, ptr %args, i64 %place
  %object = load ptr, ptr %object.at
  %cell = getelementptr i64, ptr %cells, i64 %i
  %slot = getelementptr ptr, ptr %block, i64 %i
  store ptr %cell, ptr %slot
  %kind.at = getelementptr i8, ptr %kinds, i64 %i
  %kind = load i8, ptr %kind.at
  switch i8 %kind, label %pointer [
    i8 {_INTEGER}, label %integer
    i8 {_TRUTH}, label %truth
    i8 {_MAP}, label %map
    {" ".join(f"i8 {passed_as(t)}, label %float{passed_as(t)}" for t in _FLOATS)}
  ]
pointer:
  %type.at = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %type.at
  %plain = icmp eq ptr %type, @PyLong_Type
  br i1 %plain, label %number, label %ask
number:
  %own = call i64 @PyLong_AsUnsignedLongLong(ptr %object)
  br label %pointed
ask:
{_field("address_of", "ptr")}
  %answer = call ptr @PyObject_CallOneArg(ptr %address_of, ptr %object)
  %unanswered = icmp eq ptr %answer, null
  br i1 %unanswered, label %fail, label %answered
answered:
  %asked = call i64 @PyLong_AsUnsignedLongLong(ptr %answer)
  call void @Py_DecRef(ptr %answer)
  br label %pointed
pointed:
  %address = phi i64 [ %own, %number ], [ %asked, %answered ]
  store i64 %address, ptr %cell
  %odd.address = icmp eq i64 %address, -1
  br i1 %odd.address, label %look, label %next
integer:
  %bits = call i64 @PyLong_AsUnsignedLongLongMask(ptr %object)
  store i64 %bits, ptr %cell
  %odd.bits = icmp eq i64 %bits, -1
  br i1 %odd.bits, label %look, label %next
map:
  %there = call i64 @PyLong_AsUnsignedLongLong(ptr %object)
  %map.at = inttoptr i64 %there to ptr
  store ptr %map.at, ptr %slot
  %odd.map = icmp eq i64 %there, -1
  br i1 %odd.map, label %look, label %next
truth:
  %true = call i32 @PyObject_IsTrue(ptr %object)
  %true.wide = sext i32 %true to i64
  store i64 %true.wide, ptr %cell
  %odd.true = icmp slt i32 %true, 0
  br i1 %odd.true, label %look, label %next
{chr(10).join(map(_float, _FLOATS))}
look:
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %next, label %fail
next:
  %following = add i64 %i, 1
  br label %parameter
ready:
{_field("get_current", "ptr")}
{_field("context", "ptr")}
  %got = call i32 %get_current(ptr %thread)
  %current = load ptr, ptr %thread
  %elsewhere = icmp ne ptr %current, %context
  %large.xy = or i1 %large.x, %large.y
  %large = or i1 %large.xy, %large.z
  %other = or i1 %large, %elsewhere
  br i1 %other, label %leave, label %go
leave:
{_field("slow", "ptr")}
  %left = call ptr @PyObject_Vectorcall(ptr %slow, ptr %args, i64 %nargs, ptr null)
  ret ptr %left
go:
{_field("launch_kernel", "ptr")}
{_field("function", "ptr")}
{_field("threads")}
{_field("shared")}
  %x = trunc i64 %gx to i32
  %y = trunc i64 %gy to i32
  %z = trunc i64 %gz to i32
  %width = trunc i64 %threads to i32
  %bytes = trunc i64 %shared to i32
  %s = inttoptr i64 %stream to ptr
{_field("on_others", "ptr")}
  %aside = icmp ne i64 %stream, 0
  %aside.wide = zext i1 %aside to i8
  %before = load i8, ptr %on_others
  %after = or i8 %before, %aside.wide
  store i8 %after, ptr %on_others
  %code = call i32 %launch_kernel(ptr %function,
    i32 %x, i32 %y, i32 %z, i32 %width, i32 1, i32 1, i32 %bytes, ptr %s, ptr %block, ptr null)
  %wrong = icmp ne i32 %code, 0
  br i1 %wrong, label %raise, label %done
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
raise:
{_field("check", "ptr")}
  %raised = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr %check, ptr @format, i32 %code, ptr @call)
  ret ptr %raised
fail:
  ret ptr null
}}"""


# The object file -----------------------------------------------------------------------------------------------------

_FILE, _GROUP = "launcher.o", "launcher.json"
_lock = threading.Lock()


def _key() -> str:
    """Digest of what decides the object: this text, the versions behind it, the platform and Python's binary
    interface."""
    parts = TEXT, compiler_key(), sys.platform, platform.machine(), str(sysconfig.get_config_var("SOABI"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def object_file() -> bytes:
    """From the folder of sealed kernels or the cache, which check its digest, or compiled and stored there."""
    for manager in (sealed.sealed_files(_key(), sealed.folders()), get_cache_manager(_key())):
        group = None if manager is None else manager.get_group(_GROUP)
        if group is not None and _FILE in group:
            with contextlib.suppress(OSError), open(group[_FILE], "rb") as file:  # unless it was just cleared
                return file.read()
    return _stored(compile_object())


def _stored(made: bytes) -> bytes:
    manager = get_cache_manager(_key())
    manager.put_group(_GROUP, {_FILE: manager.put(made, _FILE)})
    return made


def _target_machine() -> TargetMachine:
    llvm = binding()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # The cache may be shared with other machines: code for any processor of the kind.
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(opt=2, reloc="pic", codemodel="small", jit=True)


def compile_object() -> bytes:
    """`TEXT` as a relocatable object, by LLVM: 8 ms."""
    return _target_machine().emit_object(binding().parse_assembly(TEXT))


class _LinkedByLLVM:
    """The object in this process where `elf` does not know the platform."""

    def __init__(self, binary: bytes) -> None:
        llvm = binding()
        builder = llvm.JITLibraryBuilder().add_object_img(binary).add_current_process().export_symbol("launch")
        self._jit = llvm.create_lljit_compiler(_target_machine())
        self._library = builder.link(self._jit, "launcher")

    def __getitem__(self, name: str) -> int:
        return self._library[name]


@cache
def _linked() -> Library:
    """symbol → address; the code stays for as long as the library."""
    link = _link if elf.supported() else _LinkedByLLVM
    try:
        library = link(object_file())
        _ = library["launch"]
    except (elf.LinkError, KeyError, RuntimeError):  # not what was to be stored, although its digest holds
        library = link(_stored(compile_object()))
    return library


def _link(binary: bytes) -> elf.Library:
    return elf.Library(binary, {})


def code() -> Library:
    """What has the builtin's code, as ``launch``. Raises `elf.LinkError` where the system forbids making code."""
    with _lock:
        return _linked()


# One kernel's function -----------------------------------------------------------------------------------------------


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _State(bytes):
    """The fields as the code reads them, 8 bytes each, the number of parameters and a byte for each. Keeps alive what
    it holds addresses of: the builtin keeps its ``self``."""

    keep: tuple[object, ...] = ()


def make_builtin(types: list[str], state: State) -> Callable[..., None]:
    """The function ``launch(grid_x, grid_y, grid_z, stream, *args)`` for parameters of ``types`` (Triton's names)."""
    library = code()
    fields = [value if isinstance(value, int) else id(value) for value in state]
    packed = _State(struct.pack(f"={len(fields)}QQ", *fields, len(types)) + bytes(map(passed_as, types)))
    definition = _MethodDef(b"launch", library["launch"], _FASTCALL, None)
    packed.keep = (state, definition, library)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    make = new(("PyCFunction_NewEx", ctypes.pythonapi))
    return make(ctypes.addressof(definition), packed, None)
