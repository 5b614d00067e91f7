"""What a module of Gluon's front end needs before it is as any other `ttg`."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.transforms.tile.dce import DeadCodeElimination


def gluon_passes() -> tuple[ModulePass, ...]:
    """Unused ops go, so that no layout is looked for in vain. Equal ops were
    merged as they were made, but for those whose layouts are open: the backend's stage finds these first.

    >>> [one.name for one in gluon_passes()]
    ['dce']
    """
    return (DeadCodeElimination(),)
