// RUN: tritonx-opt %s -p "allocate-shared-memory,insert-barriers" | filecheck %s

// Barriers where several groups of warps, mbarriers and asynchronous accesses are about.

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
!slots = !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
!slot = !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
!tile = tensor<32x32xf32, #rows>
!bar = !ttg.memdesc<1xi64, #one, #smem, mutable>
!operand = tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
!product = tensor<64x32xf32, #mma>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What one partition has pending does not concern the next: each waits for its own threads.
  // CHECK-LABEL: @siblings
  // CHECK: partition0
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.warp_return
  // CHECK: partition1
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.warp_return
  tt.func public @siblings(%a: !tile) {
    %m = ttg.local_alloc : () -> !slot
    ttg.warp_specialize(%m, %a)
    default {
      ttg.warp_yield
    }
    partition0(%p: !slot, %x: !tile) num_warps(4) {
      ttg.local_store %x, %p : !tile -> !slot
      ttg.warp_return
    }
    partition1(%q: !slot, %y: !tile) num_warps(4) {
      %z = ttg.local_load %q : !slot -> !tile
      ttg.local_store %z, %q : !tile -> !slot
      ttg.warp_return
    } : (!slot, !tile) -> ()
    tt.return
  }

  // What was written before is waited for before the partitions start, where all threads that wrote it can wait; what
  // they leave is pending behind them.
  // CHECK-LABEL: @around
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.warp_specialize
  // CHECK: partition0
  // CHECK-NEXT: ttg.local_load
  // CHECK-NOT: ttg.local_barrier
  // CHECK: ttg.warp_return
  // CHECK: ttg.local_barrier
  // CHECK-NEXT: ttg.local_store
  tt.func public @around(%a: !tile) {
    %m = ttg.local_alloc : () -> !slot
    ttg.local_store %a, %m : !tile -> !slot
    ttg.warp_specialize(%m)
    default {
      ttg.warp_yield
    }
    partition0(%p: !slot) num_warps(4) {
      %x = ttg.local_load %p : !slot -> !tile
      tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : !tile
      ttg.warp_return
    } : (!slot) -> ()
    ttg.local_store %a, %m : !tile -> !slot
    tt.return
  }

  // What no partition touches does not wait, and is still pending behind them.
  // CHECK-LABEL: @untouched
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttg.warp_specialize
  // CHECK: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  tt.func public @untouched(%a: !tile) -> !tile {
    %m = ttg.local_alloc : () -> !slot
    ttg.local_store %a, %m : !tile -> !slot
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    %x = ttg.local_load %m : !slot -> !tile
    tt.return %x : !tile
  }

  // An mbarrier is made, then used by all: one barrier. Arriving and waiting are no accesses, and what the copy brings
  // is there for who has waited; the next copy waits for all who read the last one.
  // CHECK-LABEL: @mbarrier
  // CHECK: ttng.init_barrier
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.barrier_expect
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.print
  // CHECK-NEXT: }
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.inval_barrier
  tt.func public @mbarrier(%d: !tt.tensordesc<tensor<64x32xf16, #nv>>, %n: i32, %true: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    %b = ttg.local_alloc : () -> !bar
    ttng.init_barrier %b, 1 : !bar
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.barrier_expect %b, 4096, %true : !bar
      ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %true : !tt.tensordesc<tensor<64x32xf16, #nv>>, !bar -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
      ttng.wait_barrier %b, %i : !bar
      %x = ttg.local_load %m : !ttg.memdesc<64x32xf16, #nv, #smem, mutable> -> tensor<64x32xf16, #rows>
      tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : tensor<64x32xf16, #rows>
    }
    ttng.inval_barrier %b : !bar
    tt.return
  }

  // One thread arrives for all, when all have read; where none has anything to tell, it does not wait for them.
  // CHECK-LABEL: @arrival
  // CHECK: partition0
  // CHECK-NEXT: ttng.arrive_barrier
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.arrive_barrier
  // CHECK-NEXT: tt.print
  // CHECK-NEXT: ttg.warp_return
  tt.func public @arrival(%i: i32) {
    %m = ttg.local_alloc : () -> !slot
    %full = ttg.local_alloc : () -> !bar
    %empty = ttg.local_alloc : () -> !bar
    ttg.warp_specialize(%m, %full, %empty, %i)
    default {
      ttg.warp_yield
    }
    partition0(%p: !slot, %f: !bar, %e: !bar, %j: i32) num_warps(4) {
      ttng.arrive_barrier %e, 1 : !bar
      ttng.wait_barrier %f, %j : !bar
      %x = ttg.local_load %p : !slot -> !tile
      ttng.arrive_barrier %e, 1 : !bar
      tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : !tile
      ttg.warp_return
    } : (!slot, !bar, !bar, i32) -> ()
    tt.return
  }

  // A wait that leaves one group under way does not say which: after the next one there is a barrier again.
  // CHECK-LABEL: @groups
  // CHECK: ttg.async_wait {{.*}} {num = 1 : i32}
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.async_wait {{.*}} {num = 0 : i32}
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func public @groups(%p: tensor<32x32x!tt.ptr<f32>, #rows>) -> (!tile, !tile) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !slots
    %m0 = ttg.memdesc_index %m[%c0] : !slots -> !slot
    %m1 = ttg.memdesc_index %m[%c1] : !slots -> !slot
    %t0 = ttg.async_copy_global_to_local %p, %m0 : tensor<32x32x!tt.ptr<f32>, #rows> -> <32x32xf32, #shared, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %t1 = ttg.async_copy_global_to_local %p, %m1 : tensor<32x32x!tt.ptr<f32>, #rows> -> <32x32xf32, #shared, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1
    %w0 = ttg.async_wait %g0 {num = 1 : i32}
    %x = ttg.local_load %m0 : !slot -> !tile
    %w1 = ttg.async_wait %g1 {num = 0 : i32}
    %y = ttg.local_load %m1 : !slot -> !tile
    tt.return %x, %y : !tile, !tile
  }

  // Who has issued a product starts the next copy without waiting for the others to issue theirs: the barrier stands
  // in front of the product. Behind a wait for a product it cannot, since that tells more.
  // CHECK-LABEL: @under_way
  // CHECK: scf.for
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NEXT: ttng.barrier_expect
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // CHECK-NEXT: scf.yield
  // CHECK-LABEL: @waited_for
  // CHECK: scf.for
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.barrier_expect
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // CHECK-NEXT: scf.yield
  tt.func public @under_way(%d: !tt.tensordesc<tensor<64x32xf16, #nv>>, %n: i32, %x: !operand, %zero: !product) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    %k = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    %b = ttg.local_alloc : () -> !bar
    ttng.init_barrier %b, 1 : !bar
    gpu.barrier
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!product) : i32 {
      ttng.wait_barrier %b, %i : !bar
      %y = ttng.warp_group_dot %x, %m, %acc {isAsync = true} : !operand * !ttg.memdesc<64x32xf16, #nv, #smem, mutable> -> !product
      ttng.barrier_expect %b, 4096, %true : !bar
      ttng.async_tma_copy_global_to_local %d[%i, %c0] %k, %b, %true : !tt.tensordesc<tensor<64x32xf16, #nv>>, !bar -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
      scf.yield %y : !product
    }
    tt.return
  }

  tt.func public @waited_for(%d: !tt.tensordesc<tensor<64x32xf16, #nv>>, %n: i32, %x: !operand, %zero: !product) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    %k = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    %b = ttg.local_alloc : () -> !bar
    ttng.init_barrier %b, 1 : !bar
    gpu.barrier
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!product) : i32 {
      ttng.wait_barrier %b, %i : !bar
      %y = ttng.warp_group_dot %x, %m, %acc {isAsync = true} : !operand * !ttg.memdesc<64x32xf16, #nv, #smem, mutable> -> !product
      %z = ttng.warp_group_dot_wait %y {pendings = 0 : i32} : !product
      ttng.barrier_expect %b, 4096, %true : !bar
      ttng.async_tma_copy_global_to_local %d[%i, %c0] %k, %b, %true : !tt.tensordesc<tensor<64x32xf16, #nv>>, !bar -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
      scf.yield %z : !product
    }
    tt.return
  }

  // One thread says what the next phase waits for, and issues the copy, for all: none may wait for an earlier phase still.
  // CHECK-LABEL: @produced
  // CHECK: ttng.init_barrier
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.barrier_expect
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // CHECK-NEXT: }
  tt.func public @produced(%d: !tt.tensordesc<tensor<64x32xf16, #nv>>, %n: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #one, #smem, mutable>
    gpu.barrier
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.wait_barrier %b, %i : !ttg.memdesc<1xi64, #one, #smem, mutable>
      ttng.barrier_expect %b, 4096, %true : !ttg.memdesc<1xi64, #one, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %true : !tt.tensordesc<tensor<64x32xf16, #nv>>, !ttg.memdesc<1xi64, #one, #smem, mutable> -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    }
    tt.return
  }

  // A copy to global memory reads until it has been waited for, which one thread does for all.
  // CHECK-LABEL: @stored
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: ttng.async_tma_store_wait
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_store
  tt.func public @stored(%d: !tt.tensordesc<tensor<64x32xf16, #nv>>, %a: tensor<64x32xf16, #rows>, %i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    ttg.local_store %a, %m : tensor<64x32xf16, #rows> -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<tensor<64x32xf16, #nv>>, !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    gpu.barrier
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttg.local_store %a, %m : tensor<64x32xf16, #rows> -> !ttg.memdesc<64x32xf16, #nv, #smem, mutable>
    tt.return
  }

  // On every way through the blocks, with a memory that has another name in the second one.
  // CHECK-LABEL: @branches
  // CHECK: ^two
  // CHECK: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  tt.func public @branches(%a: !tile, %c: i1) -> !tile {
    %m = ttg.local_alloc : () -> !slot
    %o = ttg.local_alloc : () -> !slot
    cf.cond_br %c, ^one(%o : !slot), ^two(%m : !slot)
  ^one(%u: !slot):
    ttg.local_store %a, %u : !tile -> !slot
    cf.br ^two(%u : !slot)
  ^two(%v: !slot):
    %x = ttg.local_load %v : !slot -> !tile
    tt.return %x : !tile
  }
}
