"""Arithmetic on packed elements, whose types the op names rather than promotes."""

from __future__ import annotations

from collections.abc import Sequence

from tritonx.dialects.nvidia import PackedArithKind, PackedArithOp
from tritonx.experimental.gluon.semantics.access import AccessSemantics
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.promotion import computation_type
from tritonx.language.types.dtypes import dtype
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

_SUMS = ("ADD", "SUB", "FMA")


class PackedSemantics(AccessSemantics):
    def packed(self, kind: str, operands: Sequence[object], type_: object) -> tensor:
        """The block that ``kind``, a name of `PackedArithKind`, gives; numbers become blocks of the result's dtype.
        Raises ValueError without a block of floats among the operands."""
        given = [unwrap(operand) for operand in operands]
        blocks = [each for each in given if isinstance(each, tensor) and each.type.is_block()]
        if not blocks:
            raise ValueError("packed arithmetic requires at least one distributed tensor operand")
        if any(not each.dtype.is_floating() for each in blocks):
            raise ValueError("packed arithmetic of 4-bit floats is not supported: operands are blocks of floats")
        like = max(blocks, key=lambda each: each.numel)
        result = self._packed_type(kind, given, like) if type_ is None else type_
        if not isinstance(result, dtype):
            raise ValueError(f"expected 'dtype' to be a dtype but got {result}")
        values: list[tensor] = []
        for each in given:
            value = each if isinstance(each, tensor) else self.cast(self.to_tensor(each), result)
            if not value.type.is_block():
                value = self.cast(value, result)
            values.append(self.broadcast(like, value)[1])
        properties = {"op_kind": enum_attribute(PackedArithKind[kind])}
        return self.emit(PackedArithOp, values, like.type.with_element_ty(result), properties)

    def _packed_type(self, kind: str, operands: Sequence[object], like: tensor) -> dtype:
        """The dtype of a result that is not named: an addend's of 8 bits, or else the common one."""
        last = operands[-1]
        addend = last if isinstance(last, tensor) and last.dtype.is_fp8() and kind in _SUMS else like
        found = addend.dtype
        for each in operands:
            constant = not isinstance(each, tensor)
            other = self.to_tensor(each).dtype
            if other.is_floating() and not (found.is_fp8() and other.is_fp8()):
                found = computation_type(found, False, other, constant, False)
        return found
