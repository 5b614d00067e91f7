"""Products by matrix instructions, numbers with scales, slices of registers, and hints to the scheduler."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Operation

from tritonx.dialects.amd import ExtractSliceOp, ScaledUpcastFp4Op, ScaledUpcastFp8Op, SchedBarrierOp, SetPrioOp
from tritonx.experimental.gluon.layouts import DistributedLayout, to_linear_layout
from tritonx.experimental.gluon.semantics.access import AccessSemantics
from tritonx.experimental.gluon.values import distributed_type, layout_of_block
from tritonx.frontend.semantics import ir_type
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.language.types.dtypes import bfloat16, dtype, float8e4nv, float8e5, float16, float32, int8, uint8
from tritonx.language.values.tensor import tensor
from tritonx.runtime import knobs

REGISTERS = "amdg.cd_regclass"
"""The attribute of a product that says which registers hold its sums."""
STAGE = "triton.warp_pipeline"
"""What attributes of the end of a stage begin with."""


class MatrixSemantics(AccessSemantics):
    def matrix_product(self, a: tensor, b: tensor, acc: tensor, registers: object) -> tensor:
        """``a @ b + acc``, of ``acc``'s type; float32 in full precision, as in Triton, unless its knob says another."""
        precision = knobs.language.fp32_default or "ieee"
        return self._held_in(self.dot(a, b, acc, precision, None, None, acc.dtype), registers)

    def scaled_matrix_product(
        self,
        a: tensor,
        a_scale: tensor,
        a_format: str,
        b: tensor,
        b_scale: tensor,
        b_format: str,
        acc: tensor,
        registers: object,
    ) -> tensor:
        """``(a * a_scale) @ (b * b_scale) + acc``."""
        made = self.dot_scaled(a, a_scale, a_format, b, b_scale, b_format, acc, False, True, True, float32)
        return self._held_in(made, registers)

    def _held_in(self, product: tensor, registers: object) -> tensor:
        if registers not in (None, "a", "v"):
            raise ValueError(f"cd_regclass must be None, 'a' or 'v', got {registers!r}")
        if registers is not None:
            assert isinstance(product.handle.owner, Operation)
            product.handle.owner.attributes[REGISTERS] = StringAttr(str(registers))
        return product

    def scaled_upcast(self, value: tensor, scale: tensor, element: object, axis: object) -> tensor:
        """``value`` times powers of two, each as a code of the result's shape and layout."""
        for each, name in ((value, "src"), (scale, "scale")):
            if not isinstance(each.type, distributed_type):
                raise ValueError(f"Expected {name} to have a distributed_type but got {each.type}")
        assert scale.dtype in (int8, uint8), f"Expected scale to use raw E8M0 payload in int8/uint8, got {scale.dtype}"
        if not isinstance(element, dtype) or element not in (float16, bfloat16):
            raise ValueError(f"Expected elem_type to be fp16 or bf16 but got {element}")
        if value.dtype in (float8e4nv, float8e5):
            if axis is not None:
                raise ValueError("axis must be None for fp8 scaled_upcast")
            wanted = distributed_type(element, value.type.shape, layout_of_block(value))
            _check_scale(scale, wanted, "fp8")
            return self.emit(ScaledUpcastFp8Op, [value, scale], wanted)
        if value.dtype not in (int8, uint8):
            raise ValueError(f"Expected packed fp4 input in int8/uint8, but got {value.dtype}")
        wanted, properties = self.unpacked_pairs(value, element, axis)
        _check_scale(scale, wanted, "packed fp4")
        return self.emit(ScaledUpcastFp4Op, [value, scale], wanted, properties)

    def box_of(self, value: tensor, shape: Sequence[object], offsets: Sequence[object]) -> tensor:
        """The box of ``shape`` from ``offsets`` on, of registers that the threads hold."""
        if not isinstance(value.type, distributed_type):
            raise ValueError(f"Expected source to have a distributed_type but got {value.type}")
        whole = value.type.shape
        extents = [each for each in shape if isinstance(each, int)]
        starts = [each for each in offsets if isinstance(each, int)]
        if not len(extents) == len(shape) == len(starts) == len(offsets) == len(whole):
            raise ValueError(f"slice: shape {shape} and offsets {offsets} must have a number for each of {[*whole]}")
        for extent, start, total in zip(extents, starts, whole, strict=True):
            if start < 0 or start + extent > total:
                raise ValueError(f"slice: offset {starts} + shape {extents} exceeds source shape {[*whole]}")
            if start % extent:
                raise ValueError(f"slice: offset {starts} is no multiple of shape {extents}")
        layout = layout_of_block(value)
        _check_same_threads(layout, whole, extents)
        properties = {"static_offsets": DenseArrayBase.from_list(IntegerType(64), starts)}
        return self.emit(ExtractSliceOp, [value], distributed_type(value.dtype, extents, layout), properties)

    def schedule_barrier(self) -> None:
        """Nothing moves across this place."""
        self.builder.create(SchedBarrierOp, (), (), {"mask": enum_attribute(0)})

    def border_of_stage(self, label: str, priority: int | None) -> None:
        """Nothing moves across the end of a stage."""
        marks: dict[str, Attribute] = {f"{STAGE}.border": StringAttr(label)}
        if priority is not None:
            marks[f"{STAGE}.priority"] = enum_attribute(priority)
        self.builder.create(SchedBarrierOp, (), (), {"mask": enum_attribute(0)}, marks)

    def set_priority(self, priority: int) -> None:
        """From here on the warp issues before those of a lower priority."""
        self.builder.create(SetPrioOp, (), (), {"priority": IntegerAttr(priority, IntegerType(16))})


def _check_scale(scale: tensor, wanted: dtype, what: str) -> None:
    assert isinstance(wanted, distributed_type)
    if scale.type.shape != wanted.shape:
        shape = [*wanted.shape]
        raise ValueError(f"Expected scale shape for {what} scaled_upcast to be {shape} but got {[*scale.type.shape]}")
    given = layout_of_block(scale)
    if ir_type(scale.type.with_element_ty(wanted.element_ty)) != ir_type(wanted):
        raise ValueError(f"Expected scale layout for {what} scaled_upcast to be {wanted.layout} but got {given}")


def _check_same_threads(layout: DistributedLayout, whole: Sequence[int], part: Sequence[int]) -> None:
    """ValueError where the box of a block has elements in other threads than its layout on the box says."""
    full, cut = to_linear_layout(layout, whole), to_linear_layout(layout, part)
    for name in ("lane_bases", "warp_bases", "block_bases"):
        if getattr(full, name) != getattr(cut, name):
            raise ValueError(f"slice: shape {[*part]} is less than a tile of the layout {layout}")
