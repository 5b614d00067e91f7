"""The linker for objects from the cache: against LLVM's own on the same objects, and on damaged ones."""

from __future__ import annotations

import ctypes
import math
import random
from typing import Any

import pytest

from tritonx.runtime.devices import elf

pytestmark = pytest.mark.skipif(not elf.supported(), reason="links x86-64 Linux objects only")

TEXT = """
@table = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5], align 64
@pointers = internal constant [2 x ptr] [ptr @twice, ptr @thrice]
@counter = global i64 40
@zeros = global [100 x i8] zeroinitializer
declare double @cbrt(double)
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @imported(ptr)
define i64 @twice(i64 %x) { %r = mul i64 %x, 2
  ret i64 %r }
define i64 @thrice(i64 %x) { %r = mul i64 %x, 3
  ret i64 %r }
define i64 @by_pointer(i64 %which, i64 %x) {
  %at = getelementptr [2 x ptr], ptr @pointers, i64 0, i64 %which
  %f = load volatile ptr, ptr %at
  %r = call i64 %f(i64 %x)
  ret i64 %r
}
define double @look(i64 %i) {
  %at = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %r = load double, ptr %at
  ret double %r
}
define i64 @count() {
  %old = atomicrmw add ptr @counter, i64 1 monotonic
  ret i64 %old
}
define double @root(double %x) {
  %r = call double @cbrt(double %x)
  ret double %r
}
define i64 @heap(i64 %x) {
  %p = call ptr @malloc(i64 8)
  store volatile i64 %x, ptr %p
  %r = load volatile i64, ptr %p
  call void @free(ptr %p)
  ret i64 %r
}
define ptr @other(ptr %x) {
  %r = call ptr @imported(ptr %x)
  ret ptr %r
}
define i64 @choose(i64 %x) {
  switch i64 %x, label %z [ i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e ]
a: ret i64 17
b: ret i64 -5
c: ret i64 1234567890123
d: %t = call i64 @twice(i64 %x)
   ret i64 %t
e: %u = call i64 @thrice(i64 %x)
   ret i64 %u
z: ret i64 0
}
"""


@pytest.fixture(scope="module")
def binary() -> bytes:
    from tritonx.backends.cpu.codegen import compile_object
    from tritonx.backends.cpu.host import host_isa

    return compile_object(TEXT, host_isa())


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def imported(value: int) -> int:
    return value + 1


IMPORTS = {"imported": ctypes.cast(imported, ctypes.c_void_p).value or 0}


def call(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(result, *(type(a) for a in arguments))(library[name])(*arguments)


def test_code_constants_data_and_imports(binary: bytes) -> None:
    library = elf.Library(binary, IMPORTS)
    i64, double = ctypes.c_int64, ctypes.c_double
    assert [call(library, "by_pointer", i64, i64(w), i64(7)) for w in (0, 1)] == [14, 21]
    assert [call(library, "look", double, i64(i)) for i in range(4)] == [1.5, 2.5, 3.5, 4.5]
    assert [call(library, "count", i64) for _ in range(3)] == [40, 41, 42]
    assert ctypes.c_int64.from_address(library["counter"]).value == 43
    assert bytes((ctypes.c_char * 100).from_address(library["zeros"])) == bytes(100)
    assert math.isclose(call(library, "root", double, double(27.0)), 3.0)
    assert call(library, "heap", i64, i64(-9)) == -9
    assert call(library, "other", ctypes.c_void_p, ctypes.c_void_p(41)) == 42
    assert [call(library, "choose", i64, i64(x)) for x in range(-1, 6)] == [0, 17, -5, 1234567890123, 6, 12, 0]
    with pytest.raises(KeyError):
        library["nonesuch"]


def test_two_copies_have_their_own_data(binary: bytes) -> None:
    first, second = elf.Library(binary, IMPORTS), elf.Library(binary, IMPORTS)
    call(first, "count", ctypes.c_int64)
    assert call(second, "count", ctypes.c_int64) == 40


def test_symbols_that_do_not_exist(binary: bytes) -> None:
    with pytest.raises(elf.LinkError, match="this process has no symbol imported"):
        elf.Library(binary, {})


def test_damaged_objects_are_errors_or_link(binary: bytes) -> None:
    """Whatever the bytes: a LinkError or a library, nothing else (it is not run)."""
    rng = random.Random(0)
    for _ in range(400):
        damaged = bytearray(binary)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        cut = bytes(damaged[: rng.randrange(len(damaged))]) if rng.random() < 0.3 else bytes(damaged)
        try:
            elf.Library(cut, IMPORTS)
        except elf.LinkError:
            pass


@pytest.mark.parametrize("text", [b"", b"\x7fELF", b"MZ" + bytes(100), b"\x7fELF\x02\x01" + bytes(58)])
def test_other_files(text: bytes) -> None:
    with pytest.raises(elf.LinkError):
        elf.Library(text, {})
