"""mbarriers: counters in shared memory that threads and copies arrive at, phase by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.experimental.gluon.language.core import allocate_shared_memory, num_ctas
from tritonx.experimental.gluon.layouts import SwizzledSharedLayout
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.standard import jit
from tritonx.language.types.dtypes import int64
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.constexpr_function import constexpr_function

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["MBarrierLayout", "allocate_mbarrier", "arrive", "init", "invalidate", "wait"]


class MBarrierLayout(SwizzledSharedLayout):
    """Where mbarriers are: one behind the other, in the blocks that ``cga_layout`` says.

    >>> from tritonx.experimental.gluon.language.nvidia.ampere import mbarrier
    >>> mbarrier.MBarrierLayout().order
    [0]
    """

    def __init__(self, cga_layout: Any = None) -> None:
        super().__init__(vec=1, per_phase=1, max_phase=1, order=[0], cga_layout=unwrap(cga_layout) or [])

    @staticmethod
    @constexpr_function
    def multicta(num_ctas: Any, two_cta: Any = False) -> MBarrierLayout:
        """That of one barrier a block of a cluster, or one for two. Raises AssertionError for other numbers of
        blocks than powers of two."""
        blocks, pairs = unwrap(num_ctas), unwrap(two_cta)
        assert blocks > 0 and blocks & (blocks - 1) == 0, "num_ctas must be a positive power of two"
        assert not pairs or blocks % 2 == 0, "num_ctas must be even for two-CTA mode"
        count = blocks // 2 if pairs else blocks
        return MBarrierLayout([[0]] * bool(pairs) + [[1 << bit] for bit in range(count.bit_length() - 1)])


@constexpr_function
def batched(batch: Any, count: Any) -> list[int]:
    """The shape of ``batch`` rows of ``count``, or of one row for None. Raises AssertionError for another batch.

    >>> batched(4, 2)
    [4, 2]
    """
    rows = unwrap(batch)
    assert rows is None or isinstance(rows, int), f"batch must be a number known at compile time, got {rows}"
    return [unwrap(count)] if rows is None else [rows, unwrap(count)]


NOTHING, FALSE = constexpr(None), constexpr(False)


@jit
def allocate_mbarrier(batch: constexpr = NOTHING, two_ctas: constexpr = FALSE) -> Any:
    """Shared memory for an mbarrier in each block of a cluster, or for ``batch`` of them; `init` makes them."""
    blocks: constexpr = num_ctas()
    count: constexpr = blocks if not two_ctas else blocks // 2
    return allocate_shared_memory(int64, batched(batch, count), MBarrierLayout.multicta(blocks, two_ctas))


@builtin
def init(mbarrier: shared_memory_descriptor, count: Any, _semantic: GluonSemantics = INJECTED) -> None:
    """Make an mbarrier whose phases end after ``count`` arrivals."""
    _semantic.barrier_init(mbarrier, unwrap(count))


@builtin
def invalidate(mbarrier: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED) -> None:
    """End an mbarrier: its memory may be used for something else."""
    _semantic.barrier_invalidate(mbarrier)


@builtin
def wait(
    mbarrier: shared_memory_descriptor,
    phase: Any,
    pred: Any = True,
    deps: Any = (),
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Wait for the end of the phase whose parity is ``phase``, if ``pred`` is true. Memory of ``deps`` is written or
    read until then."""
    _semantic.barrier_wait(mbarrier, phase, pred, [*unwrap(deps)])


@builtin
def arrive(
    mbarrier: shared_memory_descriptor, *, pred: Any = True, from_cta: Any = None, _semantic: GluonSemantics = INJECTED
) -> None:
    """Arrive once, if ``pred`` is true."""
    _semantic.barrier_arrive(mbarrier, 1, pred, unwrap(from_cta))
