// RUN: tritonx-opt %s -p "share-counters,dce" | filecheck %s

// Slots are read as they are counted from -1, and filled two iterations ahead: what is filled is what was read before.
// CHECK-LABEL: @slots
// CHECK: %[[FIRST:.*]] = arith.constant 2 : i32
// CHECK: scf.for {{.*}} iter_args(%[[READ:.*]] = %[[FIRST]]
// CHECK: %[[STEP:.*]] = arith.addi %[[READ]]
// CHECK: %[[NOW:.*]] = arith.select %{{.*}}, %{{.*}}, %[[STEP]]
// CHECK-NOT: arith.select
// CHECK-DAG: tt.addptr %p, %[[NOW]]
// CHECK-DAG: tt.addptr %q, %[[READ]]
tt.func public @slots(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) {
  %start = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %r, %f = scf.for %k = %zero to %n step %one iter_args(%read = %start, %filled = %one) -> (i32, i32) : i32 {
    %a = arith.addi %read, %one : i32
    %b = arith.cmpi sge, %a, %three : i32
    %now = arith.select %b, %zero, %a : i32
    %c = arith.addi %filled, %one : i32
    %d = arith.cmpi sge, %c, %three : i32
    %next = arith.select %d, %zero, %c : i32
    %x = tt.addptr %p, %now : !tt.ptr<i32>, i32
    %y = tt.addptr %q, %next : !tt.ptr<i32>, i32
    tt.store %x, %k : !tt.ptr<i32>
    tt.store %y, %k : !tt.ptr<i32>
    scf.yield %now, %next : i32, i32
  }
  tt.return
}
