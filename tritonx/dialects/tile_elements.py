"""What a tile may be made of, which is Triton's: numbers (integers without a sign, floating-point numbers) and pointers
to what can be loaded. Buffers and descriptors are of numbers or pointers as well.

Everything behind relies on it: an element has a width in bits, by which layouts, accesses and scratch memory are
measured. MLIR lets a tensor hold anything, `index` and vectors among them, and xDSL parses it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute, Operation

from tritonx.dialects.gpu_layout.types import MemDescType
from tritonx.dialects.layout_constraints import CARRIED_TYPES, constraint_of
from tritonx.dialects.tile.types import TensorDescType
from tritonx.ir.errors import VerifyFailure
from tritonx.ir.types import FLOAT_BITS, PointerType, element_type, is_tensor, type_of

OPS_OF_TILES = "tt."
"""The ops of this dialect take nothing else, scalars included; those of `arith` and `scf` may have an `index`."""


def check_elements(op: Operation) -> None:
    """Raises `VerifyFailure` where an op of ours takes, makes or hands to its blocks a tile, a buffer, a descriptor or
    a pointer of anything else, and where an op of `tt` computes with a scalar that a tile could not hold."""
    constraint = constraint_of(op)
    if constraint is None:
        return
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
    computes = op.name.startswith(OPS_OF_TILES) and constraint is not CARRIED_TYPES
    for value in (*op.operands, *op.results, *arguments):
        type_ = type_of(value)
        reason = _fault(type_) or (_scalar_fault(type_) if computes else None)
        if reason is not None:
            raise VerifyFailure(reason, op)


@lru_cache(maxsize=4096)
def _fault(type_: Attribute) -> str | None:
    """What is wrong with what a tile, a buffer, a descriptor or a pointer holds; None for any other type."""
    if is_tensor(type_) and not _is_element(type_.element_type):
        return f"the elements of a tile are numbers or pointers, got {type_}"
    if isinstance(type_, MemDescType) and not _is_element(type_.element_type):
        return f"the elements of a buffer are numbers or pointers, got {type_}"
    if isinstance(type_, TensorDescType) and not _is_number(type_.element_type, signed=True):
        return f"a descriptor is of a tensor of numbers, got {type_}"
    if isinstance(type_, PointerType) and not _is_element(element_type(type_.pointee)):  # a block pointer's is a tile
        return f"a pointer is to numbers, to pointers or to a tile, got {type_}"
    return None


@lru_cache(maxsize=4096)
def _scalar_fault(type_: Attribute) -> str | None:
    if is_tensor(type_) or isinstance(type_, TensorDescType | PointerType) or _is_number(type_):
        return None
    return f"ops of '{OPS_OF_TILES[:-1]}' are on numbers, pointers, descriptors and tiles of them, got {type_}"


def _is_element(type_: Attribute) -> bool:
    """A number, or a pointer to an element: block pointers lie in no memory."""
    return _is_number(type_) or (isinstance(type_, PointerType) and _is_element(type_.pointee))


def _is_number(type_: Attribute, *, signed: bool = False) -> bool:
    """``signed``: also an integer that says whether it has a sign, as those of descriptors do."""
    if isinstance(type_, IntegerType):
        return signed or cast("IntegerType[int]", type_).signedness.data is Signedness.SIGNLESS
    return type_ in FLOAT_BITS
