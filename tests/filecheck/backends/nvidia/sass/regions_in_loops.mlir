// REQUIRES: sass
// RUN: tritonx-opt %s --target cuda:90 --option instrumentation_mode=default --until sass | filecheck %s

// A product of warp groups is over where its region ends, and begins in it.
// CHECK-LABEL: Function:product
// CHECK: CS2R R{{[0-9]+}}, SR_CLOCKLO
// CHECK: CS2R R{{[0-9]+}}, SR_CLOCKLO
// CHECK: WARPGROUP.ARRIVE
// CHECK: HGMMA
// CHECK: WARPGROUP.DEPBAR.LE gsb0, 0x0
// CHECK-NOT: HGMMA
// CHECK: CS2R R{{[0-9]+}}, SR_CLOCKLO
// CHECK: STG.E.128
// CHECK: BRA

tt.func public @product(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %cols = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = arith.constant dense<64> : tensor<64x1xi32>
  %ro = arith.muli %rows, %s : tensor<64x1xi32>
  %rb = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %cols : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ap = tt.addptr %as, %o : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %bp = tt.addptr %bs, %o : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %cp = tt.addptr %cs, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %d, %x, %y = scf.for %i = %0 to %n step %1 iter_args(%sum = %zero, %p = %ap, %q = %bp) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %av = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %bv = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    proton.record start "product"
    %e = tt.dot %av, %bv, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    proton.record end "product"
    %pn = tt.addptr %p, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %qn = tt.addptr %q, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %e, %pn, %qn : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.store %cp, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
