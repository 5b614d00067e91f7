"""Synchronisation and hints to the instruction scheduler."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i32
from xdsl.ir import Attribute, Data
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import (
    HINT,
    Completion,
    Effect,
    Effects,
    Kind,
    Resource,
    arrives,
    effects,
    waits,
    writes,
)
from tritonx.dialects.gpu_layout.rules import MEMDESC
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.ir.declaration import keyword, parse_flags
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel, since, spellings

if TYPE_CHECKING:
    from xdsl.parser import AttrParser, Parser
    from xdsl.printer import Printer


class SchedHint(IntEnum):
    """Which order of instructions the scheduler is asked for."""

    NONE = 0
    ATTENTION = 1


@irdl_attr_definition
class SchedHintVariantAttr(Data[SchedHint]):
    """`#amdg.SchedHintVariant<attention>`"""

    name = "amdg.SchedHintVariant"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SchedHint:
        cases = {keyword(case): case for case in SchedHint}
        with parser.in_angle_brackets():
            word = parser.parse_identifier()
            if word not in cases:
                parser.raise_error(f"expected one of {', '.join(cases)}")
        return cases[word]

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{keyword(self.data)}>")


@define
class CondBarrierOp(IRDLOperation):
    """A barrier that only the warps meet at for which the predicate is true. It alone orders no accesses."""

    name = "amdg.cond_barrier"
    pred = operand_def(i1)
    PREDICATE: ClassVar[str] = "pred"
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.ARRIVE, Resource.THREADS), Effect(Kind.WAIT, Resource.THREADS))
    FORMAT: ClassVar[str] = "$pred attr-dict"


def _forget(op: InstructionSchedHintOp, level: TextLevel) -> None:
    """Versions since 3.8 have no such hint."""
    if level >= TextLevel.V3_8:
        op.detach()
        op.erase()


@define
class InstructionSchedHintOp(IRDLOperation):
    """Where the instruction scheduler is told how to interleave the loop's memory accesses and products."""

    name = "amdg.instruction_sched_hint"
    variant = prop_def(SchedHintVariantAttr)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = HINT
    SPELLINGS: ClassVar[Spellings] = spellings({TextLevel.V3_6: ""}, write=_forget)
    FORMAT: ClassVar[str] = "attr-dict"


@define
class AsyncWaitOp(IRDLOperation):
    """Waits until at most `num_inst` of the asynchronous copy instructions are under way."""

    name = "amdg.async_wait"
    asyncToken = var_operand_def(ASYNC_TOKEN)
    num_inst = prop_def(IntegerAttr.constr(i32))
    retToken = result_def(ASYNC_TOKEN)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(waits(Completion.COPY_GROUP, "num_inst"))
    FORMAT: ClassVar[str] = "($asyncToken^)? attr-dict"

    def verify_(self) -> None:
        if self.num_inst.value.data < 0:
            raise VerifyException(f"'num_inst' must not be negative, got {self.num_inst.value.data}")


@define
class MemoryCounterWaitOp(IRDLOperation):
    """Waits until the hardware's counters of outstanding accesses are at most these."""

    name = "amdg.memory_counter_wait"
    load = opt_prop_def(IntegerAttr.constr(i32))
    store = opt_prop_def(IntegerAttr.constr(i32))
    ds = opt_prop_def(IntegerAttr.constr(i32))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(waits(Completion.COPY_GROUP, "load"))

    @classmethod
    def parse(cls, parser: Parser) -> MemoryCounterWaitOp:
        properties: dict[str, Attribute] = {}
        for word in ("load", "store", "ds"):
            if parser.parse_optional_keyword(word):
                with parser.in_parens():
                    properties[word] = IntegerAttr(parser.parse_integer(allow_boolean=False), i32)
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        for word in ("load", "store", "ds"):
            count = self.properties.get(word)
            if isinstance(count, IntegerAttr):
                printer.print_string(f" {word}({count.value.data})")
        printer.print_op_attributes(self.attributes)


@define
class InitBarrierOp(IRDLOperation):
    """Makes a barrier in shared memory that completes a phase after `count` arrivals."""

    name = "amdg.init_barrier"
    alloc = operand_def(MEMDESC)
    count = prop_def(IntegerAttr.constr(i32))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(writes("alloc", Resource.MBARRIER))
    FORMAT: ClassVar[str] = "$alloc `,` int($count) attr-dict `:` type($alloc)"


@define
class WaitBarrierOp(IRDLOperation):
    """Waits until the phase of parity `phase` completes."""

    name = "amdg.wait_barrier"
    alloc = operand_def(MEMDESC)
    phase = operand_def(i32)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.WAIT, Resource.MBARRIER, "alloc", completion=Completion.MBARRIER))
    FORMAT: ClassVar[str] = "$alloc `,` $phase attr-dict `:` type($alloc)"


@define
class ArriveBarrierOp(IRDLOperation):
    """Arrives `count` times and gives the phase before."""

    name = "amdg.arrive_barrier"
    alloc = operand_def(MEMDESC)
    count = prop_def(IntegerAttr.constr(i32))
    result = result_def(i32)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(arrives("alloc"))
    FORMAT: ClassVar[str] = "$alloc `,` int($count) attr-dict `:` type($alloc) `->` type($result)"


@define
class AsyncCopyMbarrierArriveOp(IRDLOperation):
    """Arrives when this thread's asynchronous copies so far are done."""

    name = "amdg.async_copy_mbarrier_arrive"
    barrier = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(arrives("barrier", Completion.COPY_GROUP))
    FORMAT: ClassVar[str] = "$barrier attr-dict `:` type($barrier)"


@define
class SetPrioOp(IRDLOperation):
    """Sets the wave's priority for instruction issue, 0 to 3."""

    name = "rocdl.s.setprio"
    priority = prop_def(IntegerAttr.constr(IntegerType(16)))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = HINT
    FORMAT: ClassVar[str] = "int($priority) attr-dict"


class Instructions(IntFlag):
    """Kinds of instructions (LLVM, `llvm.amdgcn.sched.barrier`)."""

    NONE = 0
    NON_MEM_NON_SIDEEFFECT = 1
    VALU = 2
    SALU = 4
    MFMA_WMMA = 8
    ALL_VMEM = 16
    VMEM_READ = 32
    VMEM_WRITE = 64
    ALL_DS = 128
    DS_READ = 256
    DS_WRITE = 512
    TRANSCENDENTALS = 1024

    @property
    def words(self) -> str:
        """The text since 3.9."""
        return "|".join(str(one.name).lower() for one in Instructions if one in self) if self else "none"


@define
class SchedBarrierOp(IRDLOperation):
    """What the instruction scheduler may not move across this place: everything but the kinds in `mask`."""

    name = "rocdl.sched.barrier"
    mask = prop_def(IntegerAttr.constr(i32))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = HINT
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: "rocdl.sched.barrier 6", TextLevel.V3_9: "rocdl.sched.barrier valu|salu"},
        write=lambda op, level: None,
    )

    def verify_(self) -> None:
        if self.mask.value.data not in range(2 * Instructions.TRANSCENDENTALS):
            raise VerifyException(f"'mask' must be a set of kinds of instructions, got {self.mask.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> SchedBarrierOp:
        number = parser.parse_optional_integer(allow_boolean=False)
        mask = parse_flags(parser, Instructions) if number is None else number
        return cls.create(
            properties={"mask": IntegerAttr(int(mask), i32)}, attributes=parser.parse_optional_attr_dict()
        )

    def print(self, printer: Printer) -> None:
        mask = self.mask.value.data
        printer.print_string(f" {Instructions(mask).words if since(printer, TextLevel.V3_9) else mask}")
        printer.print_op_attributes(self.attributes)
