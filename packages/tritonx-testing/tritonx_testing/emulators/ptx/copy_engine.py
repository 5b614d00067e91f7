"""cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and tensormap (PTX ISA 9.0, sections 9.7.9.27 to 9.7.9.29).

A copy happens at once or as late as it may, which is drawn: one into shared memory when a thread waits that would
otherwise wait for ever, one out of it when its group is waited for. Either half of the programs' freedom shows: what is
read before it was waited for is not there yet, and what is still read when a copy is issued is there no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tritonx.interpreter.rounding import round_to_tf32
from tritonx_testing.emulators.ptx.access import Memory
from tritonx_testing.emulators.ptx.mbarrier import Barriers
from tritonx_testing.emulators.ptx.memory import PARAMETER_WINDOW
from tritonx_testing.emulators.ptx.numbers import narrowed
from tritonx_testing.emulators.ptx.tensor_map import NBYTES, SWIZZLES, TF32, TensorMap, replaced
from tritonx_testing.emulators.ptx.text import Address, Instruction, Number
from tritonx_testing.emulators.ptx.threads import LANES, Fault, Threads

Array = Any
PIECE = 16
"""Bytes that a copy to global memory writes as one: beside a row that is no whole number of them, what lies behind it
is written as well (seen on an H200)."""


@dataclass
class Copy:
    """Out of shared memory: ``read`` gives what is to be written, ``write`` does it."""

    read: Callable[[], Array]
    write: Callable[[Array], None]
    content: Array = None

    def take(self) -> None:
        if self.content is None:
            self.content = self.read()


@dataclass
class Groups:
    """A thread's copies out of shared memory: those that no group has yet, and the groups that are under way."""

    issued: list[Copy] = field(default_factory=list[Copy])
    committed: list[list[Copy]] = field(default_factory=list[list[Copy]])


class CopyEngine:
    """Of a block."""

    def __init__(self, threads: Threads, memory: Memory, barriers: Barriers) -> None:
        self.t, self.memory, self.barriers = threads, memory, barriers
        self.arriving: list[tuple[int, Callable[[], None]]] = []
        """(barrier, what happens then)"""
        self.groups: dict[int, Groups] = {}
        self.written: list[Copy] = []
        """Those that were read from shared memory and have not reached global memory."""
        self.acquired: set[int] = set()

    # ---- instructions

    def copy(self, i: Instruction) -> None:
        """What begins with cp and is no plain cp.async."""
        words = set(i.modifiers)
        if "tensor" in words:
            for thread in np.flatnonzero(self.t.mask):
                (self.leave if "bulk_group" in words else self.enter)(i, int(thread))
        elif "mbarrier" in words:
            self.arrive_behind(i)
        elif "commit_group" in words:
            for thread in np.flatnonzero(self.t.mask):
                groups = self.groups.setdefault(int(thread), Groups())
                groups.committed.append(groups.issued)
                groups.issued = []
        elif "wait_group" in words:
            left = int(self.t.bits(i.operands[0], 32)[0])
            for thread in np.flatnonzero(self.t.mask):
                self.wait(self.groups.setdefault(int(thread), Groups()), left, whole="read" not in words)
        else:
            raise Fault(f"an instruction that is not known here: {i.text}")

    def tensormap(self, i: Instruction) -> None:
        if i.modifiers[0] == "replace":
            self.replace(i)
        elif i.modifiers[0] == "cp_fenceproxy":
            for warp in self.t.whole_warps(i):
                target, source = (int(self.t.address(o)[warp * LANES]) for o in i.operands[:2])
                content = self.memory.shared.load(np.array([source]), NBYTES, i.text)
                self.memory.everywhere.store(np.array([target]), content, i.text)
                self.acquired.discard(target)
        else:
            raise Fault(f"an instruction that is not known here: {i.text}")

    def fence(self, i: Instruction) -> None:
        """fence.proxy.tensormap: this block sees the map that was made."""
        if any(m.startswith("tensormap") for m in i.modifiers):
            self.acquired |= {int(x) for x in self.t.address(i.operands[0])[self.t.mask]}

    def replace(self, i: Instruction) -> None:
        place, *ordinal, value = i.operands
        assert isinstance(place, Address)
        number = ordinal[0].value if ordinal and isinstance(ordinal[0], Number) else 0
        at, values = self.t.address(place), self.t.bits(value, 64 if i.type == "b64" else 32)
        for thread in np.flatnonzero(self.t.mask):
            where = at[thread : thread + 1]
            before = self.memory.shared.load(where, NBYTES, i.text).tobytes()
            after = replaced(before, i.modifiers[2], number, int(values[thread]))
            self.memory.shared.store(where, np.frombuffer(after, np.uint8)[None], i.text)

    # ---- boxes

    def map_at(self, address: int, i: Instruction) -> TensorMap:
        if address >= PARAMETER_WINDOW:
            made = TensorMap.of(self.memory.argument(address, NBYTES, i)[0].tobytes())
        else:
            if address not in self.acquired:
                raise Fault(f"{i.text}: no fence has acquired the tensor map at {address:#x}")
            if address % 64:
                raise Fault(f"{i.text}: a tensor map at {address:#x}")
            halves = self.memory.everywhere.load(np.array([address, address + 64]), 64, i.text)
            made = TensorMap.of(halves.tobytes())
        if (fault := made.fault()) is not None:
            raise Fault(f"{i.text}: a tensor map with {fault}")
        return made

    def box(
        self, i: Instruction, thread: int, place: Address, shared: Address, *, pieces: bool = False
    ) -> tuple[TensorMap, Array, Array, Array]:
        """(map, the addresses in global memory, where the tensor has elements, the addresses in shared memory), of the
        elements of a box from the innermost dim on. With ``pieces`` rows have whole pieces."""
        assert place.coordinates is not None
        made = self.map_at(int(self.t.address(Address(place.base, place.offset))[thread]), i)
        at = [int(self.t.bits(c, 32).view(np.int32)[thread]) for c in place.coordinates.parts]
        size = made.dtype.itemsize
        indices = rows_by_index(i, made, at) if ROWS_BY_INDEX & set(i.modifiers) else box_indices(i, made, at)
        inside = np.ones(len(indices[0]), bool)
        extents = made.extents
        if pieces:
            extents[0] = -(-extents[0] * size // PIECE) * PIECE // size
        for index, extent in zip(indices, extents, strict=True):
            inside &= (index >= 0) & (index < extent)
        where = made.global_address + sum(x * s for x, s in zip(indices, made.strides, strict=True))
        start = int(self.t.address(shared)[thread])
        if start % 128:
            raise Fault(f"{i.text}: a box at {start:#x} of shared memory")
        width = SWIZZLES[made.swizzle_mode]
        if width and width != made.box[0] * size:
            raise Fault(f"{i.text}: rows of {made.box[0] * size} bytes in a swizzle of {width}")
        target = start + np.arange(len(inside)) * size
        # Bits 4 and up of an address are combined with those three above the swizzle's row of 128 bytes.
        return made, np.asarray(where), inside, target ^ ((target >> 7 & (width // 16 - 1 if width else 0)) << 4)

    def enter(self, i: Instruction, thread: int) -> None:
        """Into shared memory, with a barrier that hears of the bytes. What the tensor has not is 0 or NaN."""
        target, source, barrier = i.operands
        assert isinstance(target, Address) and isinstance(source, Address) and isinstance(barrier, Address)
        made, where, inside, places = self.box(i, thread, source, target)
        size = made.dtype.itemsize
        heard = int(self.t.address(barrier)[thread])
        self.barriers.at(heard, i)

        def effect() -> None:
            content = np.full(len(places), np.nan if made.fill_mode else 0).astype(made.dtype)
            rows = content.view(np.uint8).reshape(-1, size)
            rows[inside] = self.memory.everywhere.load(where[inside], size, i.text)
            if made.elemtype == TF32:
                rows = round_to_tf32(content).view(np.uint8).reshape(-1, size)
            self.memory.shared.store(places, rows, i.text)
            self.barriers.change(heard, i, nbytes=-len(places) * size)

        self.arriving.append((heard, effect))
        if self.t.random.integers(2):
            self.arriving.pop()[1]()

    def leave(self, i: Instruction, thread: int) -> None:
        """Out of shared memory. What the tensor has not is not written, but for the rest of a piece."""
        target, source = i.operands
        assert isinstance(target, Address) and isinstance(source, Address)
        operation = REDUCTIONS[next(m for m in i.modifiers if m in REDUCTIONS)] if i.modifiers[0] == "reduce" else None
        made, where, inside, places = self.box(i, thread, target, source, pieces=operation is None)
        size = made.dtype.itemsize
        if operation is not None and made.dtype == np.int64 and not {"min", "max"} & set(i.modifiers):
            raise Fault(f"{i.text}: signed numbers of 64 bits are ordered only (an illegal instruction on an H200)")

        def read() -> Array:
            return self.memory.shared.load(places[inside], size, i.text)

        def write(content: Array) -> None:
            if operation is not None:
                old = self.memory.everywhere.load(where[inside], size, i.text).view(made.dtype)[:, 0]
                new = np.ascontiguousarray(operation(old, content.view(made.dtype)[:, 0]), made.dtype)
                content = new.view(np.uint8).reshape(-1, size)
            self.memory.everywhere.store(where[inside], content, i.text)

        copy = Copy(read, write)
        if self.t.random.integers(2):
            copy.take()
        self.groups.setdefault(thread, Groups()).issued.append(copy)

    # ---- when

    def wait(self, groups: Groups, left: int, *, whole: bool) -> None:
        """All but the last ``left`` groups have been read, and with ``whole`` written."""
        waits = len(groups.committed) > left
        while len(groups.committed) > left:
            for copy in groups.committed.pop(0):
                copy.take()
                self.written.append(copy)
        if whole or (waits and self.t.random.integers(2)):
            self.write_all()

    def write_all(self) -> None:
        for copy in self.written:
            copy.write(copy.content)
        self.written = []

    def arrive_behind(self, i: Instruction) -> None:
        """cp.async.mbarrier.arrive: each thread arrives when its copies are done."""
        (place,) = i.operands
        copies, self.memory.issued = self.memory.issued, []
        arrivals = self.barriers.places(i, place)

        def effect() -> None:
            for copy in copies:
                copy()
            if "noinc" in i.modifiers:
                for _, address in arrivals:
                    self.barriers.change(address, i, arrivals=1)

        for _, address in arrivals:
            self.barriers.at(address, i)
        self.arriving.append((arrivals[0][1], effect))

    def something_arrives(self) -> bool:
        """One of the copies that are under way; False where there is none. Copies of one barrier come in any order."""
        if not self.arriving:
            return False
        self.arriving.pop(int(self.t.random.integers(len(self.arriving))))[1]()
        self.barriers.asleep[:] = False
        return True

    def finish(self) -> None:
        """The block has ended."""
        if self.arriving:
            raise Fault("a block ends while copies into its shared memory are under way")
        for groups in self.groups.values():
            groups.committed.append(groups.issued)
            self.wait(groups, 0, whole=True)


ROWS_BY_INDEX = frozenset({"tile::gather4", "tile::scatter4"})


def box_indices(i: Instruction, made: TensorMap, at: list[int]) -> list[Array]:
    """Of the elements of a box, from the innermost dim on."""
    if len(at) != made.dims or f"{made.dims}d" not in i.modifiers:
        raise Fault(f"{i.text}: coordinates of {len(at)} dims in a tensor of {made.dims}")
    grid = np.indices(made.box[::-1]).reshape(made.dims, -1)[::-1]
    return [first + part for first, part in zip(at, grid, strict=True)]


def rows_by_index(i: Instruction, made: TensorMap, at: list[int]) -> list[Array]:
    """Of the elements of four rows that begin in the column which comes first (PTX ISA 9.0, section 5.5.3.2)."""
    if made.dims != 2 or "2d" not in i.modifiers or len(at) != 5 or made.box[1] != 1:
        raise Fault(f"{i.text}: four rows of a tensor of {made.dims} dims in boxes of {made.box}")
    column, *rows = at
    width = made.box[0]
    return [column + np.tile(np.arange(width), len(rows)), np.repeat(rows, width)]


def _sum(a: Array, b: Array) -> Array:
    return a + b if a.dtype.kind in "iu" else narrowed(a.astype(np.float64) + b.astype(np.float64), a.dtype)


REDUCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "add": _sum, "min": np.minimum, "max": np.maximum, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b, "inc": lambda a, b: np.where(a >= b, 0, a + 1),
    "dec": lambda a, b: np.where((a == 0) | (a > b), b, a - 1),
}  # fmt: skip
ENGINE = frozenset({"bulk", "mbarrier"})
"""What tells its instructions from other cp.async."""
