"""How the blocks of tensor descriptors lie in shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import copied_encoding
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import (
    LocalAllocOp,
    LocalLoadOp,
    MemDescTransOp,
    MemDescType,
    attribute_of,
    memdesc,
    shared_encoding,
)
from tritonx.dialects.tile import TensorDescType
from tritonx.ir.contract import Contract
from tritonx.ir.edit import set_type
from tritonx.ir.types import bit_width, encoding_of, shape_of, tensor, type_as, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts.encodings import NvmmaSharedEncoding
from tritonx.layouts.infer import inverse_permutation
from tritonx.layouts.shared import transposed_memory
from tritonx.transforms.tile.copied_descriptors import combines_bits

WIDTHS = 128, 64, 32
"""Bytes over which rows can be swizzled."""

UI64 = IntegerType(64, Signedness.UNSIGNED)

ROWS = 8
"""That a swizzle goes over."""


@dataclass(frozen=True)
class EncodeDescriptors(ModulePass):
    """Says how the blocks of tensor descriptors lie in shared memory.

    Every `!tt.tensordesc` that has none, a parameter of a function or made there, gets an encoding of its block: that
    of the first `ttg.local_alloc` of a loaded block for a matrix unit, else rows swizzled over as many bytes as they
    have. Signed 64-bit numbers of which bits are combined are unsigned ones from here on: on those the copy engine can.
    Where threads alone read what a `ttg.local_alloc` stores of a loaded block, it lies as the block does, if
    transposed views of it then have an encoding."""

    name = "encode-descriptors"
    contract = Contract(("ttg",), needs=("assign-layouts",), after=("stage-dot-operands", "view-transposed"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if not isinstance(function, tile.FuncOp) or (entry := function.body.blocks.first) is None:
                continue
            made = [inner.result for inner in ops_in(function) if isinstance(inner, tile.MakeTensorDescOp)]
            for descriptor in (*entry.args, *made):
                type_ = type_of(descriptor)
                if isinstance(type_, TensorDescType) and encoding_of(type_.block_type) is None:
                    encoding = attribute_of(_wanted(descriptor) or swizzled(type_))
                    element = UI64 if combines_bits(descriptor) else type_.element_type
                    set_type(descriptor, TensorDescType(tensor(element, type_.shape, encoding)))
                    _store_as_copied(descriptor)
            inputs = [type_of(argument) for argument in entry.args]
            outputs = function.function_type.outputs.data
            function.properties["function_type"] = FunctionType.from_lists(inputs, list(outputs))


def _wanted(descriptor: SSAValue) -> NvmmaSharedEncoding | None:
    """The form in which a matrix unit reads a block that is loaded: rows must lie in it one behind the other."""
    for use in descriptor.uses:
        load = use.operation
        if not isinstance(load, tile.DescriptorLoadOp):
            continue
        for reader in load.result.uses:
            if isinstance(reader.operation, LocalAllocOp):
                encoding = shared_encoding(type_as(reader.operation.result, MemDescType))
                if isinstance(encoding, NvmmaSharedEncoding) and not encoding.transposed:
                    return replace(encoding, rank=len(type_as(descriptor, TensorDescType).shape))
    return None


def _store_as_copied(descriptor: SSAValue) -> None:
    """Buffers of loaded blocks that no unit reads by itself get the encoding of the blocks, so that the copy engine can
    fill them."""
    for load in [use.operation for use in descriptor.uses]:
        if isinstance(load, tile.DescriptorLoadOp):
            for use in load.result.uses:
                alloc = use.operation
                if not isinstance(alloc, LocalAllocOp) or not all(map(_is_loaded_or_viewed, _users(alloc.result))):
                    continue
                encoding, shape = copied_encoding(load), type_as(alloc.result, MemDescType).shape
                if encoding is not None and shape == shape_of(type_of(load.result)) and len(shape) == 2:
                    encoded = _encoded(alloc.result, encoding)
                    for memory, made in () if encoded is None else encoded.items():
                        set_type(memory, made)


def _users(memory: SSAValue) -> Iterator[Operation]:
    """What uses a buffer, or a transposed view of it."""
    for use in memory.uses:
        yield use.operation
        if isinstance(use.operation, MemDescTransOp):
            yield from _users(use.operation.result)


def _is_loaded_or_viewed(op: Operation) -> bool:
    return isinstance(op, LocalLoadOp | MemDescTransOp)


def _encoded(memory: SSAValue, encoding: Attribute) -> dict[SSAValue, MemDescType] | None:
    """The types of a buffer with an encoding, and of its transposed views; None where a view would have none: rows that
    are not swizzled have no transposed form."""
    given = type_as(memory, MemDescType)
    made = memdesc(given.shape, given.element_type, encoding, mutable=given.mutable)
    found = {memory: made}
    for view in [use.operation for use in memory.uses]:
        if isinstance(view, MemDescTransOp):
            order = inverse_permutation([int(axis) for axis in view.order.get_values()])
            seen = transposed_memory(shared_encoding(made), order, made.shape)
            views = None if seen is None else _encoded(view.result, attribute_of(seen))
            if views is None:
                return None
            found |= views
    return found


def swizzled(type_: TensorDescType) -> NvmmaSharedEncoding:
    """Rows of a block swizzled as widely as they can be: it takes eight rows to swizzle."""
    bits, shape = bit_width(type_.element_type), type_.shape
    nbytes, rows = shape[-1] * bits // 8, prod(shape[:-1])
    width = next((width for width in WIDTHS if nbytes % width == 0), 0) if rows >= ROWS else 0
    return NvmmaSharedEncoding(width, False, bits, rank=len(shape))
