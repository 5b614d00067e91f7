"""The modules of Triton's compiled part, ``triton._C.libtriton``, that there are none of here."""

from __future__ import annotations

ABSENT: dict[str, str] = {
    "amd": "what is compiled for these GPUs goes through `tritonx.backends`, whose passes are others",
    "gluon_ir": "kernels of Gluon, Triton's second language, cannot be compiled",
    "interpreter": "kernels are interpreted by `tritonx.interpreter`, in Python",
    "llvm": "LLVM is reached through llvmlite, by the backends",
    "passes": "the passes are Python's, and run by name: `tritonx.transforms`, ``tritonx opt``",
    "proton": "the ops that Proton adds to kernels are others here; the profiler is `tritonx.profiler`",
}
"""Module → why."""
