// RUN: tritonx-opt %s --split-input-file | tritonx-opt --split-input-file | filecheck %s
// RUN: tritonx-opt %s --split-input-file --print-op-generic | tritonx-opt --split-input-file | filecheck %s

// Atomic operations in every order and scope.

module {
  tt.func @atomic(%p: !tt.ptr<i32>, %n: i32, %c: i1, %ps: tensor<64x!tt.ptr<f32>>, %x: tensor<64xf32>, %m: tensor<64xi1>) {
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %n, %c : (!tt.ptr<i32>, i32, i1) -> i32
    %1 = tt.atomic_rmw fadd, acq_rel, gpu, %ps, %x, %m : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
    %2 = tt.atomic_rmw exch, acquire, cta, %ps, %x : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>
    %3 = tt.atomic_rmw and, release, sys, %p, %n : (!tt.ptr<i32>, i32) -> i32
    %4 = tt.atomic_rmw or, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
    %5 = tt.atomic_rmw xor, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
    %6 = tt.atomic_rmw max, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
    %7 = tt.atomic_rmw min, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
    %8 = tt.atomic_rmw umax, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
    %9 = tt.atomic_rmw umin, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
    %10 = tt.atomic_cas acq_rel, sys, %p, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32
    tt.return
  }
}

// CHECK: tt.func @atomic(%p: !tt.ptr<i32>, %n: i32, %c: i1, %ps: tensor<64x!tt.ptr<f32>>, %x: tensor<64xf32>, %m: tensor<64xi1>) {
// CHECK-NEXT: %0 = tt.atomic_rmw add, relaxed, gpu, %p, %n, %c : (!tt.ptr<i32>, i32, i1) -> i32
// CHECK-NEXT: %1 = tt.atomic_rmw fadd, acq_rel, gpu, %ps, %x, %m : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
// CHECK-NEXT: %2 = tt.atomic_rmw exch, acquire, cta, %ps, %x : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT: %3 = tt.atomic_rmw and, release, sys, %p, %n : (!tt.ptr<i32>, i32) -> i32
// CHECK-NEXT: %4 = tt.atomic_rmw or, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
// CHECK-NEXT: %5 = tt.atomic_rmw xor, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
// CHECK-NEXT: %6 = tt.atomic_rmw max, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
// CHECK-NEXT: %7 = tt.atomic_rmw min, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
// CHECK-NEXT: %8 = tt.atomic_rmw umax, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
// CHECK-NEXT: %9 = tt.atomic_rmw umin, relaxed, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
// CHECK-NEXT: %10 = tt.atomic_cas acq_rel, sys, %p, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32
// CHECK-NEXT: tt.return

// -----

// A timeout is optional, and so is a mask.
module {
  tt.func @access(%p: !tt.ptr<i32>, %n: i32, %c: i1, %t: i64, %ps: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %ks: tensor<64x!tt.ptr<i16>>, %k: tensor<64xi16>) {
    %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<i32>) -> i32
    %1 = tt.atomic_load relaxed, sys, %ps, %m : (tensor<64x!tt.ptr<f32>>, tensor<64xi1>) -> tensor<64xf32>
    tt.atomic_store release, cta, %p, %0, %c : !tt.ptr<i32>
    tt.atomic_store relaxed, gpu, %ps, %1 : tensor<64x!tt.ptr<f32>>
    %2 = tt.atomic_poll acquire, gpu, %p, %n timeout %t : !tt.ptr<i32>, i32 -> i1
    %3 = tt.atomic_poll relaxed, sys, %ks, %k {a = 1 : i32} : tensor<64x!tt.ptr<i16>>, tensor<64xi16> -> tensor<64xi1>
    tt.return
  }
}

// CHECK: tt.func @access(
// CHECK-NEXT: %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<i32>) -> i32
// CHECK-NEXT: %1 = tt.atomic_load relaxed, sys, %ps, %m : (tensor<64x!tt.ptr<f32>>, tensor<64xi1>) -> tensor<64xf32>
// CHECK-NEXT: tt.atomic_store release, cta, %p, %0, %c : !tt.ptr<i32>
// CHECK-NEXT: tt.atomic_store relaxed, gpu, %ps, %1 : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: %2 = tt.atomic_poll acquire, gpu, %p, %n timeout %t : !tt.ptr<i32>, i32 -> i1
// CHECK-NEXT: %3 = tt.atomic_poll relaxed, sys, %ks, %k {a = 1 : i32} : tensor<64x!tt.ptr<i16>>, tensor<64xi16> -> tensor<64xi1>
// CHECK-NEXT: tt.return
