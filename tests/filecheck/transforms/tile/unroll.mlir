// RUN: tritonx-opt %s -p "unroll,fold,dce" | filecheck %s

// The number of iterations is a multiple of the factor: one loop.
// CHECK-LABEL: @even
// CHECK: %[[C2:.*]] = arith.constant 2 : i32
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %[[C2]]
// CHECK: tt.store %p, %[[I]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %c1
// CHECK: tt.store %p, %[[J]]
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @even(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// An unknown number: a second loop does the rest, and is not pipelined.
// CHECK-LABEL: @unknown
// CHECK: %[[END:.*]] = arith.maxsi %n, %lo
// CHECK: %[[LEN:.*]] = arith.subi %[[END]], %lo
// CHECK: %[[REST:.*]] = arith.remui %[[LEN]], %[[WIDE:.*]] : i32
// CHECK: %[[MID:.*]] = arith.subi %[[END]], %[[REST]]
// CHECK: %[[M:.*]] = scf.for %{{.*}} = %lo to %[[MID]] step %[[WIDE]] iter_args(%[[A:.*]] = %x)
// CHECK-COUNT-4: arith.mulf
// CHECK: }
// CHECK: %[[R:.*]] = scf.for %{{.*}} = %[[MID]] to %n step %st iter_args(%{{.*}} = %[[M]])
// CHECK-COUNT-1: arith.mulf
// CHECK: } {tt.num_stages = 1 : i32}
// CHECK: tt.store %p, %[[R]]
tt.func public @unknown(%p: !tt.ptr<f32>, %lo: i32, %n: i32, %st: i32, %x: f32) {
  %r = scf.for %i = %lo to %n step %st iter_args(%a = %x) -> (f32) : i32 {
    %f = arith.sitofp %i : i32 to f32
    %b = arith.mulf %a, %f : f32
    scf.yield %b : f32
  } {tt.loop_unroll_factor = 4 : i32}
  tt.store %p, %r : !tt.ptr<f32>
  tt.return
}

// A factor of 1 asks for nothing.
// CHECK-LABEL: @one
// CHECK: scf.for
// CHECK-NOT: tt.loop_unroll_factor
tt.func public @one(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 1 : i32}
  tt.return
}
