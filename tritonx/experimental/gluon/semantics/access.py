"""Loads and stores of global memory, and ops whose result's layout is named."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Attribute, Operation, Region

from tritonx.dialects.gpu import BarrierOp
from tritonx.dialects.gpu_layout import Fp4ToFpOp
from tritonx.dialects.tile import HistogramOp, LoadOp, StoreOp
from tritonx.dialects.tile.cache_policy import POLICY, TargetPolicy
from tritonx.experimental.gluon.semantics.base import LayoutSemantics
from tritonx.experimental.gluon.values import distributed_type, shared_memory_descriptor_type
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.language.types.dtypes import block_type, dtype, int32
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.layouts import linear_layout, placement, shared_access
from tritonx.layouts.access import BANK_BITS

Properties = Mapping[str, Attribute] | None


class AccessSemantics(LayoutSemantics):
    _policy: Attribute | None = None

    def create(
        self,
        op: type[Operation],
        operands: Sequence[tensor],
        types: Sequence[dtype] = (),
        properties: Properties = None,
        regions: Sequence[Region] = (),
    ) -> list[tensor]:
        made = super().create(op, operands, types, properties, regions)
        if op in (LoadOp, StoreOp):
            self.mark_policy()
        return made

    def mark_policy(self) -> None:
        """Give the access that was made last the policy of the `cached` around it, if there is one."""
        access = self.builder.block.last_op
        if self._policy is None or access is None:
            return
        words = self._policy.properties if isinstance(self._policy, TargetPolicy) else None
        if words is None:
            access.attributes[POLICY] = self._policy
        else:
            access.properties.update(words)

    def load_as_said(
        self, pointer: Any, mask: Any, other: Any, cache: Any, eviction: Any, volatile: Any, policy: Any
    ) -> tensor:
        """`load`, by a policy of caches or by the words that one is made of."""
        with self.cached(policy, cache, eviction):
            return self.load(pointer, mask, other, (), None, cache, eviction, volatile)

    def store_as_said(self, pointer: Any, value: Any, mask: Any, cache: Any, eviction: Any, policy: Any) -> None:
        """`store`, likewise."""
        with self.cached(policy, cache, eviction):
            self.store(pointer, value, mask, (), cache, eviction)

    @contextmanager
    def cached(self, policy: Any, cache: Any, eviction: Any) -> Generator[None]:
        """Accesses that are made meanwhile have ``policy``, which stands in place of the words."""
        if policy is None:
            yield
            return
        if unwrap(cache) is not None or unwrap(eviction) is not None:
            raise ValueError("cache_policy cannot be combined with cache_modifier or eviction_policy")
        outer, self._policy = self._policy, policy.attribute()
        try:
            yield
        finally:
            self._policy = outer

    def meet(self, cluster: bool) -> None:
        """A barrier of a block."""
        self.builder.create(BarrierOp)

    def histogram_in(self, value: tensor, num_bins: int, mask: Any, layout: Any) -> tensor:
        """`histogram` in a layout."""
        if len(value.type.shape) != 1:
            raise ValueError("histogram only supports 1D input")
        if not value.dtype.is_int():
            raise ValueError("histogram only supports integer input")
        value = self.told_from_bins(value, num_bins)
        operands, mask = [value], unwrap(mask)
        if mask is not None:
            mask, value = self.broadcast(self.to_tensor(mask), value)
            if not mask.dtype.is_bool():
                raise ValueError("Mask must have boolean scalar type")
            operands = [value, mask]
        return self.emit(HistogramOp, operands, distributed_type(int32, (num_bins,), layout))

    def fp4_to_fp(self, value: tensor, element: Any, axis: Any) -> tensor:
        """Pairs of 4-bit floats as twice as many elements along ``axis``."""
        if not isinstance(element, dtype) or not element.is_floating():
            raise ValueError(f"expected 'elem_type' to be a floating-point dtype but got {element}")
        type_, properties = self.unpacked_pairs(value, element, axis)
        return self.emit(Fp4ToFpOp, [value], type_, properties)

    def unpacked_pairs(self, value: tensor, element: dtype, axis: object) -> tuple[dtype, dict[str, Attribute]]:
        """The type of twice as many elements along ``axis``, and what an op says of that. Raises ValueError for an axis
        that ``value`` does not have."""
        shape = [*value.type.shape]
        if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis {axis} is none of the {len(shape)} axes")
        shape[axis] *= 2
        properties: dict[str, Attribute] = {"axis": enum_attribute(axis % len(shape))}
        return self.with_layout(Fp4ToFpOp, [value], block_type(element, shape), properties), properties

    def bank_conflicts(self, block: distributed_type, tile: shared_memory_descriptor_type) -> int:
        """Cycles of an access beyond those that moving its bytes takes, for each of those."""
        shape, bits = tuple(block.shape), block.element_ty.primitive_bitwidth
        registers, memory = linear_layout(block.layout.encoding(), shape), linear_layout(tile.layout.encoding(), shape)
        access = shared_access(placement(registers, memory), bits)
        words = max(1, access.vec * bits // BANK_BITS)
        return access.wavefronts // words - 1
