"""Builtins of Gluon that the tile language lacks, or that take a layout here."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any
from warnings import warn

from tritonx.experimental.gluon import layouts
from tritonx.experimental.gluon.layouts import (
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    SharedLayout,
)
from tritonx.experimental.gluon.values import (
    distributed_type,
    layout_of_block,
    shared_memory_descriptor,
    shared_memory_descriptor_type,
)
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

MOST_MULTIPLY_ADDS = 2**19
"""Of a product by the threads, above which `dot_fma` warns: each is an instruction."""


@builtin
def arange(start: Any, end: Any, layout: Any = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """int32 ``start .. end - 1``, a power of two of them, in ``layout`` (one that the compiler finds, for None). Raises
    ValueError for bounds that are not known at compile time."""
    return _semantic.arange_in(start, end, layout)


@builtin
def full(shape: Any, value: Any, dtype: Any, layout: Any = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """A block of ``shape`` and ``dtype`` filled with a scalar, in ``layout`` (one that the compiler finds, for
    None)."""
    return _semantic.full_in(unwrap(shape), unwrap(value), unwrap(dtype), layout)


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    *,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: Any = False,
    cache_policy: Any = None,
    _semantic: GluonSemantics = INJECTED,
) -> tensor:
    """What a block of pointers points to, in their layout; elements whose ``mask`` is false are not read and are
    ``other``, or undefined without it."""
    return _semantic.load_as_said(pointer, mask, other, cache_modifier, eviction_policy, volatile, unwrap(cache_policy))


@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    *,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    cache_policy: Any = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Write ``value`` through a block of pointers in the same layout, where ``mask`` is true."""
    _semantic.store_as_said(pointer, value, mask, cache_modifier, eviction_policy, unwrap(cache_policy))


@builtin
def convert_layout(
    value: tensor, layout: Any, assert_trivial: Any = False, _semantic: GluonSemantics = INJECTED
) -> tensor:
    """``value`` in another layout. Raises TypeError with ``assert_trivial`` where data would have to move."""
    return _semantic.convert_layout(value, unwrap(layout), bool(unwrap(assert_trivial)))


@builtin
def set_auto_layout(value: tensor, layout: Any, _semantic: GluonSemantics = INJECTED) -> tensor:
    """``value``, whose layout was left to the compiler, in ``layout``; so is all that it is made of. Raises ValueError
    for a block that has a layout."""
    return _semantic.set_auto_layout(value, unwrap(layout))


@builtin
def allocate_shared_memory(
    element_ty: Any, shape: Any, layout: Any, value: Any = None, _semantic: GluonSemantics = INJECTED
) -> shared_memory_descriptor:
    """Shared memory for a tile of ``shape``, which lies there by ``layout`` and holds ``value`` if there is one. It is
    there as long as something uses it."""
    extents = [unwrap(extent) for extent in unwrap(shape)]
    return _semantic.allocate_shared(unwrap(element_ty), extents, unwrap(layout), unwrap(value))


@builtin
def histogram(
    input: tensor, num_bins: Any, mask: Any = None, layout: Any = None, _semantic: GluonSemantics = INJECTED
) -> tensor:
    """int32 counts of the values 0 .. ``num_bins`` - 1 of a 1-D integer block where ``mask`` is true, in ``layout``,
    which must be given."""
    if unwrap(layout) is None:
        raise ValueError("histogram requires a destination layout")
    return _semantic.histogram_in(input, unwrap(num_bins), mask, unwrap(layout))


@builtin
def fp4_to_fp(src: tensor, elem_type: Any, axis: Any, _semantic: GluonSemantics = INJECTED) -> tensor:
    """Pairs of 4-bit floats (e2m1) in the bytes of ``src`` as numbers of ``elem_type``: twice as many along ``axis``,
    the low half first."""
    return _semantic.fp4_to_fp(src, unwrap(elem_type), unwrap(axis))


@builtin
def warp_specialize(
    functions_and_args: Any,
    worker_num_warps: Any,
    worker_num_regs: Any = None,
    _semantic: GluonSemantics = INJECTED,
) -> Any:
    """Run functions at the same time: the first in the warps that are here, each of the others in warps of its own.

    ``functions_and_args`` are pairs of a function and a tuple of its arguments, ``worker_num_warps`` the warps of all
    but the first, ``worker_num_regs`` the registers of their threads. What the first one returns is the result; the
    others return nothing. Raises ValueError for lists that do not fit."""
    pairs = [[*unwrap(pair)] for pair in unwrap(functions_and_args)]
    parts = [(unwrap(function), unwrap(args)) for function, args in pairs]
    registers = unwrap(worker_num_regs)
    return _semantic.warp_specialize(
        parts,
        [unwrap(warps) for warps in unwrap(worker_num_warps)],
        None if registers is None else [unwrap(count) for count in registers],
    )


@builtin
def num_warps(_semantic: GluonSemantics = INJECTED) -> constexpr:
    """The warps that run what is written here: the kernel's, or a partition's."""
    return constexpr(_semantic.warps)


@builtin
def num_ctas(_semantic: GluonSemantics = INJECTED) -> constexpr:
    """The blocks of a cluster."""
    return constexpr(_semantic.options.num_ctas)


@builtin
def barrier(*, cluster: Any = False, _semantic: GluonSemantics = INJECTED) -> None:
    """The threads of a block wait for each other; with ``cluster`` those of all blocks of a cluster."""
    _semantic.meet(bool(unwrap(cluster)))


@builtin
def bank_conflicts(distr_ty: Any, shared_ty: Any, _semantic: GluonSemantics = INJECTED) -> int:
    """How many cycles more than with no two lanes in one bank an access of a block of ``distr_ty`` to a tile of
    ``shared_ty`` takes. Raises TypeError for other types, ValueError for those that do not fit."""
    distributed, shared = unwrap(distr_ty), unwrap(shared_ty)
    if not isinstance(distributed, distributed_type):
        raise TypeError(f"bank_conflicts expects the register layout to be a distributed_type, got {type(distributed)}")
    if not isinstance(shared, shared_memory_descriptor_type):
        raise TypeError(
            f"bank_conflicts expects the shared layout to be a shared_memory_descriptor_type, got {type(shared)}"
        )
    if [*distributed.shape] != shared.shape:
        raise ValueError(f"register shape {[*distributed.shape]} and shared shape {shared.shape} must match")
    if shared.element_ty != distributed.element_ty:
        raise ValueError(
            f"mismatched dtypes between register ({distributed.element_ty}) and shared ({shared.element_ty}) layouts"
        )
    if shared.shape != shared.alloc_shape[-len(shared.shape) :]:
        raise ValueError(
            f"bank_conflicts NYI for subslices. Got shape {shared.shape} and alloc_shape {shared.alloc_shape}"
        )
    return _semantic.bank_conflicts(distributed, shared)


@builtin
def to_linear_layout(layout: Any, shape: Any, _semantic: GluonSemantics = INJECTED) -> constexpr:
    """``layout`` on ``shape`` by its bases: a `DistributedLinearLayout` or a `SharedLinearLayout`."""
    layout = unwrap(layout)
    if not isinstance(layout, DistributedLayout | SharedLayout):
        raise ValueError(f"Expected a DistributedLayout or SharedLayout, got {type(layout)}")
    return constexpr(layouts.to_linear_layout(layout, unwrap(shape)))


@builtin
def dot_fma(a: tensor, b: tensor, acc: tensor, _semantic: GluonSemantics = INJECTED) -> tensor:
    """``a @ b + acc`` by fused multiply-adds of the threads: ``acc`` has a `BlockedLayout`, ``a`` and ``b`` that of its
    operands. Raises AssertionError for other layouts."""
    for value, name in ((a, "a"), (b, "b"), (acc, "acc")):
        assert isinstance(value, tensor), f"{name} must be a tensor"
    layout = layout_of_block(acc)
    assert isinstance(layout, BlockedLayout), "acc must have a BlockedLayout"
    check_operand(a, 0, layout)
    check_operand(b, 1, layout)
    assert len(acc.type.shape) in (2, 3), f"acc has {len(acc.type.shape)} dimensions: a product has 2, or 3 of a batch"
    size = (*acc.type.shape, *a.type.shape[-1:])
    if prod(size) > MOST_MULTIPLY_ADDS:
        warn(f"a product of {'x'.join(map(str, size))} by FMA instructions may take long to compile", stacklevel=2)
    return _semantic.dot(a, b, acc, None, None, None, acc.dtype)


def check_operand(value: tensor, number: int, unit: DistributedLayout) -> None:
    """AssertionError unless ``value`` has the layout of operand ``number`` of ``unit``."""
    name, layout = "ab"[number], layout_of_block(value)
    assert isinstance(layout, DotOperandLayout), f"{name} must have a DotOperandLayout"
    assert layout.parent == unit, f"{name}'s parent layout must be the same as acc's layout"
    assert layout.operand_index == number, f"{name}'s operand index must be {number}"
