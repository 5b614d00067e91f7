"""Program ids, hints to the optimiser, barriers."""

from __future__ import annotations

from math import lcm
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr, TensorType, UnitAttr
from xdsl.dialects.builtin import i32 as i32_attr
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from tritonx.dialects.control_flow import edges_from
from tritonx.dialects.gpu import BarrierOp
from tritonx.dialects.llvm import AssumeOp
from tritonx.dialects.tile import STATED, FuncOp, GetNumProgramsOp, GetProgramIdOp
from tritonx.frontend.semantics.base import SemanticsBase, enum_attribute, unwrapped_list
from tritonx.frontend.semantics.storage import UnsupportedExtents
from tritonx.language.types.dtypes import int32
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor


class ControlSemantics(SemanticsBase):
    _argument_hints: dict[BlockArgument, dict[str, list[int]]] | None = None
    """Hints about arguments of blocks whose op is not made yet."""

    def program_id(self, axis: object) -> tensor:
        """The index of this program on an axis of the grid, int32."""
        return self.emit(GetProgramIdOp, (), int32, {"axis": _grid_axis("program_id", axis)})

    def num_programs(self, axis: object) -> tensor:
        """The extent of the grid on an axis, int32."""
        return self.emit(GetNumProgramsOp, (), int32, {"axis": _grid_axis("num_programs", axis)})

    def multiple_of(self, value: tensor, values: object) -> tensor:
        """Promise: along axis i, the first of each contiguous run is a multiple of ``values[i]``."""
        return self._hint("multiple_of", "tt.divisibility", value, values)

    def max_contiguous(self, value: tensor, values: object) -> tensor:
        """Promise: along axis i, ``values[i]`` neighbours count up by one."""
        return self._hint("max_contiguous", "tt.contiguity", value, values)

    def max_constancy(self, value: tensor, values: object) -> tensor:
        """Promise: along axis i, ``values[i]`` neighbours are equal."""
        return self._hint("max_constancy", "tt.constancy", value, values)

    def _hint(self, function: str, name: str, value: tensor, values: object) -> tensor:
        listed = unwrapped_list(values)
        for i, v in enumerate(listed):
            if type(v) is not int:
                raise TypeError(f"values element {i} must have type `constexpr[int]`, got `constexpr[{type(v)}]")
        # A scalar has a divisor, and no neighbours that a run could be of.
        expected = len(value.type.shape) or int(function == "multiple_of")
        if expected != len(listed):
            raise ValueError(f"Shape of input to {function} does not match the length of values")
        if value.type.padded:
            listed = [_stored_hint(function, v, extent) for v, extent in zip(listed, value.type.shape, strict=True)]
        self._promise(value.handle, name, listed)
        return value

    def _promise(self, handle: object, name: str, values: list[int]) -> None:
        if isinstance(handle, OpResult):
            handle.op.attributes[name] = _dense(values)
        elif isinstance(handle, BlockArgument):
            if self._argument_hints is None:
                self._argument_hints = {}
            self._argument_hints.setdefault(cast("BlockArgument[Attribute]", handle), {})[name] = values
        # The values of the interpreter are neither: a hint changes nothing for them.

    def place_hints(self, op: Operation) -> None:
        """Put the hints about arguments of the first block of ``op``, which was just made, where the analyses look
        for them.

        For a function these are the attributes of its arguments; for a loop ``tt.divisibility_arg0`` and so on, on
        the loop, and what the value that the first iteration has is computed by: those of the others follow from it.
        """
        if not self._argument_hints:
            return
        for argument in op.regions[0].block.args:
            for name, values in self._argument_hints.pop(argument, {}).items():
                if not isinstance(op, FuncOp):
                    op.attributes[f"{name}_arg{argument.index}"] = _dense(values)
                    for first in _first_values(op, argument):
                        self._promise(first, name, values)
                elif len(values) == 1:
                    known = op.arg_attrs or ArrayAttr([DictionaryAttr({})] * len(op.body.block.args))
                    attributes = [*known.data]
                    mine = attributes[argument.index].data
                    said = cast(Any, mine.get(name))  # divisible by both
                    value = values[0] if said is None else lcm(said.value.data, values[0])
                    attributes[argument.index] = DictionaryAttr(
                        {**mine, name: enum_attribute(value), STATED: UnitAttr()}
                    )
                    op.properties["arg_attrs"] = ArrayAttr(attributes)

    def assume(self, condition: object) -> None:
        """Promise that a 1-bit scalar is true."""
        condition = self.to_tensor(condition)
        if condition.type.is_block() or not condition.dtype.is_bool():
            raise ValueError(f"assume needs a scalar int1, got {condition}")
        self.builder.create(AssumeOp, [condition.handle])

    def debug_barrier(self) -> None:
        """All threads of the program wait for one another."""
        self.builder.create(BarrierOp)


def _stored_hint(function: str, value: int, extent: int) -> int:
    """A promise about runs of an axis as one about runs that are powers of two, of which storage is made; of a run that
    is shortened the first element is a multiple of less."""
    part, run = value & -value, extent & -extent
    if run == extent or (part in (value, 0) and function != "multiple_of"):
        return value
    if function != "multiple_of" and value % run:
        raise UnsupportedExtents(f"{function} of {value} along an axis of {extent} elements")
    return min(part, run) if part else run


def _grid_axis(function: str, axis: object) -> Attribute:
    axis = unwrap(axis)
    if axis not in (0, 1, 2):
        raise ValueError(f"{function} axis must be 0, 1, or 2 but got {axis}")
    return enum_attribute(int(axis))


def _first_values(op: Operation, argument: BlockArgument) -> list[SSAValue]:
    """What an argument of a loop is in the first iteration."""
    return [given for edge in edges_from(op) for given, value in edge.pairs() if value is argument]


def _dense(values: list[int]) -> Attribute:
    return DenseIntOrFPElementsAttr.from_list(TensorType(i32_attr, [len(values)]), values)
