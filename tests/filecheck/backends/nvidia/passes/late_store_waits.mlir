// RUN: tritonx-opt %s -p "late-store-waits{shared_memory=65536}" | filecheck %s
// RUN: tritonx-opt %s -p "late-store-waits{shared_memory=8192}" | filecheck %s --check-prefix=FULL

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!desc = !tt.tensordesc<tensor<64x32xf16, #nvmma>>
!slot = !ttg.memdesc<64x32xf16, #nvmma, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #shared1, #smem, mutable>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The memory is taken in front of the loop; where there is no room for it, nothing changes.
  // CHECK-LABEL: @branch
  // CHECK: %[[MEMORY:buffer.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
  // CHECK: scf.for
  // CHECK: scf.if %last {
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %tile, %[[MEMORY]]
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %to[%i, %i] %[[MEMORY]]
  // CHECK-NEXT: }
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc %[[MEMORY]]
  // FULL-LABEL: @branch
  // FULL: scf.for
  // FULL: ttg.local_alloc %tile
  // FULL: ttng.async_tma_copy_local_to_global
  // FULL-NEXT: ttng.async_tma_store_wait
  tt.func public @branch(%from: !desc, %to: !desc, %slot: !slot, %bar: !bar, %tile: tensor<64x32xf16, #rows>, %n: i32, %last: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %own = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #nvmma, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.async_tma_copy_global_to_local %from[%i, %i] %own, %bar, %true : !desc, !bar -> !slot
      scf.if %last {
        %buffer = ttg.local_alloc %tile : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #nvmma, #smem>
        ttng.fence_async_shared {bCluster = false}
        ttng.async_tma_copy_local_to_global %to[%i, %i] %buffer : !desc, !ttg.memdesc<64x32xf16, #nvmma, #smem>
        ttng.async_tma_store_wait {pendings = 0 : i32}
      }
    }
    ttg.local_dealloc %own : !slot
    tt.return
  }

  // A loop without copies of its own: others may want the memory.
  // CHECK-LABEL: @no_copies
  // CHECK: scf.for
  // CHECK: ttg.local_alloc %tile
  // CHECK: ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: ttng.async_tma_store_wait
  tt.func public @no_copies(%to: !desc, %tile: tensor<64x32xf16, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %buffer = ttg.local_alloc %tile : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #nvmma, #smem>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %to[%i, %i] %buffer : !desc, !ttg.memdesc<64x32xf16, #nvmma, #smem>
      ttng.async_tma_store_wait {pendings = 0 : i32}
    }
    tt.return
  }
  // What the loop reads, or what others are told of, is waited for where it is stored.
  // CHECK-LABEL: @read_again
  // CHECK: scf.for
  // CHECK: ttg.local_alloc %tile
  // CHECK: ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: ttng.async_tma_store_wait
  tt.func public @read_again(%both: !desc, %slot: !slot, %bar: !bar, %tile: tensor<64x32xf16, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.async_tma_copy_global_to_local %both[%i, %i] %slot, %bar, %true : !desc, !bar -> !slot
      %buffer = ttg.local_alloc %tile : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #nvmma, #smem>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %both[%i, %i] %buffer : !desc, !ttg.memdesc<64x32xf16, #nvmma, #smem>
      ttng.async_tma_store_wait {pendings = 0 : i32}
    }
    tt.return
  }

  // CHECK-LABEL: @signalled
  // CHECK: scf.for
  // CHECK: ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: ttng.async_tma_store_wait
  // CHECK-NEXT: tt.atomic_rmw
  tt.func public @signalled(%from: !desc, %to: !desc, %flag: !tt.ptr<i32>, %slot: !slot, %bar: !bar, %tile: tensor<64x32xf16, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.async_tma_copy_global_to_local %from[%i, %i] %slot, %bar, %true : !desc, !bar -> !slot
      %buffer = ttg.local_alloc %tile : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #nvmma, #smem>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %to[%i, %i] %buffer : !desc, !ttg.memdesc<64x32xf16, #nvmma, #smem>
      ttng.async_tma_store_wait {pendings = 0 : i32}
      %old = tt.atomic_rmw exch, release, gpu, %flag, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    }
    tt.return
  }

  // A tensor map that the kernel makes in front of the loop is of the array that is written there.
  // CHECK-LABEL: @made
  // CHECK: scf.for
  // CHECK: ttng.async_tma_store_wait
  // CHECK-NEXT: ttg.local_store
  tt.func public @made(%from: !desc, %to: !tt.ptr<f16>, %map: !tt.ptr<i8>, %slot: !slot, %bar: !bar, %tile: tensor<64x32xf16, #rows>, %n: i32, %stride: i64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %memory = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %memory, %to, [%n, %n], [%n, %n], [%stride], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 2 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    %desc = ttng.reinterpret_tensor_descriptor %memory : !tt.ptr<i8> to !desc
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.async_tma_copy_global_to_local %from[%i, %i] %slot, %bar, %true : !desc, !bar -> !slot
      %buffer = ttg.local_alloc %tile : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #nvmma, #smem>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %desc[%i, %i] %buffer : !desc, !ttg.memdesc<64x32xf16, #nvmma, #smem>
      ttng.async_tma_store_wait {pendings = 0 : i32}
    }
    tt.return
  }
}
