"""Checks that the ops of the dialect share."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.gpu_layout.rules import mem_desc
from tritonx.dialects.gpu_layout.types import MemDescType
from tritonx.dialects.nvidia.encodings import TensorMemoryAttr
from tritonx.ir.types import i64, is_tensor, shape_of


def check_barrier(type_: Attribute) -> None:
    """A barrier is one 64-bit word of mutable shared memory (or one for each block of a cluster)."""
    descriptor = mem_desc(type_, "a barrier")
    if descriptor.element_type != i64 or len(descriptor.shape) != 1:
        raise VerifyException(f"a barrier is a one-dimensional memory descriptor of i64, got {type_}")
    if not descriptor.mutable:
        raise VerifyException(f"a barrier must be mutable, got {type_}")


def check_within_block(op: Operation) -> None:
    """What 3.8 and later say of other blocks of a cluster, as attributes of ops that have no such meaning here."""
    for name in ("multicast", "multicastCTA", "fromCTA"):
        found = op.attributes.get(name)
        if found is not None and not (isinstance(found, IntegerAttr) and found.value.data == 0):
            raise VerifyException(f"'{name}' is not supported: a block copies and arrives for itself")


def check_tensor_memory(type_: Attribute, what: str) -> MemDescType:
    """A memory descriptor in tensor memory."""
    descriptor = mem_desc(type_, what)
    if not isinstance(descriptor.memory_space, TensorMemoryAttr):
        raise VerifyException(f"{what} must lie in tensor memory, got {type_}")
    return descriptor


def shape_of_operand(type_: Attribute) -> tuple[int, ...]:
    """The shape of a dot operand, which is a tensor or lies in memory."""
    if isinstance(type_, MemDescType):
        return type_.shape
    if not is_tensor(type_):
        raise VerifyException(f"a dot operand must be a tensor or lie in memory, got {type_}")
    return shape_of(type_)


def check_matrix_shapes(a: Attribute, b: Attribute, d: Attribute) -> None:
    """A is M x K, B is K x N, D is M x N."""
    x, y, z = (shape_of_operand(t) for t in (a, b, d))
    if not len(x) == len(y) == len(z) == 2:
        raise VerifyException(f"operands must have rank 2, got {a}, {b} and {d}")
    if x[1] != y[0]:
        raise VerifyException(
            f"the last dimension of the first operand and the first of the second differ: {a} and {b}"
        )
    if z != (x[0], y[1]):
        raise VerifyException(f"the accumulator must be {x[0]}x{y[1]}, got {d}")
