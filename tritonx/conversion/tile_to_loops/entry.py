"""The compiled kernel's entry points: from a Python call, or a C call, to programs running on all cores.

    tx.launch(self, args, nargs)   a CPython builtin (METH_FASTCALL): (x, y, z, stream, *kernel arguments)
      └ tx.run(context, threads)   plain C: runs the grid
          └ tx.worker(context)     one per thread: takes chunks of programs from a shared counter
              └ program(...)       one program

The builtin exists because a launch should cost about a microsecond: it reads the arguments' addresses and numbers
without making Python objects, releases the interpreter lock and calls `tx.run`. Reading `ob_type` at offset 8 and a
NumPy array's data pointer at offset 16 is right for CPython builds with the lock; on other builds the driver calls
`tx.run` through ctypes.

The context is a block of 8-byte cells, laid out by `Context`. The grid runs in the caller's thread when its estimated
work is too small to be worth waking others (`GRAIN`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tritonx.conversion.python_numbers import DECLARATIONS, read_float
from tritonx.conversion.tile_to_loops import irregular
from tritonx.conversion.tile_to_loops.disjoint import Pair
from tritonx.conversion.tile_to_loops.isa import HostIsa
from tritonx.conversion.tile_to_loops.launch_parameter import Parameter

OVERREAD = 64
"""Bytes behind the last buffer that reading whole vectors may touch."""

PROGRAM = "tx.program"
"""The function that is one program of the grid."""

GRAIN = 60_000
"""Instructions (about 20 µs) of work that a thread must have to be woken."""

STACK_LIMIT = 512 << 10
"""Bytes of scratch memory that a worker takes from its stack; more comes from malloc."""


class Context:
    """Offsets in bytes of the context's cells; kernel arguments follow at `ARGUMENTS`, 8 bytes each."""

    COUNTER = 0
    TOTAL = 8
    GRID = 16  # three i32
    CHUNK = 32
    RECORD = 40
    ARGUMENTS = 48


RECORD_BYTES = 32
"""An assertion's record: i32 number (0: none), three i32 program ids, i64 index of the first failing element."""


def worker(parameters: list[Parameter], buffers: list[int], isa: HostIsa, *, fence: str = "") -> str:
    """Take programs from the counter until there are none left, then call ``fence``."""
    attributes = isa.function_attributes()
    lines = ["entry:"]
    names: list[str] = []
    for i, p in enumerate(parameters):
        lines.append(f"  %a{i}.at = getelementptr i8, ptr %context, i64 {Context.ARGUMENTS + 8 * i}")
        if p.llvm == "i1":
            lines.append(f"  %a{i}.byte = load i8, ptr %a{i}.at, align 8")
            lines.append(f"  %a{i} = trunc i8 %a{i}.byte to i1")
        else:
            lines.append(f"  %a{i} = load {p.llvm}, ptr %a{i}.at, align 8")
        names.append(f"{p.llvm} %a{i}")
    for axis, offset in zip("xyz", (0, 4, 8), strict=True):
        lines.append(f"  %n{axis}.at = getelementptr i8, ptr %context, i64 {Context.GRID + offset}")
        lines.append(f"  %n{axis} = load i32, ptr %n{axis}.at, align 4")
    lines += [
        f"  %total.at = getelementptr i8, ptr %context, i64 {Context.TOTAL}",
        "  %total = load i64, ptr %total.at, align 8",
        f"  %chunk.at = getelementptr i8, ptr %context, i64 {Context.CHUNK}",
        "  %chunk = load i64, ptr %chunk.at, align 8",
        f"  %record.at = getelementptr i8, ptr %context, i64 {Context.RECORD}",
        "  %record = load ptr, ptr %record.at, align 8",
        "  %nx64 = zext i32 %nx to i64",
        "  %ny64 = zext i32 %ny to i64",
    ]
    size = sum(buffers) + OVERREAD if buffers else 0
    if size > STACK_LIMIT:
        lines.append(f"  %scratch = call ptr @aligned_alloc(i64 64, i64 {size})")
    elif size:
        lines.append(f"  %scratch = alloca [{size} x i8], align 64")
    offset = 0
    for i, nbytes in enumerate(buffers):
        lines.append(f"  %b{i} = getelementptr inbounds i8, ptr %scratch, i64 {offset}")
        offset += nbytes
        names.append(f"ptr noalias align 64 %b{i}")
    names += [f"i32 %{x}" for x in ("px", "py", "pz", "nx", "ny", "nz")] + ["ptr %record"]
    lines += [
        "  br label %take",
        "take:",
        f"  %counter = getelementptr i8, ptr %context, i64 {Context.COUNTER}",
        "  %first = atomicrmw add ptr %counter, i64 %chunk monotonic",
        "  %none = icmp uge i64 %first, %total",
        "  br i1 %none, label %done, label %some",
        "some:",
        "  %end = add i64 %first, %chunk",
        "  %last = call i64 @llvm.umin.i64(i64 %end, i64 %total)",
        "  br label %loop",
        "loop:",
        "  %id = phi i64 [ %first, %some ], [ %next, %loop ]",
        "  %px64 = urem i64 %id, %nx64",
        "  %rest = udiv i64 %id, %nx64",
        "  %py64 = urem i64 %rest, %ny64",
        "  %pz64 = udiv i64 %rest, %ny64",
        *(f"  %p{axis} = trunc i64 %p{axis}64 to i32" for axis in "xyz"),
        f"  call void @{PROGRAM}({', '.join(names)})",
        "  %next = add i64 %id, 1",
        "  %more = icmp ult i64 %next, %last",
        "  br i1 %more, label %loop, label %take",
        "done:",
        *(["  call void @free(ptr %scratch)"] if size > STACK_LIMIT else []),
        *([f"  call void {fence}()"] if fence else []),
        "  ret void",
    ]
    return f"define void @tx.worker(ptr %context) {attributes} {{\n" + "\n".join(lines) + "\n}"


def run(cost: int, isa: HostIsa) -> str:
    """`tx.run(context, threads)`: fills in the counter and the chunk size and runs the grid. `cost` is a program's
    work.
    """
    return f"""define i32 @tx.run(ptr %context, i32 %threads) {isa.function_attributes()} {{
entry:
  %total.at = getelementptr i8, ptr %context, i64 {Context.TOTAL}
  %total = load i64, ptr %total.at, align 8
  store i64 0, ptr %context, align 8
  %record.at = getelementptr i8, ptr %context, i64 {Context.RECORD}
  store ptr @tx.record, ptr %record.at, align 8
  %work = mul i64 %total, {max(cost, 1)}
  %worth = udiv i64 %work, {GRAIN}
  %threads64 = zext i32 %threads to i64
  %some = call i64 @llvm.umin.i64(i64 %worth, i64 %threads64)
  %used = call i64 @llvm.umin.i64(i64 %some, i64 %total)
  %gomp = load ptr, ptr @tx.parallel, align 8
  %none = icmp eq ptr %gomp, null
  %few = icmp ule i64 %used, 1
  %serial = or i1 %none, %few
  %chunk.at = getelementptr i8, ptr %context, i64 {Context.CHUNK}
  br i1 %serial, label %alone, label %team
alone:
  store i64 %total, ptr %chunk.at, align 8
  call void @tx.worker(ptr %context)
  br label %done
team:
  %shares = mul i64 %used, 8
  %share = udiv i64 %total, %shares
  %chunk = call i64 @llvm.umax.i64(i64 %share, i64 1)
  store i64 %chunk, ptr %chunk.at, align 8
  %count = trunc i64 %used to i32
  call void %gomp(ptr @tx.worker, ptr %context, i32 %count, i32 0)
  br label %done
done:
  %failed = load atomic i32, ptr @tx.record monotonic, align 8
  ret i32 %failed
}}"""


_PYTHON = f"""declare i64 @PyLong_AsUnsignedLongLongMask(ptr)
{DECLARATIONS}
declare ptr @PyErr_Occurred()
declare void @PyErr_SetString(ptr, ptr)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
@PyLong_Type = external global i8
@PyExc_TypeError = external global ptr
@_Py_NoneStruct = external global i8"""

PYTHON_SYMBOLS = tuple(re.findall(r"@(\w+)", f"{_PYTHON} {irregular.DECLARATIONS}"))
"""What a launcher refers to of the interpreter."""

FLOATS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64"}

GLOBALS = f"""@tx.parallel = global ptr null
@tx.threads = global i32 1
@tx.record = global [{RECORD_BYTES} x i8] zeroinitializer, align 16
@tx.ndarray = global ptr null
@tx.address = global ptr null
@tx.failed = global ptr null
@tx.otherwise = global ptr null"""
"""Filled in by the driver: GOMP_parallel, the number of threads, numpy.ndarray, and Python callables (the address of an
array of any other kind; what raises for a failed assertion; what launches other code).
"""

CALLABLES = ("tx.ndarray", "tx.address", "tx.failed", "tx.otherwise")
EXPORTED = ("tx.run", "tx.worker", "tx.parallel", "tx.threads", "tx.record", *CALLABLES)


def launcher(parameters: list[Parameter], isa: HostIsa, pairs: Sequence[Pair] = (), *, guarded: bool) -> str:
    """The METH_FASTCALL builtin for a kernel with these parameters, which takes ``pairs`` of them to be apart;
    ``guarded`` code takes null pointers and arguments that overlap itself."""
    count, compared = len(parameters), irregular.compared(pairs)
    text = f"launch takes {count + 4} arguments"
    lines = ["entry:", f"  %context = alloca [{Context.ARGUMENTS + 8 * max(count, 1)} x i8], align 16"]
    lines += [
        f"  %right = icmp eq i64 %nargs, {count + 4}",
        "  br i1 %right, label %grid, label %wrong",
        "wrong:",
        "  %typeerror = load ptr, ptr @PyExc_TypeError, align 8",
        "  call void @PyErr_SetString(ptr %typeerror, ptr @tx.usage)",
        "  ret ptr null",
        "grid:",
    ]
    for axis, name in enumerate("xyz"):
        lines += [
            f"  %g{name}.at = getelementptr ptr, ptr %args, i64 {axis}",
            f"  %g{name}.object = load ptr, ptr %g{name}.at, align 8",
            f"  %g{name} = call i64 @PyLong_AsUnsignedLongLongMask(ptr %g{name}.object)",
            f"  %g{name}.32 = trunc i64 %g{name} to i32",
            f"  %g{name}.cell = getelementptr i8, ptr %context, i64 {Context.GRID + 4 * axis}",
            f"  store i32 %g{name}.32, ptr %g{name}.cell, align 4",
        ]
    lines += [
        "  %gxy = mul i64 %gx, %gy",
        "  %total = mul i64 %gxy, %gz",
        f"  %total.cell = getelementptr i8, ptr %context, i64 {Context.TOTAL}",
        "  store i64 %total, ptr %total.cell, align 8",
    ]
    for i, parameter in enumerate(parameters):
        lines += _argument(i, parameter, compared=i in compared)
    lines += [
        "  %error = call ptr @PyErr_Occurred()",
        "  %bad = icmp ne ptr %error, null",
        "  br i1 %bad, label %fail, label %ready",
        "ready:",
        "  %empty = icmp eq i64 %total, 0",
        f"  br i1 %empty, label %none, label %{'go' if guarded else 'check'}",
        *(() if guarded else ("check:", *irregular.check(parameters, pairs))),
        "go:",
        "  %threads = load i32, ptr @tx.threads, align 4",
        "  %state = call ptr @PyEval_SaveThread()",
        "  %code = call i32 @tx.run(ptr %context, i32 %threads)",
        "  call void @PyEval_RestoreThread(ptr %state)",
        "  %ok = icmp eq i32 %code, 0",
        "  br i1 %ok, label %none, label %assertion",
        "none:",
        "  call void @Py_IncRef(ptr @_Py_NoneStruct)",
        "  ret ptr @_Py_NoneStruct",
        "assertion:",
        "  %raise = load ptr, ptr @tx.failed, align 8",
        "  %raised = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %raise, ptr null)",
        "  ret ptr %raised",
        "fail:",
        "  ret ptr null",
    ]
    usage = f'@tx.usage = private constant [{len(text) + 1} x i8] c"{text}\\00"'
    body = "\n".join(lines)
    # Straight-line code that runs once a launch: LLVM need not spend its time on it.
    header = f"define ptr @tx.launch(ptr %self, ptr %args, i64 %nargs) noinline optnone {isa.function_attributes()}"
    own = "" if guarded else f"{irregular.DECLARATIONS}\n"
    return f"{_PYTHON}\n{own}{usage}\n{header} {{\n{body}\n}}"


def _argument(i: int, parameter: Parameter, *, compared: bool) -> list[str]:
    """Read argument i into its cell."""
    lines = [
        f"  %q{i} = getelementptr ptr, ptr %args, i64 {i + 4}",
        f"  %o{i} = load ptr, ptr %q{i}, align 8",
        f"  %c{i} = getelementptr i8, ptr %context, i64 {Context.ARGUMENTS + 8 * i}",
    ]
    if parameter.llvm == "ptr":
        return lines + _pointer_argument(i, compared=compared)
    if parameter.type in FLOATS:
        return lines + read_float(i, FLOATS[parameter.type])
    return [
        *lines,
        f"  %v{i} = call i64 @PyLong_AsUnsignedLongLongMask(ptr %o{i})",
        f"  store i64 %v{i}, ptr %c{i}, align 8",
    ]


def _pointer_argument(i: int, *, compared: bool) -> list[str]:
    """An integer is an address, a NumPy array holds one at offset 16, anything else is asked through Python."""
    read_owner, owner = irregular.owns(i)
    return [
        f"  %t{i}.at = getelementptr i8, ptr %o{i}, i64 8",
        f"  %t{i} = load ptr, ptr %t{i}.at, align 8",
        f"  %nd{i} = load ptr, ptr @tx.ndarray, align 8",
        f"  %isarray{i} = icmp eq ptr %t{i}, %nd{i}",
        f"  br i1 %isarray{i}, label %array{i}, label %other{i}",
        f"array{i}:",
        f"  %data{i}.at = getelementptr i8, ptr %o{i}, i64 16",
        f"  %data{i} = load i64, ptr %data{i}.at, align 8",
        *(read_owner if compared else ()),
        f"  br label %have{i}",
        f"other{i}:",
        f"  %isint{i} = icmp eq ptr %t{i}, @PyLong_Type",
        f"  br i1 %isint{i}, label %int{i}, label %ask{i}",
        f"int{i}:",
        f"  %address{i} = call i64 @PyLong_AsUnsignedLongLongMask(ptr %o{i})",
        f"  br label %have{i}",
        f"ask{i}:",
        f"  %helper{i} = load ptr, ptr @tx.address, align 8",
        f"  %answer{i} = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %helper{i}, ptr %o{i}, ptr null)",
        f"  %noanswer{i} = icmp eq ptr %answer{i}, null",
        f"  br i1 %noanswer{i}, label %fail, label %answered{i}",
        f"answered{i}:",
        f"  %asked{i} = call i64 @PyLong_AsUnsignedLongLongMask(ptr %answer{i})",
        f"  call void @Py_DecRef(ptr %answer{i})",
        f"  br label %have{i}",
        f"have{i}:",
        f"  %p{i} = phi i64 [ %data{i}, %array{i} ], [ %address{i}, %int{i} ], [ %asked{i}, %answered{i} ]",
        *((owner,) if compared else ()),
        f"  store i64 %p{i}, ptr %c{i}, align 8",
    ]
