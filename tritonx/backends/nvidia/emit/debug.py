"""device_print by vprintf and device_assert by __assertfail, the two functions that the CUDA driver supplies to
kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.types import bits

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def print_line(f: FunctionEmitter, text: str, values: list[tuple[str, str, bool]]) -> None:
    symbol = f.module.declare("i32", "@vprintf", ["ptr", "ptr"])
    struct = "{ " + ", ".join(elem for _, elem, _ in values) + " }"
    f.allocas += 1
    slot = f"%print{f.allocas}"
    with f.in_prologue():
        f.line(f"{slot} = alloca {struct}, align 8")
    for i, (name, elem, _) in enumerate(values):
        place = f.inst(f"getelementptr inbounds {struct}, ptr {slot}, i32 0, i32 {i}")
        f.line(f"store {elem} {name}, ptr {place}, align {bits(elem) // 8}")
    f.line(f"call i32 {symbol}(ptr {f.module.string(text)}, ptr {slot})".replace("call", f"{f.name()} = call", 1))


def assert_(f: FunctionEmitter, failed: str, message: str, file: str, line: int, function: str) -> None:
    symbol = f.module.declare("void", "@__assertfail", ["ptr", "ptr", "i32", "ptr", "i64"])
    strings = [f.module.string(s) for s in (message, file, function)]
    with f.where(failed):
        f.line(f"call void {symbol}(ptr {strings[0]}, ptr {strings[1]}, i32 {line}, ptr {strings[2]}, i64 1)")
