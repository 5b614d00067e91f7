"""Barriers of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["barrier"]


@builtin
def barrier(relaxed: Any = False, _semantic: GluonSemantics = INJECTED) -> None:
    """The threads of all blocks of a cluster wait for each other; ``relaxed`` orders no memory."""
    _semantic.cluster_barrier(bool(unwrap(relaxed)))
