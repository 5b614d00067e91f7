"""mbarriers from 9.0 on: bytes of copies count too, and several arrivals at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.experimental.gluon.language.nvidia.ampere.mbarrier import (
    MBarrierLayout,
    allocate_mbarrier,
    init,
    invalidate,
    wait,
)
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["MBarrierLayout", "allocate_mbarrier", "arrive", "expect", "init", "invalidate", "wait"]


@builtin
def expect(
    mbarrier: shared_memory_descriptor,
    bytes_per_cta: Any = None,
    pred: Any = True,
    *,
    from_cta: Any = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Arrive once, and have the phase wait for as many bytes of copies as well, if ``pred`` is true."""
    _semantic.barrier_expect(mbarrier, unwrap(bytes_per_cta), pred, unwrap(from_cta))


@builtin
def arrive(
    mbarrier: shared_memory_descriptor,
    *,
    count: Any = 1,
    pred: Any = True,
    from_cta: Any = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Arrive ``count`` times, if ``pred`` is true."""
    _semantic.barrier_arrive(mbarrier, unwrap(count), pred, unwrap(from_cta))
