"""What the OpenCL implementation itself gets wrong, with the proof that it is not the code it was given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """``case`` of the conformance suite on ``target`` (``spirv`` or ``items``) does ``what``; ``proof`` says why the
    driver is at fault."""

    case: str
    target: str
    what: str
    proof: str


SLOW_BUILD = "clBuildProgram does not return within minutes"

DEFECTS: tuple[Defect, ...] = (
    Defect("casts/fp64-256-w4", "spirv", SLOW_BUILD, "built in 0.4 s and right with -cl-opt-disable (opencl:items)"),
)
"""Of intel-opencl-rt 2026.2. A case that stands here is not run on that target."""


def known(case: str, target: str) -> Defect | None:
    """The defect that makes this case useless there."""
    return next((d for d in DEFECTS if (d.case, d.target) == (case, target)), None)
