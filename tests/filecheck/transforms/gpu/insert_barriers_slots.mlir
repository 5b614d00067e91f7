// RUN: tritonx-opt %s -p "allocate-shared-memory,insert-barriers" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The slot that is stored is not the one that was read in the same round, but is read in the next one: one barrier.
  // CHECK-LABEL: @apart
  // CHECK: scf.for
  // CHECK-NEXT: ttg.memdesc_index
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: arith.subi
  // CHECK-NEXT: ttg.memdesc_index
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: scf.yield
  tt.func public @apart(%a: tensor<32x32xf32, #rows>, %n: i32) -> tensor<32x32xf32, #rows> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    %first = ttg.memdesc_index %m[%c0] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    ttg.local_store %a, %first : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %slot = %c0) -> (tensor<32x32xf32, #rows>, i32) : i32 {
      %from = ttg.memdesc_index %m[%slot] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      %x = ttg.local_load %from : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
      %t = arith.addf %s, %x : tensor<32x32xf32, #rows>
      %next = arith.subi %c1, %slot : i32
      %to = ttg.memdesc_index %m[%next] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      ttg.local_store %t, %to : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      scf.yield %t, %next : tensor<32x32xf32, #rows>, i32
    }
    tt.return %sum : tensor<32x32xf32, #rows>
  }

  // The number is given: it may be that of the slot that was read.
  // CHECK-LABEL: @unknown
  // CHECK: scf.for
  // CHECK: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK: ttg.memdesc_index
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: scf.yield
  tt.func public @unknown(%a: tensor<32x32xf32, #rows>, %n: i32, %k: i32) -> tensor<32x32xf32, #rows> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    %first = ttg.memdesc_index %m[%c0] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    ttg.local_store %a, %first : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %slot = %c0) -> (tensor<32x32xf32, #rows>, i32) : i32 {
      %from = ttg.memdesc_index %m[%slot] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      %x = ttg.local_load %from : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
      %t = arith.addf %s, %x : tensor<32x32xf32, #rows>
      %next = arith.subi %k, %slot : i32
      %to = ttg.memdesc_index %m[%next] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      ttg.local_store %t, %to : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      scf.yield %t, %next : tensor<32x32xf32, #rows>, i32
    }
    tt.return %sum : tensor<32x32xf32, #rows>
  }
}
