"""What control flow becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tritonx.language as tl
from tritonx.runtime.jit import jit

Check = Callable[..., None]
ARGUMENTS: dict[str, Any] = {"out": "*i32", "n": "i32"}


@jit
def if_else(out, n):
    # CHECK-LABEL: tt.func public @if_else(%out: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32)
    # CHECK-SAME: attributes {noinline = false}
    a = n
    if n > 3:
        # CHECK: [[C:%.*]] = arith.cmpi sgt, %n, {{.*}} : i32
        # CHECK-NEXT: %a, %b = scf.if [[C]] -> (i32, i32) {
        a = n * 5
        b = n
        # CHECK: arith.muli %n
        # CHECK: scf.yield {{.*}}, %n : i32, i32
        # CHECK-NEXT: } else {
    else:
        b = n + 6
        # CHECK: [[B:%.*]] = arith.addi %n
        # CHECK-NEXT: scf.yield %n, [[B]] : i32, i32
    tl.store(out, a + b)


def test_if_else(check: Check) -> None:
    check(if_else, ARGUMENTS)


@jit
def select(out, n):
    # CHECK-LABEL: @select
    # A choice between numbers needs no branch.
    a = 4 if n > 3 else 8
    # CHECK: arith.select {{.*}} : i32
    # CHECK-NOT: scf.if
    tl.store(out, a)
    # CHECK: tt.return


def test_select(check: Check) -> None:
    check(select, ARGUMENTS)


@jit
def return_early(out, n):
    # CHECK-LABEL: @return_early
    if n > 3:
        # CHECK: [[C:%.*]] = arith.cmpi
        # CHECK: [[STAY:%.*]] = arith.{{cmpi|xori}}
        # CHECK-NEXT: scf.if [[STAY]] {
        return
    # CHECK-NEXT: tt.store %out, %n
    tl.store(out, n)
    # CHECK-NEXT: }
    # CHECK-NEXT: tt.return


def test_return_early(check: Check) -> None:
    check(return_early, ARGUMENTS)


@jit
def return_nested(out, n):
    # CHECK-LABEL: @return_nested
    if n > 3:
        # CHECK: [[RETURNED:%.*]] = scf.if {{.*}} -> (i1) {
        if n > 5:
            return
        # CHECK: scf.if {{.*}} -> (i1) {
        tl.store(out, 1)
        # CHECK: tt.store
    # CHECK: } else {
    # CHECK: scf.yield {{.*}} : i1
    # CHECK: }
    # CHECK: arith.xori [[RETURNED]]
    # CHECK-NEXT: scf.if
    # CHECK: tt.store
    tl.store(out, 2)


def test_return_nested(check: Check) -> None:
    check(return_nested, ARGUMENTS)


@jit
def counted(out, n):
    # CHECK-LABEL: @counted
    a = n
    b = n
    unchanged = n
    # Only what changes is carried.
    # CHECK: [[R:%.*]] = scf.for %i = {{.*}} to %n step {{.*}} iter_args([[A:%.*]] = %n) -> (i32)  : i32 {
    for i in range(n):
        # CHECK-NEXT: [[NEXT:%.*]] = arith.addi [[A]], %i
        # CHECK-NEXT: scf.yield [[NEXT]] : i32
        a += i
        unchanged = unchanged
        if n is None:
            b = 3
    # CHECK-NEXT: }
    # CHECK: arith.addi [[R]], {{.*}}
    tl.store(out, a + b * unchanged)


def test_counted(check: Check) -> None:
    check(counted, ARGUMENTS)


@jit
def options_of_range(out, n):
    # CHECK-LABEL: @options_of_range
    for i in tl.range(
        0,
        n,
        num_stages=3,
        loop_unroll_factor=2,
        disallow_acc_multi_buffer=True,
        flatten=True,
        warp_specialize=True,
        disable_licm=True,
    ):
        tl.store(out + i, i)
    # CHECK: } {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>
    # CHECK-SAME: tt.disallow_acc_multi_buffer, tt.flatten, tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32
    # CHECK-SAME: tt.warp_specialize}


def test_options_of_range(check: Check) -> None:
    check(options_of_range, ARGUMENTS)


@jit
def downwards(out, n):
    # CHECK-LABEL: @downwards
    # CHECK-DAG: [[ZERO:%.*]] = arith.constant 0 : i32
    # CHECK-DAG: [[TWO:%.*]] = arith.constant 2 : i32
    # CHECK: scf.for [[I:%.*]] = [[ZERO]] to %n step [[TWO]]
    for i in range(n, 0, -2):
        # CHECK-NEXT: [[J:%.*]] = arith.subi %n, [[I]]
        # CHECK: tt.addptr %out
        tl.store(out + i, i)


def test_downwards(check: Check) -> None:
    check(downwards, ARGUMENTS)


@jit
def wide_bound(out, n):
    # CHECK-LABEL: @wide_bound
    # CHECK: scf.for {{.*}} : i64 {
    for i in range(n):
        tl.store(out + i, 1)


def test_wide_bound(check: Check) -> None:
    check(wide_bound, {"out": "*i32", "n": "i64"})


@jit
def static_range(out, n):
    # CHECK-LABEL: @static_range
    # CHECK-NOT: scf.for
    # CHECK-COUNT-3: tt.store
    # CHECK-NOT: tt.store
    for i in tl.static_range(3):
        tl.store(out + i, n)


def test_static_range(check: Check) -> None:
    check(static_range, ARGUMENTS)


@jit
def while_loop(out, n):
    # CHECK-LABEL: @while_loop
    # CHECK: scf.while ([[B:%.*]] = %n) : (i32) -> i32 {
    while n > 1:
        # CHECK: [[C:%.*]] = arith.cmpi sgt, [[B]]
        # CHECK-NEXT: scf.condition([[C]]) [[B]] : i32
        # CHECK: ^bb0([[A:%.*]]: i32):
        # CHECK: [[N:%.*]] = arith.divsi [[A]]
        # CHECK: scf.yield [[N]] : i32
        n = n // 2
        tl.store(out, n)


def test_while_loop(check: Check) -> None:
    check(while_loop, ARGUMENTS)


@jit
def pruned(out, n, MODE: tl.constexpr, POINTER):
    # CHECK-LABEL: @pruned
    # CHECK-NOT: scf.if
    if POINTER is not None:
        tl.store(POINTER, undefined)  # noqa: F821
    elif MODE == "add" and n > MODE:
        return
    if MODE == "mul":
        # CHECK: arith.muli %n, %n
        n = n * n
    else:
        raise ValueError("unknown mode")
    # CHECK-NEXT: tt.store
    # CHECK-NEXT: tt.return
    tl.store(out, n)


def test_pruned(check: Check) -> None:
    check(pruned, ARGUMENTS, MODE="mul", POINTER=None)
