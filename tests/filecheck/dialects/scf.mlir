// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Structured control flow.

module {
  tt.func @scf(%n: i32, %c: i1, %f: f32, %k: index) {
    %0 = scf.for %i = %n to %n step %n iter_args(%a = %f) -> (f32)  : i32 {
      scf.yield %a : f32
    } {tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32}
    scf.for %i = %n to %n step %n  : i32 {
      %d = arith.addi %i, %i : i32
    }
    scf.for unsigned %i = %n to %n step %n  : i32 {
    }
    scf.for %i = %k to %k step %k {
    }
    %1:2 = scf.if %c -> (i32, f32) {
      scf.yield %n, %f : i32, f32
    } else {
      scf.yield %n, %0 : i32, f32
    }
    scf.if %c {
      tt.print "a" {hex = false, isSigned = array<i32>}
    }
    scf.if %c {
    } else {
      tt.print "b" {hex = false, isSigned = array<i32>}
    } {note}
    %2:2 = scf.while (%a = %n, %b = %f) : (i32, f32) -> (i32, f32) {
      scf.condition(%c) %a, %b : i32, f32
    } do {
    ^bb0(%a: i32, %b: f32):
      scf.yield %a, %b : i32, f32
    } attributes {tt.note = 1 : i32}
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      scf.yield
    }
    %3 = scf.execute_region -> i32 {
      cf.br ^bb1(%n : i32)
    ^bb1(%a: i32):
      scf.yield %a : i32
    }
    tt.return
  }
}

// CHECK: tt.func @scf(%n: i32, %c: i1, %f: f32, %k: index) {
// CHECK-NEXT: %0 = scf.for %i = %n to %n step %n iter_args(%a = %f) -> (f32)  : i32 {
// CHECK-NEXT: scf.yield %a : f32
// CHECK-NEXT: } {tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32}
// CHECK-NEXT: scf.for %i_1 = %n to %n step %n  : i32 {
// CHECK-NEXT: %d = arith.addi %i_1, %i_1 : i32
// CHECK: scf.for unsigned %i_2 = %n to %n step %n  : i32 {
// CHECK: scf.for %i_3 = %k to %k step %k {
// CHECK: %1:2 = scf.if %c -> (i32, f32) {
// CHECK-NEXT: scf.yield %n, %f : i32, f32
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %n, %0 : i32, f32
// CHECK: scf.if %c {
// CHECK-NEXT: tt.print "a" {hex = false, isSigned = array<i32>}
// CHECK: scf.if %c {
// CHECK-NEXT: } else {
// CHECK-NEXT: tt.print "b" {hex = false, isSigned = array<i32>}
// CHECK-NEXT: } {note}
// CHECK-NEXT: %2:2 = scf.while (%a_1 = %n, %b = %f) : (i32, f32) -> (i32, f32) {
// CHECK-NEXT: scf.condition(%c) %a_1, %b : i32, f32
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%a_2: i32, %b_1: f32):
// CHECK-NEXT: scf.yield %a_2, %b_1 : i32, f32
// CHECK-NEXT: } attributes {tt.note = 1 : i32}
// CHECK-NEXT: scf.while : () -> () {
// CHECK-NEXT: scf.condition(%c)
// CHECK-NEXT: } do {
// CHECK-NEXT: scf.yield
// CHECK: %3 = scf.execute_region -> i32 {
// CHECK-NEXT: cf.br ^bb1(%n : i32)
// CHECK-NEXT: ^bb1(%a_3: i32):
// CHECK-NEXT: scf.yield %a_3 : i32
// CHECK: tt.return
