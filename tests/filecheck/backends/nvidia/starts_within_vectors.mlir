// RUN: tritonx-opt %s --target cuda:80 -t llir | filecheck %s

// A box that begins where the swizzle of short vectors has turned them begins within what a wide access moves: its
// elements are moved by no more than lies in order.
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>
#short = #ttg.swizzled_shared<{vec = 4, perPhase = 16, maxPhase = 2, order = [1, 0]}>
#long = #ttg.swizzled_shared<{vec = 8, perPhase = 16, maxPhase = 2, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: define {{.*}}@within
  // CHECK-NOT: ldmatrix
  // CHECK-NOT: <8 x half>
  // CHECK: store <4 x half>
  // CHECK: ret void
  tt.func public @within() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #short, #smem, mutable>
    %from = ttg.memdesc_subslice %m[16, 0] : !ttg.memdesc<32x32xf16, #short, #smem, mutable> -> !ttg.memdesc<16x16xf16, #short, #smem, mutable, 32x32>
    %to = ttg.memdesc_subslice %m[16, 16] : !ttg.memdesc<32x32xf16, #short, #smem, mutable> -> !ttg.memdesc<16x16xf16, #short, #smem, mutable, 32x32>
    %x = ttg.local_load %from : !ttg.memdesc<16x16xf16, #short, #smem, mutable, 32x32> -> tensor<16x16xf16, #a>
    %y = ttg.convert_layout %x : tensor<16x16xf16, #a> -> tensor<16x16xf16, #rows>
    ttg.local_store %y, %to : tensor<16x16xf16, #rows> -> !ttg.memdesc<16x16xf16, #short, #smem, mutable, 32x32>
    tt.return
  }

  // CHECK-LABEL: define {{.*}}@between
  // CHECK: ldmatrix
  // CHECK: store <8 x half>
  // CHECK: ret void
  tt.func public @between() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #long, #smem, mutable>
    %from = ttg.memdesc_subslice %m[16, 0] : !ttg.memdesc<32x32xf16, #long, #smem, mutable> -> !ttg.memdesc<16x16xf16, #long, #smem, mutable, 32x32>
    %to = ttg.memdesc_subslice %m[16, 16] : !ttg.memdesc<32x32xf16, #long, #smem, mutable> -> !ttg.memdesc<16x16xf16, #long, #smem, mutable, 32x32>
    %x = ttg.local_load %from : !ttg.memdesc<16x16xf16, #long, #smem, mutable, 32x32> -> tensor<16x16xf16, #a>
    %y = ttg.convert_layout %x : tensor<16x16xf16, #a> -> tensor<16x16xf16, #rows>
    ttg.local_store %y, %to : tensor<16x16xf16, #rows> -> !ttg.memdesc<16x16xf16, #long, #smem, mutable, 32x32>
    tt.return
  }
}
