"""Products of warp groups (`wgmma`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.types.dtypes import dtype
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.experimental.gluon.semantics import GluonSemantics


class warpgroup_mma_accumulator_type(base_type):
    """A sum of products that may be under way: a block of ``tensor_type`` once it is waited for.

    >>> from tritonx.experimental.gluon import language as ttgl
    >>> block = ttgl.distributed_type(ttgl.float32, [64], ttgl.BlockedLayout([2], [32], [1], [0]))
    >>> warpgroup_mma_accumulator_type(block).mangle()[:4]
    'FTfp'
    """

    def __init__(self, tensor_type: dtype) -> None:
        self.tensor_type = tensor_type

    def leaves(self) -> Sequence[base_type]:
        return [self.tensor_type]

    def rebuild(self, handles: Iterator[SSAValue]) -> base_value:
        return warpgroup_mma_accumulator(next(handles), self.tensor_type)

    def __str__(self) -> str:
        return f"warpgroup_mma_accumulator<{self.tensor_type}>"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.tensor_type == getattr(other, "tensor_type", None)

    def __hash__(self) -> int:
        return hash((type(self), self.tensor_type))

    def mangle(self) -> str:
        return f"FT{self.tensor_type.mangle()}FT"


class warpgroup_mma_accumulator(base_value):
    """A value of `warpgroup_mma_accumulator_type`.

    >>> issubclass(warpgroup_mma_accumulator, base_value)
    True
    """

    def __init__(self, handle: SSAValue, tensor_type: dtype) -> None:
        self.handle = handle
        self.type = warpgroup_mma_accumulator_type(tensor_type)

    def handles(self) -> list[SSAValue]:
        return [self.handle]


def _block_type(value: Any) -> dtype:
    return value.type.tensor_type if isinstance(value, warpgroup_mma_accumulator) else value.type


@builtin
def warpgroup_mma_init(value: tensor, _semantic: GluonSemantics = INJECTED) -> warpgroup_mma_accumulator:
    """``value`` as a sum that products are added to."""
    assert isinstance(value, tensor), f"expected a tensor but got {value}"
    return warpgroup_mma_accumulator(value.handle, value.type)


@builtin
def warpgroup_mma(
    a: tensor | shared_memory_descriptor,
    b: shared_memory_descriptor,
    acc: tensor | warpgroup_mma_accumulator,
    *,
    use_acc: Any = True,
    precision: Any = None,
    max_num_imprecise_acc: Any = None,
    is_async: Any = False,
    _semantic: GluonSemantics = INJECTED,
) -> tensor | warpgroup_mma_accumulator:
    """``a @ b + acc`` by `wgmma`, without ``acc`` where ``use_acc`` is false. ``a`` is in registers or in shared
    memory. With ``is_async`` it is under way afterwards, and `warpgroup_mma_wait` gives the block."""
    under_way = bool(unwrap(is_async))
    handle = _semantic.warp_group_product(
        a, b, acc, use_acc, unwrap(precision), unwrap(max_num_imprecise_acc), under_way
    )
    type_ = _block_type(acc)
    return warpgroup_mma_accumulator(handle, type_) if under_way else tensor(handle, type_)


@builtin
def warpgroup_mma_wait(num_outstanding: Any = 0, deps: Any = None, _semantic: GluonSemantics = INJECTED) -> Any:
    """Wait until at most ``num_outstanding`` products are under way: the values of ``deps``, sums as blocks. Memory
    among them is needed until then. Raises ValueError without ``deps``."""
    given = unwrap(deps)
    if given is None:
        raise ValueError("warpgroup_mma_wait deps must be given")
    values = [*given]
    handles = iter(_semantic.wait_for_products([value.handle for value in values], unwrap(num_outstanding)))
    results = [_block_type(value).rebuild(handles) for value in values]
    return results[0] if len(results) == 1 else language_tuple(results)
