"""Which instructions small kernels come to on each compute capability."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from instruction_table import KERNELS, check, told  # pyright: ignore[reportMissingImports]

from tritonx.backends.nvidia.targets import CAPABILITIES

OF_INTEREST = re.compile(
    r"(?:mma|wgmma|ldmatrix|stmatrix|cp|mbarrier|fence|redux|shfl|vote|atom|red|cvt|ex2|tanh|membar|st\.async"
    r"|(?:ld|st)\.(?:global|shared)[\w.:]*\.v\d|add\.\w*x2|fma\.\w*x2|max\.\w*(?:x2|NaN))[\w.:]*"
)
"""The instructions that capabilities differ in."""


@pytest.mark.parametrize("name", KERNELS)
def test_instructions(name: str, compiler: Any) -> None:
    kernel, signature, constants = KERNELS[name]
    made = {str(n): compiler(kernel, str(n), signature, constants, until="ptx").ptx for n in CAPABILITIES}
    check(
        Path(__file__).with_name("instructions.expected"), name, {n: told(ptx, OF_INTEREST) for n, ptx in made.items()}
    )
