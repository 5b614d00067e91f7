"""Sine, cosine and tangent of large arguments: the function that kernels for GPUs call, compiled for the host and run.

The reference reduces the argument with integers: 2/π to 1,200 bits by Machin's formula."""

from __future__ import annotations

import ctypes
import math
import os
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from tritonx.conversion.gpu_to_llvm import trigonometry
from tritonx.conversion.llvm_writer import Module, Writer

SEED = int(os.environ["TRITONX_SEED"])
BITS = 1200


def compiled(name: str) -> tuple[Any, Any]:
    """The C function, and what keeps it alive."""
    f: Any = Writer(Module())
    result = trigonometry.large(f, f"@{name}", "%x")
    text = f.module.print(())
    body = "\n".join(f.lines)
    text += f"\ndefine float @called(float %x) {{\n{body}\n  ret float {result}\n}}\n"
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine: Any = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(engine.get_function_address("called")), engine


def pi_scaled() -> int:
    """π · 2^BITS, the last bits aside."""

    def arctangent_of_inverse(n: int) -> int:
        term = total = (1 << (BITS + 64)) // n
        k = 1
        while term:
            term //= -n * n
            total += term // (2 * k + 1)
            k += 1
        return total

    return 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239)) >> 64


PI = pi_scaled()
EXACT = {"sinf": math.sin, "cosf": math.cos, "tanf": math.tan}


def expected(name: str, x: float) -> float:
    numerator, denominator = x.as_integer_ratio()
    rest = ((numerator << BITS) // denominator) % (2 * PI)
    return EXACT[name](rest / (1 << BITS))


def arguments() -> list[np.float32]:
    rng = np.random.default_rng(SEED)
    drawn = rng.choice([-1, 1], 300) * np.exp2(rng.uniform(13, 128, 300))
    return [
        np.float32(x)
        for x in (*drawn, 8192.0, 105414.36, 2.0**127, 3.4028235e38, -1.0e30)
        if np.isfinite(np.float32(x))
    ]


@pytest.mark.parametrize("name", sorted(EXACT))
def test_large_arguments(name: str) -> None:
    function, _engine = compiled(name)
    for x in arguments():
        got, exact = function(float(x)), expected(name, float(x))
        error = abs(got - exact) / float(np.spacing(np.float32(abs(exact))))
        assert error <= 1, f"{name}({x!r}) is {got}, {error:.1f} ulps from {exact} (seed {SEED})"


@pytest.mark.parametrize("name", sorted(EXACT))
def test_what_has_no_angle(name: str) -> None:
    function, _engine = compiled(name)
    assert all(math.isnan(function(x)) for x in (math.inf, -math.inf, math.nan))
