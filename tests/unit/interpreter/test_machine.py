"""Whole functions from text: control flow, calls, memory, faults with the kernel's line."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from tritonx.interpreter.compare import BehaviourDiffers, same_behaviour
from tritonx.interpreter.errors import (
    DeviceAssertion,
    InvalidLaunch,
    KernelFault,
    OutOfBoundsAccess,
    RecursiveCall,
    UnsupportedInInterpreter,
)
from tritonx.interpreter.machine import interpret, single_ufunc
from tritonx.ir.text import parse_module


def execute(body: str, signature: str, *args: Any, grid: Any = 1, extra: str = "", **options: Any) -> None:
    text = f"module {{\n  tt.func public @k({signature}) {{\n{body}\n    tt.return\n  }}\n{extra}\n}}\n"
    interpret(parse_module(text), grid, list(args), **options)


ADD = """
    %c = arith.constant 64 : i32
    %pid = tt.get_program_id x : i32
    %b = arith.muli %pid, %c : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %bs = tt.splat %b : i32 -> tensor<64xi32>
    %i = arith.addi %bs, %r : tensor<64xi32>
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %i, %ns : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %xv = tt.load %xp, %m : tensor<64x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %s = arith.addf %xv, %xv : tensor<64xf32>
    tt.store %yp, %s, %m : tensor<64x!tt.ptr<f32>>"""
ADD_SIGNATURE = "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32"


def test_programs_and_masks() -> None:
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    execute(ADD, ADD_SIGNATURE, x, y, 90, grid=2)
    np.testing.assert_array_equal(y[:90], 2 * x[:90])
    assert not y[90:].any()


def test_out_of_bounds_names_argument_and_program() -> None:
    x, y = np.zeros((2, 200), np.float32)[:, :100]  # what is behind x is no part of y, wherever an allocator puts two
    with pytest.raises(
        OutOfBoundsAccess, match=r"lane 36 \(and 19 more\) reads .* element 100 of x .*program \(1, 0, 0\)"
    ):
        execute(ADD, ADD_SIGNATURE, x, y, 120, grid=2)


def test_faults_name_the_line_of_the_kernel() -> None:
    text = """module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %v = tt.load %x : !tt.ptr<f32> loc(#loc1)
    tt.return
  }
}
#loc1 = loc("kernel.py":12:7)
"""
    with pytest.raises(OutOfBoundsAccess, match=r"^kernel\.py:12: the program reads 4 bytes .* null pointer"):
        interpret(parse_module(text), 1, [None])


def test_grid_of_three_axes() -> None:
    out = np.zeros(2 * 3 * 4, np.int32)
    execute(
        """
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %z = tt.get_program_id z : i32
    %nx = tt.get_num_programs x : i32
    %ny = tt.get_num_programs y : i32
    %a = arith.muli %z, %ny : i32
    %b = arith.addi %a, %y : i32
    %c = arith.muli %b, %nx : i32
    %d = arith.addi %c, %x : i32
    %p = tt.addptr %out, %d : !tt.ptr<i32>, i32
    tt.store %p, %d : !tt.ptr<i32>""",
        "%out: !tt.ptr<i32>",
        out,
        grid=(2, 3, 4),
    )
    np.testing.assert_array_equal(out, np.arange(24))


def test_structured_control_flow() -> None:
    out = np.zeros(3, np.int32)
    execute(
        """
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> (i32)  : i32 {
      %odd = arith.andi %i, %c1 : i32
      %is = arith.cmpi eq, %odd, %c1 : i32
      %next = scf.if %is -> (i32) {
        %t = arith.addi %acc, %i : i32
        scf.yield %t : i32
      } else {
        scf.yield %acc : i32
      }
      scf.yield %next : i32
    }
    tt.store %out, %sum : !tt.ptr<i32>
    %collatz:2 = scf.while (%v = %n, %steps = %c0) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi sgt, %v, %c1 : i32
      scf.condition(%more) %v, %steps : i32, i32
    } do {
    ^bb0(%v: i32, %steps: i32):
      %bit = arith.andi %v, %c1 : i32
      %odd = arith.cmpi eq, %bit, %c1 : i32
      %half = arith.shrsi %v, %c1 : i32
      %triple = arith.muli %v, %c3 : i32
      %up = arith.addi %triple, %c1 : i32
      %w = arith.select %odd, %up, %half : i32
      %s = arith.addi %steps, %c1 : i32
      scf.yield %w, %s : i32, i32
    }
    %p = tt.addptr %out, %c1 : !tt.ptr<i32>, i32
    tt.store %p, %collatz#1 : !tt.ptr<i32>""",
        "%out: !tt.ptr<i32>, %n: i32",
        out,
        7,
    )
    assert out.tolist() == [1 + 3 + 5, 16, 0]


def test_branches_between_blocks() -> None:
    text = """module {
  tt.func public @k(%out: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cf.br ^loop(%n, %c0 : i32, i32)
  ^loop(%i: i32, %acc: i32):
    %more = arith.cmpi sgt, %i, %c0 : i32
    cf.cond_br %more, ^body, ^end(%acc : i32)
  ^body:
    %s = arith.addi %acc, %i : i32
    %d = arith.subi %i, %c1 : i32
    cf.br ^loop(%d, %s : i32, i32)
  ^end(%r: i32):
    tt.store %out, %r : !tt.ptr<i32>
    tt.return
  }
}
"""
    out = np.zeros(1, np.int32)
    interpret(parse_module(text), 1, [out, 10])
    assert out[0] == 55


CALLEE = """
  tt.func private @square(%a: i32) -> i32 {
    %b = arith.muli %a, %a : i32
    tt.return %b : i32
  }"""


def test_calls() -> None:
    out = np.zeros(1, np.int32)
    body = """
    %a = tt.call @square(%n) : (i32) -> i32
    %b = tt.call @square(%a) : (i32) -> i32
    tt.store %out, %b : !tt.ptr<i32>"""
    execute(body, "%out: !tt.ptr<i32>, %n: i32", out, 3, extra=CALLEE)
    assert out[0] == 81


def test_recursion_is_refused() -> None:
    extra = """
  tt.func private @f(%a: i32) -> i32 {
    %b = tt.call @f(%a) : (i32) -> i32
    tt.return %b : i32
  }"""
    with pytest.raises(RecursiveCall, match="@f calls itself"):
        execute("    %a = tt.call @f(%n) : (i32) -> i32", "%n: i32", 1, extra=extra)


REDUCE = """
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %ps = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %p = tt.addptr %ps, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
"""


def test_reduction_order_is_a_halving_tree() -> None:
    x = np.array([1e8, 1.0, -1e8, 1.0, 3.0, 1e-3, 2.5, 7.0], np.float32)
    body = (
        REDUCE
        + """
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<8xf32>) -> f32
    tt.store %x, %s : !tt.ptr<f32>"""
    )
    values = x.copy()
    execute(body, "%x: !tt.ptr<f32>", x)
    while len(values) > 1:
        values = values[: len(values) // 2] + values[len(values) // 2 :]
    assert x[0] == values[0]


def test_reduction_with_control_flow_in_its_region() -> None:
    x = np.array([3, -5, 2, 9, -7, 1, 0, 4], np.float32)
    body = (
        REDUCE
        + """
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %g = arith.cmpf ogt, %a, %b : f32
      %c = scf.if %g -> (f32) {
        scf.yield %a : f32
      } else {
        scf.yield %b : f32
      }
      tt.reduce.return %c : f32
    }) : (tensor<8xf32>) -> f32
    tt.store %x, %s : !tt.ptr<f32>"""
    )
    execute(body, "%x: !tt.ptr<f32>", x)
    assert x[0] == 9


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_goes_one_by_one(reverse: bool) -> None:
    x = np.random.default_rng(0).standard_normal(8).astype(np.float32)
    body = (
        REDUCE
        + f"""
    %s = "tt.scan"(%v) <{{axis = 0 : i32, reverse = {str(reverse).lower()}}}> ({{
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }}) : (tensor<8xf32>) -> tensor<8xf32>
    tt.store %p, %s : tensor<8x!tt.ptr<f32>>"""
    )
    values = x[::-1] if reverse else x.copy()
    wanted, total = [], np.float32(0)
    for index, value in enumerate(values):
        total = value if index == 0 else np.float32(total + value)
        wanted.append(total)
    execute(body, "%x: !tt.ptr<f32>", x)
    np.testing.assert_array_equal(x, np.array(wanted[::-1] if reverse else wanted, np.float32))


def test_masked_loads_leave_memory_alone_and_give_other() -> None:
    body = (
        REDUCE.replace("%v = tt.load %p : tensor<8x!tt.ptr<f32>>", "")
        + """
    %far = arith.constant dense<1000000> : tensor<8xi32>
    %q = tt.addptr %p, %far : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %no = arith.constant dense<false> : tensor<8xi1>
    %other = arith.constant dense<2.5> : tensor<8xf32>
    %v = tt.load %q, %no, %other : tensor<8x!tt.ptr<f32>>
    tt.store %q, %v, %no : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>"""
    )
    x = np.zeros(8, np.float32)
    execute(body, "%x: !tt.ptr<f32>", x)
    assert (x == 2.5).all()


@pytest.mark.parametrize("poison", [False, True])
def test_undefined_lanes(poison: bool) -> None:
    body = (
        REDUCE.replace("%v = tt.load %p : tensor<8x!tt.ptr<f32>>", "")
        + """
    %no = arith.constant dense<false> : tensor<8xi1>
    %v = tt.load %p, %no : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>"""
    )
    x = np.ones(8, np.float32)
    execute(body, "%x: !tt.ptr<f32>", x, poison=poison)
    assert np.isnan(x).all() if poison else not x.any()


ATOMIC = """
    %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    %two = arith.constant dense<2> : tensor<8xi32>
    %slot = arith.remsi %r, %two : tensor<8xi32>
    %ps = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %p = tt.addptr %ps, %slot : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %m = arith.constant dense<[true, true, true, true, true, true, true, false]> : tensor<8xi1>
    %old = tt.atomic_rmw {kind}, acq_rel, gpu, %p, %r, %m :
      (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
    %qs = tt.splat %o : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %q = tt.addptr %qs, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %q, %old : tensor<8x!tt.ptr<i32>>"""


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("add", lambda a, b: a + b),
        ("max", max),
        ("min", min),
        ("umax", lambda a, b: max(a % 2**32, b) - (2**32 if max(a % 2**32, b) >= 2**31 else 0)),
        ("and", lambda a, b: a & b),
        ("or", lambda a, b: a | b),
        ("xor", lambda a, b: a ^ b),
        ("exch", lambda a, b: b),
    ],
)
def test_atomics_apply_every_lane_in_order(kind: str, function: Any) -> None:
    x, old = np.array([3, -2], np.int32), np.zeros(8, np.int32)
    memory, found = [3, -2], []
    for lane in range(7):
        found.append(memory[lane % 2])
        memory[lane % 2] = function(memory[lane % 2], lane)
    execute(ATOMIC.format(kind=kind), "%x: !tt.ptr<i32>, %o: !tt.ptr<i32>", x, old)
    assert x.tolist() == memory
    assert old.tolist() == [*found, 0]


def test_compare_and_swap() -> None:
    body = """
    %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %p = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %one = arith.constant dense<1> : tensor<4xi32>
    %next = arith.addi %r, %one : tensor<4xi32>
    %old = tt.atomic_cas acq_rel, gpu, %p, %r, %next :
      (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>"""
    x = np.array([0], np.int32)
    execute(body, "%x: !tt.ptr<i32>", x)
    assert x[0] == 4  # each lane found what the one before it wrote


INTO_DESCRIPTOR = """
    %n = arith.constant 6 : i32
    %c1 = arith.constant 1 : i64
    %from = arith.constant {start} : i32
    %d = tt.make_tensor_descriptor %x, [%n], [%c1] : <i32>, <tensor<8x{element}>>
    %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    %p = tt.splat %v : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %q = tt.addptr %p, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %values = tt.load %q : tensor<8x!tt.ptr<i32>>
    tt.descriptor_reduce {kind}, %d[%from], %values : !tt.tensordesc<tensor<8x{element}>>, tensor<8xi32>"""

# As "atom" in PTX's manual has inc and dec: both count in a circle from 0 to the operand, without a sign.
REDUCTIONS: dict[str, Any] = {
    "add": lambda old, new, sign: old + new,
    "min": lambda old, new, sign: min(old, new, key=lambda v: v if sign else v % 2**32),
    "max": lambda old, new, sign: max(old, new, key=lambda v: v if sign else v % 2**32),
    "inc": lambda old, new, sign: 0 if old % 2**32 >= new % 2**32 else old + 1,
    "dec": lambda old, new, sign: new if old == 0 or old % 2**32 > new % 2**32 else old - 1,
    "and": lambda old, new, sign: old & new,
    "or": lambda old, new, sign: old | new,
    "xor": lambda old, new, sign: old ^ new,
}


@pytest.mark.parametrize("element", ["si32", "ui32"])
@pytest.mark.parametrize("kind", REDUCTIONS)
def test_reductions_into_a_descriptor(kind: str, element: str) -> None:
    """Every pair of small numbers and of numbers at the ends of the type; places outside of the tensor stay."""
    numbers = [0, 1, 2, 5, -1, -2, 2**31 - 1, -(2**31)]
    for start, value in [(s, v) for s in (-2, 0, 3) for v in numbers]:
        old, new = np.array([*numbers, 7, 9], np.int32), np.full(8, value, np.int32)
        wanted = old.tolist()
        for place in range(max(0, start), min(6, start + 8)):
            wanted[place] = REDUCTIONS[kind](wanted[place], value, element == "si32")
        body = INTO_DESCRIPTOR.format(start=start, kind=kind, element=element)
        execute(body, "%x: !tt.ptr<i32>, %v: !tt.ptr<i32>", old, new)
        assert old.tolist() == [(w + 2**31) % 2**32 - 2**31 for w in wanted], (start, value)


def test_print_has_the_form_of_the_device() -> None:
    body = """
    %r = tt.make_range {end = 11 : i32, start = 9 : i32} : tensor<2xi32>
    %c = arith.constant -1 : i32
    %f = arith.constant 1.5 : f32
    tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %r : tensor<2xi32>
    tt.print " y: " {hex = true, isSigned = array<i32: 1, 0>} : %c, %c : i32, i32
    tt.print " z: " {hex = false, isSigned = array<i32: 0, 0>} : %c, %f : i32, f32"""
    output = io.StringIO()
    execute(body, "", output=output)
    assert output.getvalue().splitlines() == [
        "pid (0, 0, 0) idx (0) x: 9",
        "pid (0, 0, 0) idx (1) x: 10",
        "pid (0, 0, 0) idx () y: (operand 0) 0xffffffff",
        "pid (0, 0, 0) idx () y: (operand 1) 0xffffffff",
        "pid (0, 0, 0) idx () z: (operand 0) 4294967295",
        "pid (0, 0, 0) idx () z: (operand 1) 1.500000",
    ]


def test_assert_names_the_lane() -> None:
    body = """
    %c = arith.constant dense<[true, false]> : tensor<2xi1>
    tt.assert %c, "too large" : tensor<2xi1>"""
    with pytest.raises(DeviceAssertion, match=r"assertion failed: too large \(lane \(1,\), 1 in all\)"):
        execute(body, "")
    execute(body, "", check_assertions=False)


def test_inline_assembly_is_a_typed_error() -> None:
    body = """
    %v = tt.elementwise_inline_asm "mov.u32 $0, %laneid;"
      {constraints = "=r,r", packed_element = 1 : i32, pure = true} %n : i32 -> i32"""
    with pytest.raises(UnsupportedInInterpreter, match="inline assembly"):
        execute(body, "%n: i32", 3)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([np.zeros(1, np.float32), np.zeros(1, np.float32)], "takes 3 arguments, got 2"),
        ([1.5, np.zeros(1, np.float32), 1], "x is a pointer: pass a NumPy array"),
        ([np.zeros(1, np.float32), None, 2**40], "n = 1099511627776 does not fit i32"),
        ([np.zeros(1, np.float32), None, "a"], "n is a number of type i32, got str"),
    ],
)
def test_arguments_that_do_not_fit(args: list[Any], text: str) -> None:
    with pytest.raises(InvalidLaunch, match=text):
        execute(ADD, ADD_SIGNATURE, *args)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_at_the_ends_of_a_type(bits: int) -> None:
    """Signed and unsigned numbers of an argument's width are its bits; the next ones are refused."""
    dtype = np.dtype(f"i{bits // 8}")
    for number in (-(2 ** (bits - 1)), -1, 0, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1):
        out = np.zeros(1, dtype)
        execute(f"    tt.store %x, %n : !tt.ptr<i{bits}>", f"%x: !tt.ptr<i{bits}>, %n: i{bits}", out, number)
        assert int(out[0]) % 2**bits == number % 2**bits
    for number in (-(2 ** (bits - 1)) - 1, 2**bits):
        with pytest.raises(InvalidLaunch, match=f"n = {number} does not fit i{bits}"):
            execute("", f"%n: i{bits}", number)


@pytest.mark.parametrize("address", [0, 4096, 2**63, 2**64 - 16, -16])
def test_addresses_as_integers(address: int) -> None:
    """An address is 64 bits, with a sign or without."""
    out = np.zeros(1, np.int64)
    body = """
    %a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    tt.store %x, %a : !tt.ptr<i64>"""
    execute(body, "%x: !tt.ptr<i64>, %p: !tt.ptr<f32>", out, address)
    assert int(out[0]) % 2**64 == address % 2**64


COMBINE = """
    %s = "tt.reduce"(%v) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: {type}, %b: {type}):
      %t = {text} : {type}
      tt.reduce.return %{result} : {type}
    }}) : (tensor<8x{type}>) -> {type}
"""


@pytest.mark.parametrize(
    ("text", "type_", "result", "wanted"),
    [
        ("arith.addf %a, %b", "f32", "t", np.add),
        ("arith.muli %b, %a", "i16", "t", np.multiply),
        ("arith.xori %a, %b", "i64", "t", np.bitwise_xor),
        ("arith.addf %a, %a", "f32", "t", None),
        ("arith.addf %a, %b", "f32", "a", None),
        ("arith.addf %a, %b", "f16", "t", None),  # NumPy sums halves in another width
        ("arith.addf %a, %b", "bf16", "t", None),
        ("arith.subi %a, %b", "i32", "t", None),
        ("arith.addi %a, %b : i32\n      %u = arith.addi %a, %a", "i32", "t", None),
    ],
)
def test_which_combine_regions_are_one_function_of_numpy(text: str, type_: str, result: str, wanted: Any) -> None:
    body = COMBINE.format(text=text, type=type_, result=result)
    module = parse_module(f"tt.func public @k(%v: tensor<8x{type_}>) {{ {body}\n tt.return }}")
    regions = [op.regions[0] for op in module.walk() if op.name == "tt.reduce"]
    assert single_ufunc(regions[0]) is wanted


@pytest.mark.parametrize("grid", [(1, 2, 3, 4), (-1,), ()])
def test_grids_that_do_not_exist(grid: Any) -> None:
    with pytest.raises(InvalidLaunch, match="a grid has one to three extents"):
        execute(ADD, ADD_SIGNATURE, None, None, 0, grid=grid)


def test_an_empty_grid_runs_nothing() -> None:
    execute(ADD, ADD_SIGNATURE, None, None, 10, grid=(4, 0))


def module_of(op: str) -> Any:
    return parse_module(
        f"module {{ tt.func public @k({ADD_SIGNATURE}) {{ {ADD.replace('arith.addf %xv, %xv', op)}\n tt.return }} }}"
    )


def test_same_behaviour() -> None:
    same_behaviour(module_of("arith.addf %xv, %xv"), module_of("arith.addf %xv, %xv"), grid=2)
    with pytest.raises(BehaviourDiffers, match=r"argument 1 differs \(seed 3\): element"):
        same_behaviour(module_of("arith.addf %xv, %xv"), module_of("arith.mulf %xv, %xv"), grid=2, seed=3)


def test_a_fault_in_the_second_module_is_a_difference() -> None:
    good, bad = module_of("arith.addf %xv, %xv"), module_of("arith.addf %xv, %xv")
    for op in list(bad.walk()):
        if op.name == "arith.cmpi":
            op.operands[1] = op.operands[0]
            op.properties["predicate"] = type(op.properties["predicate"])(1, op.properties["predicate"].type)
    same = [np.zeros(64, np.float32), np.zeros(64, np.float32), 64]
    with pytest.raises(BehaviourDiffers, match=r"argument 1 differs|only the second"):
        same_behaviour(good, bad, args=[np.ones(64, np.float32), *same[1:]])
    with pytest.raises(KernelFault):
        same_behaviour(good, good, args=[np.zeros(4, np.float32), *same[1:]])
