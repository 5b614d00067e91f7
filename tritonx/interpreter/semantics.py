"""The language's semantics over ops that run at once, and what only a running program can do.

The same `Semantics` that compiles a kernel, with an `EagerBuilder` under it. Added are the truth and the value of
scalars, and combine functions: they stay Python, called on many lanes at once. The handles they get have a scalar's
type and an array's data; the meanings of scalar ops do not mind. Where such a function branches on a value that
differs from lane to lane, it is called again lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Block, SSAValue

from tritonx.backends.api import Options
from tritonx.frontend.codegen.values import is_many
from tritonx.frontend.semantics import Semantics, ir_type
from tritonx.frontend.semantics.reduce import packed_results
from tritonx.interpreter.combine import TARGET, library_combine
from tritonx.interpreter.eager import EagerBuilder, EagerValue
from tritonx.interpreter.execution import Execution, LaneFunction
from tritonx.interpreter.values import Array, is_float
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple


class LanesDiverge(Exception):
    """Python asked for the truth of a value that differs from lane to lane."""


class EagerSemantics(Semantics):
    """`call(fn, args, kwargs)` runs a function of the kernel language on language values."""

    def __init__(self, execution: Execution, options: Options, call: Callable[[Any, Sequence[Any], Any], Any]) -> None:
        self.eager = EagerBuilder(execution)
        super().__init__(self.eager, options, TARGET)
        self.generator = self
        self._call = call

    def call_function(self, fn: object, args: Sequence[Any], kwargs: Any) -> Any:
        """As the compiler's generator does: what `fn` returns, as a language value."""
        return self._call(fn, args, kwargs)

    def host_value(self, value: tensor) -> float | bool | int:
        """The number in a scalar or in a block of one, as Python's bool, int or float."""
        if is_many(value):
            return super().host_value(value)
        data = np.asarray(_data(value))
        if data.size != 1:
            raise LanesDiverge
        number = data.reshape(-1)[0]
        if is_float(data.dtype):
            return float(number)
        if data.dtype == np.bool_:
            return bool(number)
        return (
            int(number)
            if value.dtype.is_int_signed() or value.dtype.is_ptr()
            else int(number.view(f"u{data.dtype.itemsize}"))
        )

    # Combine functions.

    def inline_region(self, fn: object, arg_types: Sequence[base_type], block: Block) -> list[SSAValue]:
        """Let `block` mean `fn`; the handles that stand for what it returns have the types of its first half of
        arguments."""
        expected = arg_types[: len(arg_types) // 2]
        results: list[SSAValue] = [EagerValue(argument.type, None) for argument in block.args[: len(expected)]]
        known = library_combine(fn, tuple(arg_types))
        if known is not None:
            self.eager.python_region(block, known)
            return results

        def combine(*lanes: Array) -> tuple[Array, ...]:
            results = self.on_lanes(fn, arg_types, lanes)
            for result, wanted in zip(results, expected, strict=True):
                if result.type != wanted:
                    raise TypeError(f"{_name(fn)} returns {result.type} where it was given {wanted}")
            return tuple(_data(result) for result in results)

        self.eager.python_region(block, LaneFunction(combine))
        return results

    def map_elementwise(self, scalar_fn: object, inputs: Sequence[object], pack: object) -> tensor | language_tuple:
        """See `ReduceSemantics.map_elementwise`; the function runs before its op would exist, so there is no op."""
        count = int(unwrap(pack))
        values, shape = self.map_operands(inputs, count)
        types = [v.dtype for v in values for _ in range(count)]
        lanes = [np.asarray(_data(v)).reshape(-1)[i::count] for v in values for i in range(count)]
        single: list[bool] = []
        outputs = self.on_lanes(scalar_fn, types, lanes, single)
        results: list[tensor] = []
        for group in packed_results(outputs, count):
            type_ = values[0].type.with_element_ty(group[0].type)
            data = np.stack([_data(o) for o in group], axis=-1).reshape(type_.shape)
            results.append(self.cropped(tensor(EagerValue(ir_type(type_), data[()]), type_), shape))
        return results[0] if single[0] else language_tuple(results)

    def on_lanes(
        self, fn: object, types: Sequence[base_type], lanes: Sequence[Array], single: list[bool] | None = None
    ) -> list[tensor]:
        """`fn` on scalars of `types` whose data are the arrays `lanes`; its results, each with data of that shape.

        Into `single` goes whether it returned one value rather than a tuple.
        """
        lanes = np.broadcast_arrays(*lanes)
        shape = lanes[0].shape
        try:
            return [
                self._with_data(r, np.broadcast_to(_data(r), shape))
                for r in self._call_on_lanes(fn, types, lanes, single)
            ]
        except LanesDiverge:
            columns: list[list[tensor]] = []
            for index in np.ndindex(shape):
                columns.append(self._call_on_lanes(fn, types, [lane[index] for lane in lanes], single))
            merged: list[tensor] = []
            for results in zip(*columns, strict=True):
                if any(r.type != results[0].type for r in results):
                    raise TypeError(f"{_name(fn)} returns values of different types") from None
                data = np.array([_data(r) for r in results]).reshape(shape)
                merged.append(self._with_data(results[0], data))
            return merged

    def _call_on_lanes(
        self, fn: object, types: Sequence[base_type], data: Sequence[Array], single: list[bool] | None
    ) -> list[tensor]:
        handles = iter([EagerValue(ir_type(t), d) for t, d in zip(types, data, strict=True)])
        returned = self.call(fn, [t.rebuild(handles) for t in types])
        is_tuple = isinstance(returned, language_tuple | tuple)
        if single is not None:
            single[:] = [not is_tuple]
        results = cast(Sequence[base_value], returned if is_tuple else [returned])
        return [self.to_tensor(r) for r in results]

    @staticmethod
    def _with_data(result: tensor, data: Array) -> tensor:
        return tensor(EagerValue(result.handle.type, data), result.type)


def _data(value: tensor) -> Array:
    return cast(Array, cast(EagerValue, value.handle).data)


def _name(fn: object) -> str:
    return getattr(fn, "__name__", "the combine function")
