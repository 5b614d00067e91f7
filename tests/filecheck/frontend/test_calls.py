"""What calls, arguments and places in the source become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tritonx.language as tl
from tritonx.runtime.jit import jit

Check = Callable[..., None]
ARGUMENTS: dict[str, Any] = {"out": "*i32", "n": "i32"}


@jit
def absolute(x):
    if x < 0:
        return -x
    return x


@jit(noinline=True)
def outlined(x, SCALE: tl.constexpr):
    return absolute(x) * SCALE


@jit
def inlined(out, n):
    # CHECK-LABEL: tt.func public @inlined
    # CHECK-NOT: tt.call
    # CHECK: scf.for %i
    for i in range(n):
        # CHECK: [[R:%.*]] = scf.if {{.*}} -> (i32) {
        # CHECK: arith.subi
        # CHECK: tt.store {{.*}}, [[R]]
        tl.store(out + i, absolute(i - 3))
    # CHECK: tt.return
    # CHECK-NOT: tt.func


def test_inlined(check: Check) -> None:
    check(inlined, ARGUMENTS)


@jit
def calls_outlined(out, n):
    # CHECK-LABEL: tt.func public @calls_outlined
    # CHECK: tt.call [[F:@.*outlined__i32__1c3]](%n) : (i32) -> i32
    # CHECK: tt.call [[G:@.*outlined__i32__1c4]](%n) : (i32) -> i32
    # CHECK: tt.call [[F]]
    a = outlined(n, 3) + outlined(n, SCALE=4)
    tl.store(out, a + outlined(a, 3))
    # CHECK: tt.func private [[F]](%x: i32) -> i32 attributes {noinline = true} {
    # CHECK: scf.if
    # CHECK: tt.return {{.*}} : i32
    # CHECK: tt.func private [[G]](%x: i32) -> i32 attributes {noinline = true} {


def test_calls_outlined(check: Check) -> None:
    check(calls_outlined, ARGUMENTS)


@jit
def add(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    # CHECK-LABEL: tt.func public @add(
    # CHECK-SAME: %x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}
    # CHECK-SAME: %n_elements: i32)
    pid = tl.program_id(axis=0)
    # CHECK-NEXT: %pid = tt.get_program_id x : i32
    block_start = pid * BLOCK_SIZE
    # CHECK: %block_start = arith.muli %pid, {{.*}} : i32
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    # CHECK: tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    # CHECK: tt.splat %block_start : i32 -> tensor<1024xi32>
    # CHECK: %offsets = arith.addi {{.*}} : tensor<1024xi32>
    mask = offsets < n_elements
    # CHECK: %mask = arith.cmpi slt, %offsets, {{.*}} : tensor<1024xi32>
    x = tl.load(x_ptr + offsets, mask=mask)
    # CHECK: %x = tt.load {{.*}}, %mask : tensor<1024x!tt.ptr<f32>>
    y = tl.load(y_ptr + offsets, mask=mask)
    # CHECK: %y = tt.load {{.*}}, %mask : tensor<1024x!tt.ptr<f32>>
    output = x + y
    # CHECK: %output = arith.addf %x, %y : tensor<1024xf32>
    tl.store(output_ptr + offsets, output, mask=mask)
    # CHECK: tt.store {{.*}}, %output, %mask : tensor<1024x!tt.ptr<f32>>
    # CHECK-NEXT: tt.return


def test_add(check: Check) -> None:
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "output_ptr": "*fp32", "n_elements": "i32"}
    check(add, signature, BLOCK_SIZE=1024)


@jit
def located(out, n):
    # CHECK-LABEL: @located
    # CHECK: %value = arith.muli %n, %n : i32 loc([[NAMED:#loc[0-9]*]])
    # CHECK: arith.addi {{.*}} loc([[IN_CALL:#loc[0-9]*]])
    # CHECK-DAG: [[NAMED]] = loc("value"({{.*}}))
    # CHECK-DAG: [[IN_CALL]] = loc(callsite({{.*}} at {{.*}}))
    value = n * n
    tl.store(out, plus_one(value))


@jit
def plus_one(x):
    return x + 1


def test_located(check: Check) -> None:
    check(located, ARGUMENTS, debuginfo=True)
