// RUN: tritonx-opt %s -p "buffer-values{shared_memory=65536 copies=false}" | filecheck %s
// RUN: tritonx-opt %s -p "buffer-values{shared_memory=16384 copies=false}" | filecheck %s --check-prefix TIGHT
// RUN: tritonx-opt %s -p "buffer-values{shared_memory=65536 copies=false},expand-pipeline" | filecheck %s --check-prefix EXPANDED

#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // What is loaded at the start of an interval is stored at its end, in the slot that is read in that interval.
  // CHECK-LABEL: @late
  // CHECK: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, {{.*}}, mutable>
  // CHECK: %[[X:.*]] = tt.load %p {loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: %[[TO:.*]] = ttg.memdesc_index %[[A]][%{{.*}}] {loop.cluster = 3 : i32, loop.stage = 0 : i32}
  // CHECK: ttg.local_store %[[X]], %[[TO]] {loop.cluster = 3 : i32, loop.stage = 0 : i32}
  // CHECK: %[[FROM:.*]] = ttg.memdesc_index %[[A]][%{{.*}}] {loop.cluster = 2 : i32, loop.stage = 1 : i32}
  // CHECK: ttg.local_load %[[FROM]]
  // TIGHT-LABEL: @late
  // TIGHT: ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, {{.*}}, mutable>
  // In front of the loop the first tile is stored; in a round the next one is loaded, the last one multiplied.
  // EXPANDED-LABEL: @late
  // EXPANDED: tt.load
  // EXPANDED: ttg.local_store
  // EXPANDED: scf.for
  // EXPANDED: %[[X:.*]] = tt.load
  // EXPANDED: tt.dot
  // EXPANDED: ttg.local_store %[[X]]
  // EXPANDED: scf.yield
  tt.func public @late(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %y: tensor<64x64xf16, #b>, %init: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 0 : i32, loop.cluster = 3 : i32} : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %xa = ttg.local_load %xm {loop.stage = 1 : i32, loop.cluster = 2 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %t = tt.dot %xa, %y, %s {loop.stage = 1 : i32, loop.cluster = 2 : i32} : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %t : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<64x64xf32, #mma>
  }

  // One reader runs right behind, another one two intervals later, when others have been stored: slots for all of them.
  // CHECK-LABEL: @twice
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, {{.*}}, mutable>
  // CHECK: ttg.local_store %{{.*}}, %{{.*}} {loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: ttg.local_load %{{.*}} {loop.cluster = 2 : i32, loop.stage = 0 : i32}
  // CHECK: ttg.local_load %{{.*}} {loop.cluster = 2 : i32, loop.stage = 2 : i32}
  // TIGHT-LABEL: @twice
  // TIGHT: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, {{.*}}, mutable>
  // EXPANDED-LABEL: @twice
  tt.func public @twice(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %y: tensor<64x64xf16, #b>, %init: tensor<64x64xf32, #mma>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init, %r = %init) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 0 : i32, loop.cluster = 1 : i32} : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %xa = ttg.local_load %xm {loop.stage = 0 : i32, loop.cluster = 2 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %t = tt.dot %xa, %y, %s {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %xb = ttg.local_load %xm {loop.stage = 2 : i32, loop.cluster = 2 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %u = tt.dot %xb, %y, %r {loop.stage = 2 : i32, loop.cluster = 2 : i32} : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %t, %u : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sums#0, %sums#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }

  // Stored at the start of the next interval, in front of the load that follows, whose registers it leaves free.
  // CHECK-LABEL: @early
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, {{.*}}, mutable>
  // CHECK: ttg.local_store %{{.*}}, %{{.*}} {loop.cluster = 0 : i32, loop.stage = 1 : i32}
  // EXPANDED-LABEL: @early
  // EXPANDED: scf.for {{.*}} iter_args({{.*}}%[[X:x[_0-9]*]] = %
  // EXPANDED: ttg.local_store %[[X]]
  // EXPANDED: tt.load
  // EXPANDED: tt.dot
  // EXPANDED: scf.yield
  tt.func public @early(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %y: tensor<64x64xf16, #b>, %init: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %xa = ttg.local_load %xm {loop.stage = 2 : i32, loop.cluster = 2 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %t = tt.dot %xa, %y, %s {loop.stage = 2 : i32, loop.cluster = 2 : i32} : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %t : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}
