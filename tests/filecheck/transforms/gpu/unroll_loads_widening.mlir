// RUN: tritonx-opt %s -p "unroll-loads{limit=true}" | filecheck %s

// Loads of 16 bits take 16 registers and 32 are there to work with; sums of 64 bits need eight more, to be widened in.
// CHECK: ttg.maxnreg = 56 : i32
// CHECK: @sum
// CHECK-COUNT-2: tt.load
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sum(%p: tensor<1024x!tt.ptr<i16>, #line>, %step: tensor<1024xi32, #line>, %init: tensor<1024xi64, #line>, %n: i32) -> tensor<1024xi64, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %q = %p) -> (tensor<1024xi64, #line>, tensor<1024x!tt.ptr<i16>, #line>) : i32 {
      %x = tt.load %q : tensor<1024x!tt.ptr<i16>, #line>
      %w = arith.extsi %x : tensor<1024xi16, #line> to tensor<1024xi64, #line>
      %b = arith.addi %a, %w : tensor<1024xi64, #line>
      %r = tt.addptr %q, %step : tensor<1024x!tt.ptr<i16>, #line>, tensor<1024xi32, #line>
      scf.yield %b, %r : tensor<1024xi64, #line>, tensor<1024x!tt.ptr<i16>, #line>
    }
    tt.return %sum : tensor<1024xi64, #line>
  }
}
