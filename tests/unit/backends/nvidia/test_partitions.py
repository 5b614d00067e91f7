"""Warps that run regions of their own, executed from PTX: every warp of a partition runs its region once each time,
with the values that were handed over, and the kernel's own go on with what theirs yields. The registers that warps
take and give are counted."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tritonx.backends.api import Compilation, Options, PassStage, Target, run_stages
from tritonx.backends.registry import parse_target
from tritonx.dialects.gpu_layout import WarpSpecializeOp
from tritonx.ir.pipeline import run_passes
from tritonx.ir.text import parse_module
from tritonx_testing.emulators.ptx.arguments import extent, packed
from tritonx_testing.emulators.ptx.run import Block, execute, window
from tritonx_testing.emulators.ptx.text import Instruction, Number, parse
from tritonx_testing.emulators.ptx.threads import LANES, Fault

SEED = int(os.environ["TRITONX_SEED"])
MOST = 256
"""Registers that a thread may take."""
FIRST = 64
"""The words in front of what the kernel writes."""


@dataclass(frozen=True)
class Partition:
    """Adds ``x + y + number`` to the words from ``place`` on, an element a thread, ``rounds`` times."""

    number: int
    warps: int
    place: int
    rounds: int

    def text(self) -> str:
        n, layout = LANES * self.warps, f"#w{self.warps}"
        add = f"""
      %i = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, {layout}>
      %place = arith.constant {self.place} : i32
      %base = tt.addptr %q, %place : !tt.ptr<i32>, i32
      %bases = tt.splat %base : !tt.ptr<i32> -> tensor<{n}x!tt.ptr<i32>, {layout}>
      %at = tt.addptr %bases, %i : tensor<{n}x!tt.ptr<i32>, {layout}>, tensor<{n}xi32, {layout}>
      %y32 = arith.trunci %y : i64 to i32
      %sum = arith.addi %x, %y32 : i32
      %own = arith.constant {self.number} : i32
      %all = arith.addi %sum, %own : i32
      %value = tt.splat %all : i32 -> tensor<{n}xi32, {layout}>"""
        each = f"""
        %old = tt.load %at : tensor<{n}x!tt.ptr<i32>, {layout}>
        %new = arith.addi %old, %value : tensor<{n}xi32, {layout}>
        tt.store %at, %new : tensor<{n}x!tt.ptr<i32>, {layout}>
        ttg.local_barrier"""
        if self.rounds > 1:
            each = f"""
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %rounds = arith.constant {self.rounds} : i32
      scf.for %r = %zero to %rounds step %one : i32 {{{each}
      }}"""
        return f"""
    partition{self.number}(%q: !tt.ptr<i32>, %x: i32, %y: i64) num_warps({self.warps}) {{{add}{each}
      ttg.warp_return
    }}"""


@dataclass(frozen=True)
class Specialized:
    """One op: what the kernel's own warps write at ``place``, the partitions, and the registers they ask for."""

    place: int
    partitions: tuple[Partition, ...]
    registers: tuple[int, ...]

    def text(self, own: int, name: str) -> str:
        asked = f" attributes {{requestedRegisters = array<i32: {', '.join(map(str, self.registers))}>}}"
        types = "(!tt.ptr<i32>, i32, i64) -> i32"
        return f"""
    {name} = ttg.warp_specialize(%p, %carried, %y){asked if self.registers else ""}
    default {{
      %place = arith.constant {self.place} : i32
      %at = tt.addptr %p, %place : !tt.ptr<i32>, i32
      tt.store %at, %carried : !tt.ptr<i32>
      %seven = arith.constant 7 : i32
      %more = arith.addi %carried, %seven : i32
      ttg.warp_yield %more : i32
    }}{"".join(p.text() for p in self.partitions)} : {types}"""


@dataclass(frozen=True)
class Kernel:
    """``ops`` one after the other, ``times`` times, on a number that each makes larger by seven. ``limit``: the most
    registers of a thread that the user allows."""

    own: int
    ops: tuple[Specialized, ...]
    times: int
    limit: int | None = None

    def text(self) -> str:
        warps = sorted({p.warps for op in self.ops for p in op.partitions})
        layouts = "".join(
            f"#w{n} = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [{n}], order = [0]}}>\n"
            for n in warps
        )
        names = ["%carried", *(f"%after{i}" for i in range(len(self.ops)))]
        body = "".join(
            op.text(self.own, after).replace("%carried", before)
            for op, before, after in zip(self.ops, names, names[1:], strict=False)
        )
        return f"""{layouts}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {self.own} : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @f(%p: !tt.ptr<i32>, %n: i32, %m: i64) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %times = arith.constant {self.times} : i32
    %y = arith.addi %m, %m : i64
    %first = arith.addi %n, %n : i32
    %last = scf.for %t = %zero to %times step %one iter_args(%carried = %first) -> (i32) : i32 {{{body}
      scf.yield {names[-1]} : i32
    }}
    tt.store %p, %last : !tt.ptr<i32>
    tt.return
  }}
}}
"""

    def expected(self, words: np.ndarray, n: int, m: int) -> np.ndarray:
        made, carried = words.astype(np.int64), 2 * n
        for op in self.ops * self.times:
            made[op.place] = carried
            for p in op.partitions:
                made[p.place : p.place + LANES * p.warps] += p.rounds * (carried + 2 * m + p.number)
            carried += 7
        made[0] = carried
        return made.astype(np.int32)


def drawn(random: Random) -> tuple[Kernel, int]:
    """A kernel, and how many words it writes to at most."""
    words, ops = FIRST, list[Specialized]()
    own, limit = random.choice([4, 8]), random.choice([None, None, 76, 128])
    for _ in range(random.randint(1, 3)):
        partitions = list[Partition]()
        for number in range(random.randint(1, 3)):
            warps = random.choice([1, 2, 4, 4])
            partitions.append(Partition(number, warps, words, random.choice([1, 1, 3])))
            words += LANES * warps
        amounts = [24, 40, 88] if len(partitions) > 1 else [24, 88, 152, 232]  # what leaves enough for the others
        amounts = amounts if limit is None else [24, 40]
        registers = tuple(random.choice(amounts) for _ in partitions) if random.random() < 0.7 else ()
        ops.append(Specialized(random.randrange(1, FIRST), tuple(partitions), registers))
    return Kernel(own, tuple(ops), random.randint(1, 2), limit), words


class Registers:
    """How many each warp of a block has."""

    def __init__(self, at_launch: int) -> None:
        self.at_launch = at_launch
        self.held: dict[int, int] = {}

    def set(self, block: Block, i: Instruction) -> None:
        """setmaxnreg, which all warps of a group run: to more or to fewer, eight at a time, never for nothing."""
        (amount,) = (o.value for o in i.operands if isinstance(o, Number))
        more, fewer = "inc" in i.modifiers, "dec" in i.modifiers
        threads = block.t.mask.reshape(-1, LANES).any(1)
        for warp in np.flatnonzero(threads):
            now = self.held.get(int(warp), self.at_launch)
            if amount % 8 or not 24 <= amount <= 256 or more == fewer or (amount <= now if more else amount >= now):
                raise Fault(f"a warp of {now} registers: {i.text}")
            self.held[int(warp)] = amount

    def settle(self) -> None:
        """In the end every warp has what it began with."""
        assert set(self.held.values()) <= {self.at_launch}


def shared_out(module: ModuleOp, own: int, at_launch: int, limit: int | None) -> None:
    """Who asked has what it asked for, warps without a partition the fewest, and the kernel's own all that is left."""
    ops = [op for op in module.walk() if isinstance(op, WarpSpecializeOp)]
    places = [list(zip(starts(op), sizes(op), strict=True)) for op in ops]
    total = -(-max(start + size for each in places for start, size in each) // 4) * 4
    assert at_launch == min(MOST - 1, 65536 // (LANES * total), limit or MOST) // 8 * 8
    for op, each in zip(ops, places, strict=True):
        taken = [warp for start, size in each for warp in range(start, start + size)]
        assert min(taken) >= own and len(set(taken)) == len(taken)
        assert op.actualRegisters is not None
        asked = None if op.requestedRegisters is None else op.requestedRegisters.get_values()
        mine, *others = (int(n) for n in op.actualRegisters.get_values())
        assert others == ([at_launch] * len(each) if asked is None else [int(n) for n in asked])
        groups = dict.fromkeys(range(own // 4, total // 4), 24)
        for (start, size), amount in zip(each, others, strict=True):
            for warp in range(start, start + size):
                groups[warp // 4] = max(groups[warp // 4], amount)
        left = total * at_launch - 4 * sum(groups.values())
        assert mine == min(MOST, left // own // 8 * 8)


def starts(op: WarpSpecializeOp) -> list[int]:
    assert op.warpGroupStartIds is not None
    return [int(n) for n in op.warpGroupStartIds.get_values()]


def sizes(op: WarpSpecializeOp) -> list[int]:
    return [int(n) for n in op.partitionNumWarps.get_values()]


def run(kernel: Kernel, words: np.ndarray, n: int, m: int) -> str:
    backend, target = parse_target("cuda:90")
    options = backend.parse_options(target, {"num_warps": kernel.own, "maxnreg": kernel.limit})
    module = parse_module(kernel.text())
    finished(module, target, options)
    text, shared = written(module, target, options)
    registers = Registers(int(text.partition(".maxnreg ")[2].split()[0]) if ".maxnreg" in text else 0)
    arguments = packed(["!tt.ptr<i32>", "i32", "i64"], [words.ctypes.data, n, m])
    execute(parse(text), (1, 1, 1), arguments, [window(*extent(words))], shared, SEED, {"setmaxnreg": registers.set})
    registers.settle()
    if any(op.registers for op in kernel.ops):
        shared_out(module, kernel.own, registers.at_launch, kernel.limit)
    return text


def finished(module: ModuleOp, target: Target, options: Options) -> None:
    """What a launch runs on a module that is `ttg` already."""
    stage = parse_target(str(target))[0].stages(target, options)[1]
    assert isinstance(stage, PassStage)
    run_passes(module, stage.remaining(module).passes)


def written(module: ModuleOp, target: Target, options: Options) -> tuple[str, int]:
    """PTX, and the bytes of shared memory."""
    compilation = Compilation(target, options)
    stages = [s for s in parse_target(str(target))[0].stages(target, options) if s.name in ("llir", "ptx")]
    text = str(run_stages(module, stages, compilation)["ptx"])
    return text, int(compilation.metadata["shared"])


@pytest.mark.parametrize("draw", range(12))
def test_every_warp_runs_its_partition(draw: int) -> None:
    random = Random(SEED * 100 + draw)
    kernel, count = drawn(random)
    words = np.random.default_rng(SEED + draw).integers(-(2**20), 2**20, count + FIRST).astype(np.int32)
    n, m = random.randrange(-1000, 1000), random.randrange(-1000, 1000)
    expected = kernel.expected(words, n, m)
    text = run(kernel, words, n, m)
    np.testing.assert_array_equal(words, expected, err_msg=f"seed {SEED * 100 + draw}\n{kernel}")
    assert ("setmaxnreg" in text) == any(op.registers for op in kernel.ops)


def test_the_kernels_own_warps_give_and_take_back() -> None:
    """One warp group that asks for much: what is left for eight own warps is less than at the launch."""
    kernel = Kernel(8, (Specialized(1, (Partition(0, 4, FIRST, 1),), (232,)),), 1)
    words = np.zeros(FIRST + 4 * LANES, np.int32)
    text = run(kernel, words, 5, 6)
    np.testing.assert_array_equal(words, kernel.expected(np.zeros_like(words), 5, 6))
    own = text[: text.index("setmaxnreg.inc.sync.aligned.u32 232")]
    assert re.findall(r"setmaxnreg\.(\S+?)\.\S+ (\d+)", own) == [("dec", "136"), ("inc", "168")]


@pytest.mark.parametrize("lost", ["actualRegisters", "ttg.maxnreg"])
def test_registers_are_shared_out_only_where_all_is_said(lost: str) -> None:
    kernel = Kernel(4, (Specialized(1, (Partition(0, 4, FIRST, 1),), (88,)),), 1)
    backend, target = parse_target("cuda:90")
    options = backend.parse_options(target, {"num_warps": kernel.own})
    module = parse_module(kernel.text())
    finished(module, target, options)
    assert "setmaxnreg" in written(module.clone(), target, options)[0]
    module.attributes.pop(lost, None)
    for op in module.walk():
        op.properties.pop(lost, None)
    assert "setmaxnreg" not in written(module, target, options)[0]
