"""What shared passes ask of ops and dialects that they do not name."""

from __future__ import annotations

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import i1, i32

from tritonx.dialects import nvidia as ttng
from tritonx.dialects.interfaces import (
    BlockCopies,
    has_predicate,
    is_asynchronous_product,
    is_memory_product,
    make_synchronous,
    predicate_of,
    scratch_memory_of,
)
from tritonx.ir.context import dialect_interface
from tritonx.ir.text import parse_module
from tritonx.transforms.pipelining.copies_to_slots import BARRIER

MEMORY = "!ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory>"
PRODUCT = f"""
#mma = #ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}}>
#shared = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
module attributes {{"ttg.num-warps" = 4 : i32}} {{
  tt.func @f(%a: {MEMORY}, %c: tensor<64x64xf32, #mma>) {{
    %d = ttng.warp_group_dot %a, %a, %c {{inputPrecision = 0 : i32, isAsync = true}}
      : {MEMORY} * {MEMORY} -> tensor<64x64xf32, #mma>
    tt.return
  }}
}}
"""


def test_a_product_of_shared_memory_is_known_by_its_declaration() -> None:
    (product,) = (op for op in parse_module(PRODUCT).walk() if is_memory_product(op))
    assert isinstance(product, ttng.WarpGroupDotOp) and is_asynchronous_product(product)
    make_synchronous(product)
    assert not is_asynchronous_product(product) and not is_memory_product(test.TestOp())


def test_a_predicate_may_be_left_out() -> None:
    barrier, parity, holds = test.TestOp(result_types=[BARRIER, i32, i1]).results
    always = ttng.WaitBarrierOp.create(operands=(barrier, parity), properties={})
    assert has_predicate(always) and not has_predicate(test.TestOp())
    expect = dialect_interface("ttng", BlockCopies).expect(barrier, 64, holds)
    made = expect.cls.create(operands=expect.operands, properties=expect.properties)
    assert predicate_of(made) is holds and predicate_of(test.TestOp()) is None


def test_scratch_memory_is_declared() -> None:
    declared = scratch_memory_of(ttng.TensormapCreateOp.create())
    assert declared is not None and (declared.size, declared.alignment) == (128, 128)
    assert scratch_memory_of(test.TestOp()) is None


@pytest.mark.parametrize("name", ["none", "tt"])
def test_a_dialect_that_copies_no_blocks_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"no dialect '{name}' has BlockCopies"):
        dialect_interface(name, BlockCopies)
