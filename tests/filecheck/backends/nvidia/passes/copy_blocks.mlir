// RUN: tritonx-opt %s -p "encode-descriptors,copy-blocks,cse,dce" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #[[WIDE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
  // CHECK-DAG: #[[OPERAND:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
  // CHECK-DAG: #[[FLAT:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>

  // A block comes to a buffer, of as wide a swizzle as its rows have, and is taken from there; results leave likewise,
  // from the layout that they have, behind a fence.
  // CHECK-LABEL: @moved
  // CHECK-SAME: %d: !tt.tensordesc<tensor<64x64xf16, #[[WIDE]]>>
  // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #[[WIDE]], #smem, mutable>
  // CHECK-NEXT: %[[BAR:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64
  // CHECK-NEXT: ttng.init_barrier %[[BAR]], 1
  // CHECK-NEXT: ttng.barrier_expect %[[BAR]], 8192, %{{.*}}
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local %d[%i, %i] %[[B]], %[[BAR]]
  // CHECK: ttng.wait_barrier %[[BAR]], %{{.*}}
  // CHECK-NEXT: ttng.inval_barrier %[[BAR]]
  // CHECK-NEXT: %[[X:.*]] = ttg.local_load %[[B]]
  // CHECK-NEXT: %[[S:.*]] = ttg.local_alloc %[[X]]
  // CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %d[%i, %i] %[[S]]
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  tt.func public @moved(%d: !tt.tensordesc<tensor<64x64xf16>>, %i: i32) {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
    tt.return
  }

  // What the kernel reads afterwards has to be in memory: here behind the store, there in the next iteration. An array
  // that is another argument may be read at any time.
  // CHECK-LABEL: @read_afterwards
  // CHECK: ttng.async_tma_copy_local_to_global %d
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32}{{$}}
  // CHECK: scf.for
  // CHECK: ttng.async_tma_copy_local_to_global %e
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32}{{$}}
  // CHECK: ttng.async_tma_copy_local_to_global %f
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  tt.func public @read_afterwards(%d: !tt.tensordesc<tensor<64x64xf16>>, %e: !tt.tensordesc<tensor<64x64xf16>>, %f: !tt.tensordesc<tensor<64x64xf16>>, %x: tensor<64x64xf16, #rows>, %i: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
    %y = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    scf.for %k = %c0 to %i step %c1 : i32 {
      %z = tt.descriptor_load %e[%k, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
      tt.descriptor_store %e[%i, %k], %z : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
    }
    tt.descriptor_store %f[%i, %i], %y : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
    tt.return
  }

  // Few rows cannot be swizzled.
  // CHECK-LABEL: @reduced
  // CHECK-SAME: %d: !tt.tensordesc<tensor<2x32xui32, #[[FLAT]]>>
  // CHECK: %[[S:.*]] = ttg.local_alloc %x : {{.*}} -> !ttg.memdesc<2x32xi32, #[[FLAT]], #smem>
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_reduce max, %d[%i, %i] %[[S]]
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  tt.func public @reduced(%d: !tt.tensordesc<tensor<2x32xui32>>, %x: tensor<2x32xi32, #rows>, %i: i32) {
    tt.descriptor_reduce max, %d[%i, %i], %x : !tt.tensordesc<tensor<2x32xui32>>, tensor<2x32xi32, #rows>
    tt.return
  }

  // A product's operand lies as its unit reads it, and is the buffer that the copy fills.
  // CHECK-LABEL: @operand
  // CHECK-SAME: %d: !tt.tensordesc<tensor<64x64xf16, #[[OPERAND]]>>
  // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #[[OPERAND]], #smem, mutable>
  // CHECK: ttng.async_tma_copy_global_to_local %d[%i, %i] %[[B]]
  // CHECK-NOT: ttg.local_load
  // CHECK: ttng.warp_group_dot %[[B]], %[[B]], %c
  tt.func public @operand(%d: !tt.tensordesc<tensor<64x64xf16>>, %c: tensor<64x64xf32, #mma>, %i: i32) -> tensor<64x64xf32, #mma> {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #nv, #smem>
    %r = ttng.warp_group_dot %m, %m, %c : !ttg.memdesc<64x64xf16, #nv, #smem> * !ttg.memdesc<64x64xf16, #nv, #smem> -> tensor<64x64xf32, #mma>
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
