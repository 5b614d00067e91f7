"""Shared memory against a plain model of it: one record a byte for what it holds and whose it is, and of every access
the set of bytes that were not written since, none of them ever forgotten."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tritonx.interpreter.asynchronous.clocks import Clocks
from tritonx.interpreter.asynchronous.reports import Kind, Reports
from tritonx.interpreter.asynchronous.shared import POISON, Buffer, Mode, Proxy, SharedMemory, Touch

SEED = int(os.environ["TRITONX_SEED"])
WARPS, BLOCKS, STRIDE = 3, 2, 48
SIZE = BLOCKS * STRIDE
Found = dict[tuple[Kind, Operation, Operation | None], str]


@dataclass
class Seen:
    """An access of the model."""

    bytes: set[int]
    touch: Touch
    clock: int
    op: Operation


@dataclass
class Model:
    clocks: Clocks
    placed: bool
    accesses: list[Seen] = field(default_factory=list[Seen])
    found: Found = field(default_factory=dict[tuple[Kind, Operation, Operation | None], str])
    held: list[int] = field(default_factory=lambda: [POISON] * SIZE)
    owner: list[Buffer | None] = field(default_factory=lambda: [None] * SIZE)

    def touch(self, op: Operation, touches: list[Touch]) -> None:
        made = [Seen(bits(t.bytes), t, int(self.clocks.seen[t.warp, t.warp]), op) for t in touches if t.bytes]
        for new in made:
            for old in self.accesses:
                if common := old.bytes & new.bytes:
                    self.meet(old, new, min(common) % STRIDE)
        for new in made:
            for old in self.accesses:
                if new.touch.mode is Mode.WRITE or supersedes(new.touch, old.touch):
                    old.bytes -= new.bytes
        self.accesses += made

    def meet(self, old: Seen, new: Seen, byte: int) -> None:
        was, now = old.touch, new.touch
        if was.mode is now.mode is not Mode.WRITE:
            return
        who = f"warp {was.warp}" if was.operation is None else "an asynchronous operation"
        if not self.knows(now.warp, old):
            kind = Kind.NOT_VISIBLE if now.mode is Mode.READ else Kind.OVERWRITE
            text = f"warp {now.warp} {now.mode.value} byte {byte}, which {who} {was.mode.value}"
            self.found.setdefault((kind, new.op, old.op), text)
        elif (now.proxy, was.proxy) == (Proxy.ASYNC, Proxy.GENERIC) and not self.fenced(now.warp, old):
            done = {Mode.WRITE: "written", Mode.READ: "read"}[was.mode]
            text = f"{now.mode.value} through the asynchronous proxy what threads have {done}"
            self.found.setdefault((Kind.UNFENCED, new.op, old.op), text)

    def knows(self, warp: int, old: Seen) -> bool:
        if old.touch.operation is None:
            return bool(self.clocks.seen[warp, old.touch.warp] >= old.clock)
        return old.touch.operation in bits(self.clocks.done[warp])

    def fenced(self, warp: int, old: Seen) -> bool:
        """Or no fence is needed: atomics, and reads while memory has no places yet."""
        if old.touch.mode is Mode.ATOMIC or (old.touch.mode is Mode.READ and not self.placed):
            return True
        return bool(self.clocks.fenced[warp, old.touch.warp] >= old.clock)

    def put(self, buffer: Buffer, where: list[int], values: list[int]) -> None:
        for byte, value in zip(where, values, strict=True):
            self.held[byte], self.owner[byte] = value, buffer

    def check(self, op: Operation, buffer: Buffer, where: list[int]) -> None:
        wrong = [byte for byte in where if self.owner[byte] is not buffer]
        if not wrong:
            return
        text = f"byte {wrong[0] % STRIDE} of the buffer at {buffer.base} ({len(wrong)} bytes in all)"
        other = self.owner[wrong[0]]
        if other is None or other.op is buffer.op:
            self.found.setdefault((Kind.UNWRITTEN, op, None), text)
        else:
            self.found.setdefault((Kind.CLOBBERED, op, other.op), text)


def bits(number: int) -> set[int]:
    return {bit for bit in range(number.bit_length()) if number >> bit & 1}


def supersedes(new: Touch, old: Touch) -> bool:
    """Whoever knows of a warp's later read knows of its earlier one."""
    reads = new.mode is old.mode is Mode.READ and new.operation is old.operation is None
    return reads and new.warp == old.warp


def new_op() -> Operation:
    return ModuleOp([])


def both(*, placed: bool, proxies: bool = True) -> tuple[SharedMemory, Model]:
    clocks = Clocks(WARPS)
    reports = Reports(locate=lambda op: None)
    return SharedMemory(BLOCKS, STRIDE, clocks, reports, proxies=proxies, placed=placed), Model(clocks, placed)


def told(memory: SharedMemory) -> Found:
    return {key: report.message for key, report in memory.reports.found.items()}  # type: ignore[misc]  (ops are there)


@pytest.mark.parametrize("draw", range(40))
def test_order(draw: int) -> None:
    """Reports of races, with what all warps know forgotten now and then."""
    random = Random(SEED * 1000 + draw)
    memory, model = both(placed=random.random() < 0.5, proxies=draw % 4 > 0)
    clocks, ops, operations = memory.clocks, [new_op() for _ in range(6)], list[int]()
    for _ in range(60):
        choice = random.randrange(8)
        warp = random.randrange(WARPS)
        if choice == 0:
            clocks.meet(random.sample(range(WARPS), random.randint(1, WARPS)))
        elif choice == 1:
            clocks.fence(warp)
        elif choice == 2:
            clocks.acquire(warp, clocks.release(random.randrange(WARPS)))
        elif choice == 3 and operations:
            clocks.wait_for(warp, random.choice(operations))
        elif choice == 4:
            memory.forget(range(WARPS))
        else:
            touches = [drawn_touch(random, warp, operations, memory) for _ in range(random.randint(1, 3))]
            op = random.choice(ops)
            memory.touch(op, touches)
            model.touch(op, touches)
        assert told(memory) == model.found, f"seed {SEED * 1000 + draw}"
    memory.forget(range(WARPS))
    clocks.meet(range(WARPS))
    if not memory.proxies and not operations:
        memory.forget(range(WARPS))
        assert not memory.accesses  # no access can race with what all know


def drawn_touch(random: Random, warp: int, operations: list[int], memory: SharedMemory) -> Touch:
    first, size = random.randrange(SIZE), random.choice([0, 1, 4, 16])
    covered = ((1 << size) - 1 << first) & (1 << SIZE) - 1
    proxy, operation = random.choice(list(Proxy)) if memory.proxies else Proxy.GENERIC, None
    if proxy is not Proxy.GENERIC and random.random() < 0.7:
        operations.append(operation := memory.clocks.operation())
    return Touch(covered, random.choice(list(Mode)), warp, proxy, operation)


@pytest.mark.parametrize("draw", range(20))
def test_contents(draw: int) -> None:
    """What reads get, and which of them are of bytes that are not their buffer's; the first buffer as any other."""
    random = Random(SEED * 2000 + draw)
    memory, model = both(placed=True)
    ops = [new_op() for _ in range(3)]
    buffers = [memory.buffer(random.choice(ops), 8 * random.randrange(4), 16) for _ in range(4)]
    assert len({buffer.number for buffer in buffers}) == len(buffers)
    for step in range(40):
        buffer, dtype = random.choice(buffers), np.dtype(random.choice(["u1", "<u2", "<u4"]))
        addresses = np.array(random.sample(range(0, SIZE, dtype.itemsize), 4), np.int64).reshape(2, 2)
        where = [int(a) + i for a in addresses.flat for i in range(dtype.itemsize)]
        choice = random.randrange(4)
        if choice == 0:
            values = np.frombuffer(random.randbytes(4 * dtype.itemsize), dtype).reshape(2, 2)
            memory.write(buffer, addresses, values)
            model.put(buffer, where, list(values.tobytes()))
        elif choice == 1:
            memory.reserve(buffer, addresses, dtype.itemsize)
            model.put(buffer, where, [POISON] * len(where))
        elif choice == 2:
            memory.leave(buffer, addresses, dtype.itemsize)
            others = [byte for byte in where if model.owner[byte] is not buffer]
            model.put(buffer, others, [POISON] * len(others))
        else:
            op = new_op()
            model.check(op, buffer, where)
            found = memory.read(op, buffer, addresses, dtype)
            assert found.shape == (2, 2) and found.dtype == dtype
            assert list(found.tobytes()) == [model.held[byte] for byte in where], f"seed {SEED * 2000 + draw} at {step}"
        assert told(memory) == model.found, f"seed {SEED * 2000 + draw} at {step}"
