"""Program ids, hints to the optimiser, barriers."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.dialects.builtin import i32 as i32_attr
from xdsl.ir import Attribute, BlockArgument, OpResult

from tritonx.dialects.gpu import BarrierOp
from tritonx.dialects.llvm import AssumeOp
from tritonx.dialects.tile import GetNumProgramsOp, GetProgramIdOp
from tritonx.frontend.semantics.base import SemanticsBase, enum_attribute, unwrapped_list
from tritonx.language.constexpr import unwrap
from tritonx.language.dtypes import int32
from tritonx.language.values import tensor


class ControlSemantics(SemanticsBase):
    def program_id(self, axis: Any) -> tensor:
        """The index of this program on an axis of the grid, int32."""
        return self.emit(GetProgramIdOp, (), int32, {"axis": _grid_axis("program_id", axis)})

    def num_programs(self, axis: Any) -> tensor:
        """The extent of the grid on an axis, int32."""
        return self.emit(GetNumProgramsOp, (), int32, {"axis": _grid_axis("num_programs", axis)})

    def multiple_of(self, value: tensor, values: Any) -> tensor:
        """Promise: along axis i, the first of each contiguous run is a multiple of ``values[i]``."""
        return self._hint("multiple_of", "tt.divisibility", value, values)

    def max_contiguous(self, value: tensor, values: Any) -> tensor:
        """Promise: along axis i, ``values[i]`` neighbours count up by one."""
        return self._hint("max_contiguous", "tt.contiguity", value, values)

    def max_constancy(self, value: tensor, values: Any) -> tensor:
        """Promise: along axis i, ``values[i]`` neighbours are equal."""
        return self._hint("max_constancy", "tt.constancy", value, values)

    def _hint(self, function: str, name: str, value: tensor, values: Any) -> tensor:
        listed = unwrapped_list(values)
        for i, v in enumerate(listed):
            if type(v) is not int:
                raise TypeError(f"values element {i} must have type `constexpr[int]`, got `constexpr[{type(v)}]")
        if max(1, len(value.type.shape)) != len(listed):
            raise ValueError(f"Shape of input to {function} does not match the length of values")
        _attach(value.handle, name, DenseIntOrFPElementsAttr.from_list(TensorType(i32_attr, [len(listed)]), listed))
        return value

    def assume(self, condition: Any) -> None:
        """Promise that a 1-bit scalar is true."""
        condition = self.to_tensor(condition)
        if condition.type.is_block() or not condition.dtype.is_bool():
            raise ValueError(f"assume needs a scalar int1, got {condition}")
        self.builder.create(AssumeOp, [condition.handle])

    def debug_barrier(self) -> None:
        """All threads of the program wait for one another."""
        self.builder.create(BarrierOp)


def _grid_axis(function: str, axis: Any) -> Attribute:
    axis = unwrap(axis)
    if axis not in (0, 1, 2):
        raise ValueError(f"{function} axis must be 0, 1, or 2 but got {axis}")
    return enum_attribute(int(axis))


def _attach(handle: Any, name: str, attribute: Attribute) -> None:
    """Put a hint where the alignment analysis looks for it: on the defining op, or for an argument on the op of its
    block.

    Values of the interpreter have no op; a hint changes nothing for them.
    """
    if isinstance(handle, OpResult):
        handle.op.attributes[name] = attribute
    elif isinstance(handle, BlockArgument) and (owner := handle.block.parent_op()) is not None:
        owner.attributes[f"{name}_arg{handle.index}"] = attribute
