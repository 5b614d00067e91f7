// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s

// Orders and scopes are the instruction's own, written as Triton writes them.
// CHECK-LABEL: .visible .entry update(
// CHECK: atom.global.gpu.acq_rel.add.u32
// CHECK: atom.global.sys.relaxed.max.s32
// CHECK: atom.global.gpu.acquire.exch.b32
// CHECK: atom.global.cta.release.or.b32
// CHECK: atom.global.acq_rel.gpu.cas.b32
// CHECK: ret;
tt.func public @update(%p: !tt.ptr<i32>, %v: i32, %q: !tt.ptr<i32>) {
  %true = arith.constant true
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %1 = tt.atomic_rmw max, relaxed, sys, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %3 = tt.atomic_rmw exch, acquire, gpu, %p, %1, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %4 = tt.atomic_rmw or, release, cta, %p, %3, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %2 = tt.atomic_cas acq_rel, gpu, %p, %v, %4 : (!tt.ptr<i32>, i32, i32) -> i32
  tt.store %q, %2 : !tt.ptr<i32>
  tt.return
}
