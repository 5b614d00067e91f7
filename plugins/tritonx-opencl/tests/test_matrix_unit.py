"""A matrix unit from outside tritonx: products go through it, and are right.

``TRITONX_CONFORMANCE=full`` runs every product of the conformance suite."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tritonx.backends.api import Compilation, run_stages
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.verify import verify
from tritonx_testing.conformance import cases
from tritonx_testing.conformance.device import BackendDevice
from tritonx_testing.conformance.isolated import outcome

sys.path.insert(0, str(Path(__file__).parent))

from made_up_backend import BACKEND

SEED = int(os.environ["TRITONX_SEED"])
PARTS = 1 if os.environ.get("TRITONX_CONFORMANCE") == "full" else 12


def compiled(element: str, shape: tuple[int, int, int], sums: str = "f32") -> str:
    """`ttg` of one product for ``matrix:v1``."""
    m, n, k = shape
    a, b, c = f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}x{sums}>"
    pointers = c.replace(sums, f"!tt.ptr<{sums}>")
    text = f"""
tt.func public @f(%x: tensor<{m}x{k}x!tt.ptr<{element}>>, %y: tensor<{k}x{n}x!tt.ptr<{element}>>, %z: {pointers}) {{
  %zero = arith.constant dense<0.000000e+00> : {c}
  %a = tt.load %x : tensor<{m}x{k}x!tt.ptr<{element}>>
  %b = tt.load %y : tensor<{k}x{n}x!tt.ptr<{element}>>
  %d = tt.dot %a, %b, %zero : {a} * {b} -> {c}
  tt.store %z, %d : {pointers}
  tt.return
}}
"""
    target = BACKEND.parse_target("v1")
    options = BACKEND.parse_options(target, {"num_warps": 1})
    compilation = Compilation(target, options)
    module = parse_module(text)
    run_stages(module, BACKEND.stages(target, options)[:2], compilation)
    verify(module)
    return print_module(module)


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_its_products_have_its_layouts(element: str) -> None:
    text = compiled(element, (16, 16, 8))
    (dot,) = [line for line in text.splitlines() if "tt.dot" in line]
    assert dot.count("#linear") == 3, text
    assert "register = [[1, 0], [2, 0], [0, 1], [0, 2]], lane = [], warp = [[4, 0]" in text


@pytest.mark.parametrize(("element", "shape", "sums"), [("f16", (16, 16, 8), "f16"), ("f32", (16, 2, 8), "f32")])
def test_the_threads_multiply_what_it_does_not_take(element: str, shape: tuple[int, int, int], sums: str) -> None:
    text = compiled(element, shape, sums)
    (dot,) = [line for line in text.splitlines() if "tt.dot" in line or "ttg.local_dot" in line]
    assert "#linear" not in dot and "#blocked" in dot


@pytest.mark.parametrize("family", ["dot", "dot_cuts"])
def test_products_are_right(family: str, device: None) -> None:
    chosen = [case for case in cases() if case.name.partition("/")[0] == family]
    where, wrong = BackendDevice(BACKEND), list[str]()
    for case in chosen[SEED % PARTS :: PARTS]:
        kind, message = outcome(case, where, SEED)
        if kind not in ("passed", "skipped", "unsupported"):
            wrong.append(f"{kind} {case.name}: {message[:1000]}")
    assert not wrong, f"seed {SEED}\n" + "\n".join(wrong)
