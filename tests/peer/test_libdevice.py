"""The device library's functions as Triton compiles them: the same arithmetic.

Both link the same file; what may differ is how it is optimised, whether products and sums may be fused, and how
subnormal numbers are treated. All of that shows in the PTX: as many products, quotients and instructions of the
special-function unit of each kind, none of them marked for flushing that Triton's are not. Products that several sums
read are computed by themselves here (``library_excerpt``), which Triton fuses with each: there may be more of them.
(Two versions of LLVM write sums differently, x + (-y) or x - y, 1·x + y or x + y; so these are not counted one by one.)
A sample with a fresh seed; ``TRITONX_CONFORMANCE=full`` compares every overload of every name.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tritonx.backends.api import Compilation, run_stages
from tritonx.backends.nvidia import BACKEND
from tritonx.interpreter.ir_launch import bind
from tritonx_testing.conformance.values import DTYPES
from tritonx_testing.library_kernels import BLOCK, WARPS, functions, kernels

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(find_spec("triton") is None, reason="the Triton wheel is not installed"),
]

SEED = int(os.environ["TRITONX_SEED"])
WITH_LOOPS = ("jn_", "yn_", "pow_fp32_int32", "pow_fp64_int32")
"""Two versions of LLVM unroll loops differently."""

_COUNTED = re.compile(
    r"\s(?:@!?%p\d+ )?((?:mul|div|sqrt|rsqrt|rcp|ex2|lg2|sin|cos|tanh)(?:\.\w+)*\.f(?:32|64)|fma(?:\.\w+)*\.ftz\.f32"
    r"|cvt(?:\.r\w+)?(?:\.ftz)?\.f\d+\.f\d+|copysign\.f\d+)\s"
)


def counts(ptx: str) -> Counter[str]:
    """Of each instruction; whether a product of the library may be fused is left out."""
    return Counter(re.sub(r"^mul\.rn\.(?=f)", "mul.", name) for name in _COUNTED.findall(ptx[ptx.index(".entry") :]))


def sums(ptx: str) -> int:
    """Additions of any kind, fused ones among them."""
    return len(re.findall(r"\s(?:add|sub|fma)(?:\.\w+)*\.f(?:32|64)\s", ptx))


def ours(kernel: Any, types: tuple[str, ...], result: str, **given: Any) -> str:
    target = BACKEND.parse_target("90")
    options = BACKEND.parse_options(target, {"num_warps": WARPS, **given})
    arrays = [np.zeros(BLOCK, DTYPES[t]) for t in (*types, result)]
    module = bind(kernel, arrays, {}, options, target).module
    stages = BACKEND.stages(target, options)
    upto = [s.name for s in stages].index("ptx") + 1
    return run_stages(module, stages[:upto], Compilation(target, options))["ptx"]


def test_the_arithmetic_is_that_of_triton(tmp_path: Path) -> None:
    chosen = sorted(functions())
    if os.environ.get("TRITONX_CONFORMANCE") != "full":
        chosen = ["tanh_fp32", *Random(SEED).sample(chosen, 8)]
    script = Path(__file__).with_name("libdevice_oracle.py")
    done = subprocess.run(
        [sys.executable, str(script), "90"], input="\n".join(chosen), capture_output=True, text=True, check=True
    )
    theirs = json.loads(done.stdout)
    assert set(theirs) >= set(chosen) - {"fast_tanhf_fp32"}  # which the library lacks
    module, different = kernels("tritonx", chosen, str(tmp_path)), list[str]()
    for name, expected in theirs.items():
        _, types, result = functions()[name]
        got = ours(getattr(module, name), types, result)
        left, right = counts(got), counts(expected["ptx"])
        more = {kind: count for kind, count in (left - right).items() if not kind.startswith("mul.f")}
        if (more or right - left) and not name.startswith(WITH_LOOPS):
            different.append(f"{name}: here also {more}, Triton also {dict(right - left)}")
        if set(left) - set(right):
            different.append(f"{name}: {set(left) - set(right)} are not in Triton's")
    assert not different, f"{len(different)} of {len(theirs)} (seed {SEED}):\n" + "\n".join(different)
