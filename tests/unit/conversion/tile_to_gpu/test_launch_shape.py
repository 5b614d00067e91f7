"""A module that says how it is launched is compiled for that or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.ir.failure import PassFailure
from tritonx.ir.pipeline import run_passes
from tritonx.ir.text import parse_module

TEXT = """
module attributes {ATTRIBUTES} {
  tt.func public @f(%x: !tt.ptr<f32>) {
    tt.return
  }
}
"""


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize(
    "said", [{}, {"ttg.num-warps": 4}, {"ttg.num-ctas": 2}, {"ttg.num-warps": 8, "ttg.num-ctas": 1}]
)
def test_what_the_module_says(said: dict[str, int], warps: int, ctas: int) -> None:
    attributes = ", ".join(f'"{name}" = {value} : i32' for name, value in said.items())
    module = parse_module(TEXT.replace("ATTRIBUTES", attributes), "said")
    target = replace(GpuTarget("test"), num_warps=warps, num_ctas=ctas)
    asked = {"ttg.num-warps": warps, "ttg.num-ctas": ctas}
    wrong = [name for name, value in said.items() if value != asked[name]]
    if not wrong:
        run_passes(module, [AssignLayouts(target)])
        return
    with pytest.raises(PassFailure) as raised:
        run_passes(module, [AssignLayouts(target)])
    name = "ttg.num-warps" if "ttg.num-warps" in wrong else wrong[0]
    option = name.removeprefix("ttg.").replace("-", "_")
    assert f"the module says {name} = {said[name]}, the compile options {option} = {asked[name]}" in str(raised.value)
    assert f"compile with {option}={said[name]}" in str(raised.value)
