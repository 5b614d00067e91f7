// RUN: tritonx-opt %s -p inline --print-debuginfo --split-input-file --verify-diagnostics | filecheck %s

// Callees go into their callers, with where they were called from, and are removed.
// CHECK-LABEL: tt.func public @kernel
// CHECK: %[[A:.*]] = arith.addf %x, %x : f32 loc(#[[AT:loc[0-9]*]])
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[A]], %[[A]] : f32
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[B]], %[[B]] : f32
// CHECK-NEXT: tt.store %p, %[[C]]
// CHECK-NOT: @twice
// CHECK: #[[AT]] = loc(callsite(
tt.func private @twice(%v: f32) -> f32 {
  %s = arith.addf %v, %v : f32 loc("lib.py":3:7)
  tt.return %s : f32
}
tt.func private @square_of_twice(%v: f32) -> f32 {
  %t = tt.call @twice(%v) : (f32) -> f32 loc("lib.py":8:1)
  %s = arith.mulf %t, %t : f32
  tt.return %s : f32
}
tt.func public @kernel(%x: f32, %p: !tt.ptr<f32>) {
  %a = tt.call @square_of_twice(%x) : (f32) -> f32 loc("kernel.py":20:4)
  %b = tt.call @twice(%a) : (f32) -> f32 loc("kernel.py":21:4)
  tt.store %p, %b : !tt.ptr<f32>
  tt.return
}

// -----

// An early return becomes a conditional, also where the call stands in a loop.
// CHECK-LABEL: tt.func public @kernel
// CHECK: scf.for
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.cmpf
// CHECK-NEXT: %[[R:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK-NEXT: scf.yield %x
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[S:.*]] = arith.addf %x, %x
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: tt.store %p, %[[R]]
tt.func private @early(%v: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c = arith.cmpf olt, %v, %zero : f32
  cf.cond_br %c, ^yes, ^no
^yes:
  tt.return %v : f32
^no:
  %s = arith.addf %v, %v : f32
  tt.return %s : f32
}
tt.func public @kernel(%x: f32, %n: i32, %p: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %r = tt.call @early(%x) : (f32) -> f32
    tt.store %p, %r : !tt.ptr<f32>
  }
  tt.return
}

// -----

// noinline is respected.
// CHECK-LABEL: tt.func private @kept
// CHECK: tt.call @kept
tt.func private @kept(%v: f32) attributes {noinline = true} {
  tt.print "v" {hex = false, isSigned = array<i32: 0>} : %v : f32
  tt.return
}
tt.func public @kernel(%x: f32) {
  tt.call @kept(%x) : (f32) -> ()
  tt.return
}

// -----

// Recursion is an error that shows the way round.
tt.func private @even(%n: i32) {
  tt.call @odd(%n) : (i32) -> ()
  tt.return
}
tt.func private @odd(%n: i32) {
  // expected-error@+1 {{recursive call of 'even' (even → odd → even)}}
  tt.call @even(%n) : (i32) -> ()
  tt.return
}
