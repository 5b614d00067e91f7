"""Asynchronous copies of elements from global to shared memory, past the registers.

A wave's lanes write places that follow each other, so a copy goes past the registers only where the lanes of the
layout do so in shared memory, with 4 bytes a lane or 16 (gfx950); another one is made by loads and stores, and is over
at once. Loads come back in order: a wait for a group is one for all older loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.experimental.gluon.layouts import DistributedLayout
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["buffer_load_to_shared", "commit_group", "global_load_to_shared", "load_shared_relaxed", "wait_group"]


@amd_builtin
def global_load_to_shared(
    dest: shared_memory_descriptor,
    ptr: tensor,
    mask: object = None,
    other: object = None,
    cache_modifier: object = "",
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Copy what a block of pointers points to into shared memory, a tile of the same shape; ``other``, or zeros without
    it, where ``mask`` is false. `wait_group` waits for it. Raises ValueError for another shape."""
    _semantic.copy_by_pointers(dest, ptr, unwrap(mask), unwrap(other), cache_modifier)


@amd_builtin
def buffer_load_to_shared(
    dest: shared_memory_descriptor,
    ptr: tensor,
    offsets: tensor,
    mask: object = None,
    other: object = None,
    cache_modifier: object = "",
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """As `global_load_to_shared`, of what is ``offsets`` elements behind a scalar pointer, as `buffer_load`."""
    _semantic.copy_by_offsets(dest, ptr, offsets, unwrap(mask), unwrap(other), unwrap(cache_modifier))


@amd_builtin
def commit_group(_semantic: GluonSemantics = INJECTED) -> None:
    """Make a group of the copies since the last one."""
    _semantic.commit_copies()


@amd_builtin
def wait_group(num_outstanding: object = 0, _semantic: GluonSemantics = INJECTED) -> None:
    """Wait until at most ``num_outstanding`` groups are under way, and for copies that are in none."""
    _semantic.wait_for_copies(unwrap(num_outstanding))


@amd_builtin
def load_shared_relaxed(
    smem: shared_memory_descriptor, layout: DistributedLayout, _semantic: GluonSemantics = INJECTED
) -> tensor:
    """`smem.load(layout)` of what a `wait_group` has waited for: it need not wait for other copies."""
    return _semantic.load_waited_for(smem, unwrap(layout))
