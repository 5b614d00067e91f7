"""Fences between the proxies, on random programs: with those that `insert-fences` puts in nothing is reported, and
without one of them the machine misses it wherever the pass says that it is needed.

Programs are drawn of things that touch shared memory by either proxy: exchanges between threads, tiles that threads
store and load, block copies in and out, products of a warp group, in buffers of their own, which the allocation lays
over each other, and in two that live as long as the program; in loops and branches. `TRITONX_RANDOM_KERNELS=500` draws
more.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tritonx.backends.nvidia.passes.insert_fences import InsertFences
from tritonx.dialects.nvidia import FenceAsyncSharedOp
from tritonx.interpreter.asynchronous import Kind, Landing, Order, Report, Setting, execute
from tritonx.ir.edit import erase
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
from tritonx.transforms.gpu.insert_barriers import InsertBarriers

SEED = int(os.environ["TRITONX_SEED"])
PROGRAMS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "25"))

HEAD = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%d: !tt.tensordesc<tensor<64x16xf16, #wide>>, %choices: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %true = arith.constant true
    %t = arith.constant dense<1.0> : tensor<64x16xf16, #rows>
    %w = arith.constant dense<1.0> : tensor<16x16xf16, #rows>
    %z = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %p0 = ttg.local_alloc %t : (tensor<64x16xf16, #rows>) -> TILE
    %p1 = ttg.local_alloc %t : (tensor<64x16xf16, #rows>) -> TILE
BODY
    tt.return
  }
}
"""
SHORT = {
    "TILE": "!ttg.memdesc<64x16xf16, #wide, #smem, mutable>",
    "RIGHT": "!ttg.memdesc<16x16xf16, #wide, #smem>",
    "DESC": "!tt.tensordesc<tensor<64x16xf16, #wide>>",
    "BAR": "!ttg.memdesc<1xi64, #bar, #smem, mutable>",
    "TENSOR": "tensor<64x16xf16, #rows>",
}

ACTIONS = {
    "exchange": "%a = ttg.convert_layout %t : TENSOR -> tensor<64x16xf16, #columns>",
    "own tile": """
        %m = ttg.local_alloc %t : (TENSOR) -> TILE
        %a = ttg.local_load %m : TILE -> TENSOR""",
    "store": "ttg.local_store %t, %P : TENSOR -> TILE",
    "load": "%a = ttg.local_load %P : TILE -> TENSOR",
    "bring into own": """
        %m = ttg.local_alloc : () -> TILE
        %b = ttg.local_alloc : () -> BAR
        ttng.init_barrier %b, 1 : BAR
        ttng.barrier_expect %b, 2048, %true : BAR
        ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b, %true : DESC, BAR -> TILE
        ttng.wait_barrier %b, %c0 : BAR
        ttng.inval_barrier %b : BAR
        %a = ttg.local_load %m : TILE -> TENSOR""",
    "bring": """
        %b = ttg.local_alloc : () -> BAR
        ttng.init_barrier %b, 1 : BAR
        ttng.barrier_expect %b, 2048, %true : BAR
        ttng.async_tma_copy_global_to_local %d[%c0, %c0] %P, %b, %true : DESC, BAR -> TILE
        ttng.wait_barrier %b, %c0 : BAR
        ttng.inval_barrier %b : BAR""",
    "send own": """
        %m = ttg.local_alloc %t : (TENSOR) -> TILE
        ttng.async_tma_copy_local_to_global %d[%c0, %c0] %m : DESC, TILE
        ttng.async_tma_store_wait {pendings = 0 : i32}""",
    "send": """
        ttng.async_tma_copy_local_to_global %d[%c0, %c0] %P : DESC, TILE
        ttng.async_tma_store_wait {pendings = 0 : i32}""",
    "add": """
        ttng.async_tma_reduce add, %d[%c0, %c0] %P : DESC, TILE
        ttng.async_tma_store_wait {pendings = 0 : i32}""",
    "multiply": """
        %n = ttg.local_alloc %w : (tensor<16x16xf16, #rows>) -> RIGHT
        %a = ttng.warp_group_dot %P, %n, %z : TILE * RIGHT -> tensor<64x16xf32, #mma>""",
    "fence": "ttng.fence_async_shared {bCluster = false}",
}


CHOICES = 8
"""Bits of the argument that says which way a program goes."""


class Writer:
    """Draws the text of one program. Whether a loop runs twice or not at all, and which way a branch goes, is a
    bit of an argument, one for each time that it is come to: what lies in a loop may go another way in the second
    round, so that every way that the program's text has is gone for some argument. There are at most `CHOICES` bits."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.number = 0
        self.chosen = 0
        self.rounds: list[str] = []
        """The counters of the loops around, each 0 or 1."""

    def block(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.random.randint(2, 5)))

    def choice(self, number: int) -> str:
        """`%k`, a bit of its own in each round."""
        lines = [f"%s{number}_0 = arith.constant {self.chosen} : i32"]
        for level, counter in enumerate(self.rounds):
            lines += [
                f"%w{number}_{level} = arith.constant {1 << level} : i32",
                f"%v{number}_{level} = arith.muli {counter}, %w{number}_{level} : i32",
                f"%s{number}_{level + 1} = arith.addi %s{number}_{level}, %v{number}_{level} : i32",
            ]
        lines += [
            f"%g{number} = arith.shrui %choices, %s{number}_{len(self.rounds)} : i32",
            f"%h{number} = arith.andi %g{number}, %c1 : i32",
            f"%k{number} = arith.cmpi ne, %h{number}, %c0 : i32",
        ]
        self.chosen += 1 << len(self.rounds)
        return "\n".join(lines)

    def statement(self, depth: int) -> str:
        kind = self.random.random()
        self.number += 1
        number = self.number
        if depth < 2 and kind < 0.4 and self.chosen + (1 << len(self.rounds)) <= CHOICES:
            lines = [self.choice(number)]
            if kind < 0.25:
                lines.append(f"%e{number} = arith.select %k{number}, %c2, %c0 : i32")
                self.rounds.append(f"%i{number}")
                lines.append(f"scf.for %i{number} = %c0 to %e{number} step %c1 : i32 {{\n{self.block(depth + 1)}\n}}")
                self.rounds.pop()
            else:
                lines.append(f"scf.if %k{number} {{\n{self.block(depth + 1)}\n}}")
                if self.random.random() < 0.5:
                    lines.append(f"else {{\n{self.block(depth + 1)}\n}}")
            return "\n".join(lines)
        text = ACTIONS[self.random.choice(list(ACTIONS))].replace("%P", self.random.choice(("%p0", "%p1")))
        for name in "abmn":
            text = text.replace(f"%{name} ", f"%{name}{number} ").replace(f"%{name},", f"%{name}{number},")
        return text


def program(random: Random) -> str:
    text = HEAD.replace("BODY", Writer(random).block(0))
    for short, type_ in SHORT.items():
        text = text.replace(short, type_)
    return text


def placed(text: str) -> ModuleOp:
    module = parse_module(text, "program")
    verify(module)
    for one in (AllocateSharedMemory(), InsertFences()):
        one.apply(pass_context(), module)
    return module


def with_barriers(module: ModuleOp) -> ModuleOp:
    InsertBarriers().apply(pass_context(), module)
    verify(module)
    return module


class Host:
    """A tensor descriptor of the host."""

    def __init__(self, base: Any) -> None:
        self.base = base
        self.shape = base.shape
        self.strides = (base.shape[1], 1)


def reports(module: ModuleOp, choices: int, landing: Landing = Landing.LATE) -> tuple[Report, ...]:
    setting = Setting(order=Order(SEED, landing))
    return execute(module, 1, [Host(np.ones((64, 16), np.float16)), choices], setting)


def fences(module: ModuleOp) -> list[FenceAsyncSharedOp]:
    return [op for op in module.walk() if isinstance(op, FenceAsyncSharedOp)]


@pytest.mark.parametrize("draw", range(PROGRAMS))
def test_nothing_is_reported(draw: int) -> None:
    random = Random(f"{SEED} {draw}")
    text = program(random)
    module = with_barriers(placed(text))
    for landing in Landing:
        found = reports(module, random.randrange(1 << CHOICES), landing)
        assert not found, "\n".join(map(str, (*found, f"seed {SEED}, draw {draw}", text)))


def is_needed(text: str, dropped: int) -> bool:
    """Whether the pass puts one in again."""
    module = placed(text)
    erase(fences(module)[dropped])
    before = len(fences(module))
    InsertFences().apply(pass_context(), module)
    return len(fences(module)) > before


@pytest.mark.parametrize("draw", range(PROGRAMS))
def test_a_fence_that_is_dropped_is_missed(draw: int) -> None:
    """On some way through the program. A condition that no loop changes would leave ways that nothing goes and that
    the pass, which knows no conditions, fences: those programs are not drawn."""
    random = Random(f"{SEED} dropped {draw}")
    text = program(random)
    count = len(fences(placed(text)))
    chosen = [number for number in range(count) if is_needed(text, number)]
    for number in random.sample(chosen, min(2, len(chosen))):
        module = placed(text)
        erase(fences(module)[number])
        with_barriers(module)
        ways = random.sample(range(1 << CHOICES), 1 << CHOICES)
        found = next(filter(None, (reports(module, choices) for choices in ways)), ())
        kinds = {report.kind for report in found}
        assert kinds == {Kind.UNFENCED}, f"fence {number}: {kinds}, seed {SEED}, draw {draw}\n{text}"
