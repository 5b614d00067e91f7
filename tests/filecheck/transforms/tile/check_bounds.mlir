// RUN: tritonx-opt %s -p check-bounds --split-input-file | filecheck %s
// RUN: tritonx-opt %s -p 'check-bounds{end-program=true}' --split-input-file | filecheck %s --check-prefix=LEAVE

// A load is masked by the ranges of both arguments, and gives 0 outside; the first lane outside is reported before.
// CHECK: module attributes {tt.accesses = [{action = "reads", at = [], bytes = 4 : i32, element = "f32", shape = array<i64: 8>}]
// CHECK-SAME: tt.ranges = 2 : i32
// CHECK-LABEL: tt.func public @kernel
// CHECK-SAME: %access_table: !tt.ptr<i64> {tt.access_table = true}
// CHECK: %[[A:.*]] = tt.ptr_to_int %p : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
// CHECK: %[[FIRST:.*]] = tt.load %{{.*}} : !tt.ptr<i64>
// CHECK: %[[END:.*]] = tt.load %{{.*}} : !tt.ptr<i64>
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %{{.*}} : i64
// CHECK: arith.cmpi uge, %[[A]]
// CHECK: arith.cmpi ule, %[[A]]
// CHECK: arith.cmpi uge, %[[A]]
// CHECK: arith.cmpi ule, %[[A]]
// CHECK: %[[INSIDE:.*]] = arith.ori
// CHECK: %[[OUTSIDE:.*]] = arith.xori %[[INSIDE]]
// CHECK: %[[BAD:.*]] = arith.andi %mask, %[[OUTSIDE]]
// CHECK: "tt.reduce"
// CHECK: %[[FAILED:.*]] = arith.cmpi ne
// CHECK: scf.if %[[FAILED]] {
// CHECK: tt.atomic_rmw umin, relaxed, gpu, %access_table
// CHECK: tt.atomic_rmw add
// CHECK-COUNT-5: tt.store
// CHECK-NOT: tt.assert
// CHECK: %[[ALLOWED:.*]] = arith.andi %mask, %[[INSIDE]]
// CHECK: tt.load %p, %[[ALLOWED]], %{{.*}} : tensor<8x!tt.ptr<f32>>
// LEAVE-LABEL: tt.func public @kernel
// LEAVE: tt.assert %{{.*}}, "access out of bounds" : i1
// LEAVE: scf.if
// LEAVE: tt.assert %{{.*}}, "access out of bounds" : i1
// LEAVE: tt.load %p, %mask : tensor<8x!tt.ptr<f32>>
tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %mask: tensor<8xi1>) {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %p, %mask : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// A compare-and-swap has no mask: it goes to the table instead. Functions that stay take the table, calls pass it.
// CHECK-LABEL: tt.func private @swap
// CHECK-SAME: %access_table: !tt.ptr<i64>
// CHECK: %[[ELSEWHERE:.*]] = tt.int_to_ptr
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %x, %[[ELSEWHERE]]
// CHECK: tt.atomic_cas acq_rel, gpu, %[[P]]
// CHECK-LABEL: tt.func public @caller
// CHECK: tt.call @swap(%x, %n, %access_table)
tt.func private @swap(%x: !tt.ptr<i32>, %n: i32) attributes {noinline = true} {
  %old = tt.atomic_cas acq_rel, gpu, %x, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}
tt.func public @caller(%x: !tt.ptr<i32>, %n: i32) {
  tt.call @swap(%x, %n) : (!tt.ptr<i32>, i32) -> ()
  tt.return
}

// -----

// What a pointer from memory, or made of an integer, leads to is not known.
// CHECK-LABEL: tt.func public @made_up
// CHECK-COUNT-1: tt.atomic_rmw umin
// CHECK-NOT: tt.atomic_rmw umin
tt.func public @made_up(%table: !tt.ptr<i64>, %address: i64) {
  %a = tt.load %table : !tt.ptr<i64>
  %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  %v = tt.load %p : !tt.ptr<f32>
  %q = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
  tt.store %q, %v : !tt.ptr<f32>
  tt.return
}

// -----

// Without pointers among the arguments there is nothing to compare with.
// CHECK-LABEL: tt.func public @nothing
// CHECK-SAME: (%address: i64)
tt.func public @nothing(%address: i64) {
  %p = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
  %v = tt.load %p : !tt.ptr<f32>
  tt.return
}
