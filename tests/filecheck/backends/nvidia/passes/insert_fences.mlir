// RUN: tritonx-opt %s -p "allocate-shared-memory,insert-fences,insert-barriers" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A block comes to where a conversion has exchanged its data: a fence behind that, and a barrier before the copy.
  // CHECK-LABEL: @one_place
  // CHECK: ttg.convert_layout %t {allocation.offset = 0 : i32}
  // CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
  // CHECK-NEXT: ttg.local_alloc {allocation.offset = 0 : i32}
  // CHECK: ttg.local_barrier
  // CHECK-NOT: fence
  // CHECK: ttng.async_tma_copy_global_to_local
  tt.func public @one_place(%d: !tt.tensordesc<tensor<64x16xf16, #wide>>, %t: tensor<64x16xf16, #rows>) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %a = ttg.convert_layout %t : tensor<64x16xf16, #rows> -> tensor<64x16xf16, #columns>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.barrier_expect %b, 2048, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b, %true : !tt.tensordesc<tensor<64x16xf16, #wide>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
    ttng.wait_barrier %b, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }

  // What was stored in front of a loop is fenced there, and all wait for it there.
  // CHECK-LABEL: @before_loop
  // CHECK: ttg.local_alloc %t
  // CHECK: ttng.fence_async_shared
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: scf.for
  // CHECK-NOT: fence
  // CHECK: ttng.async_tma_copy_local_to_global
  // CHECK-NOT: fence
  // CHECK: tt.return
  tt.func public @before_loop(%d: !tt.tensordesc<tensor<64x16xf16, #wide>>, %t: tensor<64x16xf16, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = ttg.local_alloc %t : (tensor<64x16xf16, #rows>) -> !ttg.memdesc<64x16xf16, #wide, #smem>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.async_tma_copy_local_to_global %d[%i, %c0] %s : !tt.tensordesc<tensor<64x16xf16, #wide>>, !ttg.memdesc<64x16xf16, #wide, #smem>
    }
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }

  // What threads read in a loop is fenced in it, before the next iteration overwrites it; here with what was stored in
  // front of it.
  // CHECK-LABEL: @loop
  // CHECK: ttg.local_alloc %t
  // CHECK-NOT: fence
  // CHECK: scf.for
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK-NOT: fence
  // CHECK: ttg.local_load
  // CHECK: tt.return
  tt.func public @loop(%d: !tt.tensordesc<tensor<64x16xf16, #wide>>, %t: tensor<64x16xf16, #rows>, %n: i32, %p: tensor<64x16x!tt.ptr<f16>, #rows>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %s = ttg.local_alloc %t : (tensor<64x16xf16, #rows>) -> !ttg.memdesc<64x16xf16, #wide, #smem>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.async_tma_copy_local_to_global %d[%i, %c0] %s : !tt.tensordesc<tensor<64x16xf16, #wide>>, !ttg.memdesc<64x16xf16, #wide, #smem>
      ttng.barrier_expect %b, 2048, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b, %true : !tt.tensordesc<tensor<64x16xf16, #wide>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
      %phase = arith.andi %i, %c1 : i32
      ttng.wait_barrier %b, %phase : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      %l = ttg.local_load %m : !ttg.memdesc<64x16xf16, #wide, #smem, mutable> -> tensor<64x16xf16, #rows>
      tt.store %p, %l : tensor<64x16x!tt.ptr<f16>, #rows>
    }
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }

  // One group of warps stores what another copies out: it fences that before it arrives, unless it has done so itself.
  // CHECK-LABEL: @groups
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.arrive_barrier
  // CHECK-NOT: fence
  // CHECK-LABEL: @fenced_groups
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttng.arrive_barrier
  // CHECK-NOT: fence
  tt.func public @groups(%d: !tt.tensordesc<tensor<64x16xf16, #wide>>, %t: tensor<64x16xf16, #rows>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttg.warp_specialize(%m, %b, %d) attributes {warpGroupStartIds = array<i32: 4>}
    default {
      ttg.local_store %t, %m : tensor<64x16xf16, #rows> -> !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
      ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%n: !ttg.memdesc<64x16xf16, #wide, #smem, mutable>, %a: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %e: !tt.tensordesc<tensor<64x16xf16, #wide>>) num_warps(1) {
      %c0 = arith.constant 0 : i32
      ttng.wait_barrier %a, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttng.async_tma_copy_local_to_global %e[%c0, %c0] %n : !tt.tensordesc<tensor<64x16xf16, #wide>>, !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
      ttng.async_tma_store_wait {pendings = 0 : i32}
      ttg.warp_return
    } : (!ttg.memdesc<64x16xf16, #wide, #smem, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !tt.tensordesc<tensor<64x16xf16, #wide>>) -> ()
    tt.return
  }

  tt.func public @fenced_groups(%d: !tt.tensordesc<tensor<64x16xf16, #wide>>, %t: tensor<64x16xf16, #rows>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttg.warp_specialize(%m, %b, %d) attributes {warpGroupStartIds = array<i32: 4>}
    default {
      ttg.local_store %t, %m : tensor<64x16xf16, #rows> -> !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
      ttng.fence_async_shared {bCluster = false}
      ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%n: !ttg.memdesc<64x16xf16, #wide, #smem, mutable>, %a: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %e: !tt.tensordesc<tensor<64x16xf16, #wide>>) num_warps(1) {
      %c0 = arith.constant 0 : i32
      ttng.wait_barrier %a, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttng.async_tma_copy_local_to_global %e[%c0, %c0] %n : !tt.tensordesc<tensor<64x16xf16, #wide>>, !ttg.memdesc<64x16xf16, #wide, #smem, mutable>
      ttng.async_tma_store_wait {pendings = 0 : i32}
      ttg.warp_return
    } : (!ttg.memdesc<64x16xf16, #wide, #smem, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !tt.tensordesc<tensor<64x16xf16, #wide>>) -> ()
    tt.return
  }
}
