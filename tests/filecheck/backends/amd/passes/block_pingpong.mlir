// RUN: tritonx-opt %s -p 'block-pingpong{slices=2 attention=true}' --split-input-file | filecheck %s

// Two slices of K: what a load brings of B lies 32 ks apart, so that the view has bit 5 of k behind bit 0. All warps meet in front of the
// loop, and the upper half of them once more; the lower half does behind it.

// CHECK-LABEL: @halves
// CHECK: ttg.local_barrier
// CHECK-NEXT: %[[WARP:.*]] = ttg.warp_id
// CHECK-NEXT: %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK-NEXT: %[[LATE:.*]] = arith.cmpi sge, %[[WARP]], %[[FOUR]] : i32
// CHECK-NEXT: %[[EARLY:.*]] = arith.cmpi slt, %[[WARP]], %[[FOUR]] : i32
// CHECK-NEXT: amdg.cond_barrier %[[LATE]]
// CHECK-NEXT: scf.for
// CHECK-NEXT: tt.load
// CHECK-NEXT: %[[AV:.*]] = ttg.memdesc_reinterpret %{{.*}} -> !ttg.memdesc<128x64xf16, #[[OTHER:.*]], #smem>
// CHECK-NEXT: %[[BV:.*]] = ttg.memdesc_reinterpret %
// CHECK-NEXT: %[[A0:.*]] = ttg.memdesc_subslice %[[AV]][0, 0] : {{.*}} -> !ttg.memdesc<128x32xf16, #[[OTHER]], #smem, 128x64>
// CHECK-NEXT: %[[A0T:.*]] = ttg.local_load %[[A0]]
// CHECK-NEXT: %[[B0:.*]] = ttg.memdesc_subslice %[[BV]][0, 0]
// CHECK-NEXT: %[[B0T:.*]] = ttg.local_load %[[B0]]
// CHECK-NEXT: tt.load
// CHECK-NEXT: %[[A1:.*]] = ttg.memdesc_subslice %[[AV]][0, 32]
// CHECK-NEXT: %[[A1T:.*]] = ttg.local_load %[[A1]]
// CHECK-NEXT: %[[B1:.*]] = ttg.memdesc_subslice %[[BV]][32, 0]
// CHECK-NEXT: %[[B1T:.*]] = ttg.local_load %[[B1]]
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: rocdl.s.setprio 1
// CHECK-NEXT: %[[FIRST:.*]] = tt.dot %[[A0T]], %[[B0T]], %{{.*}}
// CHECK-NEXT: rocdl.s.setprio 0
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: rocdl.s.setprio 1
// CHECK-NEXT: %[[SECOND:.*]] = tt.dot %[[A1T]], %[[B1T]], %[[FIRST]]
// CHECK-NEXT: rocdl.s.setprio 0
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: scf.yield %[[SECOND]]
// CHECK: amdg.cond_barrier %[[EARLY]]

#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 2], instrShape = [32, 32, 8], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 8], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#shared1 = #ttg.shared_linear<{offset = [[1, 0], [32, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]]}, alignment = 16>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.shared = 32768 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @halves(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x128x!tt.ptr<f16>, #blocked1>, %n: i32) -> tensor<128x128xf32, #mma> {
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable>
    %o = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !ttg.memdesc<1x64x128xf16, #shared1, #smem, mutable>
    %ms = ttg.memdesc_index %m[%zero] : !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %os = ttg.memdesc_index %o[%zero] : !ttg.memdesc<1x64x128xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
    %r = scf.for %i = %zero to %n step %one iter_args(%total = %none) -> (tensor<128x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked1>
      ttg.local_barrier
      %sum = ttg.local_dot %ms, %os, %total {aLayout = #a, bLayout = #b} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared1, #smem, mutable> -> tensor<128x128xf32, #mma>
      ttg.local_barrier
      ttg.local_store %x, %ms : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttg.local_store %y, %os : tensor<64x128xf16, #blocked1> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
      scf.yield %sum : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}

// -----

// With 4 warps a SIMD has one wave of the block: the product has a priority, and the barriers stay.

// CHECK-LABEL: @priority
// CHECK: ttg.local_barrier
// CHECK-NEXT: rocdl.s.setprio 1
// CHECK-NEXT: ttg.local_dot
// CHECK-NEXT: rocdl.s.setprio 0
// CHECK-NEXT: ttg.local_barrier

#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#shared1 = #ttg.shared_linear<{offset = [[1, 0], [32, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]]}, alignment = 16>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 32768 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @priority(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x128x!tt.ptr<f16>, #blocked1>, %n: i32) -> tensor<128x128xf32, #mma> {
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable>
    %o = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !ttg.memdesc<1x64x128xf16, #shared1, #smem, mutable>
    %ms = ttg.memdesc_index %m[%zero] : !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %os = ttg.memdesc_index %o[%zero] : !ttg.memdesc<1x64x128xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
    %r = scf.for %i = %zero to %n step %one iter_args(%total = %none) -> (tensor<128x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked1>
      ttg.local_barrier
      %sum = ttg.local_dot %ms, %os, %total {aLayout = #a, bLayout = #b} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared1, #smem, mutable> -> tensor<128x128xf32, #mma>
      ttg.local_barrier
      ttg.local_store %x, %ms : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttg.local_store %y, %os : tensor<64x128xf16, #blocked1> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
      scf.yield %sum : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}

// -----

// Operands in registers are read by something else, which is not moved.

// CHECK-LABEL: @registers
// CHECK-NOT: amdg.cond_barrier
// CHECK-NOT: rocdl
// CHECK: ttg.local_dot
// CHECK-NOT: rocdl
// CHECK: tt.return

#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 2], instrShape = [32, 32, 8], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 8], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#shared1 = #ttg.shared_linear<{offset = [[1, 0], [32, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]]}, alignment = 16>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.shared = 32768 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @registers(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x128x!tt.ptr<f16>, #blocked1>, %n: i32) -> tensor<128x128xf32, #mma> {
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable>
    %o = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !ttg.memdesc<1x64x128xf16, #shared1, #smem, mutable>
    %ms = ttg.memdesc_index %m[%zero] : !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %os = ttg.memdesc_index %o[%zero] : !ttg.memdesc<1x64x128xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
    %r = scf.for %i = %zero to %n step %one iter_args(%total = %none) -> (tensor<128x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked1>
      ttg.local_barrier
      %held = ttg.local_load %ms : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #a>
      %sum = ttg.local_dot %held, %os, %total {bLayout = #b} : tensor<128x64xf16, #a> * !ttg.memdesc<64x128xf16, #shared1, #smem, mutable> -> tensor<128x128xf32, #mma>
      ttg.local_barrier
      ttg.local_store %x, %ms : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttg.local_store %y, %os : tensor<64x128xf16, #blocked1> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
      scf.yield %sum : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}

// -----

// Copies past the registers: all have waited for the first ones in front of the loop; in it operands are read, copies are issued, and those
// before are waited for in one cluster, in front of two barriers.

// CHECK-LABEL: @copies
// CHECK: ttg.async_commit_group
// CHECK: ttg.async_wait {num = 1 : i32}
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: ttg.warp_id
// CHECK: amdg.cond_barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: ttg.async_wait
// CHECK: %[[AT:.*]] = ttg.local_load
// CHECK-NEXT: %[[BT:.*]] = ttg.local_load
// CHECK-NEXT: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group
// CHECK-NEXT: ttg.async_wait {num = 1 : i32}
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: rocdl.s.setprio 1
// CHECK-NEXT: tt.dot %[[AT]], %[[BT]], %{{.*}}
// CHECK-NEXT: rocdl.s.setprio 0
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: scf.yield
// CHECK: amdg.cond_barrier

#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 2], instrShape = [32, 32, 16], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 8], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.shared = 98304 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @copies(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x128x!tt.ptr<f16>, #blocked1>, %n: i32, %to: i32, %from: i32) -> tensor<128x128xf32, #mma> {
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
    %o = ttg.local_alloc {allocation.offset = 49152 : i32} : () -> !ttg.memdesc<3x64x128xf16, #shared1, #smem, mutable>
    ttg.async_commit_group
    ttg.async_commit_group
    %r = scf.for %i = %zero to %n step %one iter_args(%total = %none) -> (tensor<128x128xf32, #mma>) : i32 {
      ttg.async_wait {num = 1 : i32}
      ttg.local_barrier
      %mn = ttg.memdesc_index %m[%to] : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      %on = ttg.memdesc_index %o[%to] : !ttg.memdesc<3x64x128xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
      %x = ttg.async_copy_global_to_local %p, %mn : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
      %y = ttg.async_copy_global_to_local %q, %on : tensor<64x128x!tt.ptr<f16>, #blocked1> -> <64x128xf16, #shared1, #smem, mutable>
      ttg.async_commit_group
      %ms = ttg.memdesc_index %m[%from] : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %os = ttg.memdesc_index %o[%from] : !ttg.memdesc<3x64x128xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared1, #smem>
      %sum = ttg.local_dot %ms, %os, %total {aLayout = #a, bLayout = #b} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared1, #smem> -> tensor<128x128xf32, #mma>
      scf.yield %sum : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}

// -----

// What is waited for in the iteration that issues it stays.

// CHECK-LABEL: @two_slots
// CHECK-NOT: amdg.cond_barrier
// CHECK-NOT: rocdl
// CHECK: ttg.local_dot
// CHECK-NOT: rocdl
// CHECK: tt.return

#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 2], instrShape = [32, 32, 16], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 8], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.shared = 98304 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @two_slots(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x128x!tt.ptr<f16>, #blocked1>, %n: i32, %to: i32, %from: i32) -> tensor<128x128xf32, #mma> {
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
    %o = ttg.local_alloc {allocation.offset = 49152 : i32} : () -> !ttg.memdesc<3x64x128xf16, #shared1, #smem, mutable>
    ttg.async_commit_group
    ttg.async_commit_group
    %r = scf.for %i = %zero to %n step %one iter_args(%total = %none) -> (tensor<128x128xf32, #mma>) : i32 {
      ttg.local_barrier
      %mn = ttg.memdesc_index %m[%to] : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      %on = ttg.memdesc_index %o[%to] : !ttg.memdesc<3x64x128xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
      %x = ttg.async_copy_global_to_local %p, %mn : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
      %y = ttg.async_copy_global_to_local %q, %on : tensor<64x128x!tt.ptr<f16>, #blocked1> -> <64x128xf16, #shared1, #smem, mutable>
      ttg.async_commit_group
      ttg.async_wait {num = 1 : i32}
      ttg.local_barrier
      %ms = ttg.memdesc_index %m[%from] : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %os = ttg.memdesc_index %o[%from] : !ttg.memdesc<3x64x128xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared1, #smem>
      %sum = ttg.local_dot %ms, %os, %total {aLayout = #a, bLayout = #b} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared1, #smem> -> tensor<128x128xf32, #mma>
      scf.yield %sum : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}

// -----

// Two products: one half of the warps multiplies, from the second product to the first one of the next iteration, while the other computes
// what is between them. The wait is for a group less, as the next copies are issued behind it.

// CHECK-LABEL: @chained
// CHECK: ttg.async_wait {num = 1 : i32}
// CHECK-NEXT: ttg.local_barrier
// CHECK: amdg.cond_barrier
// CHECK-NEXT: scf.for
// CHECK: rocdl.s.setprio 1
// CHECK-NEXT: %[[S:.*]] = ttg.local_dot
// CHECK-NEXT: rocdl.s.setprio 0
// CHECK-NEXT: ttg.async_wait {num = 0 : i32}
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK: arith.truncf %[[S]]
// CHECK: %[[BT:.*]] = ttg.local_load
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group
// CHECK-NEXT: rocdl.s.setprio 1
// CHECK-NEXT: tt.dot %{{.*}}, %[[BT]], %{{.*}}
// CHECK-NEXT: rocdl.s.setprio 0
// CHECK-NEXT: scf.yield
// CHECK: amdg.cond_barrier

#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [8, 1], instrShape = [32, 32, 16], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 8], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.shared = 24576 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @chained(%q: tensor<256x64xf16, #a>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %to: i32, %from: i32) -> tensor<256x64xf32, #mma> {
    %none = arith.constant dense<0.0> : tensor<256x64xf32, #mma>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    ttg.async_commit_group
    ttg.async_commit_group
    %r = scf.for %i = %zero to %n step %one iter_args(%total = %none) -> (tensor<256x64xf32, #mma>) : i32 {
      ttg.async_wait {num = 1 : i32}
      ttg.local_barrier
      %mn = ttg.memdesc_index %m[%to] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.async_copy_global_to_local %p, %mn : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      ttg.async_commit_group
      %ms = ttg.memdesc_index %m[%from] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %s = ttg.local_dot %q, %ms, %none {bLayout = #b} : tensor<256x64xf16, #a> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<256x64xf32, #mma>
      %h = arith.truncf %s : tensor<256x64xf32, #mma> to tensor<256x64xf16, #mma>
      %c = ttg.convert_layout %h : tensor<256x64xf16, #mma> -> tensor<256x64xf16, #a>
      %sum = ttg.local_dot %c, %ms, %total {bLayout = #b} : tensor<256x64xf16, #a> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<256x64xf32, #mma>
      scf.yield %sum : tensor<256x64xf32, #mma>
    }
    tt.return %r : tensor<256x64xf32, #mma>
  }
}
