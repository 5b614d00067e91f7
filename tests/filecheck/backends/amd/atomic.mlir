// RUN: tritonx-opt %s --target hip:gfx942 --until amdgcn | filecheck %s
// RUN: tritonx-opt %s --target hip:gfx1100 --until amdgcn | filecheck %s

// CHECK-LABEL: {{^}}update:
// CHECK: global_atomic_add
// CHECK: global_atomic_{{(s|i_)?max}}
// CHECK: global_atomic_cmpswap
// CHECK: .vgpr_spill_count: 0
tt.func public @update(%p: !tt.ptr<i32>, %v: i32, %q: !tt.ptr<i32>) {
  %true = arith.constant true
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %1 = tt.atomic_rmw max, relaxed, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %2 = tt.atomic_cas acq_rel, gpu, %p, %v, %1 : (!tt.ptr<i32>, i32, i32) -> i32
  tt.store %q, %2 : !tt.ptr<i32>
  tt.return
}
