"""The C++ types of a kernel's parameters, for libraries that write launchers of their own."""

from __future__ import annotations

from tritonx.backends.api import Backend

_SCALARS: dict[str, str] = {
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    "i1": "int8_t",
    "u1": "uint8_t",
    **dict.fromkeys(("fp16", "bf16", "fp32", "f32", "fp64"), "double"),
}
"""Floats are passed as ``double`` and packed into `FLOAT_STORAGE_TYPE` by the launcher, as in Triton."""

FLOAT_STORAGE_TYPE: dict[str, str] = {
    **dict.fromkeys(("fp16", "bf16"), "uint16_t"),
    **dict.fromkeys(("fp32", "f32"), "uint32_t"),
    "fp64": "uint64_t",
}
"""Type of a float parameter → the type of its bits."""

FLOAT_PACK_FUNCTION: dict[str, str] = {name: f"pack_{'fp32' if name == 'f32' else name}" for name in FLOAT_STORAGE_TYPE}
"""Type of a float parameter → what Triton's launchers call the function that rounds a ``double`` to it."""


def cpp_type(backend: Backend, ty: str) -> str:
    """The C++ type of a parameter of this type. Raises KeyError for a type that no parameter has."""
    pointer, descriptor = backend.cpp_handles
    if ty.startswith("*"):
        return pointer
    return descriptor if ty.startswith("tensordesc") else _SCALARS[ty]
