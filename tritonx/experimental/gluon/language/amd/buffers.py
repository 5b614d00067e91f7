"""Access to global memory by a scalar pointer and a block of 32-bit offsets, which are in elements.

An instruction takes the pointer from scalar registers, and reads and writes nothing where an offset is outside of the
buffer, which is how a mask is made. Elements within 2 GiB of the pointer can be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics


@amd_builtin
def buffer_load(
    ptr: tensor,
    offsets: tensor,
    mask: object = None,
    other: object = None,
    cache: object = None,
    _semantic: GluonSemantics = INJECTED,
) -> tensor:
    """What is ``offsets`` elements behind ``ptr``, in the layout of ``offsets`` (int32 or uint32); ``other``, or 0
    without it, where ``mask`` is false. ``cache`` is None, ".ca", ".cg" or ".cv". Raises AssertionError for another
    pointer or other offsets, and for ``other`` without ``mask``."""
    return _semantic.buffer_load(ptr, offsets, unwrap(mask), unwrap(other), unwrap(cache))


@amd_builtin
def buffer_store(
    stored_value: object,
    ptr: tensor,
    offsets: tensor,
    mask: object = None,
    cache: object = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Write a block ``offsets`` elements behind ``ptr`` where ``mask`` is true. ``cache`` is None, ".wb", ".cg", ".cs"
    or ".wt". Raises AssertionError for another pointer or other offsets, ValueError where ``offsets`` would have to be
    broadcast."""
    _semantic.buffer_store(stored_value, ptr, offsets, unwrap(mask), unwrap(cache))


Atomic = Callable[..., tensor]


def buffer_atomic(name: str, adds_bf16: bool) -> Atomic:
    """The builtin `buffer_atomic_<name>` of a generation that adds bfloat16, or does not."""

    def atomic(
        ptr: tensor,
        offsets: tensor,
        value: object,
        mask: object = None,
        sem: object = None,
        scope: object = None,
        _semantic: GluonSemantics = INJECTED,
    ) -> tensor:
        return _semantic.buffer_atomic(name, ptr, offsets, value, unwrap(mask), sem, scope, adds_bf16)

    atomic.__name__ = atomic.__qualname__ = f"buffer_atomic_{name}"
    atomic.__doc__ = (
        f"Atomically replace what is ``offsets`` elements behind ``ptr`` by its `{name}` with ``value``, where "
        "``mask`` is true; the block of old values. ``sem`` is acq_rel for None, ``scope`` gpu. Raises AssertionError "
        "for another pointer or other offsets, ValueError for elements of a type that there is no such instruction for."
    )
    return amd_builtin(atomic)
