// RUN: tritonx-opt %s --target cuda:90 -t llvm | filecheck %s
// RUN: not tritonx-opt %s --target cuda:90 --option num_ctas=1 -t llvm 2>&1 | filecheck %s --check-prefix=ONE

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#same = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0]]}>
#split = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0], CGALayout = [[0, 1]]}>
#whole = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0], CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory

// A module for two blocks a cluster is compiled for two, and not for one.
// ONE: the module says ttg.num-ctas = 2, the compile options num_ctas = 1

module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Of buffers that are split over the cluster a block holds half of each, one after another; of others all.
  // CHECK-LABEL: @turns(
  // CHECK: mul i32 [[I:%[0-9a-z_.]+]], 512
  // CHECK: mul i32 [[I]], 1024
  tt.func public @turns(%base: !tt.ptr<f32>, %i: i32) {
    %p = tt.splat %base : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #rows>
    %q = tt.splat %base : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #same>
    %halves = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf32, #split, #smem, mutable>
    %all = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf32, #whole, #smem, mutable>
    %a = ttg.memdesc_index %halves[%i] : !ttg.memdesc<3x32x32xf32, #split, #smem, mutable> -> !ttg.memdesc<32x32xf32, #split, #smem, mutable>
    %b = ttg.memdesc_index %all[%i] : !ttg.memdesc<3x32x32xf32, #whole, #smem, mutable> -> !ttg.memdesc<32x32xf32, #whole, #smem, mutable>
    %x = tt.load %p : tensor<32x32x!tt.ptr<f32>, #rows>
    %y = tt.load %q : tensor<32x32x!tt.ptr<f32>, #same>
    ttg.local_store %x, %a : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #split, #smem, mutable>
    ttg.local_store %y, %b : tensor<32x32xf32, #same> -> !ttg.memdesc<32x32xf32, #whole, #smem, mutable>
    tt.return
  }
}
