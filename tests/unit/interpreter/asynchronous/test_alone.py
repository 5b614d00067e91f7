"""Programs whose warps are each executed by themselves, because some alone meet at a barrier: what is ordered by that
and what is not, exchanges in which all take part, and what each warp stores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.interpreter.asynchronous.test_reports import Host, found, module_of, without
from tritonx.interpreter.asynchronous import Kind, Order, Setting, Warps, execute
from tritonx.interpreter.errors import UnsupportedInInterpreter

HALVES = """
    %two = arith.constant 2 : i32
    %w = ttg.warp_id
    %late = arith.cmpi sge, %w, %two : i32
    %early = arith.cmpi slt, %w, %two : i32
"""

APART = f"""
{HALVES}
    %t = arith.constant dense<1.0> : tensor<16x16xf32, #rows>
    %m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> ALLOC
    amdg.cond_barrier %late
    ttg.local_store %t, %m : tensor<16x16xf32, #rows> -> ALLOC
    ttg.local_barrier
    rocdl.s.setprio 1
    ttg.local_barrier
    %r = ttg.local_load %m : ALLOC -> tensor<16x16xf32, #columns>
    amdg.cond_barrier %early
"""
"""The upper half is a barrier late: its stores are between the two barriers of the lower one."""


@pytest.mark.parametrize("seed", range(5))
def test_halves_that_are_a_barrier_apart(seed: int) -> None:
    order = Order(seed)
    assert found(APART, 1024) == set()
    reports = execute(module_of(without(APART, "local_barrier"), 1024), 1, arguments(), Setting(order=order))
    assert {Kind.NOT_VISIBLE} <= {r.kind for r in reports} <= {Kind.NOT_VISIBLE, Kind.OVERWRITE, Kind.UNWRITTEN}


def arguments() -> list[object]:
    x = np.zeros((64, 64), np.float16)
    return [x, x.copy(), Host(x.copy())]


@pytest.mark.parametrize("line", ["%late", "%early"])
def test_a_half_that_is_left_waiting(line: str) -> None:
    assert found(without(APART, f"cond_barrier {line}"), 1024) == {Kind.HANG}


def test_all_take_part_in_an_exchange() -> None:
    converted = "    %c = ttg.convert_layout %t {allocation.offset = 1024 : i32} : FROM -> TO\n".replace(
        "FROM", "tensor<16x16xf32, #rows>"
    ).replace("TO", "tensor<16x16xf32, #columns>")
    assert found(f"{APART}{converted}", 2048) == set()
    assert Kind.DIVERGED in found(APART.replace("    %r = ", f"{converted}    %r = "), 2048)


STORED = f"""
{HALVES}
    amdg.cond_barrier %late
    amdg.cond_barrier %early
    %n = arith.sitofp %w : i32 to f16
    %v = tt.splat %n : f16 -> tensor<64x16xf16, #rows>
    %s = tt.make_range {{start = 0 : i32, end = 16 : i32}} : tensor<16xi32, #slice>
    %d0 = tt.make_range {{start = 0 : i32, end = 64 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = #rows}}>>
    %d1 = tt.expand_dims %d0 {{axis = 1 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = #rows}}>> -> tensor<64x1xi32, #rows>
    %k = arith.constant dense<16> : tensor<64x1xi32, #rows>
    %d2 = arith.muli %d1, %k : tensor<64x1xi32, #rows>
    %d3 = tt.broadcast %d2 : tensor<64x1xi32, #rows> -> tensor<64x16xi32, #rows>
    %e0 = tt.expand_dims %s {{axis = 0 : i32}} : tensor<16xi32, #slice> -> tensor<1x16xi32, #rows>
    %e1 = tt.broadcast %e0 : tensor<1x16xi32, #rows> -> tensor<64x16xi32, #rows>
    %at = arith.addi %d3, %e1 : tensor<64x16xi32, #rows>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>, #rows>
    %q = tt.addptr %p, %at : tensor<64x16x!tt.ptr<f16>, #rows>, tensor<64x16xi32, #rows>
    tt.store %q, %v : tensor<64x16x!tt.ptr<f16>, #rows>
    tt.store %y, %n : !tt.ptr<f16>
"""  # noqa: E501


def test_each_warp_stores_its_elements() -> None:
    """Four rows a warp, again and again; the first warp stores scalars."""
    given = arguments()
    assert execute(module_of(STORED, 0), 1, given) == ()
    x, y, _ = given
    assert isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
    expected = np.arange(64) // 4 % 4
    np.testing.assert_array_equal(x.reshape(-1)[:1024].reshape(64, 16), np.tile(expected[:, None], (1, 16)))
    assert y[0, 0] == 0


def test_what_is_refused() -> None:
    """Some warps' barrier where all are executed together, and what all warps together do once."""
    module, setting = module_of(APART, 1024), Setting(warps=Warps.TOGETHER)
    with pytest.raises(UnsupportedInInterpreter, match=r"warp_id.*differs"):
        execute(module, 1, arguments(), setting)
    condition = module_of("    amdg.cond_barrier %true\n", 0)
    with pytest.raises(UnsupportedInInterpreter, match="barrier of some warps"):
        execute(condition, 1, arguments(), replace(setting, warps=Warps.APART))
    atomic = f"{HALVES}    amdg.cond_barrier %late\n    %one = arith.constant 1.0 : f16\n"
    atomic += "    %old = tt.atomic_rmw fadd, relaxed, gpu, %x, %one : (!tt.ptr<f16>, f16) -> f16\n"
    with pytest.raises(UnsupportedInInterpreter, match="once for each warp"):
        execute(module_of(atomic, 0), 1, arguments())
