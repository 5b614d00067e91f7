"""`warp_specialize`: parts of a kernel that run at the same time, each in warps of its own."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.dialects.builtin import i32 as i32_attr
from xdsl.ir import Attribute, Block, Region, SSAValue

from tritonx.dialects.gpu_layout.specialize import (
    WarpReturnOp,
    WarpSpecializeOp,
    WarpSpecializePartitionsOp,
    WarpYieldOp,
)
from tritonx.experimental.gluon.semantics.base import LayoutSemantics
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr
from tritonx.language.values.tuples import tuple as language_tuple


class SpecialiseSemantics(LayoutSemantics):
    def warp_specialize(
        self, functions_and_args: Sequence[Any], worker_num_warps: Sequence[int], worker_num_regs: Sequence[int] | None
    ) -> Any:
        """Run the first function in the warps that are here, and each of the others in ``worker_num_warps`` more; what
        the first one returns. Raises ValueError for lists that do not fit, and for a function of the others that
        returns something."""
        parts = [(function, _arguments(args)) for function, args in functions_and_args]
        if not parts:
            raise ValueError("expected at least one function for the default partition")
        workers = parts[1:]
        if len(workers) != len(worker_num_warps):
            raise ValueError(f"warp specialize got {len(workers)} partitions but {len(worker_num_warps)} warp counts")
        if worker_num_regs is not None and len(worker_num_regs) != len(workers):
            raise ValueError(
                f"warp specialize got {len(workers)} partitions but {len(worker_num_regs)} register counts"
            )
        default = Block()
        with self.builder.at(default, nested=True):
            result = self.call(*parts[0])
            handles = _handles(result)
            self.builder.create(WarpYieldOp, handles)
        captured = [handle for _, args in workers for handle in _all_handles(args)]
        regions: list[Region] = []
        for (function, args), warps in zip(workers, worker_num_warps, strict=True):
            before = sum(len(_all_handles(each)) for _, each in workers[: len(regions)])
            regions.append(self._partition(function, args, [handle.type for handle in captured], before, warps))
        holder = WarpSpecializePartitionsOp.create(regions=regions, location=self.builder.location)
        properties: dict[str, Attribute] = {"partitionNumWarps": DenseArrayBase.from_list(i32_attr, worker_num_warps)}
        if worker_num_regs is not None:
            properties["requestedRegisters"] = DenseArrayBase.from_list(i32_attr, worker_num_regs)
        made = self.builder.create(
            WarpSpecializeOp,
            captured,
            [handle.type for handle in handles],
            properties,
            regions=(Region(default), Region(Block([holder]))),
        )
        return result.type.rebuild(iter(made.results)) if handles else result

    def _partition(
        self, function: object, args: Sequence[base_value], types: Sequence[Attribute], before: int, warps: int
    ) -> Region:
        """The region of a function that gets ``args``, which are captured behind ``before`` others."""
        block = Block(arg_types=types)
        handles = iter(block.args[before:])
        values = [each if isinstance(each, constexpr) else each.type.rebuild(handles) for each in args]
        with self.builder.at(block), self._in_warps(warps):
            returned = self.call(function, values)
            if _handles(returned):
                raise ValueError(
                    f"{getattr(function, '__name__', function)} returns a value: only the first function can"
                )
            self.builder.create(WarpReturnOp)
        return Region(block)

    @contextmanager
    def _in_warps(self, warps: int) -> Generator[None]:
        outer, self.warps = self.warps, warps
        try:
            yield
        finally:
            self.warps = outer


def _arguments(args: object) -> list[base_value]:
    if not isinstance(args, tuple | list | language_tuple):
        raise ValueError(f"function arguments must be a tuple of arguments, but got {type(args)}")
    given = cast("Sequence[object]", args)
    return [each if isinstance(each, base_value) else constexpr(each) for each in given]


def _handles(value: Any) -> list[SSAValue]:
    return value.handles() if isinstance(value, base_value) else []


def _all_handles(args: Sequence[base_value]) -> list[SSAValue]:
    return [handle for each in args for handle in each.handles()]
