"""Compiling a METH_FASTCALL function that launches one kernel; see ``launcher``.

It runs with the GIL held, touches Python objects through the stable C API only (plus ``ob_type`` to recognise plain
ints) and hands errors back as exceptions: a failed conversion is the exception that CPython set, a failed launch is
raised by the Python callback. It answers None, or False where it has not launched because the thread's context is
not the kernel's or the grid is beyond the limits: that is for the caller to see to."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding as _llvmlite

from tritonx.conversion.python_numbers import DECLARATIONS, read_float

llvm: Any = _llvmlite  # the package has no types

_FASTCALL = 0x0080

_HEADER = """
declare i64 @PyLong_AsUnsignedLongLong(ptr)
declare i64 @PyLong_AsUnsignedLongLongMask(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyObject_VectorcallMethod(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallFunction(ptr, ptr, ...)
declare ptr @PyErr_Occurred()
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@PyLong_Type = external global i8
@format = private constant [3 x i8] c"is\\00"
@call = private constant [15 x i8] c"cuLaunchKernel\\00"
"""

_KEEP: list[object] = []
"""What the compiled code refers to: method definitions, the JIT's library, interned names. Builtins live as long as
the process.
"""


class Call(NamedTuple):
    """What is called: addresses of two functions of the driver, two of its handles, and the shape of a block."""

    launch_kernel: int
    get_current: int
    context: int
    function: int
    threads: int
    shared: int


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _integer(out: list[str], i: int, width: int) -> None:
    """Two's-complement truncation, as ctypes does: the binder has chosen the width by the value."""
    out.append(f"  %v{i} = call i64 @PyLong_AsUnsignedLongLongMask(ptr %o{i})")
    if width < 64:
        out.append(f"  %t{i} = trunc i64 %v{i} to i{width}")
    out.append(f"  store i{width} {f'%t{i}' if width < 64 else f'%v{i}'}, ptr %c{i}")


def _pointer(out: list[str], i: int, data_ptr: int) -> None:
    """A plain int is an address, None is null, anything else answers ``data_ptr()``."""
    none = id(None)
    out.append(
        f"""  %tp{i} = getelementptr i8, ptr %o{i}, i64 8
  %ty{i} = load ptr, ptr %tp{i}
  %isint{i} = icmp eq ptr %ty{i}, @PyLong_Type
  br i1 %isint{i}, label %int{i}, label %other{i}
other{i}:
  %isnone{i} = icmp eq ptr %o{i}, inttoptr (i64 {none} to ptr)
  br i1 %isnone{i}, label %join{i}, label %object{i}
object{i}:
  %r{i} = call ptr @PyObject_VectorcallMethod(ptr inttoptr (i64 {data_ptr} to ptr), ptr %q{i}, i64 1, ptr null)
  %bad{i} = icmp eq ptr %r{i}, null
  br i1 %bad{i}, label %fail, label %good{i}
good{i}:
  %a{i} = call i64 @PyLong_AsUnsignedLongLong(ptr %r{i})
  call void @Py_DecRef(ptr %r{i})
  br label %join{i}
int{i}:
  %n{i} = call i64 @PyLong_AsUnsignedLongLong(ptr %o{i})
  br label %join{i}
join{i}:
  %v{i} = phi i64 [ %a{i}, %good{i} ], [ %n{i}, %int{i} ], [ 0, %other{i} ]
  store i64 %v{i}, ptr %c{i}"""
    )


def _text(types: list[str], call: Call, limits: tuple[int, int, int], raiser: int, data_ptr: int) -> str:
    n = max(len(types), 1)
    none, false = id(None), id(False)
    out = [_HEADER, DECLARATIONS, "define ptr @launch(ptr %self, ptr %args, i64 %count) {", "entry:"]
    out.append(f"  %cells = alloca [{n} x i64], align 16\n  %block = alloca [{n} x ptr], align 16")
    out.append("  %context = alloca ptr")
    for j, name in enumerate(("gx", "gy", "gz", "stream")):
        out.append(f"  %{name}p = getelementptr ptr, ptr %args, i64 {j}\n  %{name}o = load ptr, ptr %{name}p")
        out.append(f"  %{name} = call i64 @PyLong_AsUnsignedLongLong(ptr %{name}o)")
    for name, limit in zip(("gx", "gy", "gz"), limits, strict=True):
        out.append(f"  %{name}large = icmp ugt i64 %{name}, {limit}")
    for i, type_ in enumerate(types):
        out.append(f"  %q{i} = getelementptr ptr, ptr %args, i64 {i + 4}\n  %o{i} = load ptr, ptr %q{i}")
        out.append(
            f"  %c{i} = getelementptr i64, ptr %cells, i64 {i}\n  %p{i} = getelementptr ptr, ptr %block, i64 {i}"
        )
        out.append(f"  store ptr %c{i}, ptr %p{i}")
        if type_.startswith("*"):
            _pointer(out, i, data_ptr)
        elif type_ in ("u1", "i1"):
            out.append(f"  %v{i} = call i32 @PyObject_IsTrue(ptr %o{i})\n  %t{i} = trunc i32 %v{i} to i8")
            out.append(f"  store i8 %t{i}, ptr %c{i}")
        elif type_[0] in "iu":
            _integer(out, i, int(type_[1:]))
        else:
            out += read_float(i, type_)
    out.append(
        f"""  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %fail, label %look
look:
  %asked = call i32 inttoptr (i64 {call.get_current} to ptr)(ptr %context)
  %current = load ptr, ptr %context
  %elsewhere = icmp ne ptr %current, inttoptr (i64 {call.context} to ptr)
  %large0 = or i1 %gxlarge, %gylarge
  %large = or i1 %large0, %gzlarge
  %other = or i1 %large, %elsewhere
  br i1 %other, label %leave, label %go
leave:
  call void @Py_IncRef(ptr inttoptr (i64 {false} to ptr))
  ret ptr inttoptr (i64 {false} to ptr)
go:
  %x = trunc i64 %gx to i32
  %y = trunc i64 %gy to i32
  %z = trunc i64 %gz to i32
  %s = inttoptr i64 %stream to ptr
  %code = call i32 inttoptr (i64 {call.launch_kernel} to ptr)(ptr inttoptr (i64 {call.function} to ptr),
    i32 %x, i32 %y, i32 %z, i32 {call.threads}, i32 1, i32 1, i32 {call.shared}, ptr %s, ptr %block, ptr null)
  %wrong = icmp ne i32 %code, 0
  br i1 %wrong, label %raise, label %done
done:
  call void @Py_IncRef(ptr inttoptr (i64 {none} to ptr))
  ret ptr inttoptr (i64 {none} to ptr)
raise:
  %raised = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr inttoptr (i64 {raiser} to ptr), ptr @format,
    i32 %code, ptr @call)
  ret ptr %raised
fail:
  ret ptr null
}}"""
    )
    return "\n".join(out)


def compile_builtin(
    types: list[str], call: Call, limits: tuple[int, int, int], check: Callable[[int, str], None]
) -> Callable[..., Any]:
    """The builtin ``launch(grid_x, grid_y, grid_z, stream, *args)`` for parameters of ``types`` (Triton's names).

    It launches where ``call.context`` is current and the grid is within ``limits``, and answers False elsewhere.
    ``check`` is called with the code of a failed launch and the name of the call, and must raise. The caller passes
    exactly ``4 + len(types)`` arguments.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name = sys.intern("data_ptr")
    text = _text(types, call, limits, id(check), id(name))
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    jit = llvm.create_lljit_compiler(machine)
    library = (
        llvm.JITLibraryBuilder()
        .add_ir(text)
        .add_current_process()
        .export_symbol("launch")
        .link(jit, f"launch{len(_KEEP)}")
    )
    definition = _MethodDef(b"launch", library["launch"], _FASTCALL, None)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    _KEEP.extend((name, machine, jit, library, definition, check))
    return new(ctypes.addressof(definition), None, None)
