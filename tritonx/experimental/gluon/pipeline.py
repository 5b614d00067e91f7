"""What a module of Gluon's front end needs before it is as any other `ttg`."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.transforms.gluon.gluon_resolve_auto_encodings import GluonResolveAutoEncodings
from tritonx.transforms.tile.cse import CommonSubexpressionElimination
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.fold import Fold


def gluon_passes() -> tuple[ModulePass, ...]:
    """Open layouts are found, and what the program computes twice or for nothing goes; copies, barriers and waits stay
    where the program has them.

    >>> [one.name for one in gluon_passes()][0]
    'gluon-resolve-auto-encodings'
    """
    return (
        GluonResolveAutoEncodings(),
        Fold(),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
    )
