"""The C and C++ types of a kernel's parameters, for libraries that write launchers of their own and for the C functions
that `tritonx compile` writes."""

from __future__ import annotations

from tritonx.backends.api import Backend

_INTEGERS: dict[str, str] = {
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    "i1": "int8_t",
    "u1": "uint8_t",
}

_FLOATS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("fp16", "bf16"), ("uint16_t", "uint16_t")),
    **dict.fromkeys(("fp32", "f32"), ("float", "uint32_t")),
    "fp64": ("double", "uint64_t"),
}
"""What C has for it, bits where it has none, and the type of its bits."""

FLOAT_STORAGE_TYPE: dict[str, str] = {name: bits for name, (_, bits) in _FLOATS.items()}
"""Type of a float parameter → the type of its bits."""

FLOAT_PACK_FUNCTION: dict[str, str] = {name: f"pack_{'fp32' if name == 'f32' else name}" for name in _FLOATS}
"""Type of a float parameter → what Triton's launchers call the function that rounds a ``double`` to it."""


def cpp_type(backend: Backend, ty: str) -> str:
    """The C++ type in which a launcher is given a parameter of this type: floats are passed as ``double`` and packed
    into `FLOAT_STORAGE_TYPE` by the launcher, as in Triton. Raises KeyError for a type that no parameter has."""
    return "double" if ty in _FLOATS else _type(backend, ty)


def is_c_type(ty: str) -> bool:
    """Whether C has a type for a parameter of this type."""
    return ty.startswith("*") or ty in _INTEGERS or ty in _FLOATS


def c_type(backend: Backend, ty: str) -> str:
    """The C type in which a kernel itself has a parameter of this type. Raises KeyError where `is_c_type` is false."""
    return _FLOATS[ty][0] if ty in _FLOATS else _type(backend, ty)


def _type(backend: Backend, ty: str) -> str:
    pointer, descriptor = backend.cpp_handles
    if ty.startswith("*"):
        return pointer
    return descriptor if ty.startswith("tensordesc") else _INTEGERS[ty]
