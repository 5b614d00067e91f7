"""What is drawn from, and the tests of CI that may notice it: the quick ones are measured first (reach.py)."""

from __future__ import annotations

from pathlib import Path

FOLDERS = (
    "tritonx/frontend",
    "tritonx/layouts",
    "tritonx/analysis",
    "tritonx/transforms",
    "tritonx/conversion/tile_to_gpu",
    "tritonx/conversion/tile_to_loops",
    "tritonx/conversion/gpu_to_llvm",
    "tritonx/backends/nvidia",
    "tritonx/interpreter",
)
TESTS = (
    "tests/unit/frontend", "tests/filecheck", "tests/unit/language", "tests/unit/interpreter", "tests/unit/layouts",
    "tests/unit/conversion", "tests/unit/tools", "tests/test_filecheck.py", "tests/unit/analysis",
    "tests/unit/transforms", "tests/unit/backends", "tests/unit/differential", "tests/unit/runtime", "tests/unit/ir",
    "tests/unit/dialects", "tests/unit/testing", "tests/peer", "plugins/tritonx-opencl/tests", "tests/language",
)  # fmt: skip


def test_files(root: Path) -> list[str]:
    """Every file of ``TESTS``, in that order."""
    found = [sorted((root / name).rglob("test_*.py")) or [root / name] for name in TESTS]
    return [str(file.relative_to(root)) for files in found for file in files]
