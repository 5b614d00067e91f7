// RUN: tritonx-opt %s | filecheck %s

// The default region has the kernel's warps, loops in it as well; the partition one of its own.

#four = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#one = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>

// CHECK: default {
// CHECK: scf.for
// CHECK-NEXT: tt.splat %f : f32 -> tensor<128xf32, #blocked>
// CHECK: partition0
// CHECK: tt.splat {{.*}} : i32 -> tensor<128xi32, #blocked1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%f: f32, %n: i32) {
    ttg.warp_specialize(%n)
    default {
      scf.for %i = %n to %n step %n : i32 {
        %0 = tt.splat %f : f32 -> tensor<128xf32, #four>
      }
      ttg.warp_yield
    }
    partition0(%m: i32) num_warps(1) {
      %0 = tt.splat %m : i32 -> tensor<128xi32, #one>
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
