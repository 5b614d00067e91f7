"""The chip's own ops. `tritonx-opt` reads and prints them: an entry point of ``tritonx.dialects`` names ``Toy``.

Of those that only compute, ``MEANING`` says what, so that tritonx's interpreter runs them too."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i16, i32
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.backends.tile import (
    ELEMENTWISE,
    PURE,
    Completion,
    Effect,
    Effects,
    Kind,
    LayoutConstraint,
    Meaning,
    Resource,
    TypeRules,
    always,
    asynchronous,
    define,
    effects,
    element_type,
    loaded_from,
    mask_of,
    reads,
    same,
    waits,
)
from tritonx_toy import units
from tritonx_toy.matrix_shapes import misfit


@define
class MmaOp(IRDLOperation):
    """a · b + c on the matrix unit. Floats are summed as `units.multiply` says: one rounding an instruction."""

    name = "toy.mma"
    a = operand_def()
    b = operand_def()
    c = operand_def()
    d = result_def()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$a `,` $b `,` $c attr-dict `:` type($a) `*` type($b) `->` type($d)"
    TYPES: ClassVar[TypeRules] = {"c": ("d", same)}
    MEANING: ClassVar[Meaning] = always(units.multiply)

    def verify_(self) -> None:
        if reason := misfit(self.a.type, self.b.type, self.d.type):
            raise VerifyException(reason)


@define
class FixedMultiplyOp(IRDLOperation):
    """The product of numbers with 15 bits behind the point, rounded and saturated: `units.fixed_multiply`."""

    name = "toy.fixed_multiply"
    x = operand_def()
    y = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$x `,` $y attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"x": ("result", same), "y": ("result", same)}
    MEANING: ClassVar[Meaning] = always(units.fixed_multiply)

    def verify_(self) -> None:
        if element_type(self.result.type) != i16:
            raise VerifyException(f"fixed-point numbers are held in i16, got {self.result.type}")


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """`!toy.buffer<tensor<16xf32>>`: local memory for a tile, which a copy fills."""

    name = "toy.buffer"
    tile: Attribute


def buffer_for(pointers: Attribute) -> Attribute:
    return BufferType(loaded_from(pointers))


@define
class CopyAsyncOp(IRDLOperation):
    """Has the DMA engine load a tile, as `tt.load` does, into a new buffer. It may do so at any time from now on; the
    buffer may be read behind a `toy.wait`. Copies are done in their order."""

    name = "toy.copy_async"
    ptr = operand_def()
    mask = opt_operand_def()
    other = opt_operand_def()
    buffer = result_def(BufferType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    EFFECTS: ClassVar[Effects] = effects(
        asynchronous(reads("ptr"), Completion.COPY_GROUP),
        asynchronous(Effect(Kind.WRITE, Resource.MEMDESC, "buffer"), Completion.COPY_GROUP),
        Effect(Kind.COMMIT, completion=Completion.COPY_GROUP),
    )
    FORMAT: ClassVar[str] = "$ptr (`,` $mask^)? (`,` $other^)? attr-dict `:` type($ptr)"
    TYPES: ClassVar[TypeRules] = {
        "mask": ("ptr", mask_of),
        "other": ("ptr", loaded_from),
        "buffer": ("ptr", buffer_for),
    }


@define
class WaitOp(IRDLOperation):
    """Waits until at most `left` copies are under way."""

    name = "toy.wait"
    left = prop_def(IntegerAttr.constr(i32))
    EFFECTS: ClassVar[Effects] = effects(waits(Completion.COPY_GROUP, "left"))
    FORMAT: ClassVar[str] = "$left attr-dict"


@define
class ReadOp(IRDLOperation):
    """The tile in a buffer."""

    name = "toy.read"
    buffer = operand_def(BufferType)
    result = result_def()
    EFFECTS: ClassVar[Effects] = effects(reads("buffer", Resource.MEMDESC))
    FORMAT: ClassVar[str] = "$buffer attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"buffer": ("result", BufferType)}


Toy = Dialect("toy", [MmaOp, FixedMultiplyOp, CopyAsyncOp, WaitOp, ReadOp], [BufferType])
