"""What the compiler is told about each argument of a launch.

An argument becomes a pair: an ``ArgSpec``, which is part of the key under which the compiled kernel is found, and the
value that the launch passes on (an address for an array). An ``ArgSpec`` is interned, so that comparing and hashing one
costs what a pointer costs. The rules are Triton's, measured in ``specialize_3.6.0.json``: 1 is folded into the kernel,
an integer divisible by 16 and a 16-byte aligned pointer are marked ``D``. In addition an integer divisible by 8 or by 4
is marked ``8`` or ``4``, so that rows of 5000 elements are known to stay aligned for vectors.

A descriptor whose rows end within 16 bytes is marked ``P``.

The handler of an argument is chosen by its exact class, once per class (``Specializer.__missing__``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import tritonx.backends.registry as registry
from tritonx.backends.api import Backend
from tritonx.kernel.dependencies import plain_value
from tritonx.kernel.source import JITCallable
from tritonx.runtime.arguments import ArraySource, Location, array_source, flag_bytes
from tritonx.runtime.dataclass_arguments import Field, Record, record_of
from tritonx.runtime.descriptor_parameters import Descriptor
from tritonx.runtime.dtype_names import ITEM_BYTES, type_name
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.misfits import Missing

Handler = Callable[[Any], "tuple[ArgSpec, Any]"]

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
UINT64_MAX = 2**64 - 1

DIVISIBILITY: dict[str, int] = {"D": 16, "8": 8, "4": 4}
"""Marks of divisibility (bytes for a pointer, the value for an integer)."""

PARTIAL = "P"
"""The mark of a descriptor whose rows end within a piece of 16 bytes, which a unit that copies blocks writes whole."""


class ArgSpec:
    """``type`` is the name in the signature, or ``constexpr``; ``attr`` its marks, or None where the type has none.

    For a constexpr ``value`` is the value. For a tuple ``elements`` are its elements' and ``rebuild`` makes a tuple
    of the same class from values. ``location`` says where an array lives: (protocol, device kind, device index).
    ``by_size`` is what its backend makes of an array's size in bytes (``Backend.pointer_specialization``), None where
    it takes no interest. ``read_only`` is set for an array that may not be written to, where that was looked at
    (``Watching``).
    """

    __slots__ = ("attr", "by_size", "elements", "location", "read_only", "rebuild", "type", "value")

    def __init__(
        self,
        type: str,
        attr: str | None = None,
        value: Any = None,
        location: Location | None = None,
        elements: tuple[ArgSpec, ...] | None = None,
        rebuild: Callable[[tuple[Any, ...]], Any] | None = None,
    ) -> None:
        self.type = type
        self.attr = attr
        self.value = value
        self.location = location
        self.elements = elements
        self.rebuild = rebuild
        self.by_size: Callable[[int], tuple[str, ...]] | None = None
        self.read_only = False

    def pair(self) -> tuple[Any, Any]:
        """(type, attribute) as Triton's ``native_specialize_impl`` returns it."""
        if self.elements is not None:
            pairs = [e.pair() for e in self.elements]
            return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
        if self.type.startswith("tensordesc"):
            return self.type, self.attr or None
        return (self.type, self.value if self.type == "constexpr" else self.attr)

    def __repr__(self) -> str:
        return f"ArgSpec{self.pair()}"


_INTERNED: dict[tuple[Any, ...], ArgSpec] = {}


def intern(type: str, attr: str | None = None, value: object = None, location: Location | None = None) -> ArgSpec:
    """The one ArgSpec with these fields."""
    key = (type, attr, value.__class__, value, location)
    found = _INTERNED.get(key)
    return found if found is not None else _INTERNED.setdefault(key, ArgSpec(type, attr, value, location))


def read_only(spec: ArgSpec) -> ArgSpec:
    """The spec of an array like ``spec``'s that may not be written to: another key, the same code."""
    key = ("read-only", spec)
    found = _INTERNED.get(key)
    if found is None:
        found = ArgSpec(spec.type, spec.attr, spec.value, spec.location)
        found.read_only = True
        found = _INTERNED.setdefault(key, found)
    return found


def _intern_tuple(elements: tuple[ArgSpec, ...], kind: type[Any]) -> ArgSpec:
    key = (kind, *elements)
    found = _INTERNED.get(key)
    if found is not None:
        return found
    rebuild: Callable[[tuple[Any, ...]], Any] = tuple
    if hasattr(kind, "_fields"):
        rebuild = lambda values: kind(*values)  # noqa: E731  # closes over the named tuple's class
    return _INTERNED.setdefault(key, ArgSpec("tuple", None, None, None, elements, rebuild))


def alignment_mark(value: int) -> str:
    """The mark of an integer's divisibility: ``D`` by 16, ``8``, ``4`` or nothing."""
    return "" if value & 3 else "4" if value & 7 else "8" if value & 15 else "D"


NONE = intern("constexpr", None, None)
ONE = intern("constexpr", None, 1)
NOTHING = intern("missing")
BOOL = intern("u1")
FLOAT = intern("fp32")


_INTEGER_BITS = {f"{kind}{bits}": bits for kind in "iu" for bits in (8, 16, 32, 64)}


def _integer_handler(specialize: bool, align: bool, fixed_type: str) -> Handler:
    """``fixed_type`` is what the parameter's annotation says; the value's range decides without it, and for ``int``."""
    fold_one = specialize and not fixed_type
    bits = _INTEGER_BITS.get(fixed_type, 0)
    fixed_type = "" if fixed_type == "int" else fixed_type

    def table(type: str) -> tuple[ArgSpec, ...]:
        if not specialize:
            return (intern(fixed_type or type, None),) * 16
        return tuple(intern(fixed_type or type, alignment_mark(low) if align else "") for low in range(16))

    i32, i64, u64 = table("i32"), table("i64"), table("u64")
    if fixed_type == "u1":
        truth = intern(fixed_type)
        return lambda value: (truth, bool(value))
    if bits:
        lowest, highest = -(1 << (bits - 1)), (1 << bits) - 1

        def handle_fixed(value: int) -> tuple[ArgSpec, Any]:
            if not lowest <= value <= highest:
                raise OverflowError(f"integer argument {value} does not fit {fixed_type}")
            return i32[value & 15], value

        return handle_fixed

    def handle(value: int) -> tuple[ArgSpec, Any]:
        if value == 1 and fold_one:
            return ONE, 1
        if INT32_MIN <= value <= INT32_MAX:
            return i32[value & 15], value
        if INT64_MIN <= value <= INT64_MAX:
            return i64[value & 15], value
        if 0 < value <= UINT64_MAX:
            return u64[value & 15], value
        raise OverflowError(f"integer argument {value} does not fit 64 bits")

    return handle


class Specializer(dict[type, Handler]):
    """class of an argument → its handler, for parameters declared with the same restrictions."""

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
                tuple: self._tuple,
            }
        )

    def __missing__(self, kind: type) -> Handler:
        handler = self._find(kind)
        self[kind] = handler
        return handler

    def __call__(self, value: Any) -> tuple[ArgSpec, Any]:
        return self[type(value)](value)

    def _tuple(self, value: tuple[object, ...]) -> tuple[ArgSpec, Any]:
        elements = self.elements
        pairs = [elements[type(element)](element) for element in value]
        return _intern_tuple(tuple(p[0] for p in pairs), type(value)), tuple(p[1] for p in pairs)

    def _find(self, kind: type) -> Handler:
        base = next((b for b in (int, float) if issubclass(kind, b)), None)
        if base is not None:
            inner, plain = self[base], base
            return lambda value: inner(plain(value))
        if issubclass(kind, tuple):
            return self._tuple
        if any(base.__module__ == "numpy" and base.__name__ == "generic" for base in kind.__mro__):
            return lambda value: self(value.item())
        if kind.__name__ == "constexpr":
            return _constexpr
        if kind.__name__ == "TensorDescriptor":
            return self._descriptor_handler()
        source = array_source(cast("type", kind))
        if source is not None:
            return self._array_handler(source)
        record = None if issubclass(kind, JITCallable) else record_of(cast("type", kind))
        return _constexpr_or_refuse if record is None else self._record_handler(record)

    def _record_handler(self, record: Record) -> Handler:
        def handle(value: object) -> tuple[ArgSpec, Any]:
            pairs = [
                _static_field(field, element) if field.static else self(element)
                for field, element in zip(record.fields, record.values(value), strict=True)
            ]
            return _intern_tuple(tuple(p[0] for p in pairs), record.kind), tuple(p[1] for p in pairs)

        return handle

    def _array_handler(self, source: ArraySource) -> Handler:
        """Arrays of one class: the spec is found by dtype, location and alignment of the address."""
        table: dict[tuple[Any, ...], ArgSpec] = {}
        prefix = "*k" if self.is_const else "*"
        aligned_is_known = self.specialize and self.align
        facts = source.facts

        def miss(dtype: object, device: object, low: int, value: object) -> ArgSpec:
            marks = ("D" if low == 0 else "") if aligned_is_known else None if not self.specialize else ""
            fixed = self.fixed_type if self.fixed_type.startswith("*") else ""
            location = source.location(value)
            spec = intern(fixed or prefix + type_name(dtype), marks, None, location)
            spec.by_size = size_rule(location) if self.specialize else None
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
            address = value.data_ptr()
            spec = find_tensor((value.dtype, value.device, address & 15))
            if spec is None or spec.by_size is not None:
                return handle(value)
            return spec, address

        find_tensor = table.get
        if source.is_tensor:
            return handle_tensor
        words = source.memory
        if words is None or size_rule(source.location(None) or _NOWHERE) is not None:
            return handle
        by_dtype: dict[tuple[Any, int], ArgSpec] = {}
        find = by_dtype.get

        def handle_numpy(value: Any, id: Callable[[object], int] = id) -> tuple[ArgSpec, Any]:
            """As ``handle``, without a call: half the time of binding an array."""
            address = words[id(value) >> 3]
            spec = find((value.dtype, address & 15))
            if spec is None:
                spec = by_dtype[value.dtype, address & 15] = handle(value)[0]
            return spec, address

        return handle_numpy

    def _descriptor_handler(self) -> Handler:
        """Descriptors: the spec is found by its base's, the block, and whether rows end within a piece of 16 bytes."""
        table: dict[tuple[object, ...], tuple[int, tuple[ArgSpec, ArgSpec]]] = {}
        find = table.get

        def handle(value: Descriptor) -> tuple[ArgSpec, Descriptor]:
            base = value.base
            base_spec = self[type(base)](base)[0]
            key = (base_spec, *value.block_shape)
            found = find(key)
            if found is None:
                found = table[key] = _descriptor_specs(base_spec, value.block_shape)
            mask, specs = found
            return specs[value.shape[-1] & mask != 0], value

        return handle


def _descriptor_specs(base: ArgSpec, block: Sequence[int]) -> tuple[int, tuple[ArgSpec, ArgSpec]]:
    """The specs of descriptors whose rows end with a piece of 16 bytes, and of those whose rows do not; which bits of
    an innermost extent tell them apart."""
    element = base.type.removeprefix("*").removeprefix("k")
    type_ = f"tensordesc<{element}[{', '.join(str(int(extent)) for extent in block)}]>"
    specs = intern(type_, "", None, base.location), intern(type_, PARTIAL, None, base.location)
    mask = max(1, 16 // ITEM_BYTES[element]) - 1
    return mask, (read_only(specs[0]), read_only(specs[1])) if base.read_only else specs


class Watching(Specializer):
    """Handlers for a parameter that a kernel stores through: an array that may not be written to has a spec of its own,
    so that a launch with it is not found among those that were launched before."""

    def _array_handler(self, source: ArraySource) -> Handler:
        plain = super()._array_handler(source)
        is_read_only = source.read_only
        if is_read_only is None:
            return plain

        def watched(value: Any) -> tuple[ArgSpec, Any]:
            spec, address = plain(value)
            return read_only(spec) if is_read_only(value) else spec, address

        words = source.memory
        if words is None or size_rule(source.location(None) or _NOWHERE) is not None:
            return watched
        by_dtype: dict[tuple[Any, int, int], ArgSpec] = {}
        find, flags = by_dtype.get, flag_bytes()

        def watched_numpy(value: Any, id: Callable[[object], int] = id) -> tuple[ArgSpec, Any]:
            """As ``watched``, without a call: whether it may be written to is a bit of a byte of its structure."""
            own = id(value)
            address = words[own >> 3]
            spec = find((value.dtype, address & 15, flags[own]))
            if spec is None:
                spec = by_dtype[value.dtype, address & 15, flags[own]] = watched(value)[0]
            return spec, address

        return watched_numpy


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


_WATCHING: dict[tuple[bool, bool, bool, str], Watching] = {}


def watching(handlers: Specializer) -> Watching:
    """The handlers for parameters with the same restrictions, which tell read-only arrays apart."""
    key = (handlers.is_const, handlers.specialize, handlers.align, handlers.fixed_type)
    if key not in _WATCHING:
        _WATCHING[key] = Watching(*key)
    return _WATCHING[key]


def forget_classes() -> None:
    """Choose every handler again; after backends were added that know other kinds of arrays."""
    for key in _SPECIALIZERS:
        _SPECIALIZERS[key] = Specializer(*key)
    _WATCHING.clear()


def parse_marks(marks: str | None) -> list[list[Any]]:
    """The marks of an argument as attributes of the function's argument: ``D`` → ``[["tt.divisibility", 16]]``."""
    found: list[list[Any]] = []
    for mark in marks or "":
        if mark in DIVISIBILITY:
            found.append(["tt.divisibility", DIVISIBILITY[mark]])
        elif mark == "S":
            found.append(["tt.pointer_range", 32])
        elif mark == PARTIAL:
            found.append(["tt.partial_end", 1])
    return found
