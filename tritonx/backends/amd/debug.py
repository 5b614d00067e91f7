"""device_print and device_assert through the host-call service of ROCm's runtime, by the functions of OCKL that HIP's
own printf is made of (ROCm device libraries, "printf" of OCKL).

A message is a descriptor that passes through the calls: begun, given a format with its final zero, and then at most
seven arguments of 64 bits at a time; the last call says that it is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.amd import device_library
from tritonx.conversion.gpu_to_llvm.types import bits

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

ARGUMENTS_AT_ONCE = 7


def print_line(f: FunctionEmitter, text: str, values: list[tuple[str, str, bool]]) -> None:
    begin = f.module.declare("i64", "@__ockl_printf_begin", ["i64"])
    _message(f, "@__ockl_printf", f.inst(f"call i64 {begin}(i64 0)"), text, [_word(f, *value) for value in values])


def assert_(f: FunctionEmitter, failed: str, message: str, file: str, line: int, function: str) -> None:
    """The message goes to standard error, where OCKL is at hand; then the wave traps."""
    with f.where(failed):
        if device_library.found("ockl.bc"):
            begin = f.module.declare("i64", "@__ockl_fprintf_stderr_begin", [])
            text = f"{file}:{line}: {function}: Assertion `{message}` failed\n".replace("%", "%%")
            _message(f, "@__ockl_fprintf", f.inst(f"call i64 {begin}()"), text, [])
        f.line(f"call void {f.module.declare('void', '@llvm.trap', [])}()")


def _message(f: FunctionEmitter, family: str, descriptor: str, text: str, words: list[str]) -> None:
    """The rest of a message that has been begun."""
    append = f.module.declare("i64", f"{family}_append_string_n", ["i64", "ptr", "i64", "i32"])
    symbol = f.module.string(text, space=4)
    size = len(text.encode()) + 1
    place = f"addrspacecast (ptr addrspace(4) {symbol} to ptr)"
    descriptor = f.inst(f"call i64 {append}(i64 {descriptor}, ptr {place}, i64 {size}, i32 {int(not words)})")
    for first in range(0, len(words), ARGUMENTS_AT_ONCE):
        some = words[first : first + ARGUMENTS_AT_ONCE]
        append = f.module.declare("i64", f"{family}_append_args", ["i64", "i32", *["i64"] * ARGUMENTS_AT_ONCE, "i32"])
        given = ", ".join(f"i64 {word}" for word in (*some, *["0"] * (ARGUMENTS_AT_ONCE - len(some))))
        last = int(first + ARGUMENTS_AT_ONCE >= len(words))
        descriptor = f.inst(f"call i64 {append}(i64 {descriptor}, i32 {len(some)}, {given}, i32 {last})")


def _word(f: FunctionEmitter, name: str, elem: str, signed: bool) -> str:
    """A value as an argument's 64 bits."""
    if elem == "double":
        return f.inst(f"bitcast double {name} to i64")
    if bits(elem) == 64:
        return name
    return f.inst(f"{'sext' if signed else 'zext'} {elem} {name} to i64")
