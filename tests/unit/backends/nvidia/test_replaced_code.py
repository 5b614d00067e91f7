"""Code that a user puts in the compiler's place is launched with what it takes, or not at all."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.errors import UnsupportedArgument
from tritonx_testing.emulators.ptx.backend import active, emulated

N = 100


@tritonx.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    within = at < n
    tl.store(out + at, tl.load(x + at, within) + tl.load(y + at, within), within)


def edited(ptx: str, parameters: list[str]) -> str:
    """The code with a difference for the sum, and these parameters behind its own."""
    assert len(re.findall(r"add(\.rn)?\.f32", ptx)) > 0
    ptx = re.sub(r"add(\.rn)?\.f32", r"sub\1.f32", ptx)
    listed = "".join(f",\n\t.param {p} more_{i}" for i, p in enumerate(parameters))
    return re.sub(r"(\.entry add\([^)]*?)\s*\)", rf"\1{listed}\n)", ptx, count=1)


ADDRESS = ".u64 .ptr .global .align 1"


def run(path: Path | None, **options: Any) -> tuple[Any, Any, Any, Any]:
    generator = np.random.default_rng(27)
    x, y = (generator.standard_normal(N).astype(np.float32) for _ in range(2))
    out = np.full(N, np.nan, np.float32)
    given = {} if path is None else {"ir_override": str(path)}
    kernel = add[(2,)](x, y, out, N, BLOCK=64, **given, **options)
    return kernel, x, y, out


@pytest.mark.parametrize("count", [0, 1, 2])
def test_scratch_memories_of_triton_s_code_are_null(tmp_path: Path, count: int) -> None:
    with active(emulated("90")):
        kernel, *_ = run(None)
        path = tmp_path / "add.ptx"
        path.write_text(edited(kernel.asm["ptx"], [ADDRESS] * count))
        kernel, x, y, out = run(path)
        assert kernel.metadata.replaced == "ptx"
        np.testing.assert_array_equal(out, x - y)


@pytest.mark.parametrize("more", [[ADDRESS] * 3, [".u32"], [ADDRESS, ".u32"]])
def test_code_for_other_arguments_is_not_launched(tmp_path: Path, more: list[str]) -> None:
    with active(emulated("90")):
        kernel, *_ = run(None)
        path = tmp_path / "add.ptx"
        path.write_text(edited(kernel.asm["ptx"], more))
        with pytest.raises(UnsupportedArgument, match=r"8, 8, 8, 4, .* a launch has 8, 8, 8, 4: it was"):
            run(path)


def test_code_with_too_few_parameters_is_not_launched(tmp_path: Path) -> None:
    with active(emulated("90")):
        kernel, *_ = run(None)
        path = tmp_path / "add.ptx"
        path.write_text(re.sub(r",\s*\.param \.u32 add_param_3", "", kernel.asm["ptx"], count=1).replace(
            "[add_param_3]", "[add_param_2]"))  # fmt: skip
        with pytest.raises(UnsupportedArgument, match="takes parameters of 8, 8, 8 bytes"):
            run(path)


def test_a_driver_that_does_not_tell(tmp_path: Path) -> None:
    from tritonx.backends.nvidia.assembler.replaced_code import null_parameters

    class Older:
        pass

    older: Any = Older()
    assert null_parameters(older, 1, ["*fp32"], 0) == 0
