"""Types by their names, and integers by their width."""

from __future__ import annotations

from tritonx.language.types import dtypes
from tritonx.language.types.dtypes import dtype
from tritonx.language.values.base import base_type
from tritonx.language.values.constexpr import unwrap
from tritonx.runtime.devices.dtype_names import TYPE_NAMES

_NUMBERS = (
    *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64),
    *(dtypes.float8e4nv, dtypes.float8e4b8, dtypes.float8e4b15, dtypes.float8e5, dtypes.float8e5b16),
    *(dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64),
)

_SHORT: dict[str, dtype] = {
    "void": dtypes.void,
    **dict.fromkeys(("i1", "u1"), dtypes.int1),
    **{t.name.replace("int", "i").replace("ui", "u"): t for t in _NUMBERS},
    **{f"f{t.primitive_bitwidth}": t for t in (dtypes.float16, dtypes.float32, dtypes.float64)},
}


def element_type(value: object) -> base_type | None:
    """``value`` (or what a constexpr holds) as a type where it is the name of one: ``float32``, ``fp32``, ``uint8``,
    ``u8``, ``bool``, ``float8_e4m3fn``; types and None as they are. ``ValueError`` for a name of none, ``TypeError``
    for anything else."""
    value = unwrap(value)
    if value is None or isinstance(value, base_type):
        return value
    if not isinstance(value, str):
        other = TypeError(f"{value!r} is no dtype")
        other.add_note("pass a dtype of the language, such as tl.float32")
        raise other
    names = {**_SHORT, **{t.name: t for t in _SHORT.values()}, **{n: _SHORT[short] for n, short in TYPE_NAMES.items()}}
    names |= {name: t for name, t in vars(dtypes).items() if isinstance(t, dtype)}
    if value in names:
        return names[value]
    from difflib import get_close_matches  # only for a mistake: it takes longer to import than this file

    error = ValueError(f"{value!r} is no dtype")
    close = get_close_matches(value, names, n=1, cutoff=0.6)
    error.add_note(f"did you mean '{close[0]}'?" if close else "pass a dtype of the language, such as tl.float32")
    raise error


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer type of that width and signedness. Raises ValueError for a width that there is none of.

    >>> get_int_dtype(16, signed=False)
    triton.language.uint16
    """
    bits = unwrap(bitwidth)
    if bits == 1:
        return dtypes.int1
    if bits in (8, 16, 32, 64):
        return dtype(f"{'int' if unwrap(signed) else 'uint'}{bits}")
    raise ValueError(f"Unsupported bitwidth {bits} and signedness {unwrap(signed)}")


def element_type_named(name: str) -> dtype:
    """The element type that a signature calls ``name`` (``fp16``, ``u8``). Raises KeyError."""
    if name not in _SHORT:
        raise KeyError(f"unknown type {name!r} in a signature")
    return _SHORT[name]
