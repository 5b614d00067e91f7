"""The layouts that follow from requests are those of the Triton wheel, and the programs that are refused the same.

Which elements a thread holds is compared, not in which registers: Triton leaves some copies out where a reshape's
layout follows, and where the layouts of two neighbours fit a value it takes the one whose text has the larger hash.
With several requests it refuses some programs for that choice, which are accepted here.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tests.unit.transforms.gluon.programs import Program
from tritonx.dialects.gluon import AUTO, SetAutoLayoutOp
from tritonx.dialects.gpu_layout import distributed_encoding
from tritonx.ir.failure import PassError
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.types import encoding_of, is_tensor, shape_of, type_of
from tritonx.layouts import linear_layout
from tritonx.transforms.gluon.gluon_resolve_auto_encodings import GluonResolveAutoEncodings

pytestmark = pytest.mark.peer
if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

SEED = int(os.environ["TRITONX_SEED"])
PROGRAMS = 40
ORACLE = Path(__file__).with_name("gluon_requests_oracle.py")


def ask(texts: list[str], folder: Path) -> list[str | None]:
    out = folder / "resolved.json"
    done = subprocess.run(
        [sys.executable, str(ORACLE), str(out)], input=json.dumps(texts), capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(out.read_text())


def resolved(text: str) -> ModuleOp | None:
    module = parse_module(text, "random")
    try:
        GluonResolveAutoEncodings().apply(pass_context(), module)
    except PassError:
        return None
    return module


def tiles(module: ModuleOp) -> list[SSAValue]:
    values = [result for op in module.walk() if not isinstance(op, SetAutoLayoutOp) for result in op.results]
    return [value for value in values if is_tensor(type_of(value))]


def held(value: SSAValue) -> tuple[object, ...]:
    """The elements of each thread."""
    type_ = type_of(value)
    layout = linear_layout(distributed_encoding(type_), shape_of(type_))
    registers = {column for column in layout.columns("register") if column}
    return registers, layout.columns("lane"), layout.columns("warp")


def same(ours: ModuleOp, theirs: ModuleOp) -> bool:
    return [held(value) for value in tiles(ours)] == [held(value) for value in tiles(theirs)]


def with_more_requests(text: str, answer: str, rng: Random) -> str:
    """The program in which more values are asked for the layouts that the wheel gives them anyway."""
    module, known = parse_module(text, "random"), parse_module(answer, "theirs")
    pairs = [
        (value, other)
        for value, other in zip(tiles(module), tiles(known), strict=True)
        if encoding_of(type_of(value)) == AUTO
    ]
    for value, other in rng.sample(pairs, min(3, len(pairs))):
        made = SetAutoLayoutOp.create(operands=(value,), result_types=(type_of(other),))
        op = value.owner
        assert isinstance(op, Operation) and op.parent is not None
        op.parent.insert_op_after(made, op)
    return print_module(module)


def test_random_programs(tmp_path: Path) -> None:
    rng = Random(SEED)
    texts = [print_module(Program(rng).module()) for _ in range(PROGRAMS)]
    answers = ask(texts, tmp_path)
    kept: list[tuple[str, str]] = []
    for text, answer in zip(texts, answers, strict=True):
        ours = resolved(text)
        assert (ours is None) == (answer is None), text
        if ours is not None and answer is not None:
            kept.append((text, answer))
            assert same(ours, parse_module(answer, "theirs")), f"{text}\n{print_module(ours)}\n{answer}"
    assert len(kept) * 4 >= PROGRAMS
    asked = [with_more_requests(text, answer, rng) for text, answer in kept]
    for text, answer in zip(asked, ask(asked, tmp_path), strict=True):
        if answer is not None:
            ours = resolved(text)
            assert ours is not None and same(ours, parse_module(answer, "theirs")), f"{text}\n{answer}"
