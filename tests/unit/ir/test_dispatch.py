"""Tables by op class: what they hold when the program runs, and what the type checker refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32

from tritonx.dialects import arith, tile
from tritonx.ir.builder import Builder
from tritonx.ir.dispatch import case, case_in
from tritonx.ir.properties import integer_property, integers_property
from tritonx.ir.types import f32, tensor

ROOT = Path(__file__).resolve().parents[3]


def test_one_class_and_several() -> None:
    def name(op: Any, mark: str) -> str:
        return op.name + mark

    def name_in(context: list[str], op: Any) -> None:
        context.append(op.name)

    assert case(arith.AddiOp, name) == {arith.AddiOp: name}
    assert case((arith.AddiOp, arith.SubiOp), name) == {arith.AddiOp: name, arith.SubiOp: name}
    assert case_in((tile.LoadOp, tile.StoreOp), name_in) == {tile.LoadOp: name_in, tile.StoreOp: name_in}


def test_properties_by_name() -> None:
    from xdsl.ir import Block

    block = Block(arg_types=(tensor(f32, (2, 4)),))
    builder = Builder(block)
    order = {"order": DenseArrayBase.from_list(i32, [1, 0])}
    transposed = builder.create(tile.TransOp, block.args, (tensor(f32, (4, 2)),), order)
    axis = {"axis": IntegerAttr(1, i32)}
    expanded = builder.create(tile.ExpandDimsOp, block.args, (tensor(f32, (2, 1, 4)),), axis)
    assert integers_property(transposed, "order") == (1, 0)
    assert integer_property(expanded, "axis") == 1
    with pytest.raises(KeyError):
        integer_property(transposed, "axis")
    with pytest.raises(AssertionError, match=r"tt\.trans has a number as 'order'"):
        integer_property(transposed, "order")


CHECKED = """
from collections.abc import Callable
from xdsl.ir import Operation, SSAValue
from tritonx.dialects import tile
from tritonx.ir.dispatch import case, case_in

Emit = Callable[[Operation, list[str]], None]
Rule = Callable[[list[str], Operation, int], SSAValue]

def load(op: tile.LoadOp, to: list[str]) -> None: ...
def store(op: tile.StoreOp, to: list[str]) -> None: ...
def access(op: tile.LoadOp | tile.StoreOp, to: list[str]) -> None: ...
def whatever(op: Operation, to: list[str]) -> None: ...
def other_state(op: tile.LoadOp, to: int) -> None: ...
def read(to: list[str], op: tile.LoadOp, at: int) -> SSAValue: ...
def written(to: list[str], op: tile.StoreOp, at: int) -> SSAValue: ...

GOOD: dict[type[Operation], Emit] = {
    **case(tile.LoadOp, load),
    **case(tile.StoreOp, access),
    **case((tile.LoadOp, tile.StoreOp), access),
    **case((tile.LoadOp, tile.StoreOp), whatever),
    **case(tile.LoadOp, lambda op, to: to.append(str(op.ptr))),
    tile.ReduceOp: whatever,
}
GOOD_IN: dict[type[Operation], Rule] = {**case_in(tile.LoadOp, read)}

A: dict[type[Operation], Emit] = {**case(tile.LoadOp, store)}  # wrong
B: dict[type[Operation], Emit] = {**case((tile.LoadOp, tile.StoreOp), load)}  # wrong
C: dict[type[Operation], Emit] = {**case(tile.LoadOp, other_state)}  # wrong
D: dict[type[Operation], Emit] = {tile.LoadOp: load}  # wrong
E: dict[type[Operation], Emit] = {**case(tile.LoadOp, lambda op, to: to.append(str(op.src)))}  # wrong
F: dict[type[Operation], Rule] = {**case_in(tile.LoadOp, written)}  # wrong
G: dict[type[Operation], Rule] = {**case_in(tile.LoadOp, load)}  # wrong
"""


def test_the_type_checker_holds_functions_against_their_classes(tmp_path: Path) -> None:
    source = tmp_path / "checked.py"
    source.write_text(CHECKED)
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "include": ["checked.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = {each["range"]["start"]["line"] for each in json.loads(done.stdout)["generalDiagnostics"]}
    assert found == {number for number, line in enumerate(CHECKED.splitlines()) if line.endswith("# wrong")}
