"""Atomic read-modify-writes and compare-and-swap, which return the old value; atomic loads and stores, and polls."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute

from tritonx.dialects.tile import (
    AtomicCASOp,
    AtomicLoadOp,
    AtomicPollOp,
    AtomicRMWOp,
    AtomicStoreOp,
    MemSemantic,
    MemSyncScope,
    RMWOp,
)
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.memory import MemorySemantics
from tritonx.language.types.dtypes import block_type, dtype, float32, float64, int1, pointer_type, uint64
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

_ORDERS = {
    "acquire": MemSemantic.ACQUIRE,
    "release": MemSemantic.RELEASE,
    "acq_rel": MemSemantic.ACQUIRE_RELEASE,
    "relaxed": MemSemantic.RELAXED,
}
_SCOPES = {"gpu": MemSyncScope.GPU, "cta": MemSyncScope.CTA, "sys": MemSyncScope.SYSTEM}

_SIMPLE = {"and": RMWOp.AND, "or": RMWOp.OR, "xor": RMWOp.XOR, "xchg": RMWOp.XCHG}
_ORDERED = {"max": (RMWOp.MAX, RMWOp.UMAX), "min": (RMWOp.MIN, RMWOp.UMIN)}


class AtomicSemantics(MemorySemantics):
    def atomic(self, name: str, pointer: tensor, value: object, mask: object, sem: object, scope: object) -> tensor:
        """``tl.atomic_<name>``: add, max, min, and, or, xor, xchg.

        ``mask`` and ``value`` are broadcast to the pointers' shape and cast to the pointee; masked-off lanes give
        anything.
        """
        order, among = ordering(sem, scope)
        pointer, value, mask = self._atomic_operands(name, pointer, self.to_tensor(value), self._optional(mask))
        type_ = value.dtype
        if name == "add":
            operation = RMWOp.FADD if type_.is_floating() else RMWOp.ADD
        elif name in _ORDERED:
            if type_.is_floating():
                return self._atomic_float_order(name, pointer, value, mask, order, among)
            signed, unsigned = _ORDERED[name]
            operation = signed if type_.is_int_signed() else unsigned
        else:
            operation = _SIMPLE[name]
        return self._rmw(operation, pointer, value, mask, order, among)

    def _rmw(
        self, operation: RMWOp, pointer: tensor, value: tensor, mask: tensor, order: MemSemantic, among: MemSyncScope
    ) -> tensor:
        properties = {
            "atomic_rmw_op": enum_attribute(operation),
            "sem": enum_attribute(order),
            "scope": enum_attribute(among),
        }
        inside = self.masked(value.type.shape, mask)
        stored = [self.whole(pointer), self.whole(value), mask if inside is None else inside]
        (old,) = self.create(AtomicRMWOp, stored, (stored[1].type,), properties)
        return self.cropped(old, value.type.shape)

    def _atomic_operands(
        self, name: str, pointer: tensor, value: tensor, mask: tensor | None
    ) -> tuple[tensor, tensor, tensor]:
        element = _pointee(pointer)
        if element.is_fp16() and name != "add":
            raise ValueError(f"atomic_{name} does not support fp16")
        if element.is_bf16() and name != "add":
            raise ValueError(f"atomic_{name} does not support bf16")
        if name in ("and", "or", "xor") and element.is_floating():
            raise ValueError(f"atomic_{name} does not support {element}")
        if element.is_ptr() or element.primitive_bitwidth < 16 or (element.is_int() and element.int_bitwidth == 16):
            raise ValueError(f"atomic_{name} does not support {element}")
        if pointer.type.is_block():
            shape = pointer.type.shape
            value = self.broadcast_to(value, shape)
            if mask is not None:
                mask = self.broadcast_to(mask, shape)
        elif value.type.is_block() or (mask is not None and mask.type.is_block()):
            raise ValueError("Value and mask arguments cannot be block type if pointer argument is not a block")
        value = self.cast(value, element)
        if mask is None:
            mask = self.constant(True, value.type.with_element_ty(int1))
        elif not mask.dtype.is_bool():
            raise ValueError("Mask must have boolean scalar type")
        return pointer, value, mask

    def _atomic_float_order(
        self, name: str, pointer: tensor, value: tensor, mask: tensor, order: MemSemantic, among: MemSyncScope
    ) -> tensor:
        """Floats are ordered like their bits: non-negative ones as signed integers, negative ones reversed as unsigned.

        A value with the sign bit goes by the opposite unsigned operation, so that -0.0 < +0.0.
        """
        type_ = value.dtype
        if type_ not in (float32, float64):
            raise TypeError(f"atomic_{name} not supported for dtype {type_}")
        bits = type_.primitive_bitwidth
        signed, unsigned = dtype(f"int{bits}"), dtype(f"uint{bits}")
        negative = self.sign_bit(value)
        positive = self.not_(negative)
        for_positive, _ = _ORDERED[name]
        _, for_negative = _ORDERED["min" if name == "max" else "max"]
        old_positive = self._rmw(
            for_positive,
            self._as_pointer_to(pointer, signed),
            self.bitcast(value, signed),
            self.and_(mask, positive),
            order,
            among,
        )
        old_negative = self._rmw(
            for_negative,
            self._as_pointer_to(pointer, unsigned),
            self.bitcast(value, unsigned),
            self.and_(mask, negative),
            order,
            among,
        )
        old = self.where(positive, old_positive, self.bitcast(old_negative, signed))
        return self.bitcast(old, type_)

    def _as_pointer_to(self, pointer: tensor, element: dtype) -> tensor:
        return self.bitcast(pointer, pointer_type(element, 1))

    def atomic_cas(self, pointer: tensor, compare: object, value: object, sem: object, scope: object) -> tensor:
        """Store ``value`` where memory equals ``compare``, for elements of 16, 32 or 64 bits."""
        order, among = ordering(sem, scope)
        element = _pointee(pointer)
        if element.is_ptr() or element.primitive_bitwidth not in (16, 32, 64):
            raise ValueError("atomic_cas only supports elements with width {16, 32, 64}")
        compare, value = self.to_tensor(compare), self.to_tensor(value)
        if pointer.type.is_block():
            compare = self.broadcast_to(compare, pointer.type.shape)
            value = self.broadcast_to(value, pointer.type.shape)
        elif compare.type.is_block() or value.type.is_block():
            raise ValueError("cmp and val arguments cannot be block type if pointer argument is not a block")
        if element.is_int() and (compare.dtype.is_floating() or value.dtype.is_floating()):
            raise ValueError(f"atomic_cas of {element} takes integers, got {compare.dtype} and {value.dtype}")
        compare, value = self.cast(compare, element), self.cast(value, element)
        properties = {"sem": enum_attribute(order), "scope": enum_attribute(among)}
        if pointer.type.padded:
            # There is no mask: the padding stores what it has compared with, where the first element is.
            operands = [self.copied(pointer), self.filled(compare, 0), self.filled(value, 0)]
        else:
            operands = [pointer, compare, value]
        (old,) = self.create(AtomicCASOp, operands, (operands[2].type,), properties)
        return self.cropped(old, value.type.shape)

    def atomic_load(self, pointer: object, mask: object, sem: object, scope: object) -> tensor:
        """What ``pointer`` points to, each element read as one; anything where the mask is false."""
        pointer = _numbers("load", pointer)
        properties = _access_order("load", sem, scope, "acquire")
        mask = self._optional(mask)
        if pointer.type.is_block() and mask is not None:
            pointer, mask = self.broadcast(pointer, mask)
        mask = self._access_mask(pointer, mask)
        extents = pointer.type.shape
        pointer, element, is_bool = self._memory_pointer(self.whole(pointer))
        (read,) = self.create(AtomicLoadOp, [pointer, mask], (pointer.type.with_element_ty(element),), properties)
        loaded = self.cropped(read, extents)
        return self.cast(loaded, int1) if is_bool else loaded

    def atomic_store(self, pointer: object, value: object, mask: object, sem: object, scope: object) -> None:
        """Write ``value``, cast to the pointee, where the mask is true, each element as one."""
        pointer, value = _numbers("store", pointer), self.to_tensor(value)
        if pointer.dtype.is_const():
            raise ValueError("Cannot store to a constant pointer")
        properties = _access_order("store", sem, scope, "release")
        mask = self._optional(mask)
        if pointer.type.is_block():
            pointer, value = self._of_shape(pointer, value)
            if mask is not None:
                pointer, mask = self._of_shape(pointer, mask)
        elif value.type.is_block():
            raise ValueError("Value argument cannot be block type if pointer argument is not a block")
        mask = self._access_mask(pointer, mask)
        pointer, element, _ = self._memory_pointer(self.whole(pointer))
        self.create(AtomicStoreOp, [pointer, self.cast(self.whole(value), element), mask], (), properties)

    def atomic_poll(self, pointer: object, expected: object, sem: object, scope: object, timeout_ns: object) -> tensor:
        """Wait until memory equals ``expected``; int1 of the pointers' shape, false where the time was over first."""
        limit = unwrap(timeout_ns)
        if isinstance(limit, int) and limit < 0:
            raise ValueError("atomic_poll timeout_ns must be non-negative")
        element = _element("poll", pointer)
        assert isinstance(pointer, tensor)
        if not element.is_int() or element.primitive_bitwidth not in (16, 32, 64):
            raise ValueError("atomic_poll only supports integer elements with width {16, 32, 64}")
        expected = self.cast(self.to_tensor(expected), element)
        if pointer.type.is_block() or expected.type.is_block():
            pointer, expected = self._of_shape(pointer, expected)
        properties = _access_order("poll", sem, scope, "acquire")
        # There is no mask: the padding polls what the first element does.
        operands = [self.copied(pointer), self.copied(expected)]
        if limit is not None:
            limit = self.to_tensor(limit)
            if limit.type.is_block() or not limit.type.is_int():
                raise ValueError("atomic_poll timeout_ns must be a scalar integer")
            operands.append(self.cast(limit, uint64))
        (equal,) = self.create(AtomicPollOp, operands, (operands[1].type.with_element_ty(int1),), properties)
        return self.cropped(equal, expected.type.shape)

    def _of_shape(self, pointer: tensor, other: tensor) -> tuple[tensor, tensor]:
        """``other`` in the pointers' shape, and these. Raises ValueError where that would make the pointers more."""
        wide, other = self.broadcast(pointer, other)
        if wide.type.shape != pointer.type.shape:
            raise ValueError(
                f"Expected pointer argument to have shape {[*wide.type.shape]} but got {[*pointer.type.shape]}"
            )
        return wide, other

    def _access_mask(self, pointer: tensor, mask: tensor | None) -> tensor:
        """The mask of an access, in the shape of the pointers' storage: true where there is none."""
        if mask is None:
            type_ = pointer.type.with_element_ty(int1) if pointer.type.is_block() else int1
            mask = self.constant(True, type_)
        elif mask.type.is_block() and not pointer.type.is_block():
            raise ValueError("Mask argument cannot be block type if pointer argument is not a block")
        elif not mask.dtype.is_bool():
            raise ValueError("Mask must have boolean scalar type")
        inside = self.masked(pointer.type.shape, mask)
        return mask if inside is None else inside


def _element(name: str, pointer: object) -> dtype:
    """The type of what a pointer, or each of a block of them, points to; ``ValueError`` for what is none."""
    if not isinstance(pointer, tensor) or not isinstance(pointer.dtype, pointer_type):
        raise ValueError(f"Unsupported ptr type {getattr(pointer, 'type', pointer)!r} in `tl.atomic_{name}`")
    return pointer.dtype.element_ty


def _numbers(name: str, pointer: object) -> tensor:
    """The pointer, where it is one to numbers; ``ValueError`` otherwise."""
    element = _element(name, pointer)
    if not (element.is_int() or element.is_floating()):
        raise ValueError(f"atomic_{name} only supports integer and floating-point elements")
    assert isinstance(pointer, tensor)
    return pointer


def _access_order(name: str, sem: object, scope: object, ordered: str) -> dict[str, Attribute]:
    """The order and scope of a load, store or poll, which has ``ordered`` (the default) or is relaxed."""
    order, among = ordering(unwrap(sem) or ordered, scope)
    if order not in (MemSemantic.RELAXED, _ORDERS[ordered]):
        raise ValueError(f"atomic_{name} only supports {ordered} and relaxed semantics")
    return {"sem": enum_attribute(order), "scope": enum_attribute(among)}


def _pointee(pointer: object) -> dtype:
    """The element type behind a pointer that may be written; ``ValueError`` for anything else."""
    if not isinstance(pointer, tensor) or not isinstance(pointer.dtype, pointer_type):
        raise ValueError(f"Pointer argument of store instruction is {getattr(pointer, 'type', pointer)!r}")
    if pointer.dtype.const:
        raise ValueError("Cannot store to a constant pointer")
    if isinstance(pointer.dtype.element_ty, block_type):
        raise ValueError("atomics need pointers to elements")
    return pointer.dtype.element_ty


def ordering(sem: Any, scope: Any) -> tuple[MemSemantic, MemSyncScope]:
    sem, scope = unwrap(sem) or "acq_rel", unwrap(scope) or "gpu"
    if sem not in _ORDERS:
        raise ValueError(f"Memory semantic {sem} not supported")
    if scope not in _SCOPES:
        raise ValueError(f"Memory semantic {scope} not supported")
    return _ORDERS[sem], _SCOPES[scope]
