"""Copies of blocks of arrays by the copy engine (TMA), rows by their numbers among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.nvidia.hopper.tma import (
    async_atomic_add,
    async_atomic_and,
    async_atomic_max,
    async_atomic_min,
    async_atomic_or,
    async_atomic_xor,
    async_copy_global_to_shared,
    async_copy_shared_to_global,
    async_load,
    async_store,
    block_policy,
    make_tensor_descriptor,
    store_wait,
    tensor_descriptor,
    tensor_descriptor_type,
)
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = [
    "async_atomic_add",
    "async_atomic_and",
    "async_atomic_max",
    "async_atomic_min",
    "async_atomic_or",
    "async_atomic_xor",
    "async_copy_global_to_shared",
    "async_copy_shared_to_global",
    "async_gather",
    "async_load",
    "async_scatter",
    "async_store",
    "make_tensor_descriptor",
    "store_wait",
    "tensor_descriptor",
    "tensor_descriptor_type",
]


@builtin
def async_gather(
    tensor_desc: tensor_descriptor,
    x_offsets: tensor,
    y_offset: object,
    barrier: shared_memory_descriptor,
    result: shared_memory_descriptor,
    pred: object = True,
    multicast: object = False,
    cache_policy: object = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Copy the rows ``x_offsets`` of an array, from column ``y_offset`` on, to shared memory, if ``pred`` is true.
    Their bytes arrive at ``barrier``. A thread has four neighbouring numbers of rows, or more."""
    policy = block_policy(cache_policy)
    _semantic.rows_load(tensor_desc, x_offsets, y_offset, barrier, result, pred, unwrap(multicast), policy)


@builtin
def async_scatter(
    tensor_desc: tensor_descriptor,
    x_offsets: tensor,
    y_offset: object,
    src: shared_memory_descriptor,
    cache_policy: object = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Copy shared memory to the rows ``x_offsets`` of an array, from column ``y_offset`` on; `store_wait` waits for
    it."""
    _semantic.rows_store(tensor_desc, x_offsets, y_offset, src, block_policy(cache_policy))
