"""Hints to LLVM's instruction scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["sched_barrier"]


@amd_builtin
def sched_barrier(allow: object = None, _semantic: GluonSemantics = INJECTED) -> None:
    """The instruction scheduler moves no instruction across this place. ``allow`` would name kinds that may be; there
    is none but None so far. Raises TypeError for what is no name, ValueError for a name."""
    given = unwrap(allow)
    kinds = cast("list[object]", [*given]) if isinstance(given, list | tuple) else [given]
    for name in map(unwrap, kinds):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"a kind of instructions is given by its name, got {name!r}")
        if name is not None:
            raise ValueError(f"Unsupported instruction class: {name!r}")
    _semantic.schedule_barrier()
