// RUN: tritonx-opt %s --target cuda:80 --until llir | filecheck %s

// Each of two elements is written and read on its own; between the two there is a barrier.
// CHECK-LABEL: define ptx_kernel void @places(
// CHECK-COUNT-2: store float %{{.*}}, ptr addrspace(3)
// CHECK: barrier
// CHECK-COUNT-2: load float, ptr addrspace(3)

#tile = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @places(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    %i = tt.splat %n : i32 -> tensor<8x32xi32, #tile>
    %v = tt.splat %x : f32 -> tensor<8x32xf32, #tile>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>, #tile>
    %r = tt.addptr %q, %i : tensor<8x32x!tt.ptr<f32>, #tile>, tensor<8x32xi32, #tile>
    %m = ttg.local_alloc : () -> !ttg.memdesc<8x32xf32, #shared, #smem, mutable>
    ttg.local_scatter %m[%i], %v {axis = 0 : i32} : !ttg.memdesc<8x32xf32, #shared, #smem, mutable>, tensor<8x32xi32, #tile>, tensor<8x32xf32, #tile>
    %g = ttg.local_gather %m[%i] {axis = 0 : i32} : !ttg.memdesc<8x32xf32, #shared, #smem, mutable>, tensor<8x32xi32, #tile> -> tensor<8x32xf32, #tile>
    tt.store %r, %g : tensor<8x32x!tt.ptr<f32>, #tile>
    tt.return
  }
}
