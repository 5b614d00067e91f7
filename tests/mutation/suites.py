"""The tests of CI that should notice a change, by folder: each step is the arguments of one pytest, fast ones first.

A mutant that these do not notice may still fall to another test of CI; what the command counts is a lower bound.
"""

from __future__ import annotations

Step = tuple[str, ...]

FILECHECK = "tests/test_filecheck.py"
SUITE = "tests/language/test_conformance.py"
TARGETS = "tests/language/test_conformance_targets.py"

OPENCL: Step = ("plugins/tritonx-opencl/tests/test_conformance.py", "-k", "one_lane")
CPU: Step = (SUITE, "-k", "cpu")
INTERPRETER: Step = (SUITE, "-k", "interpreter or python")

SUITES: dict[str, tuple[Step, ...]] = {
    "tritonx/frontend": (
        ("tests/unit/frontend", "tests/filecheck/frontend", "tests/unit/language", "tests/language/test_promotion.py"),
        ("tests/peer/test_frontend.py", "tests/peer/test_language.py", "tests/unit/interpreter"),
        INTERPRETER,
    ),
    "tritonx/layouts": (
        ("tests/unit/layouts", "tests/unit/conversion/tile_to_gpu", "tests/unit/tools/test_layout.py"),
        (FILECHECK, "tests/peer/test_layouts.py", "tests/peer/test_tile_to_gpu.py"),
        ("tests/unit/backends/nvidia", "tests/unit/backends/amd/test_matrix_layouts.py"),
        OPENCL,
        (TARGETS,),
    ),
    "tritonx/analysis": (
        ("tests/unit/analysis", "tests/unit/transforms", FILECHECK),
        ("tests/unit/backends/cpu", "tests/unit/conversion", "tests/unit/backends/nvidia"),
        CPU,
        OPENCL,
    ),
    "tritonx/transforms": (
        ("tests/unit/transforms", "tests/unit/tools/test_opt.py"),
        (FILECHECK, "-k", "transforms or tools or backends"),
        ("tests/unit/conversion", "tests/unit/backends/nvidia", "tests/unit/backends/cpu", "tests/unit/differential"),
        OPENCL,
        CPU,
    ),
    "tritonx/conversion/tile_to_gpu": (
        ("tests/unit/conversion/tile_to_gpu", FILECHECK, "tests/peer/test_tile_to_gpu.py"),
        ("tests/unit/backends/nvidia", "tests/unit/transforms/gpu", "tests/unit/differential"),
        OPENCL,
        (TARGETS,),
    ),
    "tritonx/conversion/tile_to_loops": (
        ("tests/unit/conversion/tile_to_loops", "tests/unit/backends/cpu"),
        ("tests/unit/differential", "tests/unit/language/test_standard.py"),
        CPU,
    ),
    "tritonx/conversion/gpu_to_llvm": (
        ("tests/unit/conversion/gpu_to_llvm", "plugins/tritonx-opencl/tests/test_lookup.py"),
        (FILECHECK, "-k", "backends or conversion"),
        OPENCL,
        ("tests/unit/backends/nvidia", "tests/unit/backends/amd"),
        (TARGETS,),
    ),
    "tritonx/backends/nvidia": (
        ("tests/unit/backends/nvidia",),
        (FILECHECK, "-k", "nvidia or conversion or transforms"),
        ("tests/unit/backends/test_registry.py", "tests/unit/runtime"),
        (TARGETS,),
    ),
    "tritonx/interpreter": (
        ("tests/unit/interpreter", "tests/unit/transforms/tile/test_random.py"),
        ("tests/unit/language", "tests/unit/frontend", "tests/unit/analysis"),
        INTERPRETER,
    ),
}
