"""Verification: dominance, terminators, branches, and what the error says."""

import pytest

from tritonx.ir.errors import VerifyFailure
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify


def check(body: str, arguments: str = "%n: i32, %c: i1") -> None:
    verify(parse_module(f"module {{ tt.func @f({arguments}) {{\n{body}\n}} }}"))


def test_valid_diamond():
    check("""
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      %a = arith.addi %n, %n : i32
      cf.br ^bb3(%a : i32)
    ^bb2:
      cf.br ^bb3(%n : i32)
    ^bb3(%x: i32):
      %y = arith.addi %x, %x : i32
      tt.return
    """)


def test_value_of_one_branch_does_not_dominate_the_join():
    with pytest.raises(VerifyFailure, match="does not dominate its use"):
        check("""
          cf.cond_br %c, ^bb1, ^bb2
        ^bb1:
          %a = arith.addi %n, %n : i32
          cf.br ^bb2
        ^bb2:
          %y = arith.addi %a, %a : i32
          tt.return
        """)


def test_blocks_may_stand_in_any_order():
    check("""
      cf.br ^bb2
    ^bb1:
      %y = arith.addi %a, %a : i32
      tt.return
    ^bb2:
      %a = arith.addi %n, %n : i32
      cf.br ^bb1
    """)


def test_loop_of_blocks():
    check("""
      cf.br ^bb1(%n : i32)
    ^bb1(%i: i32):
      %j = arith.addi %i, %n : i32
      %d = arith.cmpi slt, %j, %n : i32
      cf.cond_br %d, ^bb1(%j : i32), ^bb2
    ^bb2:
      %k = arith.addi %j, %j : i32
      tt.return
    """)


def test_use_before_definition_in_a_block():
    with pytest.raises(VerifyFailure, match=r"a result of 'arith.addi'.* does not dominate"):
        check("%y = arith.addi %a, %a : i32\n%a = arith.addi %n, %n : i32\ntt.return")


def test_value_of_a_region_is_not_visible_outside():
    module = parse_module("""module { tt.func @f(%c: i1, %n: i32) {
      scf.if %c { %a = arith.addi %n, %n : i32 }
      %b = arith.addi %n, %n : i32
      tt.return } }""")
    inner = next(op for op in module.walk() if op.name == "arith.addi")
    outer = [op for op in module.walk() if op.name == "arith.addi"][1]
    outer.operands[0] = inner.results[0]
    with pytest.raises(VerifyFailure, match="does not dominate"):
        verify(module)


def test_isolated_regions_do_not_capture():
    with pytest.raises(VerifyFailure, match=r"out of its IsolatedFromAbove parent|does not dominate"):
        verify(
            parse_module("""module {
          %n = arith.constant 1 : i32
          tt.func @f() { %a = arith.addi %n, %n : i32 tt.return } }""")
        )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("cf.br ^bb1\n^bb1(%x: i32):\ntt.return", r"passes \(\), the block takes \(i32\)"),
        ("cf.cond_br %c, ^bb1(%c : i1), ^bb1(%n : i32)\n^bb1(%x: i32):\ntt.return", r"taken when true passes \(i1\)"),
        ("%a = arith.addi %n, %n : i32", "is not a terminator"),
        (
            "cf.br ^bb1\n%a = arith.addi %n, %n : i32\ntt.return\n^bb1:\ntt.return",
            "must terminate its parent block|in the middle",
        ),
        ("tt.return %n : i32", "returns"),
        ("cf.br ^bb0\n^bb0:\ncf.br ^bb0", None),
    ],
)
def test_terminators(body, reason):
    if reason is None:
        check(body)
        return
    with pytest.raises(VerifyFailure, match=reason):
        check(body)


def test_the_error_names_op_and_source_line():
    module = parse_module("""module { tt.func @f(%n: i32) {
      %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<4xi32> loc("x"("kernel.py":7:11))
      tt.return } }""")
    with pytest.raises(VerifyFailure) as caught:
        verify(module)
    assert str(caught.value) == (
        "kernel.py:7:11: 'tt.make_range': the range has 8 elements, the result 4\n"
        "  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<4xi32>"
    )
    assert caught.value.operation.name == "tt.make_range"
    assert (caught.value.point.file, caught.value.point.line, caught.value.point.column) == ("kernel.py", 7, 11)
