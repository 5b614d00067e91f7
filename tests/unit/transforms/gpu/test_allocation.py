"""Placing shared memory, and making room in it, on modules."""

from __future__ import annotations

import os
import random

import pytest

from tests.unit.analysis.memory_modules import buffers, module_of
from tritonx.analysis.shared_budget import largest_buffers
from tritonx.ir.pipeline import pass_context
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
from tritonx.transforms.gpu.make_room import MakeRoom

SEED = int(os.environ["TRITONX_SEED"])


def place(module, limit):
    for one in (MakeRoom(limit), AllocateSharedMemory(limit)):
        one.apply(pass_context(), module)


def check_apart(module):
    """What is alive together does not overlap."""
    placed = [(b, b.op.attributes["allocation.offset"].value.data) for b in buffers(module)]
    for number, (buffer, offset) in enumerate(placed):
        for other, at in placed[:number]:
            together = other.first <= buffer.last and buffer.first <= other.last
            assert not together or offset + buffer.size <= at or at + other.size <= offset


def test_callees_lie_above_their_callers():
    module = module_of("""
  tt.func private @callee(%a: tensor<32x32xf32, #rows>) attributes {noinline = true} {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    tt.return
  }
  tt.func public @caller(%a: tensor<32x32xf32, #rows>) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    tt.call @callee(%a) : (tensor<32x32xf32, #rows>) -> ()
    tt.return
  }
""")
    AllocateSharedMemory().apply(pass_context(), module)
    offsets = {b.op.parent_op().sym_name.data: b.op.attributes["allocation.offset"].value.data for b in buffers(module)}
    assert offsets == {"caller": 0, "callee": 4096}
    assert module.attributes["ttg.shared"].value.data == 8192
    assert largest_buffers(module).startswith("The largest buffers are 4096 bytes for ttg.local_alloc;")


def test_a_callee_without_buffers_of_callers_that_have_too_many():
    module = module_of("""
  tt.func private @callee(%a: tensor<32x32xf32, #rows>) attributes {noinline = true} {
    tt.return
  }
  tt.func public @caller(%a: tensor<32x32xf32, #rows>) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    tt.call @callee(%a) : (tensor<32x32xf32, #rows>) -> ()
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    tt.return
  }
""")
    place(module, 2048)
    assert module.attributes["ttg.shared"].value.data == 4096


def test_a_buffer_that_another_block_reads_stays_where_it_is():
    module = module_of("""
  tt.func public @f(%a: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    cf.br ^next
  ^next:
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    tt.return %x : tensor<32x32xf32, #rows>
  }
""")
    place(module, 2048)
    (buffer,) = buffers(module)
    assert buffer.op.next_op.name == "cf.br"


@pytest.mark.parametrize("number", range(20))
def test_room_is_made_for_tiles_that_wait(number):
    """Tiles are stored early and read one after another, in any order: two of them always fit."""
    rng = random.Random(SEED + number)
    count = rng.randrange(3, 9)
    stores = [f"%m{i} = ttg.local_alloc %a : (!tile) -> !whole" for i in range(count)]
    loads = [f"%x{i} = ttg.local_load %m{i} : !whole -> !tile\n%s{i} = arith.negf %x{i} : !tile" for i in range(count)]
    rng.shuffle(loads)
    body = "\n".join(["tt.func public @f(%a: !tile) {", *stores, *loads, "tt.return", "}"])
    body = body.replace("!whole", "!ttg.memdesc<32x32xf32, #shared, #smem>")
    module = module_of(body.replace("!tile", "tensor<32x32xf32, #rows>"))
    place(module, 2 * 4096)
    assert module.attributes["ttg.shared"].value.data <= 2 * 4096
    module.verify()
    check_apart(module)


@pytest.mark.parametrize("draw", range(12))
def test_the_tile_that_waits_longest_is_made_later(draw):
    """There is room for all but one of the tiles that wait together: the others stay where they are."""
    rng = random.Random(SEED + draw)
    count = rng.randrange(3, 9)
    read = rng.sample(range(count), count)
    lines = [f"%m{i} = ttg.local_alloc %a : (!tile) -> !whole" for i in range(count)]
    for i in read:  # loads that stand together would be waited for together
        lines.append(f"%x{i} = ttg.local_load %m{i} : !whole -> !tile")
        lines += [f"%n{i}_{n} = arith.negf %x{i} : !tile" for n in range(rng.randrange(1, 4))]
    body = "\n".join(["tt.func public @f(%a: !tile) {", *lines, "tt.return", "}"])
    body = body.replace("!whole", "!ttg.memdesc<32x32xf32, #shared, #smem>")
    module = module_of(body.replace("!tile", "tensor<32x32xf32, #rows>"))
    made = [b.op for b in buffers(module)]
    waits = [next(n for n, line in enumerate(lines) if line.startswith(f"%x{i} ")) - i for i in range(count)]
    MakeRoom((count - 1) * 4096).apply(pass_context(), module)
    moved = [i for i, op in enumerate(made) if op.prev_op is not None and op.prev_op not in made]
    assert len(moved) == 1, f"seed {SEED + draw}: {moved}"
    assert waits[moved[0]] == max(waits), f"seed {SEED + draw}: {moved}, {waits}"
