"""What a kernel prints, and the assertions that OpenCL does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def print_line(f: FunctionEmitter, text: str, values: list[tuple[str, str, bool]]) -> None:
    symbol = f.module.declare("i32", "@printf", ["ptr addrspace(2)", "..."])
    string = f.module.string(text, space=2)
    arguments = "".join(f", {type_} {name}" for name, type_, _ in values)
    f.inst(f"call i32 (ptr addrspace(2), ...) {symbol}(ptr addrspace(2) {string}{arguments})")


def assert_(f: FunctionEmitter, failed: str, message: str, file: str, line: int, function: str) -> None:
    assert f.current is not None
    raise PassError(f.current, "OpenCL cannot stop a kernel")
