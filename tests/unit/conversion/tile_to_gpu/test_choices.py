"""Which layouts accesses and products get."""

from __future__ import annotations

import os
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.buffers import tensor_layout
from tritonx.analysis.unit_costs import UNKNOWN_COSTS
from tritonx.backends.amd.matrix_units import WaveMatrixCore, WaveMatrixMultiply
from tritonx.backends.nvidia.matrix_units import WarpMatrixUnit
from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts
from tritonx.conversion.tile_to_gpu.blocked import block_bases, blocked, default_encoding
from tritonx.conversion.tile_to_gpu.coalesce import coalesced_encodings
from tritonx.conversion.tile_to_gpu.costs import LOAD_ISSUE, conversion_cost, rematerialisation_cost
from tritonx.conversion.tile_to_gpu.dots import dot_layouts, product_of
from tritonx.conversion.tile_to_gpu.matrix_unit import Threads
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.ir.pipeline import run_passes
from tritonx.ir.text import parse_module
from tritonx.ir.types import f16, f32, i1, i8, tensor, type_of
from tritonx.layouts.dims import REGISTER
from tritonx.layouts.encodings import BlockedEncoding, NvidiaMmaEncoding, SliceEncoding

PLAIN = GpuTarget("test")
MMA = GpuTarget("test", units=(WarpMatrixUnit(80),))
OLD = GpuTarget("test", units=(WarpMatrixUnit(75),))


def access(element, name, width_of_row, order="row", divisibility=16, stride=16):
    """Text of a 2-D access through `%name`; rows or columns contiguous."""
    rows, columns = 64, width_of_row
    inner, outer = ("j", "i") if order == "row" else ("i", "j")
    shape = f"{rows}x{columns}"
    return f"""
  %{name}ri = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
  %{name}rj = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
  %{name}i0 = tt.expand_dims %{name}ri {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
  %{name}j0 = tt.expand_dims %{name}rj {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
  %{name}i = tt.broadcast %{name}i0 : tensor<{rows}x1xi32> -> tensor<{shape}xi32>
  %{name}j = tt.broadcast %{name}j0 : tensor<1x{columns}xi32> -> tensor<{shape}xi32>
  %{name}c = arith.constant dense<{stride}> : tensor<{shape}xi32>
  %{name}o = arith.muli %{name}{outer}, %{name}c : tensor<{shape}xi32>
  %{name}s = arith.addi %{name}o, %{name}{inner} : tensor<{shape}xi32>
  %{name}b = tt.splat %{name} : !tt.ptr<{element}> -> tensor<{shape}x!tt.ptr<{element}>>
  %{name}p = tt.addptr %{name}b, %{name}s : tensor<{shape}x!tt.ptr<{element}>>, tensor<{shape}xi32>
"""


def encodings(body, arguments, target=PLAIN):
    module = parse_module(f"tt.func public @f({arguments}) {{{body}  tt.return\n}}\n")
    found = coalesced_encodings(list(module.walk()), analyze_axes(module), target)
    return [found[op] for op in module.walk() if op in found]


def load(element, *more, **options):
    text = access(element, "x", *more, **options)
    rows, columns = 64, more[0]
    text += f"  %v = tt.load %xp : tensor<{rows}x{columns}x!tt.ptr<{element}>>\n"
    divisibility = options.get("divisibility", 16)
    return encodings(text, f"%x: !tt.ptr<{element}> {{tt.divisibility = {divisibility} : i32}}")[0]


@pytest.mark.parametrize(("element", "width"), [("f16", 8), ("f32", 4), ("f64", 2), ("i8", 16)])
def test_sixteen_bytes_a_thread(element, width):
    assert load(element, 64).size_per_thread == (1, width)
    assert load(element, 64).order == (1, 0)


def test_columns():
    found = load("f16", 64, order="column")
    assert found.order == (0, 1) and found.size_per_thread == (8, 1)


@pytest.mark.parametrize("divisibility", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize(("element", "size"), [("i1", 1), ("i8", 1), ("f16", 2), ("f32", 4), ("f64", 8)])
def test_alignment_limits_the_width(element, size, divisibility):
    if divisibility >= size:
        stride = 64 * size  # elements, so that rows are as aligned as the first
        width = load(element, 64, divisibility=divisibility, stride=stride).size_per_thread
        assert width == (1, min(16, divisibility) // size)


@pytest.mark.parametrize(
    ("element", "columns", "between", "share"),
    [
        ("f16", 128, "", (4, 8)),  # no more than there are
        ("i8", 128, "", (2, 16)),
        ("i8", 256, "", (4, 16)),
        ("f16", 32, "", (1, 8)),  # nothing left for a second row
        ("f32", 128, "", (4, 4)),
        ("f16", 128, "computed", (4, 8)),
        ("f16", 128, "transposed", (1, 8)),
        ("f16", 128, "stored", (1, 8)),
    ],
)
@pytest.mark.parametrize("unit", [WaveMatrixCore(3), WaveMatrixMultiply(1), WarpMatrixUnit(80)])
def test_words_along_k(element, columns, between, share, unit):
    """A loaded B (64 steps of K) whose words along K threads make of their registers, where no instruction does."""
    tile, summed = f"tensor<64x{columns}x{element}>", "i32" if element == "i8" else "f32"
    left = f"tensor<64x64x{element}>"
    text = access(element, "x", columns) + f"  %v = tt.load %xp : tensor<64x{columns}x!tt.ptr<{element}>>\n"
    b = "%v"
    if between == "computed":
        b, text = "%w", text + f"  %w = arith.addf %v, %v : {tile}\n"
    if between == "stored":
        text += f"  tt.store %xp, %v : tensor<64x{columns}x!tt.ptr<{element}>>\n"
    if between == "transposed":  # K is along the rows
        turned = f"tensor<{columns}x64x{element}>"
        text += f"  %w = tt.trans %v {{order = array<i32: 1, 0>}} : {tile} -> {turned}\n"
        b, tile, left, columns = "%w", turned, f"tensor<64x{columns}x{element}>", 64
    sums = f"tensor<64x{columns}x{summed}>"
    text += f"  %d = tt.dot %a, {b}, %c : {left} * {tile} -> {sums}\n"
    arguments = f"%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %a: {left}, %c: {sums}"
    target = GpuTarget("test", units=(unit,), warp_size=64)
    found = encodings(text, arguments, target)[0].size_per_thread
    assert found == (share if not isinstance(unit, WarpMatrixUnit) else (1, share[1]))


@pytest.mark.parametrize(
    ("element", "stride", "lanes", "between", "share"),
    [
        ("f16", 128, (4, 16), "", (1, 8)),  # a copy brings it
        ("f16", 128, (4,), "", (1, 8)),
        ("f16", 128, (4, 16), "computed", (1, 8)),  # the LDS transposes what threads store
        ("f16", 132, (4, 16), "computed", (1, 4)),
        ("f16", 130, (4, 16), "computed", (8, 2)),
        ("f16", 129, (4, 16), "", (8, 1)),  # elements lie apart
        ("f16", 130, (4, 16), "", (1, 2)),
        ("i8", 129, (4, 16), "", (16, 1)),
        ("f32", 129, (4, 16), "", (1, 1)),
    ],
)
def test_words_along_k_of_what_no_copy_brings(element, stride, lanes, between, share):
    """Reads of the LDS transpose what copies or threads bring by 8 bytes; threads that have less make words."""
    tile, left, summed = f"tensor<64x128x{element}>", f"tensor<64x64x{element}>", "i32" if element == "i8" else "f32"
    text = access(element, "x", 128, stride=stride) + f"  %v = tt.load %xp : tensor<64x128x!tt.ptr<{element}>>\n"
    b = "%v"
    if between:
        b, text = "%w", text + f"  %w = arith.addf %v, %v : {tile}\n"
    sums = f"tensor<64x128x{summed}>"
    text += f"  %d = tt.dot %a, {b}, %c : {left} * {tile} -> {sums}\n"
    arguments = f"%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %a: {left}, %c: {sums}"
    costs = replace(UNKNOWN_COSTS, lane_bytes=lanes)
    target = GpuTarget("test", units=(WaveMatrixCore(4),), warp_size=64, costs=costs)
    assert encodings(text, arguments, target)[0].size_per_thread == share


@pytest.mark.parametrize(("element", "share"), [("f16", (1, 8)), ("i8", (1, 16)), ("f32", (1, 4))])
def test_words_of_neighbours_that_are_loaded_one_by_one(element, share):
    """A of a product, whose rows lie along K and are not aligned."""
    tile, summed = f"tensor<64x64x{element}>", "i32" if element == "i8" else "f32"
    text = access(element, "x", 64, stride=65) + f"  %v = tt.load %xp : tensor<64x64x!tt.ptr<{element}>>\n"
    sums = f"tensor<64x64x{summed}>"
    text += f"  %d = tt.dot %v, %b, %c : {tile} * {tile} -> {sums}\n"
    arguments = f"%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %b: {tile}, %c: {sums}"
    target = GpuTarget("test", units=(WaveMatrixCore(3),), warp_size=64)
    assert encodings(text, arguments, target)[0].size_per_thread == share


def test_the_stride_of_rows_limits_the_width():
    assert load("f16", 64, stride=3).size_per_thread == (1, 1)


def by_rows_and_columns(along, stride):
    """The order of an access to a tile whose elements along a dim have numbers that are cut into rows of `%n`, and
    those along the other one any stride."""
    text = access("f16", "x", 64)
    other = "j" if along == "i" else "i"
    text += f"""
  %n1 = tt.splat %n : i32 -> tensor<64x64xi32>
  %s1 = tt.splat %s : i32 -> tensor<64x64xi32>
  %row = arith.divsi %x{along}, %n1 : tensor<64x64xi32>
  %within = arith.remsi %x{along}, %n1 : tensor<64x64xi32>
  %c = arith.constant dense<{stride}> : tensor<64x64xi32>
  %at = arith.muli %within, %c : tensor<64x64xi32>
  %start = arith.muli %row, %s1 : tensor<64x64xi32>
  %channel = arith.muli %x{other}, %s1 : tensor<64x64xi32>
  %q = tt.addptr %xb, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %r = tt.addptr %q, %start : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %p = tt.addptr %r, %channel : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %v = tt.load %p : tensor<64x64x!tt.ptr<f16>>
"""
    (found,) = encodings(text, "%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %s: i32")
    return found.order, found.size_per_thread


def test_neighbouring_threads_take_what_lies_next_to_each_other_mostly():
    """Where nothing is certain that would make an access of one thread wide."""
    assert by_rows_and_columns("i", 1) == ((0, 1), (1, 1))
    assert by_rows_and_columns("j", 1) == ((1, 0), (1, 1))
    assert by_rows_and_columns("i", 2) == ((0, 1), (1, 1))
    assert by_rows_and_columns("i", 64) == ((1, 0), (1, 1))


def by_strides(first, second, declared=("a", "b"), element="f16", more=""):
    """The order of an access to `%x + i * a + j * b`; an int is a number, a text what is known of an argument."""
    text, arguments = access(element, "x", 64), []
    for name, stride in (("a", first), ("b", second)):
        if isinstance(stride, int):
            text += f"  %{name}1 = arith.constant dense<{stride}> : tensor<64x64xi32>\n"
        else:
            text += f"  %{name}1 = tt.splat %{name} : i32 -> tensor<64x64xi32>\n"
    for name in declared:
        stride = {"a": first, "b": second}[name]
        arguments.append(f"%{name}: i32 {'' if isinstance(stride, int) else stride}")
    text += f"""
  %first = arith.muli %xi, %a1 : tensor<64x64xi32>
  %second = arith.muli %xj, %b1 : tensor<64x64xi32>
{more}  %q = tt.addptr %xb, %first : tensor<64x64x!tt.ptr<{element}>>, tensor<64x64xi32>
  %p = tt.addptr %q, %second : tensor<64x64x!tt.ptr<{element}>>, tensor<64x64xi32>
  %v = tt.load %p : tensor<64x64x!tt.ptr<{element}>>
"""
    (found,) = encodings(text, ", ".join([f"%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}", *arguments]))
    return found.order


SIXTEEN, ANY = "{tt.divisibility = 16 : i32}", ""


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [
        (ANY, SIXTEEN, (0, 1)),
        (SIXTEEN, ANY, (1, 0)),
        (SIXTEEN, SIXTEEN, (1, 0)),
        (ANY, ANY, (1, 0)),
        (3, 5, (0, 1)),
        (5, 3, (1, 0)),
        (3, ANY, (0, 1)),
        (ANY, 3, (1, 0)),
        (64, 4096, (1, 0)),
        (ANY, 64, (0, 1)),
        (64, ANY, (1, 0)),
        (0, 3, (0, 1)),
        (3, 0, (1, 0)),
    ],
)
def test_where_no_step_is_one_neighbouring_threads_take_those_with_the_smallest(first, second, order):
    """What is known counts first, up to a cache's line; then what a step is no multiple of."""
    assert by_strides(first, second) == order


def test_of_two_strides_of_which_nothing_is_known_that_is_smaller_which_is_passed_later():
    for known in (ANY, SIXTEEN):
        assert by_strides(known, known, declared=("a", "b")) == (1, 0)
        assert by_strides(known, known, declared=("b", "a")) == (0, 1)
    assert by_strides(ANY, SIXTEEN, declared=("b", "a")) == (0, 1)
    assert by_strides(SIXTEEN, ANY, declared=("b", "a")) == (1, 0)
    for element in ("f32", "f64"):  # words say nothing
        assert by_strides(ANY, SIXTEEN, element=element) == (1, 0)


def test_not_more_than_there_is_for_every_thread():
    assert load("f16", 4).size_per_thread == (1, 2)


def test_accesses_agree_and_a_store_sets_the_limit():
    """Loads of f16 and stores of f32: four elements, so that nothing moves in between."""
    text = access("f16", "x", 64) + access("f32", "y", 64)
    text += """
  %v = tt.load %xp : tensor<64x64x!tt.ptr<f16>>
  %w = arith.extf %v : tensor<64x64xf16> to tensor<64x64xf32>
  tt.store %yp, %w : tensor<64x64x!tt.ptr<f32>>
"""
    arguments = "%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}"
    first, second = encodings(text, arguments)
    assert first == second and first.size_per_thread == (1, 4)


@pytest.mark.parametrize(
    ("kind", "element", "summed", "width"),
    [
        ("fadd", "f32", 4, 4), ("fadd", "f32", 1, 1), ("fadd", "f16", 8, 8), ("fadd", "f16", 2, 2),
        ("fadd", "f64", 4, 1), ("max", "i32", 4, 1),
    ],
)  # fmt: skip
def test_an_atomic_sum_is_as_wide_as_an_instruction_adds(kind, element, summed, width):
    target = replace(PLAIN, summed=((element, summed),) if element in ("f16", "f32") else ())
    assert atomic(kind, element, target, "arith.constant dense<true> : tensor<64x64xi1>").size_per_thread == (1, width)


@pytest.mark.parametrize(("divisibility", "width"), [(1, 1), (2, 2), (16, 4)])
def test_an_atomic_sum_is_no_wider_than_its_mask_is_one_value(divisibility, width):
    """Else there would be gaps between the threads of each of its accesses."""
    mask = "arith.cmpi slt, %xj, %s : tensor<64x64xi32>"
    found = atomic("fadd", "f32", replace(PLAIN, summed=(("f32", 4),)), mask, divisibility)
    assert found.size_per_thread == (1, width)


def atomic(kind, element, target, mask, divisibility=16):
    """The encoding of an atomic whose mask may compare with a number that has this divisor."""
    tile, pointers = f"tensor<64x64x{element}>", f"tensor<64x64x!tt.ptr<{element}>>"
    text = access(element, "x", 64)
    text += f"""
  %s = tt.splat %n : i32 -> tensor<64x64xi32>
  %m = {mask}
  %w = tt.atomic_rmw {kind}, relaxed, gpu, %xp, %v, %m : ({pointers}, {tile}, tensor<64x64xi1>) -> {tile}
"""
    arguments = f"%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %v: {tile}"
    arguments += f", %n: i32 {{tt.divisibility = {divisibility} : i32}}"
    return encodings(text, arguments, target)[0]


def test_blocked():
    assert blocked((128, 64), (1, 8), (1, 0), 4, 32) == BlockedEncoding((1, 8), (4, 8), (4, 1), (1, 0))
    assert blocked((16, 1024), (1, 4), (1, 0), 4, 32) == BlockedEncoding((1, 4), (1, 32), (1, 4), (1, 0))
    assert default_encoding((128,), 4, 32) == BlockedEncoding((1,), (32,), (4,), (0,))
    assert blocked((128, 64), (1, 8), (1, 0), 4, 32, num_ctas=2).cga == ((1, 0),)


@pytest.mark.parametrize(
    ("shape", "tile", "num_ctas", "bases"),
    [
        ((64, 64), (16, 8), 1, ()),
        ((64, 64), (16, 8), 4, ((1, 0), (2, 0))),
        ((32, 64), (16, 8), 4, ((0, 0), (1, 0))),
        ((16, 64), (16, 8), 4, ((0, 0), (0, 0))),
        ((2, 64, 64), (1, 16, 8), 4, ((1, 0, 0), (0, 1, 0))),
        ((64, 64), (64, 64), 4, ((0, 0), (0, 0))),
    ],
)
def test_blocks_share_whole_tiles(shape, tile, num_ctas, bases):
    """In the order in which a blocked encoding splits rows: those that would share a tile are neighbours there."""
    assert block_bases(shape, tile, num_ctas) == bases


def dots(shape, element="f16", result="f32", precision="tf32", target=MMA, text=""):
    m, n, k = shape
    a, b, c = f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}x{result}>"
    body = f"  %d = tt.dot %a, %b, %c, inputPrecision = {precision} : {a} * {b} -> {c}\n"
    arguments = f"%a: {a}, %b: {b}, %c: {c}"
    module = parse_module(f"tt.func public @f({arguments}) {{{body}{text}  tt.return\n}}\n")
    return list(dot_layouts(list(module.walk()), target).values())


def test_matrix_unit():
    (layout,) = dots((64, 64, 32))
    assert isinstance(layout.result, NvidiaMmaEncoding) and layout.result.instr_shape == (16, 8)
    assert (layout.a.k_width, layout.b.k_width) == (2, 2)
    assert dots((64, 64, 32), "i8", "i32")[0].a.k_width == 4


@pytest.mark.parametrize(
    "options",
    [
        {"shape": (64, 64, 32), "element": "f32", "precision": "ieee"},
        {"shape": (64, 64, 32), "element": "bf16", "target": OLD},  # this unit does not take it
        {"shape": (64, 64, 32), "element": "bf16", "result": "bf16"},
        {"shape": (64, 64, 8), "element": "f16"},  # too short for one instruction
        {"shape": (8, 64, 32), "element": "f16"},
        {"shape": (64, 64, 32), "target": PLAIN},
    ],
)
def test_threads_multiply_themselves(options):
    (layout,) = dots(**options)
    assert isinstance(layout.result, BlockedEncoding) and layout.a.k_width == 0


def test_chained_products_keep_rows_in_a_warp():
    text = """
  %h = arith.truncf %d : tensor<128x64xf32> to tensor<128x64xf16>
  %e = tt.dot %h, %b, %c, inputPrecision = tf32 : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
"""
    for layout in dots((128, 64, 64), text=text):
        assert layout.result.warps_per_cta == (4, 1)


@pytest.mark.parametrize(
    ("rows", "warps", "over"),
    [(16, 4, (1, 4)), (32, 4, (2, 2)), (64, 4, (4, 1)), (64, 8, (4, 2)), (256, 8, (8, 1)), (16, 16, (2, 8))],
)
def test_chained_products_have_no_more_warps_along_rows_than_there_are(rows, warps, over):
    """Copies of rows would be multiplied again; of as many warps as have no tile of their own they are."""
    text = f"""
  %h = arith.truncf %d : tensor<{rows}x64xf32> to tensor<{rows}x64xf16>
  %e = tt.dot %h, %b, %c, inputPrecision = tf32 : tensor<{rows}x64xf16> * tensor<64x64xf16> -> tensor<{rows}x64xf32>
"""
    for layout in dots((rows, 64, 64), text=text, target=replace(MMA, num_warps=warps)):
        assert layout.result.warps_per_cta == over


def test_what_meets_again_and_again_is_followed_once():
    """An operand that 2**60 paths lead to."""
    double = "".join(f"  %s{i + 1} = arith.addf %s{i}, %s{i} : tensor<64x64xf16>\n" for i in range(60))
    text = f"""  %s0 = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
{double}  %e = tt.dot %s60, %b, %c, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
"""
    assert [layout.result.warps_per_cta for layout in dots((64, 64, 64), text=text)] == [(4, 1), (4, 1)]


@pytest.mark.parametrize("name", ["dot_table", "layout_table"])
def test_layouts_are_those_of_the_table(name: str) -> None:
    """``TRITONX_ACCEPT=1`` writes the table anew."""
    here = Path(__file__).parent
    table = runpy.run_path(str(here / f"{name}.py"))["table"]()
    if os.environ.get("TRITONX_ACCEPT"):
        (here / f"{name}.txt").write_text(table)
    assert table.splitlines() == (here / f"{name}.txt").read_text().splitlines()


def test_conversion_costs():
    rows, columns = blocked((64, 64), (1, 4), (1, 0), 4, 32), blocked((64, 64), (4, 1), (0, 1), 4, 32)
    single, half, byte, predicate = (tensor(element, (64, 64)) for element in (f32, f16, i8, i1))
    assert conversion_cost(single, rows, rows) == conversion_cost(predicate, rows, rows) == 0
    assert conversion_cost(single, rows, columns) > conversion_cost(half, rows, columns) > 0
    assert conversion_cost(predicate, rows, columns) > conversion_cost(byte, rows, columns) > 0


def test_what_is_widened_moves_before():
    """A residual of f16 is added to a product in the product's layout: half as much moves, and waits in registers."""
    text = access("f16", "x", 64) + access("f32", "y", 64)
    text += """
  %v = tt.load %xp : tensor<64x64x!tt.ptr<f16>>
  %w = arith.extf %v : tensor<64x64xf16> to tensor<64x64xf32>
  %d = tt.dot %a, %a, %w0, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %s = arith.addf %d, %w : tensor<64x64xf32>
  tt.store %yp, %s : tensor<64x64x!tt.ptr<f32>>
"""
    arguments = "%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}"
    arguments += ", %a: tensor<64x64xf16>, %w0: tensor<64x64xf32>"
    module = parse_module(f"tt.func public @f({arguments}) {{{text}  tt.return\n}}\n")
    run_passes(module, (AssignLayouts(MMA),))
    (widened,) = [op for op in module.walk() if op.name == "arith.extf"]
    (added,) = [op for op in module.walk() if op.name == "arith.addf"]
    assert widened.operands[0].owner.name == "ttg.convert_layout" and added.operands[1].owner is widened


@pytest.mark.parametrize(
    ("encoding", "cost"),
    [
        (BlockedEncoding((1, 4), (8, 4), (4, 1), (1, 0)), 0),  # each element in one thread
        # 16 lanes have the same 64; 4 would be a thread's share
        (SliceEncoding(2, BlockedEncoding((1, 1, 1), (1, 2, 16), (1, 4, 1), (2, 1, 0))), 60),
    ],
)
def test_a_wider_float_costs_what_others_hold_as_well(encoding, cost):
    text = "  %w = arith.extf %x : tensor<32x16xbf16> to tensor<32x16xf32>\n"
    module = parse_module(f"tt.func public @f(%x: tensor<32x16xbf16>) {{{text}  tt.return\n}}\n")
    op = next(op for op in module.walk() if op.name == "arith.extf")
    assert rematerialisation_cost(op, encoding) == cost


@pytest.mark.parametrize(
    ("encoding", "instructions", "sectors"),
    [
        (((1, 1), (1, 32), (4, 1), (1, 0)), 16, 4),  # a row of 128 bytes at a time
        (((1, 4), (4, 8), (4, 1), (1, 0)), 4, 16),  # four such rows
        (((4, 1), (8, 4), (2, 2), (0, 1)), 4, 16),
        (((1, 1), (32, 1), (2, 2), (1, 0)), 16, 32),  # a row for each lane
    ],
)
def test_a_load_costs_the_sectors_that_its_lanes_touch(encoding, instructions, sectors):
    """64 x 32 numbers of 4 bytes on four warps; a sector is 32 bytes."""
    text = access("f32", "x", 32) + "  %v = tt.load %xp : tensor<64x32x!tt.ptr<f32>>\n"
    module = parse_module(f"tt.func public @f(%x: !tt.ptr<f32>) {{{text}  tt.return\n}}\n")
    op = next(op for op in module.walk() if op.name == "tt.load")
    assert rematerialisation_cost(op, BlockedEncoding(*encoding)) == instructions * (LOAD_ISSUE + sectors)


MFMA_SQUARE_OF_16 = {"f16": 16, "bf16": 16, "f32": 4, "i8": 32, "f8E4M3FNUZ": 32, "f8E5M2FNUZ": 32, "f64": 4}
"""K of CDNA3's v_mfma_*_16x16x*."""


@pytest.mark.parametrize("element", MFMA_SQUARE_OF_16)
def test_a_product_of_one_instruction_is_for_the_matrix_unit(element):
    unit = WaveMatrixCore(3)
    sums = {"i8": "i32", "f64": "f64"}.get(element, "f32")
    for k, expected in ((MFMA_SQUARE_OF_16[element], True), (MFMA_SQUARE_OF_16[element] // 2, False)):
        a, b, d = f"tensor<16x{k}x{element}>", f"tensor<{k}x16x{element}>", f"tensor<16x16x{sums}>"
        text = f"  %d = tt.dot %a, %b, %c, inputPrecision = ieee : {a} * {b} -> {d}\n"
        module = parse_module(f"tt.func public @f(%a: {a}, %b: {b}, %c: {d}) {{{text}  tt.return\n}}\n")
        op = next(op for op in module.walk() if op.name == "tt.dot")
        assert unit.takes(product_of(op), Threads(4, 64)) is expected, k


@pytest.mark.parametrize("warps", [1, 4, 8, 32])
@pytest.mark.parametrize("columns", [8, 32, 1024])
@pytest.mark.parametrize("rows", [1, 2, 32])
def test_what_few_loaded_elements_are_spread_to_is_shared_out(rows, columns, warps):
    """A number a row and one a column: threads that load copies of the row's compute no copies."""
    text = f"""
  %ri = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
  %rj = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
  %i = tt.expand_dims %ri {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
  %j = tt.expand_dims %rj {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
  %b = tt.splat %x : !tt.ptr<i32> -> tensor<{rows}x1x!tt.ptr<i32>>
  %three = arith.constant dense<3> : tensor<{rows}x1xi32>
  %at = arith.muli %i, %three : tensor<{rows}x1xi32>
  %p = tt.addptr %b, %at : tensor<{rows}x1x!tt.ptr<i32>>, tensor<{rows}x1xi32>
  %v = tt.load %p : tensor<{rows}x1x!tt.ptr<i32>>
  %l = tt.broadcast %v : tensor<{rows}x1xi32> -> tensor<{rows}x{columns}xi32>
  %r = tt.broadcast %j : tensor<1x{columns}xi32> -> tensor<{rows}x{columns}xi32>
  %m = arith.xori %l, %r : tensor<{rows}x{columns}xi32>
  %s = "tt.reduce"(%m) <{{axis = 1 : i32}}> ({{
  ^bb0(%a: i32, %c: i32):
    %t = arith.addi %a, %c : i32
    tt.reduce.return %t : i32
  }}) : (tensor<{rows}x{columns}xi32>) -> tensor<{rows}xi32>
  %o = tt.splat %x : !tt.ptr<i32> -> tensor<{rows}x!tt.ptr<i32>>
  tt.store %o, %s : tensor<{rows}x!tt.ptr<i32>>
"""
    module = parse_module(f"tt.func public @f(%x: !tt.ptr<i32>) {{{text}  tt.return\n}}\n")
    run_passes(module, (AssignLayouts(GpuTarget("test", num_warps=warps)),))
    for op in [op for op in module.walk() if op.name == "arith.xori"]:
        assert tensor_layout(type_of(op.results[0])).in_size(REGISTER) == max(1, rows * columns // (32 * warps))
