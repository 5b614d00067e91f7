// RUN: tritonx-opt %s -p cse | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#other = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Of two equal tiles whose layouts are still to be determined two may be asked. The third has one.
  // CHECK-LABEL: @undetermined
  // CHECK-COUNT-2: tt.make_range {{.*}} : tensor<64xi32, #gluon.auto_encoding>
  // CHECK-COUNT-1: tt.make_range {{.*}} : tensor<64xi32, #blocked>
  // CHECK-NOT: tt.make_range
  tt.func public @undetermined() -> (tensor<64xi32, #blocked>, tensor<64xi32, #other>, tensor<64xi32, #blocked>) {
    %a = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %b = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %c = gluon.set_auto_layout %a : tensor<64xi32, #gluon.auto_encoding> -> tensor<64xi32, #blocked>
    %d = gluon.set_auto_layout %b : tensor<64xi32, #gluon.auto_encoding> -> tensor<64xi32, #other>
    %e = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %f = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %g = arith.addi %e, %f : tensor<64xi32, #blocked>
    tt.return %c, %d, %g : tensor<64xi32, #blocked>, tensor<64xi32, #other>, tensor<64xi32, #blocked>
  }
}
