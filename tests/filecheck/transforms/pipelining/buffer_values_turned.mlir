// RUN: tritonx-opt %s -p 'buffer-values{shared_memory=65536 blocks="ttng"}' | filecheck %s

// A block of a descriptor whose rows are columns to the unit, which reads 8-bit operands with K contiguous alone: the
// copy engine brings it to slots as it lies in global memory, threads read it there and store it turned to slots of its
// own. Without, the copy would be waited for where it is issued.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]}>
#rows = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#copied = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @rows
  // CHECK-DAG: %[[SLOTS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<{{.*}}x64x64xi8, #shared, #smem, mutable>
  // CHECK-DAG: %[[TURNED:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xi8, #shared1, #smem, mutable>
  // CHECK: scf.for
  // CHECK: ttng.async_tma_copy_global_to_local {{.*}}loop.stage = 0 : i32
  // CHECK: ttng.wait_barrier {{.*}}loop.stage = 2 : i32
  // CHECK: %[[READ:.*]] = ttg.local_load {{.*}}loop.stage = 2 : i32
  // CHECK: ttg.local_store {{.*}}loop.stage = 2 : i32
  // CHECK: ttng.warp_group_dot
  // CHECK-NOT: tt.descriptor_load
  tt.func public @rows(%p: !tt.tensordesc<tensor<64x64xi8, #copied>>, %x: !ttg.memdesc<64x64xi8, #copied, #smem>, %n: i32) -> tensor<64x64xi32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<64x64xi32, #mma>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xi32, #mma>) : i32 {
      %y = tt.descriptor_load %p[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<64x64xi8, #copied>> -> tensor<64x64xi8, #rows>
      %b = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x64xi8, #rows>) -> !ttg.memdesc<64x64xi8, #turned, #smem>
      %d = ttng.warp_group_dot %x, %b, %c {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x64xi8, #copied, #smem> * !ttg.memdesc<64x64xi8, #turned, #smem> -> tensor<64x64xi32, #mma>
      scf.yield %d : tensor<64x64xi32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x64xi32, #mma>
  }
}
