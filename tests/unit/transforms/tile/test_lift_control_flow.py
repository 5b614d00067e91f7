"""Blocks that paths share without meeting in them are copied to each, up to a limit."""

from __future__ import annotations

import pytest

from tritonx.dialects import arith, tile
from tritonx.ir.failure import PassError
from tritonx.ir.text import parse_module
from tritonx.transforms.tile import lift_control_flow


def crossing(levels: int) -> str:
    """From each level both branches go to either block of the next, so that each level doubles the copies: level n has
    an op for each of its 2**n copies."""
    lines = ["cf.cond_br %c, ^a0, ^b0"]
    for level in range(levels):
        for side in "ab":
            lines += [f"^{side}{level}:", f"%{side}{level} = arith.addi %n, %n : i32"]
            last = level == levels - 1
            lines.append("tt.return %n : i32" if last else f"cf.cond_br %c, ^a{level + 1}, ^b{level + 1}")
    return "tt.func public @f(%c: i1, %n: i32) -> i32 {\n" + "\n".join(lines) + "\n}\n"


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_copies_are_counted(levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sum(2**level for level in range(1, levels + 1))
    for limit, fits in ((made, True), (made - 1, False)):
        monkeypatch.setattr(lift_control_flow, "COPY_LIMIT", limit)
        module = parse_module(crossing(levels))
        (function,) = (op for op in module.ops if isinstance(op, tile.FuncOp))
        if fits:
            assert lift_control_flow.lift_function(function)
            assert len(function.body.blocks) == 1
            assert sum(isinstance(op, arith.AddiOp) for op in module.walk()) == made
        else:
            with pytest.raises(PassError, match="share too many blocks"):
                lift_control_flow.lift_function(function)


def test_what_would_take_forever_is_refused() -> None:
    (function,) = (op for op in parse_module(crossing(60)).ops if isinstance(op, tile.FuncOp))
    with pytest.raises(PassError, match="share too many blocks"):
        lift_control_flow.lift_function(function)
