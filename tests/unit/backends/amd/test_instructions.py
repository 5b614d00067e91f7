"""Which instructions small kernels come to on each processor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.backends.instruction_table import KERNELS, check, told
from tritonx.backends.amd.targets import PROCESSORS

OF_INTEREST = re.compile(
    r"(?:v_mfma|v_wmma|v_cvt|v_dot|v_pk_|v_permlane|v_readlane|v_\w*_dpp|ds_|global_|buffer_|s_waitcnt|s_barrier|v_exp"
    r"|v_max3|v_maximum)\w*"
)
"""The instructions that processors differ in."""
TYPES = {
    "fp32": np.float32,
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp8e5": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "u8": np.uint8,
    "i32": np.int32,
}


@pytest.mark.parametrize("name", KERNELS)
def test_instructions(name: str, compiled: Any) -> None:
    kernel, signature, constants = KERNELS[name]
    values = [np.zeros(4096, TYPES[t[1:]]) if t.startswith("*") else 128 for t in signature.values()]
    made = {
        target: compiled(target, kernel, values, constants, until="amdgcn").stages["amdgcn"] for target in PROCESSORS
    }
    expected = Path(__file__).with_name("instructions.expected")
    check(expected, name, {target: told(text, OF_INTEREST) for target, text in made.items()})
