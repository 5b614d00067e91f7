// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-level 3.9 | tritonx-opt | filecheck %s

// Layouts that passes determine, in ops of all dialects.

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @undetermined(%p: !tt.ptr<f32>, %n: i32, %c: i1) {
    %0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #gluon.auto_encoding>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<32xi32, #gluon.auto_encoding> -> tensor<1x32xi32, #gluon.auto_encoding>
    %2 = tt.broadcast %1 : tensor<1x32xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #gluon.auto_encoding>
    %3 = arith.sitofp %2 : tensor<16x32xi32, #gluon.auto_encoding> to tensor<16x32xf32, #gluon.auto_encoding>
    %4 = math.exp2 %3 : tensor<16x32xf32, #gluon.auto_encoding>
    %5 = tt.trans %4 {order = array<i32: 1, 0>} : tensor<16x32xf32, #gluon.auto_encoding> -> tensor<32x16xf32, #gluon.auto_encoding>
    %6 = "tt.reduce"(%5) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<32x16xf32, #gluon.auto_encoding>) -> tensor<32xf32, #gluon.auto_encoding>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %7 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %4) -> (tensor<16x32xf32, #gluon.auto_encoding>) : i32 {
      %y = arith.mulf %x, %4 : tensor<16x32xf32, #gluon.auto_encoding>
      scf.yield %y : tensor<16x32xf32, #gluon.auto_encoding>
    }
    %8 = scf.if %c -> (tensor<16x32xf32, #gluon.auto_encoding>) {
      scf.yield %7 : tensor<16x32xf32, #gluon.auto_encoding>
    } else {
      scf.yield %4 : tensor<16x32xf32, #gluon.auto_encoding>
    }
    %9 = gluon.set_auto_layout %8 {note = 1 : i32} : tensor<16x32xf32, #gluon.auto_encoding> -> tensor<16x32xf32, #blocked>
    %10 = ttg.convert_layout %9 : tensor<16x32xf32, #blocked> -> tensor<16x32xf32, #gluon.auto_encoding>
    %11 = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>, #gluon.auto_encoding>
    %12 = tt.addptr %11, %2 : tensor<16x32x!tt.ptr<f32>, #gluon.auto_encoding>, tensor<16x32xi32, #gluon.auto_encoding>
    %13 = gluon.set_auto_layout %12 : tensor<16x32x!tt.ptr<f32>, #gluon.auto_encoding> -> tensor<16x32x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %14 = tt.load %13 : tensor<16x32x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %15 = arith.constant dense<1.000000e+00> : tensor<16x32xf32, #gluon.coalesced_encoding>
    %16 = arith.addf %14, %15 : tensor<16x32xf32, #gluon.coalesced_encoding>
    tt.store %13, %16 : tensor<16x32x!tt.ptr<f32>, #gluon.coalesced_encoding>
    tt.return
  }
}

// CHECK: tt.func @undetermined
// CHECK: tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #gluon.auto_encoding>
// CHECK: tt.expand_dims {{.*}} -> tensor<1x32xi32, #gluon.auto_encoding>
// CHECK: math.exp2 {{.*}} : tensor<16x32xf32, #gluon.auto_encoding>
// CHECK: "tt.reduce"
// CHECK: (tensor<32x16xf32, #gluon.auto_encoding>) -> tensor<32xf32, #gluon.auto_encoding>
// CHECK: scf.for {{.*}} -> (tensor<16x32xf32, #gluon.auto_encoding>)
// CHECK: scf.if {{.*}} -> (tensor<16x32xf32, #gluon.auto_encoding>)
// CHECK: gluon.set_auto_layout %{{.*}} {note = 1 : i32} : tensor<16x32xf32, #gluon.auto_encoding> -> tensor<16x32xf32, #blocked>
// CHECK: ttg.convert_layout {{.*}} : tensor<16x32xf32, #blocked> -> tensor<16x32xf32, #gluon.auto_encoding>
// CHECK: gluon.set_auto_layout {{.*}} : tensor<16x32x!tt.ptr<f32>, #gluon.auto_encoding> -> tensor<16x32x!tt.ptr<f32>, #gluon.coalesced_encoding>
// CHECK: tt.load {{.*}} : tensor<16x32x!tt.ptr<f32>, #gluon.coalesced_encoding>
// CHECK: arith.constant dense<1.000000e+00> : tensor<16x32xf32, #gluon.coalesced_encoding>
