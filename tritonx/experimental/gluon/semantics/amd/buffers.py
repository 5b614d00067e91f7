"""Access through buffer descriptors: a scalar pointer and a block of offsets."""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.dialects.amd import BufferAtomicRMWOp, BufferLoadOp, BufferStoreOp
from tritonx.dialects.tile import CacheModifier
from tritonx.dialects.tile.atomic import works_on
from tritonx.dialects.tile.enums import RMWOp
from tritonx.experimental.gluon.semantics.access import AccessSemantics
from tritonx.experimental.gluon.values import distributed_type
from tritonx.frontend.semantics import ir_type
from tritonx.frontend.semantics.atomic import ordering
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.language.types.dtypes import dtype, int1, pointer_type
from tritonx.language.values.tensor import tensor

LOADED = {"": "NONE", ".ca": "CA", ".cg": "CG", ".cv": "CV"}
STORED = {"": "NONE", ".wb": "WB", ".cg": "CG", ".cs": "CS", ".wt": "WT"}

_ANY_NUMBER = {"and": RMWOp.AND, "or": RMWOp.OR, "xor": RMWOp.XOR, "xchg": RMWOp.XCHG}
_BY_SIGN = {"max": (RMWOp.MAX, RMWOp.UMAX), "min": (RMWOp.MIN, RMWOp.UMIN)}


class BufferSemantics(AccessSemantics):
    def buffer_load(self, ptr: object, offsets: object, mask: object, other: object, cache: object) -> tensor:
        base, places, inside, instead = self.buffer_operands(ptr, offsets, mask, other)
        given = [each for each in (inside, instead) if each is not None]
        properties = {
            "cache": cache_attribute(cache, LOADED),
            SEGMENTS: sizes_of_segments((1, 1, 0, int(inside is not None), int(instead is not None))),
        }
        type_ = places.type.with_element_ty(element_behind(base))
        return self.create(BufferLoadOp, [base, places, *given], (type_,), properties)[0]

    def buffer_store(self, value: object, ptr: object, offsets: object, mask: object, cache: object) -> None:
        base, places, inside, stored = self.buffer_operands(ptr, offsets, mask, value, checked=False)
        if base.dtype.is_const():
            raise ValueError("Cannot store to a constant pointer")
        assert stored is not None
        properties = {
            "cache": cache_attribute(cache, STORED),
            SEGMENTS: sizes_of_segments((1, 1, 1, 0, int(inside is not None))),
        }
        given = [] if inside is None else [inside]
        self.create(BufferStoreOp, [stored, base, places, *given], (), properties)

    def buffer_atomic(
        self,
        name: str,
        ptr: object,
        offsets: object,
        value: object,
        mask: object,
        sem: object,
        scope: object,
        adds_bf16: bool,
    ) -> tensor:
        """The old values; ``name`` is add, max, min, and, or, xor or xchg."""
        base, places, inside, given = self.buffer_operands(ptr, offsets, mask, value, checked=False)
        if base.dtype.is_const():
            raise ValueError("Cannot store to a constant pointer")
        assert given is not None
        kind = _kind(name, given.dtype, adds_bf16)
        order, among = ordering(sem, scope)
        properties = {
            "atomic_rmw_op": enum_attribute(kind),
            "sem": enum_attribute(order),
            "scope": enum_attribute(among),
            SEGMENTS: sizes_of_segments((1, 1, 1, 0, int(inside is not None))),
        }
        operands = [base, places, given, *([] if inside is None else [inside])]
        return self.create(BufferAtomicRMWOp, operands, (given.type,), properties)[0]

    def buffer_operands(
        self, ptr: object, offsets: object, mask: object, value: object, checked: bool = True
    ) -> tuple[tensor, tensor, tensor | None, tensor | None]:
        """The pointer, the offsets, the mask and the value, cast to what is pointed to, all in the offsets' shape.
        Raises AssertionError for another pointer or other offsets, and, if ``checked``, for a value without a mask;
        ValueError where offsets would have to be broadcast."""
        assert isinstance(ptr, tensor) and isinstance(ptr.type, pointer_type), (
            f"ptr must be a scalar pointer, got {ptr}"
        )
        assert isinstance(offsets, tensor) and isinstance(offsets.type, distributed_type), (
            f"offsets must be a block, got {offsets}"
        )
        assert offsets.dtype.is_int() and offsets.dtype.int_bitwidth == 32, (
            f"offsets must be int32 or uint32, got {offsets.dtype}"
        )
        assert not checked or value is None or mask is not None, "other is given without a mask"
        shape = offsets.type.shape
        inside = stored = None
        if mask is not None:
            offsets, inside = self.broadcast(offsets, self.cast(self.to_tensor(mask), int1))
        if value is not None:
            offsets, stored = self.broadcast(offsets, self.cast(self.to_tensor(value), element_behind(ptr)))
        if inside is not None and stored is not None:
            inside, stored = self.broadcast(inside, stored)
        if offsets.type.shape != shape:
            raise ValueError(f"offsets have the shape {[*shape]}, but the mask or the value {[*offsets.type.shape]}")
        return ptr, offsets, inside, stored


def element_behind(pointer: tensor) -> dtype:
    """The type of what a pointer points to."""
    assert isinstance(pointer.type, pointer_type)
    return pointer.type.element_ty


def cache_attribute(word: object, words: dict[str, str]) -> Attribute:
    """The case of `CacheModifier` that a kernel's word is; ValueError for another word."""
    name = words.get(word) if isinstance(word, str) else "NONE" if word is None else None
    if name is None:
        raise ValueError(f"Cache modifier {word} not supported")
    return enum_attribute(CacheModifier[name])


def _kind(name: str, element: dtype, adds_bf16: bool) -> RMWOp:
    """The operation on elements of a type; ValueError where there is none."""
    if name == "add":
        kind = RMWOp.FADD if element.is_floating() else RMWOp.ADD
    elif name in _BY_SIGN:
        kind = _BY_SIGN[name][not element.is_int_signed() if element.is_int() else 0]
    else:
        kind = _ANY_NUMBER[name]
    narrow = element.is_floating() and name != "add"
    if narrow or (element.is_bf16() and not adds_bf16) or not works_on(kind, ir_type(element)):
        raise ValueError(f"there is no buffer_atomic_{name} of {element} on this generation")
    return kind
