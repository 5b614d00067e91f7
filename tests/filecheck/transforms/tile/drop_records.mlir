// RUN: tritonx-opt %s -p drop-records | filecheck %s
// RUN: tritonx-opt %s -p dce,cse,licm | filecheck %s --check-prefix KEPT

// Without records the loads are one, and leave the loop; with them each stays where it is.
// CHECK-LABEL: @region
// CHECK-NOT: proton.record
// KEPT-LABEL: @region
// KEPT: proton.record start "outer"
// KEPT-NEXT: tt.load
// KEPT: scf.for
// KEPT-NEXT: proton.record start "inner"
// KEPT-NEXT: tt.load
// KEPT-NEXT: proton.record end "inner"
// KEPT: proton.record end "outer"
tt.func public @region(%p: !tt.ptr<f32>, %n: i32) -> f32 {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  proton.record start "outer"
  %v = tt.load %p : !tt.ptr<f32>
  %r = scf.for %i = %0 to %n step %1 iter_args(%a = %v) -> (f32) : i32 {
    proton.record start "inner"
    %w = tt.load %p : !tt.ptr<f32>
    proton.record end "inner"
    %s = arith.addf %a, %w : f32
    scf.yield %s : f32
  }
  proton.record end "outer"
  tt.return %r : f32
}
