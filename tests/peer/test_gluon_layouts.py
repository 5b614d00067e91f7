"""Layouts of Gluon are those of Triton 3.9: of the same arguments they have the same fields, the same attribute in the
IR, the same linear layout on a shape and the same pictures.

The wheel in the first folder of ``TRITONX_LEVEL_PEERS`` that has that level, or the installed one."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from tritonx.dialects.gpu_layout.encodings import attribute_of
from tritonx.dialects.nvidia.encodings import TensorMemoryEncodingAttr, TensorMemoryScalesEncodingAttr
from tritonx.experimental.gluon import layouts as gl
from tritonx.ir.spelling import TextLevel
from tritonx.ir.text.printer import Printer
from tritonx.layouts.tensor_memory import TensorMemoryEncoding, TensorMemoryScalesEncoding

sys.path.insert(0, str(Path(__file__).parents[1]))

from gluon_layouts import DISTRIBUTED, SHARED, TENSOR, made

pytestmark = pytest.mark.peer
HERE = Path(__file__).parent
SEED = int(os.environ["TRITONX_SEED"])


def run(folder: str, script: str, *arguments: str, given: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": folder} if folder else {**os.environ}
    command = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def wheel() -> str | None:
    """The folder of a Triton 3.9; "" is the installed one."""
    folders = [""] if importlib.util.find_spec("triton") is not None else []
    folders += filter(None, os.environ.get("TRITONX_LEVEL_PEERS", "").split(os.pathsep))
    return next((each for each in folders if run(each, "level_oracle.py", "version").startswith("3.9")), None)


WHEEL = wheel()
if WHEEL is None:
    pytest.skip("no Triton 3.9 is installed or named", allow_module_level=True)


def shape_of(rng: random.Random, case: list, layout: object) -> list[int] | None:
    """One that the layout can lay out; None where only its text is compared."""
    fields = case[1]
    match layout:
        case gl.TensorMemoryLayout() | gl.TensorMemoryScalesLayout() | gl.PaddedSharedLayout():
            return None
        case gl.DistributedLinearLayout() | gl.SharedLinearLayout():
            return layout.shape
        case gl.NVMMASharedLayout():
            columns_first = fields["transposed"] and not fields["swizzle_byte_width"]  # here rows first, as in 3.6
            if fields["cga_layout"] or fields["fp4_padded"] or layout.rank == 1 or columns_first:
                return None
            row = max(16, fields["swizzle_byte_width"]) * 8 // fields["element_bitwidth"] * rng.choice([1, 2])
            stored = [rng.choice([8, 16]), *[rng.choice([1, 2]) for _ in range(layout.rank - 2)], row]
            return stored[::-1] if fields["transposed"] else stored
    name, of_units = fields.get("parent", case)
    if "AMD" in name:  # clusters of them, and several instructions in a warp, are laid out as Triton 3.6 does
        alone = not of_units["cga_layout"] and not of_units.get("tiles_per_warp")
        return [rng.choice([1, 2]), 64, 64 * rng.choice([1, 2])][-layout.rank :] if alone else None
    room = 3 if of_units["cga_layout"] else 1
    return [1 << rng.randint(0, 7 // layout.rank) << room for _ in range(layout.rank)]


def text_at_3_9(encoding: object) -> str:
    stream = StringIO()
    if isinstance(encoding, TensorMemoryEncoding):
        attribute = TensorMemoryEncodingAttr(encoding)
    elif isinstance(encoding, TensorMemoryScalesEncoding):
        attribute = TensorMemoryScalesEncodingAttr(encoding)
    else:
        attribute = attribute_of(encoding)
    Printer(stream, level=TextLevel.V3_9).print_attribute(attribute)
    return stream.getvalue()


ATTRIBUTE = re.compile(r"(?:tensor|!ttg\.memdesc)<[\dx]*(?:f16|i8), (.*?)(?:, #tt\w+\.\w+_memory, mutable)?>")
COUNT = 40


@pytest.fixture(scope="module", params=[*DISTRIBUTED, *SHARED, *TENSOR], ids=lambda kind: kind.__name__)
def cases(request: pytest.FixtureRequest) -> list[tuple[list, object, list[int] | None, dict]]:
    """The arguments, our layout, a shape, what the wheel says."""
    rng, asked = random.Random(SEED), []
    for _ in range(COUNT):
        case = request.param(rng)
        layout = made(case, gl)
        asked.append((case, layout, shape_of(rng, case, layout)))
    said = json.loads(run(WHEEL, "gluon_layout_oracle.py", given=json.dumps([[case, s] for case, _, s in asked])))
    return [(*ours, theirs) for ours, theirs in zip(asked, said, strict=True)]


def test_the_same_fields(cases) -> None:
    for _, layout, _, theirs in cases:
        assert repr(layout) == re.sub(r"block=\[(\d+, \d+)\]", r"block=(\1)", theirs["repr"])
        assert theirs["rank"] is None or layout.rank == theirs["rank"]


def test_the_same_attribute(cases) -> None:
    for case, layout, _, theirs in cases:
        match = ATTRIBUTE.fullmatch(theirs["text"])
        assert match is not None, theirs["text"]
        ours, theirs = text_at_3_9(layout.encoding()), match[1]
        if "amd_wmma" in ours:  # whose rank the wheel reads and does not write
            ours = ours.replace(", rank = 3}>", "}>")
        assert ours == theirs, case


def test_the_same_linear_layout(cases) -> None:
    for case, layout, shape, theirs in cases:
        if shape is not None:
            assert repr(gl.to_linear_layout(layout, shape)) == theirs["linear"], (case, shape)


def test_the_same_pictures(cases) -> None:
    for case, layout, shape, theirs in cases:
        if shape is not None:
            assert layout.format_tensor_view(shape) == theirs["tensor_view"], (case, shape)
            assert layout.format_hardware_view(shape) == theirs["hardware_view"], (case, shape)
