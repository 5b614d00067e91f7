"""Details of the text: constants, aliases, locations, scopes, generic form."""

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import BytesAttr, bf16, f16, f32, f64

from tritonx.ir.splat import SplatAttr, splat
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.text.floats import float_text
from tritonx.ir.types import i1, i8, i32, tensor


def round_trip(text: str, **options) -> str:
    printed = print_module(parse_module(text), **options)
    assert print_module(parse_module(printed), **options) == printed
    return printed


@given(st.integers(0, 2**64 - 1), st.sampled_from([(f64, 8), (f32, 4), (f16, 2), (bf16, 2)]))
@settings(max_examples=400, deadline=None)
def test_every_float_survives(bits, kind):
    type_, size = kind
    value = next(type_.iter_unpack((bits % (1 << 8 * size)).to_bytes(size, "little")))
    text = float_text(value, type_)
    again = next(type_.iter_unpack(int(text, 16).to_bytes(size, "little"))) if text.startswith("0x") else float(text)
    assert type_.pack((again,)) == type_.pack((value,)) or math.isnan(value)


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (1.0, f32, "1.000000e+00"),
        (-0.0, f32, "-0.000000e+00"),
        (0.1, f16, "9.997550e-02"),
        (struct.unpack("f", struct.pack("f", 0.1))[0], f32, "1.000000e-01"),
        (struct.unpack("f", struct.pack("f", 1 / 3))[0], f32, "0.333333343"),
        (16777215.0, f32, "0x4B7FFFFF"),
        (float("inf"), f32, "0x7F800000"),
        (float("-inf"), bf16, "0xFF80"),
        (1e300, f64, "1.000000e+300"),
    ],
)
def test_floats_as_mlir_writes_them(value, type_, text):
    assert float_text(value, type_) == text


@given(st.binary(max_size=40))
@settings(max_examples=200, deadline=None)
def test_every_string_survives(given):
    module = parse_module("module {}")
    module.attributes["s"] = BytesAttr(given)
    literal = "".join(chr(b) if 0x20 <= b <= 0x7E and b not in b'"\\' else f"\\{b:02X}" for b in given)
    assert f's = "{literal.replace(chr(92) + "5C", chr(92) * 2)}"' in print_module(module)


def test_splats_are_not_materialised():
    module = parse_module(
        "module { tt.func @f() { %a = arith.constant dense<0.0> : tensor<4096x4096xf32> tt.return } }"
    )
    value = next(op for op in module.walk() if op.name == "arith.constant").properties["value"]
    assert value == splat(0.0, tensor(f32, (4096, 4096))) and isinstance(value, SplatAttr)
    assert "dense<0.000000e+00> : tensor<4096x4096xf32>" in print_module(module)


def test_splats_of_integers_wrap():
    assert splat(255, tensor(i8, (4,))).value == splat(-1, tensor(i8, (4,))).value
    assert splat(True, tensor(i1, (4,))).value in (1, -1)
    assert splat(7, tensor(i32, (4,))) is splat(7, tensor(i32, (4,)))
    assert math.copysign(1, splat(-0.0, tensor(f32, (4,))).value) == -1


def test_aliases_are_numbered_by_kind_and_parents_come_first():
    text = round_trip("""
      module {
        tt.func @f(%a: tensor<32xf32, #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 1],
          threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>}>>, %b: tensor<32xf32,
          #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) { tt.return }
      }""")
    assert text.splitlines()[0].startswith("#blocked = #ttg.blocked<{sizePerThread = [1, 1]")
    assert text.splitlines()[1].startswith("#blocked1 = #ttg.blocked<{sizePerThread = [1]")
    assert "tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>" in text


def test_locations():
    text = round_trip(
        """
        #loc = loc("k.py":1:2)
        #loc1 = loc("x"(#loc))
        module {
          tt.func @f(%a: i32 loc(#loc1)) {
            %0 = arith.addi %a, %a : i32 loc(callsite(#loc1 at #loc2))
            %1 = arith.addi %a, %a : i32 loc(fused<"why">[#loc, #loc2])
            %2 = arith.addi %a, %a : i32 loc("k.py":3:4)
            %3 = arith.addi %a, %a : i32 loc(unknown)
            %4 = arith.addi %a, %a : i32
            tt.return loc(#loc2)
          } loc(#loc)
        } loc(#loc)
        #loc2 = loc("other.py":5:6)
        """,
        debuginfo=True,
    )
    for piece in (
        'loc("x"(#loc',
        "callsite(#loc",
        'fused<"why">[',
        'loc("k.py":3:4)',
        "loc(unknown)",
        '"other.py":5:6',
    ):
        assert piece in text
    assert "loc" not in print_module(parse_module(text))


def test_results_of_one_op_are_a_pack():
    text = round_trip("""module { tt.func @f(%n: i32, %c: i1) {
      %x:2 = scf.if %c -> (i32, i32) { scf.yield %n, %n : i32, i32 } else { scf.yield %n, %n : i32, i32 }
      %y = arith.addi %x#0, %x#1 : i32
      tt.return } }""")
    assert "%x:2 = scf.if" in text and "arith.addi %x#0, %x#1" in text


def test_partitions_reuse_names():
    round_trip("""module attributes {"ttg.num-warps" = 4 : i32} { tt.func @f(%n: i32) {
      %x = arith.addi %n, %n : i32
      ttg.warp_specialize(%n)
      default { %y = arith.addi %x, %x : i32 ttg.warp_yield }
      partition0(%m: i32) num_warps(1) { %x = arith.addi %m, %m : i32 ttg.warp_return } : (i32) -> ()
      tt.return } }""")


def test_generic_form_is_read_back():
    text = """module { tt.func public @f(%p: !tt.ptr<f32>, %c: i1) {
      %0 = tt.load %p, %c cacheModifier = cg : !tt.ptr<f32>
      tt.return } }"""
    module = parse_module(text)
    generic = print_module(module, generic=True)
    assert '"tt.load"' in generic and "operandSegmentSizes = array<i32: 1, 1, 0>" in generic
    assert print_module(parse_module(generic)) == print_module(module)


def test_later_spelling_of_descriptors_is_read():
    text = round_trip("module { tt.func @f(%d: !tt.tensordesc<64x32xf16>) { tt.return } }")
    assert "!tt.tensordesc<tensor<64x32xf16>>" in text
