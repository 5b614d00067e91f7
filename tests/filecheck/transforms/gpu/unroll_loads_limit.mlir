// RUN: tritonx-opt %s -p "unroll-loads{limit=true}" | filecheck %s

// The loads of a body take 16 registers, or more, and 32 are there to work with: the carried tile takes them all.
// CHECK: module attributes {{.*}}"ttg.threads-per-warp" = 32 : i32} {
// CHECK-NOT: ttg.maxnreg
// CHECK: @sum
// CHECK-COUNT-2: tt.load
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#long = #ttg.blocked<{sizePerThread = [32], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sum(%p: tensor<512x!tt.ptr<f32>, #line>, %step: tensor<512xi32, #line>, %init: tensor<512xf32, #line>, %long: tensor<4096xf32, #long>, %n: i32) -> (tensor<512xf32, #line>, tensor<4096xf32, #long>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %powers, %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %l = %long, %q = %p) -> (tensor<512xf32, #line>, tensor<4096xf32, #long>, tensor<512x!tt.ptr<f32>, #line>) : i32 {
      %x = tt.load %q : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x : tensor<512xf32, #line>
      %m = arith.mulf %l, %l : tensor<4096xf32, #long>
      %r = tt.addptr %q, %step : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      scf.yield %b, %m, %r : tensor<512xf32, #line>, tensor<4096xf32, #long>, tensor<512x!tt.ptr<f32>, #line>
    }
    tt.return %sum, %powers : tensor<512xf32, #line>, tensor<4096xf32, #long>
  }
}
