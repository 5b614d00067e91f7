// RUN: tritonx-opt %s -p 'buffer-values{shared_memory=65536 blocks="ttng"}' | filecheck %s
// RUN: tritonx-opt %s -p 'buffer-values{shared_memory=65536}' | filecheck %s --check-prefix THREADS

// Blocks of two stages ahead. The copy of @in_front stands in front of the product that reads the slot before, in the
// same interval: it goes behind it, and needs three slots, not four. That of @read_as_well cannot wait so long: threads
// read the tile in the interval in which it is loaded.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Without a unit that copies blocks they wait in registers.
  // THREADS-LABEL: @in_front
  // THREADS: tt.descriptor_load
  // THREADS-NOT: ttng.async_tma
  // CHECK-LABEL: @in_front
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, {{.*}}, mutable>
  // CHECK: ttng.async_tma_copy_global_to_local {{.*}}loop.cluster = 2 : i32, loop.stage = 0 : i32
  // CHECK: ttng.warp_group_dot {{.*}}loop.cluster = 1 : i32, loop.stage = 2 : i32
  tt.func public @in_front(%p: !tt.tensordesc<tensor<64x64xf16, #shared>>, %y: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %p[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #rows>
      %a = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 1 : i32} : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttng.warp_group_dot %a, %y, %c {loop.stage = 2 : i32, loop.cluster = 1 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x64xf32, #mma>
  }

  // CHECK-LABEL: @read_as_well
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, {{.*}}, mutable>
  // CHECK: tt.return
  tt.func public @read_as_well(%p: !tt.tensordesc<tensor<64x64xf16, #shared>>, %y: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x64xf16, #rows>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
    %sum, %most = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %m = %none) -> (tensor<64x64xf32, #mma>, tensor<64x64xf16, #rows>) : i32 {
      %x = tt.descriptor_load %p[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #rows>
      %w = arith.maximumf %m, %x {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<64x64xf16, #rows>
      %a = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 1 : i32} : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttng.warp_group_dot %a, %y, %c {loop.stage = 2 : i32, loop.cluster = 1 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d, %w : tensor<64x64xf32, #mma>, tensor<64x64xf16, #rows>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum, %most : tensor<64x64xf32, #mma>, tensor<64x64xf16, #rows>
  }
}
