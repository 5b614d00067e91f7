// RUN: tritonx-opt %s --split-input-file -p cse,licm,dce | filecheck %s
// RUN: tritonx-opt %s --split-input-file -p fold,cse,licm,combine,dce | filecheck %s

// Atomic loads are neither merged, dropped nor moved, in whatever order, and nothing is loaded for what is loaded behind
// one that acquires.
// CHECK-LABEL: @twice
// CHECK: tt.load %x
// CHECK: tt.atomic_load relaxed, gpu, %flag
// CHECK: tt.load %x
// CHECK: tt.atomic_load relaxed, gpu, %flag
// CHECK: tt.atomic_load acquire, gpu, %flag
// CHECK: tt.load %x
// CHECK: tt.return
tt.func public @twice(%x: !tt.ptr<i32>, %flag: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %0 = tt.load %x : !tt.ptr<i32>
  %1 = tt.atomic_load relaxed, gpu, %flag : (!tt.ptr<i32>) -> i32
  %2 = tt.load %x : !tt.ptr<i32>
  %3 = tt.atomic_load relaxed, gpu, %flag : (!tt.ptr<i32>) -> i32
  %4 = tt.atomic_load acquire, gpu, %flag : (!tt.ptr<i32>) -> i32
  %5 = tt.load %x : !tt.ptr<i32>
  %6 = arith.addi %0, %1 : i32
  %7 = arith.addi %6, %2 : i32
  %8 = arith.addi %7, %3 : i32
  %9 = arith.addi %8, %5 : i32
  tt.store %out, %9 : !tt.ptr<i32>
  tt.return
}

// -----

// CHECK-LABEL: @stays_in_the_loop
// CHECK: scf.for
// CHECK-NEXT: tt.atomic_poll acquire, gpu, %flag, %n timeout %t
// CHECK-NEXT: tt.atomic_load relaxed, gpu, %flag
// CHECK-NEXT: tt.load %x
// CHECK: tt.return
tt.func public @stays_in_the_loop(%x: !tt.ptr<i32>, %flag: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32, %t: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    %0 = tt.atomic_poll acquire, gpu, %flag, %n timeout %t : !tt.ptr<i32>, i32 -> i1
    %1 = tt.atomic_load relaxed, gpu, %flag : (!tt.ptr<i32>) -> i32
    %2 = tt.load %x : !tt.ptr<i32>
    %3 = arith.addi %s, %2 : i32
    scf.yield %3 : i32
  }
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}
