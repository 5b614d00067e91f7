"""Asynchronous copies of elements from global to shared memory (`cp.async`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["async_copy_global_to_shared", "async_load", "commit_group", "mbarrier_arrive", "wait_group"]


@builtin
def async_load(
    smem: shared_memory_descriptor,
    pointer: Any,
    mask: Any = None,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: Any = False,
    cache_policy: Any = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Copy what a block of pointers points to into shared memory, a tile of the same shape; zeros where ``mask`` is
    false. Raises ValueError for another shape."""
    _semantic.copy_to_shared(smem, pointer, mask, cache_modifier, eviction_policy, volatile, unwrap(cache_policy))


@builtin
def async_copy_global_to_shared(*args: Any, _semantic: GluonSemantics = INJECTED, **kwargs: Any) -> NoReturn:
    """`async_load`, as it was called: raises RuntimeError, as in Triton 3.9."""
    raise RuntimeError("async_copy_global_to_shared has been removed; call async_load instead")


@builtin
def mbarrier_arrive(
    mbarrier: shared_memory_descriptor, increment_count: Any = True, _semantic: GluonSemantics = INJECTED
) -> None:
    """Arrive at an mbarrier when the copies of this thread so far are done; with ``increment_count`` beside the
    arrivals that it expects."""
    _semantic.arrive_behind_copies(mbarrier, bool(unwrap(increment_count)))


@builtin
def commit_group(_semantic: GluonSemantics = INJECTED) -> None:
    """Make a group of the copies since the last one."""
    _semantic.commit_copies()


@builtin
def wait_group(num_outstanding: Any = 0, _semantic: GluonSemantics = INJECTED) -> None:
    """Wait until at most ``num_outstanding`` groups are under way."""
    _semantic.wait_for_copies(unwrap(num_outstanding))
