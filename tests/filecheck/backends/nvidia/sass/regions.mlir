// REQUIRES: sass
// RUN: tritonx-opt %s --target cuda:90 --option instrumentation_mode=default --until sass | filecheck %s
// RUN: tritonx-opt %s --target cuda:80 --option instrumentation_mode=default --until sass | filecheck %s

// The assembler leaves each read of the clock between the accesses and products in front of it and those behind it.
// CHECK-LABEL: Function:regions
// CHECK: CS2R R{{[0-9]+}}, SR_CLOCKLO
// CHECK-NOT: LDG
// CHECK: CS2R R{{[0-9]+}}, SR_CLOCKLO
// CHECK: STG.E.128
// CHECK: LDG
// CHECK: LDG
// CHECK-NOT: LDSM
// CHECK: CS2R R{{[0-9]+}}, SR_CLOCKLO
// CHECK-NOT: LDSM
// CHECK: CS2R R{{[0-9]+}}, SR_CLOCKLO
// CHECK: STG.E.128
// CHECK-COUNT-4: HMMA
// CHECK-NOT: STG
// CHECK: CS2R R{{[0-9]+}}, SR_CLOCKLO
// CHECK-NOT: HMMA
// CHECK: EXIT

tt.func public @regions(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %cols = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %s = arith.constant dense<32> : tensor<32x1xi32>
  %ro = arith.muli %rows, %s : tensor<32x1xi32>
  %rb = tt.broadcast %ro : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %cols : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %rb, %cb : tensor<32x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %ap = tt.addptr %as, %o : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %bp = tt.addptr %bs, %o : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %cp = tt.addptr %cs, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  proton.record start "load"
  %av = tt.load %ap : tensor<32x32x!tt.ptr<f16>>
  %bv = tt.load %bp : tensor<32x32x!tt.ptr<f16>>
  proton.record end "load"
  proton.record start "dot"
  %d = tt.dot %av, %bv, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  proton.record end "dot"
  tt.store %cp, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
