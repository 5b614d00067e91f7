"""Interfaces by which shared passes ask ops and dialects that they do not know.

As in MLIR, a pass in `transforms`, `analysis` or `conversion` names no op of a vendor's dialect. It goes by what each
op declares: its `LAYOUTS`, `EFFECTS` and `CONTROL_FLOW`, and here

- `MEMORY_PRODUCT`: d = a · b + c of matrices by a unit that reads shared memory itself (`is_memory_product`);
- `PREDICATE`: the operand, an i1, without which the op does nothing (`predicate_of`);
- `SCRATCH_MEMORY`: how much scratch memory an op needs that no table knows (`ScratchMemory`).

Ops that a pass must make, it has the dialect make: `BlockCopies` is an interface of a dialect, which the pass is given
by the dialect's name (`tritonx.ir.context.dialect_interface`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from xdsl.dialect_interfaces import DialectInterface
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from tritonx.dialects.layout_constraints import values_of


class MemoryProductOp(Operation):
    """What a type checker knows of a product of a unit that reads shared memory itself; never made.

    ``b``, and mostly ``a``, lie in shared memory. With ``isAsync`` the unit reads them while the program goes on.
    """

    a: SSAValue
    b: SSAValue
    c: SSAValue
    d: OpResult
    isAsync: BoolAttr


def is_memory_product(op: object) -> TypeGuard[MemoryProductOp]:
    """Whether the op declares itself such a product."""
    return getattr(op, "MEMORY_PRODUCT", False) is True


def is_asynchronous_product(op: object) -> TypeGuard[MemoryProductOp]:
    """Whether it is one that the program does not wait for."""
    return is_memory_product(op) and bool(op.isAsync.value.data)


def make_synchronous(op: MemoryProductOp) -> None:
    """Have the program wait for a product."""
    op.properties["isAsync"] = BoolAttr.from_bool(False)


def has_predicate(op: Operation) -> bool:
    """Whether an op of this class may have a predicate."""
    return hasattr(op, "PREDICATE")


def predicate_of(op: Operation) -> SSAValue | None:
    """The operand without which the op does nothing; None where it has none."""
    name: object = getattr(op, "PREDICATE", None)
    found = values_of(op, name) if isinstance(name, str) else ()
    return found[0] if found else None


@dataclass(frozen=True)
class ScratchMemory:
    """What `SCRATCH_MEMORY` of an op class holds: bytes, what the address is a multiple of, and who owns them, where no
    two warps access the same (`tritonx.analysis.buffers.owned_by_warps`)."""

    size: int
    alignment: int
    owner: Callable[[Operation], tuple[Hashable, ...]] | None = None


def scratch_memory_of(op: Operation) -> ScratchMemory | None:
    """What the op declares; None where it declares nothing."""
    found: object = getattr(op, "SCRATCH_MEMORY", None)
    return found if isinstance(found, ScratchMemory) else None


@dataclass(frozen=True)
class NewOp:
    """An op without results that is to be made."""

    cls: type[Operation]
    operands: Sequence[SSAValue]
    properties: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])


class BlockCopies(DialectInterface):
    """The ops by which a unit copies blocks of tensor descriptors to shared memory.

    An mbarrier, one i64 of shared memory, counts the bytes that have come; its phases alternate between the parities 0
    and 1. ``holds`` is an i1 without which nothing happens.
    """

    @abstractmethod
    def begin(self, barrier: SSAValue) -> NewOp:
        """Makes a barrier whose phases one arrival completes, and the bytes that it expects."""

    @abstractmethod
    def end(self, barrier: SSAValue) -> NewOp:
        """Gives the memory of a barrier back."""

    @abstractmethod
    def expect(self, barrier: SSAValue, nbytes: int, holds: SSAValue) -> NewOp:
        """Arrives, and has the phase wait for so many bytes."""

    @abstractmethod
    def copy(
        self,
        descriptor: SSAValue,
        indices: Sequence[SSAValue],
        barrier: SSAValue,
        memory: SSAValue,
        holds: SSAValue,
        caching: Mapping[str, Attribute],
    ) -> NewOp:
        """Copies the block at the indices; ``caching`` are the `cache` and `evict` of a load."""

    @abstractmethod
    def wait(self, barrier: SSAValue, parity: SSAValue, holds: SSAValue) -> NewOp:
        """Waits until the phase of this parity is over."""
