"""What the passes that walk a function with a state ask of its ops: of each once, however often it is walked."""

from collections import Counter
from typing import Any

import pytest
from xdsl.ir import Operation

from tritonx.backends.nvidia.passes import insert_fences
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.transforms.gpu import insert_barriers
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory

HEAD = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%d: !tt.tensordesc<tensor<64x16xf16, #shared>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = arith.constant dense<1.0> : tensor<64x16xf16, #rows>
    %m = ttg.local_alloc %t : (tensor<64x16xf16, #rows>) -> !ttg.memdesc<64x16xf16, #shared, #smem, mutable>
"""
INNERMOST = """
    ttng.async_tma_copy_local_to_global %d[%c0, %c0] %m : !tt.tensordesc<tensor<64x16xf16, #shared>>, MEMORY
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttg.local_store %t, %m : tensor<64x16xf16, #rows> -> MEMORY
    %a = ttg.local_load %m : MEMORY -> tensor<64x16xf16, #rows>
""".replace("MEMORY", "!ttg.memdesc<64x16xf16, #shared, #smem, mutable>")


def nested(loops: int) -> str:
    begin = "\n".join(f"scf.for %i{i} = %c0 to %n step %c1 : i32 {{" for i in range(loops))
    return f"{HEAD}{begin}{INNERMOST}{'}' * loops}\ntt.return }} }}"


@pytest.mark.parametrize(
    ("module", "asked", "made"),
    [
        (insert_barriers, "accesses_of", insert_barriers.InsertBarriers),
        (insert_fences, "scratch_of", insert_fences.InsertFences),
    ],
)
def test_an_op_is_asked_once(monkeypatch: pytest.MonkeyPatch, module: Any, asked: str, made: Any) -> None:
    program = parse_module(nested(5), "program")
    AllocateSharedMemory().apply(pass_context(), program)
    before, count = getattr(module, asked), Counter[Operation]()

    def counted(op: Operation, *rest: object) -> object:
        count[op] += 1
        return before(op, *rest)

    monkeypatch.setattr(module, asked, counted)
    made().apply(pass_context(), program)
    assert count and set(count.values()) == {1}
