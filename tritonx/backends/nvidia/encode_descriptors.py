"""How the blocks of tensor descriptors lie in shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalAllocOp, MemDescType, attribute_of, shared_encoding
from tritonx.dialects.tile import TensorDescType
from tritonx.ir.edit import set_type
from tritonx.ir.types import bit_width, encoding_of, type_as, type_of, with_encoding
from tritonx.layouts.encodings import NvmmaSharedEncoding

WIDTHS = 128, 64, 32
"""Bytes over which rows can be swizzled."""

ROWS = 8
"""That a swizzle goes over."""


@dataclass(frozen=True)
class EncodeDescriptors(ModulePass):
    """Gives every `!tt.tensordesc` that has none, a parameter of a function or made there, an encoding of its block:
    that of the first `ttg.local_alloc` of a loaded block for a matrix unit, else rows swizzled over as many bytes as
    they have."""

    name = "encode-descriptors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if not isinstance(function, tile.FuncOp) or (entry := function.body.blocks.first) is None:
                continue
            made = [inner.result for inner in function.walk() if isinstance(inner, tile.MakeTensorDescOp)]
            for descriptor in (*entry.args, *made):
                type_ = type_of(descriptor)
                if isinstance(type_, TensorDescType) and encoding_of(type_.block_type) is None:
                    encoding = attribute_of(_wanted(descriptor) or swizzled(type_))
                    set_type(descriptor, TensorDescType(with_encoding(type_.block_type, encoding)))
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
                    return encoding
    return None


def swizzled(type_: TensorDescType) -> NvmmaSharedEncoding:
    """Rows of a block swizzled as widely as they can be: it takes eight rows to swizzle."""
    bits, shape = bit_width(type_.element_type), type_.shape
    nbytes, rows = shape[-1] * bits // 8, prod(shape[:-1])
    width = next((width for width in WIDTHS if nbytes % width == 0), 0) if rows >= ROWS else 0
    return NvmmaSharedEncoding(width, False, bits, rank=len(shape))
