// RUN: tritonx-opt %s --target cuda:80 -t llvm | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Two buffers take turns: a loop carries which one is read and which one is written, as addresses.
  // CHECK-LABEL: @turns(
  // CHECK: phi ptr addrspace(3)
  // CHECK: phi ptr addrspace(3)
  // CHECK: load <4 x float>, ptr addrspace(3)
  // CHECK: barrier
  tt.func public @turns(%base: !tt.ptr<f32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p = tt.splat %base : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #rows>
    %both = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    %a = ttg.memdesc_index %both[%zero] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %b = ttg.memdesc_index %both[%one] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %x = tt.load %p : tensor<32x32x!tt.ptr<f32>, #rows>
    ttg.local_store %x, %a : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %l:2 = scf.for %i = %zero to %n step %one iter_args(%read = %a, %write = %b) -> (!ttg.memdesc<32x32xf32, #shared, #smem, mutable>, !ttg.memdesc<32x32xf32, #shared, #smem, mutable>) : i32 {
      %y = ttg.local_load %read : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
      %z = arith.addf %y, %y : tensor<32x32xf32, #rows>
      ttg.local_store %z, %write : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      scf.yield %write, %read : !ttg.memdesc<32x32xf32, #shared, #smem, mutable>, !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    }
    %r = ttg.local_load %l#0 : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
    tt.store %p, %r : tensor<32x32x!tt.ptr<f32>, #rows>
    tt.return
  }
}
