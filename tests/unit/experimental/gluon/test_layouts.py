"""Layouts of Gluon: values that encodings say the same of, with Triton's parameters and complaints."""

from __future__ import annotations

import os
import random
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.experimental.gluon import layouts as gl
from tritonx.language.values.constexpr import constexpr
from tritonx.layouts import LayoutError, encodings, linear_layout
from tritonx.layouts.samples import random_distributed, random_shared

sys.path.insert(0, str(Path(__file__).parents[3]))

from gluon_layouts import DISTRIBUTED, SHARED, TENSOR, made

SEED = int(os.environ["TRITONX_SEED"])
BLOCKED = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
KINDS = pytest.mark.parametrize("kind", [*DISTRIBUTED, *SHARED, *TENSOR], ids=lambda kind: kind.__name__)


@KINDS
def test_an_encoding_says_all_of_a_layout(kind) -> None:
    rng = random.Random(SEED)
    for _ in range(100):
        layout = made(kind(rng), gl)
        again = gl.layout_of(layout.encoding())
        assert again == layout and hash(again) == hash(layout) and again.encoding() == layout.encoding()
        assert again is not layout and repr(again) == repr(layout)


def test_a_layout_says_all_of_an_encoding() -> None:
    rng, seen = random.Random(SEED), set()
    for _ in range(400):
        encoding, shape, *_ = rng.choice([random_distributed, random_shared])(rng)
        if isinstance(encoding, encodings.RotatingSharedEncoding):
            with pytest.raises(TypeError, match="Gluon has no layout of RotatingSharedEncoding"):
                gl.layout_of(encoding)
            continue
        layout, of = gl.layout_of(encoding), getattr(encoding, "parent", encoding)
        assert layout.rank == encoding.rank
        if isinstance(encoding, encodings.PaddedSharedEncoding):  # which has two ways to say it
            assert layout.shape == list(shape)
            assert linear_layout(layout.encoding(), shape) == linear_layout(encoding, shape)
        elif isinstance(of, encodings.AmdWmmaEncoding) and set(of.tiles_per_warp) != {1}:  # registers in another order
            ours, theirs = linear_layout(layout.encoding(), shape), linear_layout(encoding, shape)
            assert sorted(ours.columns("register")) == sorted(theirs.columns("register"))
            assert ours.columns("lane") == theirs.columns("lane") and ours.columns("warp") == theirs.columns("warp")
        else:
            assert layout.encoding() == encoding
        seen.add(type(layout).__name__)
    assert len(seen) > 8


@KINDS
def test_arguments_may_be_compile_time_values(kind) -> None:
    def wrapped(value):
        if isinstance(value, list):
            inner = [wrapped(entry) for entry in value]
            return tl.tuple(inner) if rng.random() < 0.5 else tuple(inner)
        return constexpr(value)

    rng = random.Random(SEED)
    for _ in range(20):
        name, fields = kind(rng)
        layout = made([name, fields], gl)
        parents = {"parent": constexpr(layout.parent)} if "parent" in fields else {}
        same = getattr(gl, name)(**{key: wrapped(value) for key, value in fields.items() if key != "parent"}, **parents)
        assert same == layout and hash(same) == hash(layout) and same.mangle() == layout.mangle()
        assert repr(same) == repr(layout)


def test_a_name_for_each_value() -> None:
    rng = random.Random(SEED)
    layouts = [made(kind(rng), gl) for kind in (*DISTRIBUTED, *SHARED, *TENSOR) for _ in range(300)]
    layouts += [gl.AutoLayout(), gl.CoalescedLayout(), gl.SliceLayout(1, gl.AutoLayout())]
    names = {layout: layout.mangle() for layout in layouts}
    assert len(set(names.values())) == len(names) > 1000
    assert all(re.fullmatch(r"\w+", name) for name in names.values())


def test_values_differ_where_a_field_does() -> None:
    other = replace(BLOCKED, size_per_thread=[4, 1])
    assert other != BLOCKED and other.mangle() != BLOCKED.mangle() and BLOCKED == replace(BLOCKED)
    assert gl.AutoLayout() == gl.AutoLayout() != gl.CoalescedLayout() and BLOCKED != "B"
    assert BLOCKED.type == constexpr(BLOCKED).type and BLOCKED.type.value is BLOCKED
    with pytest.raises(AttributeError):
        BLOCKED.order = [0, 1]


def test_what_the_compiler_chooses_has_no_encoding() -> None:
    for layout in (gl.AutoLayout(), gl.CoalescedLayout()):
        with pytest.raises(TypeError, match=f"{type(layout).__name__} has no encoding"):
            layout.encoding()
        with pytest.raises(ValueError, match=f"{type(layout).__name__} has no rank"):
            _ = layout.rank
        with pytest.raises(TypeError, match="AutoLayout" if layout == gl.AutoLayout() else "CoalescedLayout"):
            gl.SliceLayout(0, layout).encoding()


def test_defaults() -> None:
    mfma = gl.AMDMFMALayout(3, [32, 32, 8], True, [2, 2])
    assert (mfma.element_bitwidth, mfma.tiles_per_warp, mfma.cga_layout) == (32, [1, 1], [])
    wmma = gl.AMDWMMALayout(1, False, [[0, 1]])
    assert (wmma.reg_bases, wmma.instr_shape, wmma.cga_layout, wmma.rank) == ([], [16, 16, 16], [], 2)
    assert wmma == gl.AMDWMMALayout(1, False, [[0, 1]], None, None, [], None)
    shared = gl.NVMMASharedLayout(64, 16, cga_layout=None)
    assert (shared.rank, shared.transposed, shared.fp4_padded, shared.cga_layout) == (2, False, False, [])
    linear = gl.SharedLinearLayout([[1]])
    assert (linear.block_bases, linear.alignment) == ([], 16)
    tensor = gl.TensorMemoryLayout([128, 64], 1)
    assert (tensor.block, tensor.cga_layout, tensor.two_ctas, tensor.fp4_padded) == ((128, 64), [], False, False)


@pytest.mark.parametrize(
    ("shape", "dtype", "options", "width"),
    [
        ([64, 64], tl.float16, {}, 128),
        ([64, 32], tl.float16, {}, 64),
        ([64, 8], tl.float32, {}, 32),
        ([64, 4], tl.float32, {}, 0),
        ([4, 64], tl.float16, {}, 0),
        ([64], tl.float16, {}, 0),
        ([32, 64], tl.float16, {"transposed": True}, 64),
        ([64, 64], tl.uint8, {"fp4_padded": True}, 128),
        ([64, 64], tl.float16, {"cga_layout": [[0, 1]]}, 64),
        ([8, 64], tl.float16, {"cga_layout": [[1, 0]]}, 0),
        ([2, 4, 64], tl.float16, {}, 128),
    ],
)
def test_the_widest_swizzle_that_a_shape_takes(shape, dtype, options, width) -> None:
    layout = gl.NVMMASharedLayout.get_default_for(shape, dtype, **options)
    assert layout.swizzle_byte_width == width and layout.element_bitwidth == dtype.primitive_bitwidth
    assert layout == gl.NVMMASharedLayout(width, dtype.primitive_bitwidth, len(shape), **options)


def test_rows_with_padding() -> None:
    layout = gl.PaddedSharedLayout.with_identity_for([[4, 2]], [2, 4], [1, 0])
    assert layout.offset_bases == [[0, 1], [0, 2], [1, 0]] and layout.cga_layout == []
    assert layout.encoding() == encodings.PaddedSharedEncoding((4,), (2,), (1, 0), (2, 4))
    split = gl.PaddedSharedLayout.with_identity_for([[4, 2]], [4, 4], [0, 1], [[0, 1]])
    assert split.offset_bases == [[1, 0], [2, 0], [0, 1]] and split.shape == [4, 4]
    assert split.encoding().block == ((0, 2),)


def test_the_shape_that_bases_hold() -> None:
    assert gl.SharedLinearLayout([[0, 1], [0, 2]]).shape == [1, 4]
    assert gl.SharedLinearLayout([[3, 1], [1, 0], [0, 1]]).shape == [4, 2]
    assert gl.SharedLinearLayout([[4]]).shape == [8]


def test_blocks_of_what_is_made_of_a_parent() -> None:
    parent = replace(BLOCKED, cga_layout=[[1, 0], [0, 1]])
    assert gl.SliceLayout(0, parent).cga_layout == [[0], [1]] and gl.SliceLayout(0, BLOCKED).cga_layout == []
    assert gl.DotOperandLayout(0, parent, 0).cga_layout == [[1, 0], [0, 0]]
    assert gl.DotOperandLayout(1, parent, 0).cga_layout == [[0, 0], [0, 1]]
    linear = gl.DistributedLinearLayout([[1]], [], [], [], [2])
    assert gl.DotOperandLayout(1, linear, 0).cga_layout == []
    with pytest.raises(AttributeError):
        _ = gl.SliceLayout(0, linear).cga_layout


CONTRADICTIONS = {
    "threads_per_warp of a BlockedLayout has 1 entries, not 2": lambda: gl.BlockedLayout([1, 1], [32], [1, 1], [1, 0]),
    "warps_per_cta of a BlockedLayout has 1 entries": lambda: gl.BlockedLayout([1, 1], [1, 32], [1], [1, 0]),
    "order of a BlockedLayout has 1 entries": lambda: gl.BlockedLayout([1, 1], [1, 32], [1, 1], [0]),
    "a basis in reg_bases": lambda: gl.DistributedLinearLayout([[1]], [], [], [], [1, 1]),
    "a basis in block_bases": lambda: gl.DistributedLinearLayout([], [], [], [[1]], [1, 1]),
    "a basis in cga_layout of a NVMMASharedLayout": lambda: gl.NVMMASharedLayout(32, 16, cga_layout=[[1]]),
    "element_bitwidth must be 8": lambda: gl.NVMMASharedLayout(32, 4),
    "swizzle_byte_width must be": lambda: gl.NVMMASharedLayout(16, 16),
    "fp4_padded needs 8-bit": lambda: gl.NVMMASharedLayout(128, 16, fp4_padded=True),
    "must not be empty": lambda: gl.PaddedSharedLayout([], [[1]], [], [2]),
    "powers of two, got": lambda: gl.PaddedSharedLayout([[3, 1]], [[1]], [], [2]),
    "an interval stands twice": lambda: gl.PaddedSharedLayout([[4, 1], [4, 2]], [[1]], [], [2]),
    "a basis in interval_padding_pairs": lambda: gl.PaddedSharedLayout([[4]], [[1]], [], [2]),
    "a basis in offset_bases of a PaddedSharedLayout": lambda: gl.PaddedSharedLayout([[4, 1]], [[1, 0]], [], [2]),
    "does not permute": lambda: gl.PaddedSharedLayout.with_identity_for([[4, 1]], [4, 4], [0]),
    "powers of two: ": lambda: gl.PaddedSharedLayout.with_identity_for([[4, 1]], [6], [0]),
    "not divisible": lambda: gl.NVMMASharedLayout.get_default_for([1, 64], tl.float16, cga_layout=[[1, 0]]),
    "offset_bases of a SharedLinearLayout must not": lambda: gl.SharedLinearLayout([]),
    "a basis in block_bases of a SharedLinearLayout": lambda: gl.SharedLinearLayout([[1]], [[1, 0]]),
    "alignment must be": lambda: gl.SharedLinearLayout([[1]], alignment=12),
    "version must be 1, 2, 3 or 4, got 5": lambda: gl.AMDMFMALayout(5, [32, 32, 8], True, [1, 1]),
    "no instruction of shape": lambda: gl.AMDMFMALayout(3, [32, 16, 8], True, [1, 1]),
    "instr_shape is": lambda: gl.AMDMFMALayout(3, [32, 32], True, [1, 1]),
    "element_bitwidth must be 32": lambda: gl.AMDMFMALayout(3, [32, 32, 8], True, [1, 1], 16),
    "version must be 1, 2 or 3, got 0": lambda: gl.AMDWMMALayout(0, True, []),
    "a basis in warp_bases": lambda: gl.AMDWMMALayout(1, True, [[1]]),
    "block is": lambda: gl.TensorMemoryLayout([128], 1),
    "col_stride must be": lambda: gl.TensorMemoryLayout([128, 64], 3),
    "a basis in cga_layout of a TensorMemoryScalesLayout": lambda: gl.TensorMemoryScalesLayout([[1]]),
    "is outside its parent of 2": lambda: gl.SliceLayout(2, replace(BLOCKED, cga_layout=[[1, 0]])).cga_layout,
}


@pytest.mark.parametrize("message", CONTRADICTIONS)
def test_contradicting_arguments(message: str) -> None:
    """As assertions, which is what Triton's are, and as errors of values."""
    for kind in (AssertionError, ValueError, gl.GluonLayoutError):
        with pytest.raises(kind, match=re.escape(message)):
            CONTRADICTIONS[message]()


IMPOSSIBLE = {
    "permutation of the dims": lambda: replace(BLOCKED, order=[1, 1]),
    "powers of two": lambda: replace(BLOCKED, size_per_thread=[1, 3]),
    "outside the parent": lambda: gl.SliceLayout(2, BLOCKED),
    "opIdx must be": lambda: gl.DotOperandLayout(2, BLOCKED, 0),
    "major versions": lambda: gl.NVMMADistributedLayout([4, 0], [4, 1], [16, 8]),
    "do not reach all": lambda: gl.DistributedLinearLayout([[0, 1]], [[1, 0]], [], [], [4, 2]),
    "step out of its shape": lambda: gl.DistributedLinearLayout([[0, 2]], [[1, 0]], [], [], [2, 2]),
    "must be powers of two, got [3]": lambda: gl.DistributedLinearLayout([[1], [2]], [], [], [], [3]),
    "a PaddedSharedLayout do not reach": lambda: gl.PaddedSharedLayout([[4, 1]], [[1]], [], [4]),
    "tensor memory that blocks share": lambda: gl.TensorMemoryLayout([128, 64], 1, [[0, 1], [1, 0]]),
}


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_layouts_that_there_are_not(message: str) -> None:
    layout = IMPOSSIBLE[message]()
    with pytest.raises(LayoutError, match=re.escape(message)):
        layout.encoding()


def test_arguments_of_other_types() -> None:
    for make, words in (
        (
            lambda: gl.BlockedLayout([1.5], [32], [1], [0]),
            "size_per_thread of a BlockedLayout must be an integer",
        ),
        (lambda: gl.BlockedLayout(None, [32], [1], [0]), "size_per_thread of a BlockedLayout must be a list, got None"),
        (lambda: gl.SliceLayout(0, "B"), "parent of a SliceLayout must be a distributed layout, got 'B'"),
        (lambda: gl.SliceLayout(None, BLOCKED), "dim of a SliceLayout must be an integer, got None"),
        (lambda: gl.NVMMASharedLayout(32, 16, 2, "yes"), "transposed of a NVMMASharedLayout must be True or False"),
        (lambda: gl.layout_of(BLOCKED), "Gluon has no layout of BlockedLayout"),
    ):
        with pytest.raises(TypeError, match=re.escape(words)):
            make()


def test_pictures_of_registers() -> None:
    layout = gl.BlockedLayout([1, 1, 2], [2, 2, 1], [1, 1, 2], [2, 1, 0])
    rows = ["[[[T0:0, T0:1, T4:0, T4:1]", "[  T1:0, T1:1, T5:0, T5:1]]", "[[ T2:0, T2:1, T6:0, T6:1]"]
    text = layout.format_tensor_view([2, constexpr(2), 4])
    assert text.splitlines() == [*rows, "[  T3:0, T3:1, T7:0, T7:1]]]"] and text.endswith("]\n")
    copies = gl.BlockedLayout([2], [4], [2], [0], [[1]])
    assert copies.format_tensor_view([4]).split(", ")[2:] == [
        "|".join(f"B1:T{thread}:0" for thread in range(8)),
        "|".join(f"B1:T{thread}:1" for thread in range(8)) + "]\n",
    ]
    lines = gl.BlockedLayout([1, 2], [2, 2], [1, 2], [1, 0], [[1, 0]]).format_hardware_view([4, 16]).splitlines()
    assert lines[:3] == ["Block0:", "Warp0:", "(0, 0), (0, 2), (1, 0), (1, 2)"]
    heads = [line for line in lines if line.endswith(":")]
    assert heads == ["Block0:", "Warp0:", "Warp1:", "Block1:", "Warp0:", "Warp1:"]


def test_every_element_is_drawn_where_it_is() -> None:
    rng = random.Random(SEED)
    for _ in range(60):
        encoding, shape, *_ = random_distributed(rng)
        if np.prod(shape) > 1024 or isinstance(encoding, encodings.BlockedEncoding):
            continue
        layout, linear = gl.layout_of(encoding), linear_layout(encoding, shape)
        cells = re.sub(r"[\[\] ]", "", layout.format_tensor_view(list(shape))).replace("\n", ",").rstrip(",").split(",")
        table = layout.format_hardware_view(list(shape)).splitlines()
        assert len(cells) == np.prod(shape)
        block, warp, lane, register = (rng.randrange(linear.in_size(d)) for d in ("block", "warp", "lane", "register"))
        element = linear.apply(block=block, warp=warp, lane=lane, register=register)
        label = f"T{warp * linear.in_size('lane') + lane}:{register}"
        label = f"B{block}:{label}" if linear.in_bits("block") else label
        assert label in cells[int(np.ravel_multi_index(element, shape))].split("|")
        per_block = linear.in_size("warp") * (1 + linear.in_size("register"))
        at = block * (per_block + 1) + 1 if linear.in_bits("block") else 0
        line = table[at + warp * (1 + linear.in_size("register")) + 1 + register]
        assert line.replace(" ", "").strip("()").split("),(")[lane] == ",".join(map(str, element))


def test_pictures_of_memory() -> None:
    layout = gl.SwizzledSharedLayout(2, 1, 2, [1, 0])
    assert layout.format_tensor_view([2, 4]) == "[[(0:0),(0:1),(0:2),(0:3)]\n[ (1:2),(1:3),(1:0),(1:1)]]\n"
    assert layout.format_hardware_view([2, 4]).splitlines()[4:7] == [
        "Offset: 3 -> (0,3)",
        "Offset: 4 -> (1,2)",
        "Offset: 5 -> (1,3)",
    ]
    assert gl.SwizzledSharedLayout(1, 1, 1, [0, 1], [[0, 1]]).format_hardware_view([1, 16]).splitlines()[8:11] == [
        "Offset: 7 -> (0, 7)",
        "Block: 1:",
        "Offset: 0 -> (0, 8)",
    ]
    copies = gl.SharedLinearLayout([[1], [0], [2]], [[0]])
    assert copies.format_tensor_view([4]) == "[(0),(1),(0),(1)]\n"


def test_what_has_no_picture() -> None:
    padded = gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 64], [1, 0])
    for layout in (padded, gl.AutoLayout(), gl.CoalescedLayout()):
        for view in (layout.format_tensor_view, layout.format_hardware_view):
            with pytest.raises(ValueError, match=f"{type(layout).__name__} cannot be visualized"):
                view([16, 64])
    for shape in ([64], [3, 64], [0, 4]):
        with pytest.raises(ValueError, match="the shape must be 2 powers of two"):
            BLOCKED.format_tensor_view(shape)


def has_several_tiles(encoding: Any) -> bool:
    """Whether a warp of a wave-matrix layout, or of one that it is a part of, has several tiles."""
    while not isinstance(encoding, encodings.AmdWmmaEncoding):
        encoding = getattr(encoding, "parent", None)
        if encoding is None:
            return False
    return {*encoding.tiles_per_warp} != {1}


def test_explicit_bases_of_a_layout() -> None:
    rng = random.Random(SEED)
    for _ in range(60):
        encoding, shape, *_ = rng.choice([random_distributed, random_shared])(rng)
        if isinstance(encoding, encodings.RotatingSharedEncoding | encodings.PaddedSharedEncoding):
            continue
        expected = linear_layout(encoding, shape)
        if "offset" in expected.in_dims and not expected.bases("offset"):
            continue  # of one element no layout in memory has bases
        linear = gl.to_linear_layout(gl.layout_of(encoding), shape)
        if isinstance(encoding, encodings.BlockedEncoding):  # without the registers that hold copies
            expected = expected.drop_zero_bases("register")
        found = linear_layout(linear.encoding(), shape)
        # Several tiles a warp are numbered as 3.9 numbers them when the layout says its bases, as Gluon's does.
        renumbered = has_several_tiles(encoding)
        dims = [dim for dim in expected.in_dims if not renumbered or dim != "register"]
        assert [found.bases(dim) for dim in dims] == [expected.bases(dim) for dim in dims]
        assert (
            sorted(found.bases("register")) == sorted(expected.bases("register")) if renumbered else found == expected
        )
        assert gl.to_linear_layout(linear, shape) is linear
    small = gl.to_linear_layout(gl.BlockedLayout([4], [32], [1], [0]), [2])
    assert small.reg_bases == [[1]] and small.lane_bases == [[0]] * 5
    widths = {0: 128, 32: 256, 64: 512, 128: 1024}
    assert widths == {w: gl.to_linear_layout(gl.NVMMASharedLayout(w, 16), [64, 64]).alignment for w in widths}
    assert gl.to_linear_layout(gl.AutoLayout(), [4]) == gl.AutoLayout()
    with pytest.raises(ValueError, match="has padding"):
        gl.to_linear_layout(gl.PaddedSharedLayout.with_identity_for([[32, 4]], [64], [0]), [64])
    with pytest.raises(TypeError, match="CoalescedLayout has no encoding"):
        gl.to_linear_layout(gl.CoalescedLayout(), [4])
