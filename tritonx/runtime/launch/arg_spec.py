"""``ArgSpec``: what the compiler is told about one argument, and the marks that it may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritonx.kernel.identity import identity
from tritonx.runtime.launch.arguments import Location

DIVISIBILITY: dict[str, int] = {"D": 16, "8": 8, "4": 4}
"""Marks of divisibility (bytes for a pointer, the value for an integer)."""

NEGATIVE = "N"
"""The mark of an integer below 0. Code for a parameter that is not specialised is for such integers too."""

PARTIAL = "P"
"""The mark of a descriptor whose rows end within a piece of 16 bytes, which a unit that copies blocks writes whole."""

ROUNDED = "R"
"""The mark of a descriptor through which f32 is rounded to tf32 as it is read."""

ROUNDED_ATTRIBUTE = "tt.round_f32_to_tf32"
"""What the function's argument has for it."""


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
        if self.type == "constexpr":
            return self.type, self.value
        return self.type, None if self.attr is None else self.attr.replace(NEGATIVE, "")

    def __repr__(self) -> str:
        return f"ArgSpec{self.pair()}"


_INTERNED: dict[tuple[Any, ...], ArgSpec] = {}


def intern(type: str, attr: str | None = None, value: object = None, location: Location | None = None) -> ArgSpec:
    """The one ArgSpec with these fields."""
    key = (type, attr, identity(value), location)
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


def intern_tuple(elements: tuple[ArgSpec, ...], kind: type[Any]) -> ArgSpec:
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


def parse_marks(marks: str | None) -> list[list[Any]]:
    """The marks of an argument as attributes of the function's argument: ``D`` → ``[["tt.divisibility", 16]]``."""
    found: list[list[Any]] = []
    for mark in marks or "":
        if mark in DIVISIBILITY:
            found.append(["tt.divisibility", DIVISIBILITY[mark]])
        elif mark == "S":
            found.append(["tt.pointer_range", 32])
        elif mark == NEGATIVE:
            found.append(["tt.negative", 1])
        elif mark == PARTIAL:
            found.append(["tt.partial_end", 1])
        elif mark == ROUNDED:
            found.append([ROUNDED_ATTRIBUTE, 1])
    return found
