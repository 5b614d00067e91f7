"""Stages of a loop that warps are to be in at different times."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

MOST = 3
"""Of the priorities that `s_setprio` sets."""


class Stage:
    """What is in a ``with`` block of `warp_pipeline_stage`."""

    def __init__(self, semantic: GluonSemantics, label: str | None, priority: int | None) -> None:
        self._semantic = semantic
        self._label = label
        self._priority = priority

    def __enter__(self) -> Stage:
        if self._priority:
            self._semantic.set_priority(self._priority)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        if self._priority:
            self._semantic.set_priority(0)
        self._semantic.border_of_stage(self._label or "cluster", self._priority)


@amd_builtin
def warp_pipeline_stage(
    label: object = None, *, priority: object = None, _semantic: GluonSemantics = INJECTED
) -> Stage:
    """``with warp_pipeline_stage("load", priority=2):`` has the instruction scheduler move nothing across the block's
    end, and the warp issue its instructions before those of warps of a lower ``priority`` (0 to 3; 0 unless given).
    Warps are not set a stage apart, as Triton sets them. Raises AssertionError for another priority, TypeError for a
    label that is no string."""
    name, number = unwrap(label), unwrap(priority)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"a stage is named by a string, got {name!r}")
    assert number is None or (isinstance(number, int) and 0 <= number <= MOST), f"priority must be 0 to {MOST}"
    return Stage(_semantic, name, number)
