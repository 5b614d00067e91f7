"""What the OpenCL implementation itself gets wrong, with the proof that it is not the code it was given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """``case`` of the conformance suite on ``target`` (of ``TARGETS``) does ``what``; ``proof`` says why the
    driver is at fault."""

    case: str
    target: str
    what: str
    proof: str


CRASH_REPORT = "PLEASE submit a bug report to https://software.intel.com"
"""What its compiler prints when it crashes, which it does about once in 300 kernels with sub-groups. The same kernels
built three times out of three when they were tried alone."""

SLOW_BUILD = "clBuildProgram takes minutes"
PROOF = "with -cl-opt-disable (opencl:items) the same module builds in under a second and is right"

DEFECTS: tuple[Defect, ...] = (
    Defect("casts/fp64-256-w4", "spirv", SLOW_BUILD, PROOF),
    Defect("shape/reshape-int8-16x128-w1", "spirv", SLOW_BUILD, PROOF),
)
"""Of intel-opencl-rt 2026.2. A case that stands here is not run on that target."""


def known(case: str, target: str) -> Defect | None:
    """The defect that makes this case useless there."""
    return next((d for d in DEFECTS if (d.case, d.target) == (case, target)), None)
