"""Where the threads of a block, or of a partition, meet: `gpu.barrier`, `ttg.barrier` and `ttg.local_barrier`."""

from __future__ import annotations

from enum import IntFlag
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, prop_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import BARRIER, Effects
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.ir.declaration import parse_flags
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel, replace, spellings

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


class MemorySpace(IntFlag):
    """Memory whose accesses a barrier orders."""

    NONE = 0
    LOCAL = 1
    GLOBAL_READ = 2
    GLOBAL_WRITE = 4
    TENSOR_READ = 8
    TENSOR_WRITE = 16
    ALL = 31

    @property
    def words(self) -> str:
        """The text: `local|global_read`."""
        if self in (MemorySpace.NONE, MemorySpace.ALL):
            return str(self.name).lower()
        return "|".join(str(one.name).lower() for one in MemorySpace if one in self)


def _ordered(op: BarrierOp) -> Operation:
    """The barrier of shared memory, or of all that threads access by themselves, has an op of its own."""
    kinds: dict[MemorySpace, type[Operation]] = {MemorySpace.LOCAL: LocalBarrierOp, MemorySpace.ALL: GpuBarrierOp}
    kind = kinds.get(op.spaces)
    return op if kind is None else kind.create(attributes=op.attributes, location=op.location)


def _meet(op: BarrierOp, level: TextLevel) -> None:
    if level < TextLevel.V3_8:
        replace(op, GpuBarrierOp.create())


@define
class BarrierOp(IRDLOperation):
    """All threads that run it meet, as at `ttg.local_barrier`, and see each other's accesses to memory of `addrSpace`.

    Of shared memory alone it is read as `ttg.local_barrier`, and of all memory as `gpu.barrier`, which versions before
    3.8 have in its place. An emitter may order more than is asked for.
    """

    name = "ttg.barrier"
    addrSpace = prop_def(IntegerAttr.constr(i32))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = BARRIER
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: "gpu.barrier", TextLevel.V3_8: "ttg.barrier local|global_read"}, read=_ordered, write=_meet
    )

    @property
    def spaces(self) -> MemorySpace:
        """The memory whose accesses it orders."""
        return MemorySpace(self.addrSpace.value.data)

    def verify_(self) -> None:
        if not 0 <= self.addrSpace.value.data <= MemorySpace.ALL:
            raise VerifyException(f"'addrSpace' must be a set of memory spaces, got {self.addrSpace.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> BarrierOp:
        spaces = parse_flags(parser, MemorySpace)
        return cls.create(properties={"addrSpace": IntegerAttr(int(spaces), i32)})

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.spaces.words}")


def barrier_of(spaces: MemorySpace) -> BarrierOp:
    """A barrier of this memory."""
    return BarrierOp.create(properties={"addrSpace": IntegerAttr(int(spaces), i32)})


def _local(op: Operation, level: TextLevel) -> None:
    if level >= TextLevel.V3_8:
        replace(op, barrier_of(MemorySpace.LOCAL))


@define
class LocalBarrierOp(IRDLOperation):
    """All threads that run it meet, and see each other's writes to shared memory: those of the block, in a region of
    `warp_specialize` those of the warps that it has.
    """

    name = "ttg.local_barrier"
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: "ttg.local_barrier", TextLevel.V3_8: "ttg.barrier local"}, write=_local
    )
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = BARRIER
    FORMAT: ClassVar[str] = "attr-dict"


def _of_all_memory(op: Operation, level: TextLevel) -> None:
    if level >= TextLevel.V3_8:
        replace(op, barrier_of(MemorySpace.ALL))


@define
class GpuBarrierOp(IRDLOperation):
    """All threads of the block (of the enclosing warp group, in a specialised kernel) meet here, and see each other's
    writes.
    """

    name = "gpu.barrier"
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = BARRIER
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: "gpu.barrier", TextLevel.V3_8: "ttg.barrier all"}, write=_of_all_memory
    )
    FORMAT: ClassVar[str] = "attr-dict"
