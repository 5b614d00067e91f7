"""Tensor maps: the 128 bytes by which a block copy finds its block, made from a descriptor that a kernel is given.

The driver encodes them (CUDA driver API, `cuTensorMapEncodeTiled`) from what the kernel's metadata say of the block
(its box and swizzle, which follow from its layout in shared memory) and what the argument says of the tensor. A map is
kept for the same tensor, so that a launch in a loop encodes nothing."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, TypedDict

from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.launch.descriptor_parameters import Descriptor
from tritonx.runtime.launch.parameter_values import address_of, data_ptr

if TYPE_CHECKING:
    from tritonx.dialects.tile import TensorDescType

NBYTES = 128
ALIGNMENT = 64

DATA_TYPES = {
    "u8": 0, "i8": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5,
    "f16": 6, "f32": 7, "f64": 8, "bf16": 9, "f8E4M3FN": 0, "f8E5M2": 0,
}  # fmt: skip
"""Element type → CUtensorMapDataType; 8-bit floats are moved as bytes. Smaller and larger go by its sign."""

TF32 = 11
"""The type of a map of f32 that the unit rounds to tf32 as it reads."""

DATA_TYPES_IN_KERNELS = {**DATA_TYPES, "f64": 9, "bf16": 10}
"""The same for a map that a kernel makes: PTX numbers two types otherwise (PTX ISA 9.0, tensormap.replace)."""

SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
"""Swizzle width in bytes → CUtensorMapSwizzle."""

WRITTEN_PIECE = 16
"""Bytes that a copy to global memory changes as one (`tritonx.dialects.nvidia.WRITTEN_PIECE`, which needs a compiler).
"""

_NO_INTERLEAVE = 0
_PROMOTION_128B = 2
_FILL = {"zero": 0, "nan": 1}
KEPT = 256
"""Maps a kernel keeps; past that it forgets all of them."""


class Recipe(TypedDict):
    """What a tensor map is made of, beside the tensor."""

    swizzle: int
    elem_size: int
    elem_type: int
    block_size: Sequence[int]
    block_shape: Sequence[int]
    fp4_padded: bool


class ParameterRecipe(Recipe, total=False):
    """Of a descriptor that a kernel is given."""

    descriptor: int | None
    written: bool


def recipe(type_: TensorDescType, data_types: Mapping[str, int] = DATA_TYPES) -> Recipe:
    """What the launch must know of a parameter of type ``!tt.tensordesc``, under Triton's names. Raises ValueError
    where no tensor map is of such blocks."""
    from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
    from tritonx.ir.types import bit_width, is_integer, is_unsigned
    from tritonx.layouts.encodings import NvmmaSharedEncoding
    from tritonx.layouts.shared import tma_box
    from tritonx.layouts.tiling import shape_per_cta

    encoding = type_encoding(type_.block_type)
    if not isinstance(encoding, NvmmaSharedEncoding) or encoding.fp4_padded:
        raise ValueError(f"a tensor map needs a block laid out by #ttg.nvmma_shared without padding, got {type_}")
    element = type_.element_type
    bits = bit_width(element)
    name = f"{'u' if is_unsigned(element) else 'i'}{bits}" if is_integer(element) else element.name
    if name not in data_types:
        raise ValueError(f"a tensor map is of numbers of 8 to 64 bits, got {type_}")
    return {
        "swizzle": SWIZZLES[encoding.swizzling_byte_width],
        "elem_size": bits // 8,
        "elem_type": data_types[name],
        "block_size": list(tma_box(encoding, shape_per_cta(encoding.cga, type_.shape))),
        "block_shape": list(type_.shape),
        "fp4_padded": False,
    }


class MapAddress(int):
    """Where a map lies in the host's memory, which it keeps."""

    memory: object


Check = Callable[[int, str], None]
"""``check(code, call)`` raises an error with the ``code``."""


def encoded(
    cuda: ctypes.CDLL,
    recipe: Recipe,
    check: Check,
    address: int,
    shape: Sequence[int],
    steps: Sequence[int],
    padding: str,
) -> MapAddress:
    """A map of the tensor at ``address``, with steps in bytes of all dims but the last."""
    rank = len(shape)
    memory = ctypes.create_string_buffer(NBYTES + ALIGNMENT)
    start = -(-ctypes.addressof(memory) // ALIGNMENT) * ALIGNMENT
    code = cuda.cuTensorMapEncodeTiled(  # dims go from the innermost out
        ctypes.c_void_p(start),
        ctypes.c_int(recipe["elem_type"]),
        ctypes.c_uint32(rank),
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * rank)(*shape[::-1]),
        (ctypes.c_uint64 * max(rank - 1, 1))(*steps[::-1]),
        (ctypes.c_uint32 * rank)(*recipe["block_size"][::-1]),
        (ctypes.c_uint32 * rank)(*[1] * rank),
        ctypes.c_int(_NO_INTERLEAVE),
        ctypes.c_int(recipe["swizzle"]),
        ctypes.c_int(_PROMOTION_128B),
        ctypes.c_int(_FILL[padding]),
    )
    check(code, "cuTensorMapEncodeTiled")
    made = MapAddress(start)
    made.memory = memory
    return made


Fields = tuple[Sequence[int], Sequence[int], Sequence[int], str, bool]
"""Shape, strides, block and padding of a descriptor, and whether it rounds."""


class TensorMaps:
    """The maps of one descriptor parameter. A launch is also given the extents and strides, where ``with_extents`` says
    so."""

    def __init__(
        self,
        cuda: ctypes.CDLL,
        recipe: ParameterRecipe,
        check: Check,
        *,
        with_extents: bool = False,
    ) -> None:
        self.cuda = cuda
        self.recipe = recipe
        self.check = check
        self.with_extents = with_extents
        self.kept: dict[Hashable, tuple[int, ...]] = {}
        self.last: dict[int, tuple[Fields, tuple[int, ...]]] = {}
        """By address, copies of the fields of the last descriptor there, and what stands for it."""

    def __call__(self, descriptor: Descriptor) -> tuple[int, ...]:
        """What stands for ``descriptor`` (a `TensorDescriptor`) in a launch: a `MapAddress` first. It depends on the
        whole descriptor as it is now: any of its fields may have been set since the last launch."""
        try:
            address: int = data_ptr(descriptor.base)  # of a tensor, which most bases are
        except AttributeError:
            address = address_of(getattr(descriptor, "base", None))
        try:
            rounds = getattr(descriptor, "round_f32_to_tf32", False)
            fields = descriptor.shape, descriptor.strides, descriptor.block_shape, descriptor.padding, rounds
        except AttributeError:
            raise UnsupportedArgument(f"a TensorDescriptor is needed, got {type(descriptor).__name__}") from None
        last = self.last.get(address)
        return last[1] if last is not None and last[0] == fields else self._found(address, *fields)

    def _found(
        self,
        address: int,
        shape: Sequence[int],
        strides: Sequence[int],
        block: Sequence[int],
        padding: str,
        rounds: bool,
    ) -> tuple[int, ...]:
        key = address, tuple(shape), tuple(strides), tuple(block), padding, rounds
        values = self.kept.get(key)
        if values is None:
            values = self._made(address, shape, strides, block, padding, rounds)
            if len(self.kept) >= KEPT:
                self.kept.clear()
                self.last.clear()
            self.kept[key] = values
        self.last[address] = (copy(shape), copy(strides), copy(block), padding, rounds), values
        return values

    def _made(
        self,
        address: int,
        shape: Sequence[int],
        strides: Sequence[int],
        block: Sequence[int],
        padding: str,
        rounds: bool,
    ) -> tuple[int, ...]:
        shape, strides = tuple(map(int, shape)), tuple(map(int, strides))
        self._check(shape, block, padding)
        steps = [stride * self.recipe["elem_size"] for stride in strides[:-1]]
        recipe: Recipe = {**self.recipe, "elem_type": TF32} if rounds else self.recipe
        map_ = encoded(self.cuda, recipe, self.check, address, shape, steps, padding)
        return map_, *(shape + strides if self.with_extents else ())

    def _check(self, shape: Sequence[int], block: Sequence[int], padding: str) -> None:
        if (moved := list(self.recipe["block_shape"])) != list(block):
            raise UnsupportedArgument(f"the kernel moves blocks of {moved}, the descriptor is for {list(block)}")
        if shape[-1] * self.recipe["elem_size"] % WRITTEN_PIECE and self.recipe.get("written"):
            raise UnsupportedArgument(
                f"the kernel's code writes the rows of a descriptor in pieces of {WRITTEN_PIECE} bytes, and rows of "
                f"{shape[-1]} elements are no whole pieces: what lies behind them would be overwritten. Describe whole "
                "pieces, or launch the kernel's source, which is compiled for such rows"
            )
        if padding == "nan" and self.recipe["elem_type"] == DATA_TYPES["u8"]:
            raise UnsupportedArgument("the kernel's code pads blocks of 8-bit floats with zeros only, not with NaN")
