"""ldmatrix and stmatrix: moving the operands of matrix instructions between shared memory and registers, a warp at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def matrix_load(f: FunctionEmitter, capability: int, op: Any) -> bool:
    return False


def matrix_store(f: FunctionEmitter, capability: int, op: Any) -> bool:
    return False
