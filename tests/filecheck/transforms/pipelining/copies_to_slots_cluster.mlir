// RUN: tritonx-opt %s -p 'buffer-values{shared_memory=232448 blocks="ttng"}' | filecheck %s

// Each of two blocks gets half of A and all of B: 2048 + 2048 bytes come to its memory.
// CHECK-LABEL: @halves
// CHECK: ttng.barrier_expect %{{.*}}, 4096

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[1, 0]], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#whole = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0]]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#both = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @halves(%a: !tt.tensordesc<tensor<64x32xf16, #shared>>, %b: !tt.tensordesc<tensor<32x32xf16, #both>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<64x32xf16, #shared>> -> tensor<64x32xf16, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #both>> -> tensor<32x32xf16, #whole>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #whole>) -> !ttg.memdesc<32x32xf16, #both, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #both, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}
