"""How long one thread's program may get: the limit on what is unrolled.

A tile lies in registers, so that an op on it is written once for each register of a thread. A product of 512x512x512 by
multiply-adds in four warps would be a million of them, 30 MB of text over which LLVM sits for minutes without a word; a
program that long does not run well either. So emission stops where the limit of `GpuOptions.max_instructions` is
reached, and the error names the op for which most was written, its tile and its line.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.dialects.layout_constraints import CarriedTypes, constraint_of
from tritonx.ir.failure import PassError, TooLong
from tritonx.ir.types import is_tensor, shape_of, type_of


class Budget:
    """Counts what has been written for each op of a function; ``limit``: lines of LLVM IR, each an instruction (one of
    a wide vector is several in the end)."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._op: Operation | None = None
        self._start = 0
        self._most = 0
        self._longest: Operation | None = None

    def begin(self, op: Operation, written: int) -> None:
        """``op`` is emitted next; `written` lines are there."""
        self.end(written)
        self._op, self._start = op, written

    def end(self, written: int) -> None:
        """The op has been emitted. Raises ``PassError`` beyond the limit."""
        op = self._op
        if op is not None and written - self._start > self._most and not isinstance(constraint_of(op), CarriedTypes):
            self._most, self._longest = written - self._start, op
        self._op = None
        if written > self.limit:
            raise self._refusal()

    def exceeded(self, written: int) -> PassError:
        """The error for an op in the middle of which the limit was reached."""
        try:
            self.end(written)
        except PassError as refusal:
            return refusal
        return self._refusal()

    def _refusal(self) -> TooLong:
        op = self._longest
        assert op is not None, "something was written"
        tiles = [type_of(v) for v in (*op.results, *op.operands) if is_tensor(type_of(v))]
        largest = max(tiles, key=lambda type_: _elements(shape_of(type_)), default=None)
        of = "" if largest is None else f" of {'x'.join(map(str, shape_of(largest)))} elements"
        return TooLong(
            op,
            f"the program of a thread has more than {self.limit} instructions, {self._most} of them for {op.name}{of}",
            "use smaller tiles or more warps (max_instructions=... sets another limit; LLVM may take minutes)",
        )


def _elements(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product
