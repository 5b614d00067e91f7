"""What all families share: tensors from Python numbers, splats, broadcasts, op creation, and regions of combine
functions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast, overload

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tritonx.dialects.tile import BroadcastOp, ExpandDimsOp, IntToPtrOp, SplatOp
from tritonx.frontend.semantics.neutral import IfPresent
from tritonx.frontend.semantics.promotion import IncompatibleTypeErrorImpl, float_literal_type, literal_type
from tritonx.frontend.semantics.storage import UnsupportedExtents, ignores_padding
from tritonx.frontend.semantics.types import ir_type
from tritonx.ir.types import i32
from tritonx.language.types.dtypes import LARGEST_FP8, block_type, dtype, float32, int1, int64
from tritonx.language.types.type_names import element_type
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple

if TYPE_CHECKING:
    from tritonx.backends.api import Options, Target
    from tritonx.frontend.semantics import Semantics
    from tritonx.ir.builder import Builder

__all__ = ["Generator", "IncompatibleTypeErrorImpl", "SemanticsBase", "enum_attribute"]

_NONE_HINT = (
    "the value is None: pass an array or a number, or keep the access under `if x_ptr is not None:`, which is decided "
    "when the kernel is compiled"
)


def invalid_axis(axis: object, rank: int) -> ValueError:
    """The error for an axis that a block of ``rank`` axes does not have."""
    error = ValueError(f"invalid axis {axis}. Expected {-rank} <= axis < {rank}")
    axes = "no axes" if rank == 0 else "one axis, axis=0" if rank == 1 else f"axes 0 to {rank - 1}"
    error.add_note(f"the block has {axes}")
    return error


class Generator(Protocol):
    """Who can run a jit function on language values in the middle of a compile (or of an interpreted program)."""

    def call_function(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Inline ``fn`` at the builder's insertion point; what it returns, as a language value."""
        ...


LESS_THAN = IntegerAttr(2, i64)
"""The predicate of ``arith.cmpi`` for signed integers."""


@cache
def enum_attribute(value: int) -> IntegerAttr[IntegerType]:
    """An i32 attribute: how ops hold the cases of enumerations, axes and the like."""
    return IntegerAttr(int(value), i32)


class SemanticsBase:
    """``builder`` makes the ops; ``options`` and ``target`` are those of the compile; ``generator`` inlines jit
    functions.
    """

    generator: Generator | None = None

    def __init__(self, builder: Builder, options: Options, target: Target):
        self.builder = builder
        self.options = options
        self.target = target

    # Ops.

    def emit(
        self,
        op: type[Operation],
        operands: Sequence[tensor],
        type_: dtype,
        properties: Mapping[str, Attribute] | None = None,
    ) -> tensor:
        """The single result of ``op`` as a tensor of ``type_``; folded and merged by the builder."""
        if not ignores_padding(op):
            _check_padding(op, operands, type_)
        handle = self.builder.emit(op, [v.handle for v in operands], (ir_type(type_),), properties)
        return tensor(handle, type_)

    def multi(self, op: type[Operation], operands: Sequence[tensor], types: Sequence[dtype]) -> list[tensor]:
        """The results of ``op`` as tensors of ``types``; merged by the builder."""
        if not ignores_padding(op):
            _check_padding(op, operands, *types)
        handles = self.builder.multi(op, [v.handle for v in operands], [ir_type(t) for t in types])
        return [tensor(handle, type_) for handle, type_ in zip(handles, types, strict=True)]

    def create(
        self,
        op: type[Operation],
        operands: Sequence[tensor],
        types: Sequence[dtype] = (),
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> list[tensor]:
        """The results of an op that is neither folded nor merged, as tensors of ``types``."""
        if not ignores_padding(op):
            _check_padding(op, operands, *types)
        handles = [v.handle for v in operands]
        made = self.builder.create(op, handles, [ir_type(t) for t in types], properties, regions=regions)
        return [tensor(handle, type_) for handle, type_ in zip(made.results, types, strict=True)]

    def host_value(self, value: tensor) -> Any:
        """The number in a scalar, which is known only where the program runs: the interpreter answers, a compile
        cannot.
        """
        if value.type.is_block():
            raise ValueError(
                "Boolean value of Tensor with more than one value is ambiguous. "
                "Did you mean to use `tl.reduce` or `tl.where`?"
            )
        raise TypeError(
            f"{value} is known only when the kernel runs; Python cannot use it while the kernel is compiled"
        )

    # Numbers.

    def constant(self, value: Any, type_: dtype) -> tensor:
        """A number as a scalar or, for a block type, as a splat."""
        return tensor(self.builder.constant(value, ir_type(type_)), type_)

    def scalar_constant(self, value: Any, type_: dtype) -> tensor:
        """A Python number as a scalar of ``type_``; integers wrap to its width, 8-bit floats end at their
        largest number.

        ``TypeError`` for a float as an integer, and for an integer beyond 64 bits of the type's signedness.
        """
        value = unwrap(value)
        if type_.is_ptr():
            return self.emit(IntToPtrOp, [self.scalar_constant(value, int64)], type_)
        if type_.is_int():
            if type_.is_bool():
                return self.constant(value != 0, type_)
            number = int(value) if value == 0 or not isinstance(value, float) else None
            low, high = (-(2**63), 2**63) if type_.is_int_signed() else (0, 2**64)
            if number is None or not low <= number < high:
                raise TypeError(f"{value} is not a value of {type_}")
            return self.constant(number, type_)
        if not type_.is_floating():
            raise TypeError(f"a constant cannot have the type {type_}")
        if type_.is_fp8e4b15():  # no float to the IR
            return self.cast(self.constant(float(value), float32), type_)
        number = float(value)
        if abs(number) > (largest := LARGEST_FP8.get(type_.name, math.inf)):
            number = math.copysign(largest, number)
        return self.constant(number, type_)

    @overload
    def to_tensor(self, x: object) -> tensor: ...

    @overload
    def to_tensor(self, x: object, check_type: bool) -> Any: ...

    def to_tensor(self, x: object, check_type: bool = True) -> object:
        """A Python number or constexpr as a 0-d tensor; tensors and, with ``check_type=False``, anything else
        unchanged.
        """
        if isinstance(x, tensor):
            return x
        if isinstance(x, constexpr):
            return self.to_tensor(x.value, check_type)
        if isinstance(x, bool | int | float):
            return self.constant(x, self.number_type(x))
        if check_type:
            error = TypeError(f"cannot convert {x} of type {type(x)} to tensor")
            if x is None:
                error.add_note(_NONE_HINT)
            raise error
        return x

    def number_type(self, x: float) -> dtype:
        """The type of a Python number as a tensor."""
        if isinstance(x, bool):
            return int1
        return dtype(literal_type(x)) if isinstance(x, int) else float_literal_type(x)

    def full(self, shape: Any, value: Any, type_: Any) -> tensor:
        """A block filled with a scalar (a Python number needs ``type_``); a scalar for the empty shape."""
        shape, type_ = shape_of(shape), element_type(type_)
        if isinstance(value, tensor):
            if value.type.is_block():
                raise ValueError("only accepts size-1 tensor")
            scalar = value if type_ is None else self.cast(value, type_)
        else:
            if type_ is None:
                raise ValueError("dtype must be specified when value is not a tensor")
            scalar = self.scalar_constant(value, type_)
        return self.splat(scalar, shape)

    # Shapes.

    def splat(self, value: tensor, shape: Sequence[int]) -> tensor:
        """A scalar spread over a block; unchanged for the empty shape."""
        if value.type.is_block():
            raise ValueError("Cannot splat a block tensor")
        if len(shape) == 0:
            return value
        return self.emit(SplatOp, [value], block_type(value.dtype, shape))

    def expand_dims(self, value: tensor, axis: int) -> tensor:
        """A block with an axis of extent 1 inserted; a scalar becomes a block of one element."""
        rank = len(value.type.shape) + 1
        if not -rank <= axis < rank:
            raise invalid_axis(axis, rank)
        axis %= rank
        shape = [*value.type.shape]
        shape.insert(axis, 1)
        if not value.type.is_block():
            return self.splat(value, shape)
        return self.emit(ExpandDimsOp, [value], block_type(value.dtype, shape), {"axis": enum_attribute(axis)})

    def broadcast_to(self, value: tensor, shape: object) -> tensor:
        """Splat or broadcast to ``shape``; extents of 1 grow, no axis is added to a block."""
        target = shape_of(shape)
        if not value.type.is_block():
            return self.splat(value, target)
        source = value.type.shape
        if len(source) != len(target):
            raise ValueError(f"Cannot broadcast, rank mismatch: {source}, {target}")
        if source == target:
            return value
        for i, (have, want) in enumerate(zip(source, target, strict=True)):
            if have not in (want, 1):
                raise ValueError(
                    "Cannot broadcast, the expanded size of the tensor "
                    f"({want}) must match the existing size ({have}) at non-singleton dimension {i}: {source}, {target}"
                )
        return self.emit(BroadcastOp, [value], block_type(value.dtype, target))

    def broadcast(self, x: tensor, y: tensor) -> tuple[tensor, tensor]:
        """Both operands at their common shape, by NumPy's rule; scalars stay scalars together."""
        if x.type.shape == y.type.shape and x.type.is_block() == y.type.is_block():
            return x, y
        if not x.type.is_block():
            return self.splat(x, y.type.shape), y
        if not y.type.is_block():
            return x, self.splat(y, x.type.shape)
        while len(x.type.shape) < len(y.type.shape):
            x = self.expand_dims(x, 0)
        while len(y.type.shape) < len(x.type.shape):
            y = self.expand_dims(y, 0)
        common: list[int] = []
        for i, (left, right) in enumerate(zip(x.type.shape, y.type.shape, strict=True)):
            if left != right and 1 not in (left, right):
                raise ValueError(
                    f"Cannot make_shape_compatible: incompatible dimensions at index {i}: {left} and {right}"
                )
            common.append(right if left == 1 else left)
        return self.broadcast_to(x, common), self.broadcast_to(y, common)

    def cast(self, value: tensor, type_: dtype, rounding: str | None = None) -> tensor:
        """See ``CastSemantics.cast``."""
        raise NotImplementedError

    def bitcast(self, value: tensor, type_: dtype) -> tensor:
        """See ``CastSemantics.bitcast``."""
        raise NotImplementedError

    def index(self, value: tensor, index: object) -> tensor:
        """See ``IndexingSemantics.index``."""
        raise NotImplementedError

    # Regions.

    def call(self, fn: Any, values: Sequence[Any]) -> Any:
        """What a function of the user's, or one made of such, gives for language values."""
        if isinstance(fn, IfPresent):
            return fn.combined(cast("Semantics", self), values)
        if self.generator is None:
            raise RuntimeError("these semantics cannot run functions: they have no generator")
        return self.generator.call_function(fn, values, {})

    def inline_region(self, fn: object, arg_types: Sequence[base_type], block: Block) -> list[SSAValue]:
        """Inline ``fn`` into ``block``, whose arguments are the handles of values of ``arg_types``; the handles it
        returns.
        """
        arguments = iter(block.args)
        values = [type_.rebuild(arguments) for type_ in arg_types]
        with self.builder.at(block):
            result = self.call(fn, values)
            returned = result if isinstance(result, base_value) else self.to_tensor(result)
            return [h for v in _elements(returned) for h in self.to_tensor(v, check_type=False).handles()]


def _check_padding(op: type[Operation], operands: Sequence[tensor], *types: dtype) -> None:
    """``UnsupportedExtents`` for a block with padding, of which the op does not know."""
    for type_ in (*types, *[v.type for v in operands]):
        if type_.padded:
            error = UnsupportedExtents(f"{op.name} has no blocks of {type_.shape}")
            error.add_note("its extents must be powers of two: pad it, and mask what reads and writes it")
            raise error


def _elements(value: base_value) -> list[Any]:
    return [*value] if isinstance(value, language_tuple) else [value]


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape as written (ints, constexprs, in any sequence, or one int) as a tuple of ints."""
    shape = unwrap(shape)
    if isinstance(shape, int):
        return (shape,)
    return tuple([unwrap(s) for s in shape])


def unwrapped_list(values: Any) -> list[Any]:
    """One value or a sequence of them (of Python or of the language) as a list without constexprs."""
    values = unwrap(values)
    return [unwrap(v) for v in values] if hasattr(values, "__len__") else [values]
