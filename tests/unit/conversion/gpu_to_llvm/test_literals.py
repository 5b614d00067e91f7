"""Numbers as LLVM's text has them."""

from __future__ import annotations

import math
import os
import struct
from random import Random

import ml_dtypes
import numpy as np
import pytest

from tritonx.conversion.llvm_text import float_literal, int_literal

SEED = int(os.environ["TRITONX_SEED"])


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_integers_wrap_and_are_printed_signed(width: int) -> None:
    random, half = Random(SEED), 1 << width - 1
    for value in (0, 1, -1, half - 1, half, -half, 2 * half - 1, *(random.randint(-half, 2 * half) for _ in range(50))):
        assert int_literal(value, width) == str((value + half) % (2 * half) - half), (value, SEED)


def test_one_bit() -> None:
    assert [int_literal(v, 1) for v in (0, 1, -1, 2)] == ["false", "true", "true", "false"]


def test_floats_are_their_bits() -> None:
    random = Random(SEED)
    values = [
        0.0,
        -0.0,
        1.5,
        -math.inf,
        math.inf,
        1e-45,
        65504.0,
        65520.0,
        3e38,
        *(random.gauss(0, 1) for _ in range(50)),
    ]
    for value in values:
        with np.errstate(over="ignore"):
            half, brain, single = np.float16(value), ml_dtypes.bfloat16(value), np.float32(value)
        assert float_literal(value, "half") == f"0xH{half.view(np.uint16):04X}", (value, SEED)
        assert float_literal(value, "bfloat") == f"0xR{brain.view(np.uint16):04X}", (value, SEED)
        for type_, held in (("float", float(single)), ("double", value)):
            text = float_literal(value, type_)
            found = struct.unpack(">d", bytes.fromhex(text[2:]))[0] if text.startswith("0x") else float(text)
            assert struct.pack("<d", found) == struct.pack("<d", held), (value, SEED)
