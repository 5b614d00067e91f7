"""The domains of arguments as a package says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from tritonx.runtime.devices.dtype_names import UnsupportedDtype, type_name
from tritonx.tools import command
from tritonx.tools.sealing.descriptors import parse_descriptor
from tritonx.tools.sealing.domains import Arrays, Domain, Integers, Union, Values

_NUMBERS: Mapping[str, tuple[object, ...]] = {"float": (0.5,), "bool": (True, False), "None": (None,)}


def parse(given: object, name: str, *, constexpr: bool) -> Domain:
    """A domain as a package says it: see `tritonx.tools.seal`. Raises `Mistake`."""
    if isinstance(given, Mapping):
        return _range(cast("Mapping[str, object]", given), name)
    if isinstance(given, list | tuple):
        entries = list(cast("Sequence[object]", given))
        if not entries:
            raise command.Mistake(f"argument {name}: there is no value")
        if constexpr or not any(isinstance(entry, str | Mapping) for entry in entries):
            return Values(tuple(entries))
        return Union(tuple(parse(entry, name, constexpr=False) for entry in entries))
    if isinstance(given, str):
        return _constant(given, name) if constexpr else _typed(given, name)
    return Values((given,))


def _constant(text: str, name: str) -> Domain:
    """Of a compile-time parameter. A text that is a value of it is in a list, where it is another domain alone."""
    if text == "float":
        raise command.Mistake(
            f"argument {name}: each value of a compile-time parameter is compiled, and 'float' names none of them; "
            f"list the values (['float'] for the text)"
        )
    return Values(_NUMBERS.get(text, (text,)))


def _range(given: Mapping[str, object], name: str) -> Integers:
    bounds, multiple = given.get("range"), given.get("multiple_of", 1)
    unknown = set(given) - {"range", "multiple_of"}
    fits = isinstance(bounds, list | tuple) and all(type(n) is int for n in cast("Sequence[object]", bounds))
    if unknown or not fits or type(multiple) is not int or multiple < 1:
        raise command.Mistake(f"argument {name}: expected range = [LOW, HIGH] and multiple_of = N, got {dict(given)}")
    low, high = cast("Sequence[int]", bounds) if len(cast("Sequence[int]", bounds)) == 2 else (1, 0)
    found = Integers(low, high, multiple)
    if not found.representatives():
        raise command.Mistake(f"argument {name}: there is no integer in {dict(given)}")
    return found


def _typed(text: str, name: str) -> Domain:
    if text in _NUMBERS:
        return Values(_NUMBERS[text])
    if (described := parse_descriptor(text, name)) is not None:
        return described
    type_, colon, hint = text.partition(":")
    if not type_.startswith("*") or (colon and hint != "16"):
        raise command.Mistake(
            f"argument {name}: expected *TYPE, *TYPE:16, tensordesc<TYPE[EXTENT, ...]>, float, bool, None, values in a "
            f"list, or a range, got {text!r}"
        )
    try:
        type_name(type_.removeprefix("*"))
    except UnsupportedDtype as error:
        raise command.Mistake(f"argument {name}: {error}") from None
    return Arrays((type_,), bool(colon))
