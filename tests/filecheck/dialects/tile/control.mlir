// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Functions, calls, the grid.

module {
  tt.func @control(%n: i32 {tt.divisibility = 16 : i32}) {
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = tt.get_num_programs z : i32
    %3:2 = tt.call @two(%0, %n) : (i32, i32) -> (i32, i32)
    tt.call @nothing() : () -> ()
    %4 = tt.call @"odd name"(%n) : (i32) -> i32
    tt.return
  }
  tt.func private @two(%a: i32, %b: i32) -> (i32, i32) attributes {noinline = true} {
    tt.return %b, %a : i32, i32
  }
  tt.func public @nothing() {
    tt.return
  }
  tt.func private @"odd name"(i32) -> i32
}

// CHECK: tt.func @control(%n: i32 {tt.divisibility = 16 : i32}) {
// CHECK-NEXT: %0 = tt.get_program_id x : i32
// CHECK-NEXT: %1 = tt.get_program_id y : i32
// CHECK-NEXT: %2 = tt.get_num_programs z : i32
// CHECK-NEXT: %3:2 = tt.call @two(%0, %n) : (i32, i32) -> (i32, i32)
// CHECK-NEXT: tt.call @nothing() : () -> ()
// CHECK-NEXT: %4 = tt.call @"odd name"(%n) : (i32) -> i32
// CHECK-NEXT: tt.return
// CHECK: tt.func private @two(%a: i32, %b: i32) -> (i32, i32) attributes {noinline = true} {
// CHECK-NEXT: tt.return %b, %a : i32, i32
// CHECK: tt.func public @nothing() {
// CHECK-NEXT: tt.return
// CHECK: tt.func private @"odd name"(i32) -> i32
