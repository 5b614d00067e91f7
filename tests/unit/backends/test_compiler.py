"""Triton's interface of a backend: a compile stage by stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.compiler import ASTSource, make_backend


@tritonx.jit
def doubled(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "cpu"])
def test_stages_one_by_one(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As libraries run them that compile by themselves: what the compiler makes."""
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    backend = make_backend(target)
    options = backend.parse_options({"num_warps": 2})
    source = ASTSource(doubled, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 256})
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options)
    made: Any = source.make_ir(backend.target, options, {}, {}, None)
    metadata: dict[str, Any] = {}
    whole = tritonx.compile(source, target=backend.target, options={"num_warps": 2})
    for name, stage in stages.items():
        if name == backend.binary_ext:
            break  # takes a tool, which need not be there
        made = stage(made, metadata)
        assert str(made) == whole.asm[name]
    assert metadata["num_warps"] == 2
