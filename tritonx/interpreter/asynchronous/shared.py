"""Shared memory in bytes, and for each byte who wrote and who reads it.

Two checks, which find different things:

* *Order.* Every access is an `Access`: a set of bytes, a warp's clock or an asynchronous operation. A new access that
  meets one of which its warp does not know is reported (`clocks.py`). A set of bytes is one Python integer, a bit a
  byte, so that asking whether two sets meet is one instruction on whole tiles.
* *Contents.* Every byte carries the buffer that it was written through, where a buffer is one execution of a
  `local_alloc` or of an op with scratch memory. A read through another one is of what was never written, or was
  overwritten: what a wrong offset or a life that ended too early do in any order.

A write replaces what it covers: whoever is ordered behind it is ordered behind what it was ordered behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from xdsl.ir import Operation

from tritonx.interpreter.asynchronous.clocks import Clocks
from tritonx.interpreter.asynchronous.reports import Kind, Reports

POISON = 0xA5
"""What bytes hold between the issue of a copy and its landing, and scratch memory afterwards."""

UNWRITTEN = 0
"""The buffer of bytes that were never written."""


class Proxy(Enum):
    """Through which proxy an access is made. `BOTH`: copies of the threads themselves (cp.async). The PTX ISA counts
    them with the generic proxy; products of a warp group read what they have written without a fence in all
    pipelines that Triton 3.6 and CUTLASS make, and so they may here."""

    GENERIC = "generic"
    ASYNC = "async"
    BOTH = "both"


class Mode(Enum):
    """What an access does. Atomic ones do not meet each other."""

    READ = "reads"
    WRITE = "writes"
    ATOMIC = "changes"


@dataclass(slots=True)
class Access:
    """Bytes (a set of bits) that an op touches, by a warp at its clock or by an asynchronous operation."""

    bytes: int
    first: int
    last: int
    mode: Mode
    proxy: Proxy
    warp: int
    clock: int
    operation: int | None
    op: Operation
    execution: int


@dataclass(frozen=True)
class Touch:
    """What one warp is about to touch: `operation` names the asynchronous operation that does it, where one does."""

    bytes: int
    mode: Mode
    warp: int
    proxy: Proxy = Proxy.GENERIC
    operation: int | None = None


@dataclass(frozen=True)
class Buffer:
    """Memory for one execution of an op: `size` bytes at `base` in every block."""

    number: int
    op: Operation
    base: int
    size: int


class SharedMemory:
    """The shared memory of a cluster: that of its blocks one after another, `stride` bytes each."""

    def __init__(
        self, blocks: int, stride: int, clocks: Clocks, reports: Reports, *, proxies: bool = True, placed: bool = True
    ) -> None:
        self.stride = stride
        self.proxies = proxies
        """Whether the program has operations of the asynchronous proxy at all."""
        self.placed = placed
        """Whether the memory is allocated, and with that the fences in front of what overwrites it."""
        self.clocks = clocks
        self.reports = reports
        self.held: np.ndarray = np.full(blocks * stride, POISON, np.uint8)
        self.owner: np.ndarray = np.full(blocks * stride, UNWRITTEN, np.int32)
        self.accesses: list[Access] = []
        self.buffers: list[Buffer] = []
        self._executions = 0

    def buffer(self, op: Operation, base: int, size: int) -> Buffer:
        """A buffer for this execution of an op."""
        made = Buffer(len(self.buffers) + 1, op, base, size)
        self.buffers.append(made)
        return made

    # --- order

    def touch(self, op: Operation, touches: Sequence[Touch]) -> None:
        """Check the accesses that one op makes at one time, and remember them. They do not meet each other."""
        self._executions += 1
        made: list[Access] = []
        for one in touches:
            if not one.bytes:
                continue
            self._check(op, one)
            first = (one.bytes & -one.bytes).bit_length() - 1
            clock = int(self.clocks.seen[one.warp, one.warp])
            made.append(
                Access(
                    one.bytes, first, one.bytes.bit_length() - 1, one.mode, one.proxy, one.warp, clock,
                    one.operation, op, self._executions,
                )
            )  # fmt: skip
        self._replace(made)
        self.accesses += made

    def _check(self, op: Operation, touch: Touch) -> None:
        first, last = (touch.bytes & -touch.bytes).bit_length() - 1, touch.bytes.bit_length() - 1
        for access in self.accesses:
            if access.mode is touch.mode and touch.mode is not Mode.WRITE:
                continue
            if access.last < first or last < access.first or not access.bytes & touch.bytes:
                continue
            if not self._known(access, touch.warp):
                self._report(op, touch, access)
            elif self._crosses(access, touch) and self.clocks.fenced[touch.warp, access.warp] < access.clock:
                done = "written" if access.mode is Mode.WRITE else "read"
                text = f"{touch.mode.value} through the asynchronous proxy what threads have {done}"
                self.reports.add(Kind.UNFENCED, op, text, access.op)

    def _known(self, access: Access, warp: int) -> bool:
        if access.operation is not None:
            return bool(self.clocks.done[warp] >> access.operation & 1)
        return bool(self.clocks.seen[warp, access.warp] >= access.clock)

    def _crosses(self, access: Access, touch: Touch) -> bool:
        """Whether a fence is needed between them: one of them writes."""
        return touch.proxy is Proxy.ASYNC and self._needs_fence(access)

    def _needs_fence(self, access: Access) -> bool:
        """Whether a fence must come before the asynchronous proxy overwrites what an access has read, or touches what
        it has written."""
        if access.proxy is not Proxy.GENERIC or access.mode is Mode.ATOMIC:
            return False
        return access.mode is Mode.WRITE or self.placed

    def _report(self, op: Operation, touch: Touch, access: Access) -> None:
        who = "an asynchronous operation" if access.operation is not None else f"warp {access.warp}"
        wrong = Kind.NOT_VISIBLE if touch.mode is Mode.READ else Kind.OVERWRITE
        byte = access.bytes & touch.bytes
        at = (byte & -byte).bit_length() - 1
        self.reports.add(
            wrong,
            op,
            f"warp {touch.warp} {touch.mode.value} byte {at % self.stride}, which {who} {access.mode.value}",
            access.op,
        )

    def _replace(self, made: Sequence[Access]) -> None:
        """Take from older accesses what new ones cover: writes all, reads of a warp those of the same warp, since who
        knows of the later one knows of the earlier."""
        covered = 0
        for access in made:
            if access.mode is Mode.WRITE:
                covered |= access.bytes
            elif access.mode is Mode.READ and access.operation is None:
                self._read_again(access)
        if not covered:
            return
        first, last = (covered & -covered).bit_length() - 1, covered.bit_length() - 1
        for access in self.accesses:
            if access.last >= first and last >= access.first:
                access.bytes &= ~covered
        self.accesses = [access for access in self.accesses if access.bytes]

    def _read_again(self, access: Access) -> None:
        for older in self.accesses:
            if older.mode is Mode.READ and older.warp == access.warp and older.operation is None:
                older.bytes &= ~access.bytes

    def forget(self, warps: Sequence[int]) -> None:
        """Drop what no access can race with any more: what all running warps know. Writes of the generic proxy stay
        until a fence is known to all as well."""
        chosen = list(warps)
        seen, fenced = self.clocks.seen[chosen].min(axis=0), self.clocks.fenced[chosen].min(axis=0)
        done = -1
        for warp in chosen:
            done &= self.clocks.done[warp]

        def settled(access: Access) -> bool:
            if access.operation is not None:
                return bool(done >> access.operation & 1)
            if seen[access.warp] < access.clock:
                return False
            return not (self.proxies and self._needs_fence(access)) or fenced[access.warp] >= access.clock

        self.accesses = [access for access in self.accesses if not settled(access)]

    # --- contents

    def write(self, buffer: Buffer, addresses: np.ndarray, values: np.ndarray) -> None:
        """Put elements at byte addresses (one for each element, over all blocks)."""
        size = values.dtype.itemsize
        where = addresses.reshape(-1, 1) + np.arange(size)
        self.held[where] = np.ascontiguousarray(values).reshape(-1, 1).view(np.uint8).reshape(-1, size)
        self.owner[where] = buffer.number

    def reserve(self, buffer: Buffer, addresses: np.ndarray, size: int) -> None:
        """Elements that a copy is going to fill: until it lands, its contents are undefined."""
        where = addresses.reshape(-1, 1) + np.arange(size)
        self.held[where] = POISON
        self.owner[where] = buffer.number

    def leave(self, buffer: Buffer, addresses: np.ndarray, size: int) -> None:
        """Elements that a copy would fill if its predicate held: who reads them takes whatever is there."""
        where = addresses.reshape(-1, 1) + np.arange(size)
        where = where[self.owner[where] != buffer.number]
        self.held[where] = POISON
        self.owner[where] = buffer.number

    def read(self, op: Operation, buffer: Buffer, addresses: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The elements at byte addresses, as an array of the addresses' shape."""
        where = addresses.reshape(-1, 1) + np.arange(dtype.itemsize)
        self.check_contents(op, buffer, where)
        return np.ascontiguousarray(self.held[where]).view(dtype).reshape(addresses.shape)

    def check_contents(self, op: Operation, buffer: Buffer, where: np.ndarray) -> None:
        """Report bytes that were not written through this buffer."""
        owners = self.owner[where]
        wrong = owners != buffer.number
        if not wrong.any():
            return
        at = int(where[wrong][0])
        other = int(owners[wrong][0])
        count = int(np.count_nonzero(wrong))
        text = f"byte {at % self.stride} of the buffer at {buffer.base} ({count} bytes in all)"
        if other == UNWRITTEN or self.buffers[other - 1].op is buffer.op:
            self.reports.add(Kind.UNWRITTEN, op, text)
        else:
            self.reports.add(Kind.CLOBBERED, op, text, self.buffers[other - 1].op)
