"""The names that a kernel's signature gives to element types, from the names that array libraries give them."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

from tritonx.runtime.errors import TritonError

TYPE_NAMES: dict[str, str] = {
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    **{f"float{n}": f"fp{n}" for n in (16, 32, 64)},
    **dict.fromkeys(("bool", "bool_"), "u1"),
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
    "float8_e4m3b11fnuz": "fp8e4b15",
}
"""Names of NumPy, ml_dtypes, torch and JAX → names in signatures."""

_LANGUAGE_NAMES = frozenset({*TYPE_NAMES.values(), "int1"})

ITEM_BYTES: dict[str, int] = {
    **{f"{kind}{bits}": bits // 8 for kind in "iu" for bits in (8, 16, 32, 64)},
    "u1": 1,
    "bf16": 2,
    "fp16": 2,
    "fp32": 4,
    "fp64": 8,
    **{f"fp8{kind}": 1 for kind in ("e4nv", "e5", "e4b8", "e5b16", "e4b15")},
}
"""Bytes of one element in memory."""


_NAMES: dict[str, str] = {
    **{name: TYPE_NAMES[name] for name in TYPE_NAMES if name not in ("bool_", "float8_e4m3b11fnuz")},
    **{f"float{name[2:]}": name for name in ITEM_BYTES if name.startswith("fp8")},
    **dict.fromkeys(("int1", "uint1", "i1"), "u1"),
    "half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "int": "i32",
    "void": "void",
}

type_canonicalisation_dict: dict[str, str] = {**_NAMES, **{short: short for short in _NAMES.values()}}
"""Every name of an element type → the one of signatures (``fp32``, ``u1``)."""

BITWIDTH_DICT: dict[str, int] = {
    name: {"u1": 1, "void": 0}.get(short) or 8 * ITEM_BYTES.get(short, 0)
    for name, short in type_canonicalisation_dict.items()
}
"""Every name of an element type → its bits; 0 for ``void``."""


def get_primitive_bitwidth(dtype: str) -> int:
    """Bits of the element type of this name. Raises KeyError.

    >>> get_primitive_bitwidth("bf16"), get_primitive_bitwidth("i64")
    (16, 64)
    """
    return BITWIDTH_DICT[dtype]


def canonicalize_dtype(dtype: object) -> str:
    """The signature's name of a dtype, of whatever library. Raises KeyError.

    >>> canonicalize_dtype("torch.float32"), canonicalize_dtype(np.dtype("int8")), canonicalize_dtype(tl.bfloat16)
    ('fp32', 'i8', 'bf16')
    """
    return type_canonicalisation_dict[str(dtype).split(".")[-1]]


def canonicalize_ptr_dtype(dtype: object, is_const: bool) -> str:
    """The signature's name of a pointer to ``dtype``, ``*k…`` for one that is only read. Raises KeyError.

    >>> canonicalize_ptr_dtype("float16", False), canonicalize_ptr_dtype("float16", True)
    ('*fp16', '*kfp16')
    """
    return f"{'*k' if is_const else '*'}{canonicalize_dtype(dtype)}"


def is_floating(name: str) -> bool:
    """Whether a type, by its name in signatures, is one of floats."""
    return name.startswith(("fp", "bf"))


class UnsupportedDtype(TritonError, KeyError):
    """An array's dtype, of this ``name``, has no counterpart in the language. ``text``: all that is to be said, where
    more is known."""

    def __init__(self, name: str, text: str | None = None) -> None:
        super().__init__(name, text)
        self.name = name
        self.text = text

    def __str__(self) -> str:
        return (
            self.text
            or f"{self.name!r} arrays cannot be kernel arguments; the language has {', '.join(sorted(TYPE_NAMES))}"
        )


def type_name(dtype: Any) -> str:
    """``torch.float32``, ``np.dtype('float32')``, ``tl.float32`` → ``fp32``; raises UnsupportedDtype (a KeyError)."""
    name = str(dtype).rsplit(".", 1)[-1]
    if name in TYPE_NAMES:
        return TYPE_NAMES[name]
    if name in _LANGUAGE_NAMES:
        return "u1" if name == "int1" else name
    scalar_name = getattr(getattr(dtype, "type", None), "__name__", None) or getattr(dtype, "__name__", "")
    if scalar_name in TYPE_NAMES and getattr(dtype, "isnative", True):  # np.float32 itself
        return TYPE_NAMES[scalar_name]
    raise UnsupportedDtype(name)


@cache
def item_bytes(dtype: Hashable) -> int:
    """Bytes of one element of this dtype, of whatever library. Raises UnsupportedDtype.

    >>> item_bytes(np.dtype("float16"))
    2
    """
    return ITEM_BYTES[type_name(dtype)]
