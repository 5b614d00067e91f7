"""What the axis analysis says of every value of random kernels, with their loops, branches, jumps and calls, is true of
the numbers that the interpreter computes. `TRITONX_RANDOM_KERNELS=500` runs more of them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.axis_value import AxisInfo
from tritonx.interpreter.compare import Inputs, same_behaviour
from tritonx.interpreter.meanings import MEANINGS
from tritonx.ir.text import parse_module
from tritonx.ir.types import element_type, shape_of, type_of
from tritonx_testing.random_kernels import ELEMENTS, random_kernel

KERNELS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "12"))
SEED = int(os.environ["TRITONX_SEED"])


def wrong(info: AxisInfo, value: Any, bits: int) -> str | None:
    """Which claim about a tile of integers, or a scalar, is not true; integers wrap."""
    array = np.atleast_1d(np.asarray(value)).astype(object)
    for dim in range(array.ndim):
        lines = np.moveaxis(array, dim, -1).reshape(-1, array.shape[dim])
        run, step, same = info.contiguity[dim], info.divisibility[dim], info.constancy[dim]
        runs = lines.reshape(-1, run)
        if ((runs - runs[:, :1] - np.arange(run).astype(object)) % (1 << bits)).any():
            return f"contiguity along {dim}"
        if (runs[:, 0] % min(step, 1 << bits)).any():
            return f"divisibility along {dim}"
        if (lines.reshape(-1, same) != lines.reshape(-1, same)[:, :1]).any():
            return f"constancy along {dim}"
    if info.constant is not None and ((array - info.constant) % (1 << bits)).any():
        return "constant"
    return None


class Watch:
    """Holds what every op computes against the facts, while the interpreter runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.facts: AxisFacts | None = None
        self.checked = 0
        for op, meaning in list(MEANINGS.items()):
            monkeypatch.setitem(MEANINGS, op, self._watched(meaning))

    def _watched(self, meaning: Any) -> Any:
        def bind(op: Operation, binder: Any) -> Any:
            function = meaning(op, binder)

            def run(*operands: Any) -> Any:
                found = function(*operands)
                values = found if isinstance(found, tuple) else (found,)
                for result, value in zip(op.results, values, strict=False):
                    self._check(op, result, value)
                return found

            return run

        return bind

    def _check(self, op: Operation, result: Any, value: Any) -> None:
        element: Any = element_type(type_of(result))
        if self.facts is None or not isinstance(element, IntegerType):
            return
        if np.shape(value) != shape_of(type_of(result)):
            return  # a scalar of a region that is run for all elements at once
        info = self.facts.of(result)
        self.checked += 1
        claim = wrong(info, value, element.width.data)
        assert claim is None, f"{claim} of {op}: {info}, it is {value}"


def test_what_is_claimed_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(monkeypatch)
    for seed in range(SEED, SEED + KERNELS):
        module = parse_module(random_kernel(seed, length=20, depth=3))
        watch.facts = analyze_axes(module)
        try:
            same_behaviour(module, module, seed=seed, inputs=Inputs(elements=ELEMENTS, integers=(-50, 50)))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{module}") from error
    assert watch.checked > 20 * KERNELS


def test_loops_between_jumps_settle() -> None:
    """A loop that is visited again, because facts come back to a block before it."""
    module = parse_module("""
      tt.func public @f(%n: i32, %c: i1, %a: i32 {tt.divisibility = 16 : i32}) {
        %0 = arith.constant 0 : i32
        %1 = arith.constant 8 : i32
        cf.br ^head(%a : i32)
      ^head(%x: i32):
        %sum = scf.for %i = %0 to %n step %1 iter_args(%y = %x) -> (i32) : i32 {
          %z = scf.for %j = %0 to %n step %1 iter_args(%u = %y) -> (i32) : i32 {
            %v = arith.addi %u, %j : i32
            scf.yield %v : i32
          }
          scf.yield %z : i32
        }
        %more = arith.addi %sum, %1 : i32
        cf.cond_br %c, ^head(%more : i32), ^out
      ^out:
        %chosen = scf.execute_region -> i32 {
          cf.cond_br %c, ^one(%more : i32), ^two
        ^one(%p: i32):
          scf.yield %p : i32
        ^two:
          scf.yield %0 : i32
        }
        tt.return
      }
    """)
    facts = analyze_axes(module)
    found = {r.name_hint: facts.of(r).divisibility for op in module.walk() for r in op.results if r.name_hint}
    assert found["sum"] == found["more"] == found["z"] == found["chosen"] == (8,)


def test_a_constant_is_what_is_left_of_it() -> None:
    module = parse_module("""
      tt.func public @f() {
        %a = arith.constant 65536 : i32
        %c = arith.constant 63 : i32
        %product = arith.muli %a, %a : i32
        %least = arith.minsi %product, %c : i32
        %b = arith.constant 32768 : i32
        %negative = arith.muli %a, %b : i32
        tt.return
      }
    """)
    facts = analyze_axes(module)
    found = {r.name_hint: facts.of(r) for op in module.walk() for r in op.results if r.name_hint}
    assert [found[name].constant for name in ("product", "least", "negative")] == [0, 0, -(1 << 31)]
    assert not found["negative"].non_negative
