"""Passes that are made for a target, named in the text of a pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from tritonx.backends.registry import parse_target
from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts
from tritonx.tools.opt_diagnostics import Diagnostic
from tritonx.tools.opt_pipeline import parse_passes

OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("cuda:80", {"num_warps": 8}),
    ("cuda:90", {"num_ctas": 2}),
    ("hip:gfx942", {"num_warps": 2, "kpack": 2, "matrix_instr_nonkdim": 16}),
    ("hip:gfx1100", {}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_the_text_of_a_pass_makes_it_again(name: str, options: dict[str, Any]) -> None:
    backend, target = parse_target(name)
    gpu = backend.gpu_target(target, backend.parse_options(target, options))
    assert gpu is not None
    made = AssignLayouts(gpu)
    assert parse_passes(str(made.spec())) == (made,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("assign-layouts", "name a target"),
        ('assign-layouts{target="nothing:1"}', "nothing"),
        ('assign-layouts{target="cuda:80" num_warps=3}', "num_warps must be a power of 2, got 3"),
        ('assign-layouts{target="cpu"}', "cpu has no layouts"),
    ],
)
def test_a_target_that_is_none_is_told(text: str, message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        parse_passes(text)
