"""The table of ops and edge values on the instruction emulator: a share of it on each architecture, another with every
seed (``TRITONX_SEED`` fixes it); ``TRITONX_CONFORMANCE=full`` runs all."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tritonx_testing.differential import compare_group, groups

SHARE = 16
"""One group of this many runs."""


@dataclass(frozen=True)
class Difference:
    """An op whose code for a processor has another result than the interpreter, with the proof. ``settle`` gives the
    code's results where they differ so, and nowhere else, the interpreter's value."""

    processor: str
    group: str
    operation: str
    settle: Callable[[list[Any], Any], None]
    proof: str


def zeros_of_zeros(operands: list[Any], result: Any) -> None:
    with np.errstate(invalid="ignore"):
        result[(operands[0] == 0) & (result == 0)] = 0


def signals(x: Any) -> Any:
    """Which bfloats are signalling NaNs."""
    bits = x.view(np.uint16)
    return (bits & 0x7FFF > 0x7F80) & (bits & 0x40 == 0)


def quiet(x: Any) -> Any:
    """The values in f32; the host's own minima and maxima answer a signalling NaN by NaN as well."""
    wide = x.astype(np.float32)
    wide[np.isnan(wide)] = np.nan
    return wide


def as_number(choose: Any) -> Callable[[list[Any], Any], None]:
    """``choose`` of two operands, the numbers where one is a signalling NaN."""

    def settle(operands: list[Any], result: Any) -> None:
        x, y = map(quiet, operands)
        loud = signals(operands[0]) | signals(operands[1])
        result[loud] = choose(x, y).astype(result.dtype)[loud]

    return settle


def between(operands: list[Any], result: Any) -> None:
    x, y, z = map(quiet, operands)
    loud = signals(operands[0]) | signals(operands[1]) | signals(operands[2])
    chosen = np.fmin(np.fmax(x, np.fmin(y, z)), np.fmax(y, z))
    result[loud] = chosen.astype(result.dtype)[loud]


def of_rows(choose: Any) -> Callable[[list[Any], Any], None]:
    def settle(operands: list[Any], result: Any) -> None:
        rows = operands[0].reshape(len(result), -1)
        loud = signals(rows).any(axis=1)
        result[loud] = choose.reduce(quiet(rows), axis=1).astype(result.dtype)[loud]

    return settle


LOUD = (
    "LLVM takes the extension of a bfloat to f32 for an operation that quietens a signalling NaN, and writes it as a "
    "shift, which does not; so it leaves out V_MAX x, x in front of V_MIN, which in IEEE mode answers such a NaN by "
    "NaN (the documents of RDNA 3 and CDNA). The device does so too; RDNA 4 has no such mode."
)
ZERO = (
    "LLVM takes a difference 0 - x whose user has source modifiers for -x (`SelectVOP3ModsImpl` folds an fsub from "
    "either zero into `neg`): v_cvt_pk_bf16_f32 v1, -v1 and v_pack_b32_f16 v3, -v3, -v5. So -x of a zero x is -0 on "
    "the device too, as it is in Triton's code."
)
NEGATED_BY_A_MODIFIER = (("gfx950", "bf16"), ("gfx1100", "fp16"), ("gfx1201", "fp16"))
NONE = "propagate_nan=tl.PropagateNan.NONE)"
PROCESSORS_WITH_IEEE_MODE = ("gfx1100", "gfx950")

DIFFERENCES = (
    *(Difference(*where, "-x", zeros_of_zeros, ZERO) for where in NEGATED_BY_A_MODIFIER),
    *(
        Difference(processor, group, operation, settle, LOUD)
        for processor in PROCESSORS_WITH_IEEE_MODE
        for group, operation, settle in (
            ("bf16, bf16", f"tl.minimum(x, y, {NONE}", as_number(np.fmin)),
            ("bf16, bf16", f"tl.maximum(x, y, {NONE}", as_number(np.fmax)),
            ("bf16, bf16, bf16", f"tl.clamp(x, tl.minimum(y, z), tl.maximum(y, z), {NONE}", between),
            ("rows of bf16", "tl.min(x, 1)", of_rows(np.fmin)),
            ("rows of bf16", "tl.max(x, 1)", of_rows(np.fmax)),
        )
    ),
)
"""What differs and is not the emulator's doing. What was, is in ``document_code``."""

SEED = int(os.environ["TRITONX_SEED"])
GROUPS = groups() if os.environ.get("TRITONX_CONFORMANCE") == "full" else groups()[SEED % SHARE :: SHARE]


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.name.replace(" ", ""))
def test_agrees_with_the_interpreter(emulator: Any, group: Any) -> None:
    from tritonx.backends.amd import BACKEND

    options = BACKEND.parse_options(BACKEND.parse_target(emulator.arch), {})
    if group.needs - set(options.supported_fp8_dtypes):
        pytest.skip("the target lacks the types")

    def launch(kernel: Any, arrays: list[Any]) -> list[Any]:
        emulator(kernel, (1,), *arrays, enable_fp_fusion=False)
        count = len(group.operands)
        for number, operation in enumerate(group.operations if len(arrays) == count + len(group.operations) else ()):
            for known in DIFFERENCES:
                if (known.processor, known.group, known.operation) == (emulator.arch, group.name, operation.name):
                    known.settle(arrays[:count], arrays[count + number])
        return arrays

    failures = compare_group(group, "hip", launch, SEED)
    lacking = [f for f in failures if "[emu] Failed to compile" in f.what]
    wrong = [f for f in failures if f not in lacking]
    assert not wrong, f"seed {SEED}\n" + "\n".join(map(str, wrong))
    if lacking:
        pytest.skip(f"the emulator lacks instructions for {len(lacking)} ops: {lacking[0]}"[:200])
