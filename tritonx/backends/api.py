"""The contract between tritonx and a backend: the one module with a promise of stability (`contract/` has its parts).

A backend is a frozen value that a package names under the entry-point group ``tritonx.backends``::

    [project.entry-points."tritonx.backends"]
    mychip = "mychip_tritonx:BACKEND"

It says which targets it serves, with which options, through which stages a module becomes code, and which driver runs
that code. Compiling never touches the driver; the driver is loaded at the first launch. Nothing here imports xDSL,
llvmlite or numpy, so that a launch that hits a cache imports none of them either.
"""

from __future__ import annotations

from tritonx.backends.contract.backend import Backend
from tritonx.backends.contract.candidates import Candidate, Shortage
from tritonx.backends.contract.driver import Driver, KernelImage, LoadedKernel, Parameter
from tritonx.backends.contract.options import Language, Options, Target
from tritonx.backends.contract.stages import Compilation, EmitStage, PassStage, Stage, run_stages
from tritonx.backends.contract.timing import ClockTimer, LaunchTimer, OtherKernel

__all__ = [
    "API_VERSION",
    "STABLE_VERSION",
    "Backend",
    "Candidate",
    "ClockTimer",
    "Compilation",
    "Driver",
    "EmitStage",
    "KernelImage",
    "Language",
    "LaunchTimer",
    "LoadedKernel",
    "Options",
    "OtherKernel",
    "Parameter",
    "PassStage",
    "Shortage",
    "Stage",
    "Target",
    "run_stages",
]

API_VERSION = 2
"""Raised when a change here would break a backend that was written for the previous number."""

STABLE_VERSION = 1
"""The same of `tritonx.backends.gpu` and `tritonx.backends.tile`: what a backend's passes and emitters import."""
