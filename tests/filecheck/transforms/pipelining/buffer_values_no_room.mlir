// RUN: tritonx-opt %s -p 'schedule-loops{target="cuda:90" num_stages=2},buffer-values{shared_memory=800 blocks="ttng"}' | filecheck %s

// A block of a descriptor waits in slots or not at all: in registers the program would wait for the copy engine at once.
// CHECK-LABEL: @too_large
// CHECK-NOT: loop.stage
// CHECK-NOT: ttng.async_tma_copy_global_to_local
// CHECK: tt.return
#group = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#warp = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#one = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #warp, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #warp, kWidth = 2}>
#block = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @too_large(%x: !tt.tensordesc<tensor<16x16xf16, #block>>, %y: tensor<16x64xf16, #b>, %n: i32) -> tensor<16x64xf32, #warp> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #warp>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<16x64xf32, #warp>) : i32 {
      %u = tt.descriptor_load %x[%i, %c0] : !tt.tensordesc<tensor<16x16xf16, #block>> -> tensor<16x16xf16, #one>
      %v = arith.addf %u, %u : tensor<16x16xf16, #one>
      %a = ttg.convert_layout %v : tensor<16x16xf16, #one> -> tensor<16x16xf16, #a>
      %d = tt.dot %a, %y, %c : tensor<16x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<16x64xf32, #warp>
      scf.yield %d : tensor<16x64xf32, #warp>
    }
    tt.return %sum : tensor<16x64xf32, #warp>
  }
}
