"""The parameters of a kernel as its signature declares them."""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

_SIGNATURE_NAMES = (
    *("i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64"),
    *("fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16", "bf16", "fp16", "fp32", "fp64"),
)

_ANNOTATED_TYPES: dict[str, str] = {
    **{name: name for name in _SIGNATURE_NAMES},
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    **{f"float{n}": f"fp{n}" for n in (16, 32, 64)},
    **{f"float8{kind}": f"fp8{kind}" for kind in ("e4nv", "e5", "e4b15", "e4b8", "e5b16")},
    **dict.fromkeys(("bool", "int1", "uint1", "i1"), "u1"),
    "bfloat16": "bf16",
    "half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "int": "i32",
}
"""Annotations that fix a parameter's type, in the spellings that people use, to the names that signatures use."""

_FIXING = frozenset(_ANNOTATED_TYPES.values())


def _annotation_text(annotation: object) -> str:
    """A type in the spelling of signatures (``fp32``, ``*i8``, ``*kfp16`` of what is only read), anything else as it
    was written."""
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, str):
        return _normalised(annotation)
    if isinstance(annotation, type):
        return _normalised(annotation.__name__)
    pointee: object = getattr(annotation, "element_ty", None)
    return _normalised(str(annotation)) if pointee is None else "*" + _annotation_text(pointee)


def _normalised(text: str) -> str:
    text = text.strip().strip("'\"").strip()
    if text.startswith("const "):
        inner = _normalised(text.removeprefix("const "))
        if not inner.startswith("*"):
            raise TypeError(f"annotation {text!r}: only what a pointer points to is const, as in 'const *fp32'")
        return f"*k{inner[1:]}"
    if text.endswith("*"):
        return "*" + _normalised(text[:-1])
    if text.startswith("*"):
        return "*" + _normalised(text[1:])
    name = text.rsplit(".", 1)[-1].removesuffix("_t")
    return _ANNOTATED_TYPES.get(name, text.removeprefix("tl."))


class KernelParam:
    """One parameter of a kernel.

    ``num`` is its position, ``annotation`` its annotation as text. ``do_not_specialize`` keeps the compiler from using
    that an integer is 1 or divisible, ``do_not_specialize_on_alignment`` only the divisibility.

    >>> [(param.num, param.name, param.is_constexpr) for param in double.params]
    [(0, 'x', False), (1, 'BLOCK', True)]
    """

    def __init__(
        self, num: int, param: inspect.Parameter, do_not_specialize: bool, do_not_specialize_on_alignment: bool
    ) -> None:
        self.num = num
        self.name: str = param.name
        self._param = param
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @cached_property
    def annotation(self) -> str:
        return _annotation_text(self._param.annotation)

    @cached_property
    def annotation_type(self) -> str:
        """The type that the annotation fixes (``i64``, ``*fp16``), "" where it fixes none."""
        text = self.annotation
        return text if text.removeprefix("*").removeprefix("k") in _FIXING else ""

    @cached_property
    def accepts(self) -> str:
        """``annotation_type``, but ``int`` of Python's ``int``, which is an ``i32`` only where that holds the value."""
        return "int" if self._param.annotation in (int, "int") else self.annotation_type

    @cached_property
    def is_constexpr(self) -> bool:
        return "constexpr" in self.annotation

    @cached_property
    def is_const(self) -> bool:
        return ("const" in self.annotation or self.annotation.startswith("*k")) and not self.is_constexpr

    @property
    def default(self) -> Any:
        return self._param.default

    @property
    def has_default(self) -> bool:
        return self._param.default is not inspect.Parameter.empty

    def __repr__(self) -> str:
        return f"KernelParam({self.num}, {self._param})"
