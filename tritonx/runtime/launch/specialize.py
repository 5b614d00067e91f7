"""What the compiler is told about each argument of a launch.

An argument becomes a pair: an ``ArgSpec``, which is part of the key under which the compiled kernel is found, and the
value that the launch passes on (an address for an array). An ``ArgSpec`` is interned, so that comparing and hashing one
costs what a pointer costs. The rules are Triton's, measured in ``specialize_3.6.0.json``: 1 is folded into the kernel,
an integer divisible by 16 and a 16-byte aligned pointer are marked ``D``. In addition an integer divisible by 8 or by 4
is marked ``8`` or ``4``, so that rows of 5000 elements are known to stay aligned for vectors, and one below 0 ``N``,
so that code for all others may presume that sizes are not negative (`analysis/axis_value`).

A descriptor whose rows end within 16 bytes is marked ``P``, one that rounds to tf32 ``R``.

The handler of an argument is chosen by its exact class, once per class (``Specializer.__missing__``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache
from typing import Any, NamedTuple, cast

import tritonx.backends.registry as registry
from tritonx.backends.api import Backend
from tritonx.kernel.dependencies import plain_value
from tritonx.kernel.source import JITCallable
from tritonx.runtime.devices.dtype_names import ITEM_BYTES, type_name
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.launch.arg_spec import (
    NEGATIVE,
    PARTIAL,
    ROUNDED,
    ArgSpec,
    alignment_mark,
    intern,
    intern_tuple,
    read_only,
)
from tritonx.runtime.launch.arguments import ArraySource, Location, array_source, flag_bytes
from tritonx.runtime.launch.dataclass_arguments import Field, Record, record_of
from tritonx.runtime.launch.misfits import Missing

Handler = Callable[[Any], "tuple[ArgSpec, Any]"]

Places = dict[object, dict[object, list[ArgSpec]]]
"""dtype → device → the specs of tensors by the low bits of their addresses, where an array's size says nothing."""


class ArrayTable(NamedTuple):
    """How arrays of one class on the host are specialised on without a call, as their handler does it."""

    form: str
    """``array``, ``handed array``, ``watched array`` or ``watched and handed array``."""
    table: Mapping[Any, Any]
    """dtype → (the byte of flags, where it is watched →) the low bits of an address → the spec, of those met."""
    memory: Any
    """`ArraySource.memory`."""


INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
UINT64_MAX = 2**64 - 1

NONE = intern("constexpr", None, None)
ONE = intern("constexpr", None, 1)
NOTHING = intern("missing")
BOOL = intern("u1")
FLOAT = intern("fp32")


_INTEGER_BITS = {f"{kind}{bits}": bits for kind in "iu" for bits in (8, 16, 32, 64)}
INTEGER_TYPES = frozenset(_INTEGER_BITS)


@cache
def _by_low_bits(type: str, specialize: bool, align: bool, sign: str) -> tuple[ArgSpec, ...]:
    """The spec of each value of the lowest four bits."""
    if not specialize:
        return (intern(type, None),) * 16
    return tuple([intern(type, (alignment_mark(low) if align else "") + sign) for low in range(16)])


def _integer_handler(specialize: bool, align: bool, fixed_type: str) -> Handler:
    """``fixed_type`` is what the parameter's annotation says; the value's range decides without it, and for ``int``."""
    fold_one = specialize and not fixed_type
    bits = _INTEGER_BITS.get(fixed_type, 0)
    fixed_type = "" if fixed_type == "int" else fixed_type

    def table(type: str, sign: str = "") -> tuple[ArgSpec, ...]:
        return _by_low_bits(fixed_type or type, specialize, align, sign)

    i32, i64, u64 = table("i32"), table("i64"), table("u64")
    negative_i32, negative_i64 = table("i32", NEGATIVE), table("i64", NEGATIVE)
    if fixed_type == "u1":
        truth = intern(fixed_type)
        return lambda value: (truth, bool(value))
    if bits:
        lowest, highest = -(1 << (bits - 1)), (1 << bits) - 1

        def handle_fixed(value: int) -> tuple[ArgSpec, Any]:
            if not lowest <= value <= highest:
                raise OverflowError(f"integer argument {value} does not fit {fixed_type}")
            return (i32 if value >= 0 else negative_i32)[value & 15], value

        return handle_fixed

    def handle(value: int) -> tuple[ArgSpec, Any]:
        if 1 < value <= INT32_MAX:
            return i32[value & 15], value
        if value == 1 and fold_one:
            return ONE, 1
        if 0 <= value <= INT32_MAX:
            return i32[value & 15], value
        if 0 < value <= UINT64_MAX:
            return (i64 if value <= INT64_MAX else u64)[value & 15], value
        if INT64_MIN <= value < 0:
            return (negative_i32 if value >= INT32_MIN else negative_i64)[value & 15], value
        raise OverflowError(f"integer argument {value} does not fit 64 bits")

    return handle


class Specializer(dict[type, Handler]):
    """class of an argument → its handler, for parameters declared with the same restrictions."""

    hands_arrays = False
    """Whether a launch gets NumPy's arrays rather than their addresses: it looks at whether they overlap."""

    def __init__(self, is_const: bool, specialize: bool, align: bool, fixed_type: str) -> None:
        super().__init__()
        self.is_const = is_const
        self.specialize = specialize
        self.align = align
        self.fixed_type = fixed_type
        restricted = is_const or not specialize or not align or bool(fixed_type)
        self.elements: Specializer = type(self)(False, True, True, "") if restricted else self
        """For what a tuple holds: the restrictions are a parameter's own, as in Triton."""
        integer = _integer_handler(specialize, align, fixed_type)
        self.integer = integer
        self.tensors: dict[type, Places] = {}
        """Class of tensors that was met → their specs."""
        self.arrays: dict[type, ArrayTable] = {}
        """Class of NumPy's arrays that was met → their specs."""
        number = "" if fixed_type.startswith("*") else fixed_type
        boolean = intern("i32" if number == "int" else number) if number else BOOL
        floating = FLOAT if number in ("", "int") else intern(number)
        self.update(
            {
                int: integer,
                bool: lambda value: (boolean, value),
                float: lambda value: (floating, value),
                type(None): lambda value: (NONE, None),
                Missing: lambda value: (NOTHING, None),
                tuple: self._tuple_handler(tuple),
            }
        )

    def of_small_integers(self) -> tuple[ArgSpec, ...] | None:
        """The specs of 2 to 2^31 - 1 by their lowest four bits; None where an annotation decides otherwise."""
        if self.fixed_type == "u1" or self.fixed_type in _INTEGER_BITS:
            return None
        return tuple(self.integer(16 + low)[0] for low in range(16))

    def __missing__(self, kind: type) -> Handler:
        handler = self._find(kind)
        self[kind] = handler
        return handler

    def __call__(self, value: Any) -> tuple[ArgSpec, Any]:
        return self[type(value)](value)

    def _tuple_handler(self, kind: type[tuple[object, ...]]) -> Handler:
        elements, known = self.elements, dict[tuple[ArgSpec, ...], ArgSpec]()
        find = known.get

        def handle(value: tuple[object, ...]) -> tuple[ArgSpec, Any]:
            specs: list[ArgSpec] = []
            values: list[object] = []
            for element in value:
                spec, passed = elements[type(element)](element)
                specs.append(spec)
                values.append(passed)
            key = tuple(specs)
            found = find(key)
            if found is None:
                found = known[key] = intern_tuple(key, kind)
            return found, tuple(values)

        return handle

    def _find(self, kind: type) -> Handler:
        base = next((b for b in (int, float) if issubclass(kind, b)), None)
        if base is not None:
            inner, plain = self[base], base
            return lambda value: inner(plain(value))
        if issubclass(kind, tuple):
            return self._tuple_handler(cast("type", kind))
        if any(base.__module__ == "numpy" and base.__name__ == "generic" for base in kind.__mro__):
            return lambda value: self(value.item())
        if kind.__name__ == "constexpr":
            return _constexpr
        if kind.__name__ == "TensorDescriptor":
            laid_out = "layout" in getattr(cast("type", kind), "__dataclass_fields__", ())
            return self._descriptor_handler(laid_out)
        source = array_source(cast("type", kind))
        if source is not None:
            return self._array_handler(source, cast("type", kind), self.tensors.setdefault(cast("type", kind), {}))
        record = None if issubclass(kind, JITCallable) else record_of(cast("type", kind))
        return _constexpr_or_refuse if record is None else self._record_handler(record)

    def _record_handler(self, record: Record) -> Handler:
        def handle(value: object) -> tuple[ArgSpec, Any]:
            pairs = [
                _static_field(field, element) if field.static else self(element)
                for field, element in zip(record.fields, record.values(value), strict=True)
            ]
            return intern_tuple(tuple(p[0] for p in pairs), record.kind), tuple(p[1] for p in pairs)

        return handle

    def _array_handler(self, source: ArraySource, kind: type, places: Places) -> Handler:
        """Arrays of one class: the spec is found by dtype, location and alignment of the address. Those of tensors are
        kept in ``places``."""
        table: dict[tuple[Any, ...], ArgSpec] = {}
        prefix = "*k" if self.is_const else "*"
        aligned_is_known = self.specialize and self.align
        facts = source.facts

        def made(dtype: object, low: int, location: Location | None) -> ArgSpec:
            marks = ("D" if low == 0 else "") if aligned_is_known else None if not self.specialize else ""
            fixed = self.fixed_type if self.fixed_type.startswith("*") else ""
            return intern(fixed or prefix + type_name(dtype), marks, None, location)

        def miss(dtype: object, device: object, low: int, value: object) -> ArgSpec:
            location = source.location(value)
            spec = made(dtype, low, location)
            spec.by_size = size_rule(location) if self.specialize else None
            if spec.by_size is None and source.is_tensor:
                places.setdefault(dtype, {})[device] = [made(dtype, bits, location) for bits in range(16)]
            table[dtype, device, low] = spec
            return spec

        def handle(value: Any) -> tuple[ArgSpec, Any]:
            dtype, device, address = facts(value)
            low = address & 15
            spec = table.get((dtype, device, low))
            if spec is None:
                spec = miss(dtype, device, low, value)
            if spec.by_size is not None:
                spec = _sized(spec, value)
            return spec, address

        def handle_tensor(value: Any) -> tuple[ArgSpec, Any]:
            """As ``handle``, without a call."""
            address: int = value.data_ptr()
            try:
                return places[value.dtype][value.device][address & 15], address
            except KeyError:
                return handle(value)

        if source.is_tensor:
            return handle_tensor
        words = source.memory
        if words is None or size_rule(source.location(None) or _NOWHERE) is not None:
            return handle
        by_dtype: dict[object, list[ArgSpec]] = {}
        self.arrays[kind] = ArrayTable("handed array" if self.hands_arrays else "array", by_dtype, words)

        def met(value: Any) -> ArgSpec:
            by_dtype[value.dtype] = [made(value.dtype, low, source.location(value)) for low in range(16)]
            return handle(value)[0]

        def handle_numpy(value: Any, id: Callable[[object], int] = id) -> tuple[ArgSpec, Any]:
            """As ``handle``, without a call: half the time of binding an array."""
            address: int = words[id(value) >> 3]
            try:
                return by_dtype[value.dtype][address & 15], address
            except KeyError:
                return met(value), address

        def hand_numpy(value: Any, id: Callable[[object], int] = id) -> tuple[ArgSpec, Any]:
            address: int = words[id(value) >> 3]
            try:
                return by_dtype[value.dtype][address & 15], value
            except KeyError:
                return met(value), value

        return hand_numpy if self.hands_arrays else handle_numpy

    def _descriptor_handler(self, laid_out: bool) -> Handler:
        """Descriptors: the spec is found by its base's, the block, whether rows end within a piece of 16 bytes, and
        whether they are rounded; of those that are ``laid_out``, which say how a block lies in shared memory, by that
        layout too."""
        table: dict[tuple[object, ...], tuple[int, tuple[ArgSpec, ...]]] = {}
        last: dict[ArgSpec, Described] = {}
        """By the base's spec, what was found for the last block, and a copy of that."""

        def found(base: ArgSpec, value: Any) -> Described:
            block, layout = value.block_shape, value.layout if laid_out else None
            key = (base, *block, layout)
            if key not in table:
                table[key] = _descriptor_specs(base, block, f",{layout!r}" if laid_out else "")
            made = last[base] = (copy(block), layout, *table[key])
            return made

        def handle(value: Any) -> tuple[ArgSpec, Any]:
            base: object = value.base
            block: Sequence[int] = value.block_shape
            base_spec = self[type(base)](base)[0]
            known = last.get(base_spec)
            if known is None or known[0] != block or (laid_out and known[1] is not value.layout):
                known = found(base_spec, value)
            _, _, mask, specs = known
            number: int = (value.shape[-1] & mask != 0) + 2 * getattr(value, "round_f32_to_tf32", False)
            if number >= len(specs):
                raise UnsupportedArgument("round_f32_to_tf32 is only supported for float32 tensors")
            return specs[number], value

        return handle


Described = tuple[Sequence[int], object, int, tuple[ArgSpec, ...]]
"""A block, its layout in shared memory, and what `_descriptor_specs` gives for it."""


def _descriptor_specs(base: ArgSpec, block: Sequence[int], layout: str = "") -> tuple[int, tuple[ArgSpec, ...]]:
    """The specs of descriptors whose rows end with a piece of 16 bytes, and of those whose rows do not, then of both
    where what is read is rounded, which f32 alone is; which bits of an innermost extent tell the first two apart."""
    element = base.type.removeprefix("*").removeprefix("k")
    type_ = f"tensordesc<{element}[{', '.join(str(int(extent)) for extent in block)}]{layout}>"
    marks_of_elements = ("", PARTIAL, ROUNDED, PARTIAL + ROUNDED) if element == "fp32" else ("", PARTIAL)
    specs = tuple(intern(type_, marks, None, base.location) for marks in marks_of_elements)
    mask = max(1, 16 // ITEM_BYTES[element]) - 1
    return mask, tuple(map(read_only, specs)) if base.read_only else specs


class Watching(Specializer):
    """Handlers for a parameter that a kernel stores through: an array that may not be written to has a spec of its own,
    so that a launch with it is not found among those that were launched before."""

    def _array_handler(self, source: ArraySource, kind: type, places: Places) -> Handler:
        is_read_only = source.read_only
        if is_read_only is None:
            return super()._array_handler(source, kind, places)
        plain = super()._array_handler(source, kind, {})  # whoever looks into `places` would not ask
        self.arrays.pop(kind, None)

        def watched(value: Any) -> tuple[ArgSpec, Any]:
            spec, address = plain(value)
            return read_only(spec) if is_read_only(value) else spec, address

        words = source.memory
        if words is None or size_rule(source.location(None) or _NOWHERE) is not None:
            return watched
        by_flags: dict[object, dict[int, dict[int, ArgSpec]]] = {}
        """dtype → the byte of flags → the specs by an address's low bits."""
        flags = flag_bytes()
        form = "watched and handed array" if self.hands_arrays else "watched array"
        self.arrays[kind] = ArrayTable(form, by_flags, words)

        def met(value: Any, low: int) -> ArgSpec:
            spec = watched(value)[0]
            by_flags.setdefault(value.dtype, {}).setdefault(flags[id(value)], {})[low] = spec
            return spec

        def watched_numpy(value: Any, id: Callable[[object], int] = id) -> tuple[ArgSpec, Any]:
            """As ``watched``, without a call: whether it may be written to is a bit of a byte of its structure."""
            own = id(value)
            address: int = words[own >> 3]
            try:
                return by_flags[value.dtype][flags[own]][address & 15], address
            except KeyError:
                return met(value, address & 15), address

        def hand_watched_numpy(value: Any, id: Callable[[object], int] = id) -> tuple[ArgSpec, Any]:
            own = id(value)
            low: int = words[own >> 3] & 15
            try:
                return by_flags[value.dtype][flags[own]][low], value
            except KeyError:
                return met(value, low), value

        return hand_watched_numpy if self.hands_arrays else watched_numpy


_NOWHERE: Location = ("", "", 0)


def size_rule(location: Location | None) -> Callable[[int], tuple[str, ...]] | None:
    """The ``pointer_specialization`` of the backend at ``location``, None where it is the contract's empty one."""
    names = registry.serving(location) if location is not None else ()
    if not names:
        return None
    backend = registry.available()[names[0]]
    if type(backend).pointer_specialization is Backend.pointer_specialization:
        return None
    return backend.pointer_specialization


def _sized(spec: ArgSpec, value: object) -> ArgSpec:
    """``spec`` with the marks that its backend gives to an allocation of this size."""
    storage = getattr(value, "untyped_storage", None)
    nbytes = storage().size() if storage is not None else getattr(value, "nbytes", None)
    if nbytes is None or spec.by_size is None:
        return spec
    return intern(spec.type, (spec.attr or "") + "".join(spec.by_size(int(nbytes))), None, spec.location)


def _constexpr(value: object) -> tuple[ArgSpec, Any]:
    return intern("constexpr", None, value), value


def _static_field(field: Field, value: object) -> tuple[ArgSpec, object]:
    """A field that is annotated ``tl.constexpr``."""
    try:
        return _constexpr(plain_value(value))
    except TypeError as error:
        raise UnsupportedArgument(
            f"{error} (the compile-time field {field.name!r} must be hashable: use a tuple)"
        ) from None


def _constexpr_or_refuse(value: object) -> tuple[ArgSpec, object]:
    if isinstance(value, JITCallable):
        return intern("constexpr", None, value), value
    raise UnsupportedArgument(
        f"failed to specialize argument of type: {type(value).__name__} (a kernel takes arrays, numbers, None and "
        f"tuples of them; annotate the parameter with tl.constexpr to pass a compile-time value)"
    )


_SPECIALIZERS: dict[tuple[bool, bool, bool, str], Specializer] = {}


def specializer(
    is_const: bool = False, specialize: bool = True, align: bool = True, fixed_type: str = ""
) -> Specializer:
    """The shared table of handlers for parameters with these restrictions."""
    key = (is_const, specialize, align, fixed_type)
    if key not in _SPECIALIZERS:
        _SPECIALIZERS[key] = Specializer(*key)
    return _SPECIALIZERS[key]


class Handing(Specializer):
    """Handlers that hand on arrays."""

    hands_arrays = True


class WatchingHanding(Watching):
    """Both."""

    hands_arrays = True


_VARIANTS: dict[tuple[type[Specializer], bool, bool, bool, str], Specializer] = {}


def watching(handlers: Specializer) -> Specializer:
    """The handlers for parameters with the same restrictions, which tell read-only arrays apart."""
    return _variant(WatchingHanding if handlers.hands_arrays else Watching, handlers)


def handing(handlers: Specializer) -> Specializer:
    """The handlers for parameters with the same restrictions, which hand on arrays."""
    return _variant(WatchingHanding if isinstance(handlers, Watching) else Handing, handlers)


def _variant(kind: type[Specializer], handlers: Specializer) -> Specializer:
    key = (kind, handlers.is_const, handlers.specialize, handlers.align, handlers.fixed_type)
    if key not in _VARIANTS:
        _VARIANTS[key] = kind(*key[1:])
    return _VARIANTS[key]


def forget_classes() -> None:
    """Choose every handler again; after backends were added that know other kinds of arrays."""
    for key in _SPECIALIZERS:
        _SPECIALIZERS[key] = Specializer(*key)
    _VARIANTS.clear()
