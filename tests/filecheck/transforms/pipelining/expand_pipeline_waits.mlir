// RUN: tritonx-opt %s -p "expand-pipeline,fold,cse,dce" | filecheck %s

// What a loop waits for, in groups of copies that are made behind the one that is needed.

#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!slots = !ttg.memdesc<3x512xf32, #shared, #smem, mutable>
!slot = !ttg.memdesc<512xf32, #shared, #smem, mutable>
!tile = tensor<512xf32, #line>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // One interval ahead: the second group would have had less time at the first wait, and has a wait of its own.
  // CHECK-LABEL: @young
  // CHECK: scf.for
  // CHECK: ttg.async_wait {num = 1 : i32}
  // CHECK: ttg.local_load
  // CHECK: ttg.async_wait {num = 0 : i32}
  // CHECK: ttg.local_load
  // CHECK: ttg.async_commit_group
  // CHECK: ttg.async_commit_group
  // CHECK: scf.yield
  tt.func public @young(%p: tensor<512x!tt.ptr<f32>, #line>, %a: !slots, %b: !slots, %init: !tile, %n: i32) -> !tile {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (!tile) : i32 {
      %ak = arith.remsi %i, %c3 {loop.stage = 0 : i32, loop.cluster = 2 : i32} : i32
      %ato = ttg.memdesc_index %a[%ak] {loop.stage = 0 : i32, loop.cluster = 2 : i32} : !slots -> !slot
      %acopy = ttg.async_copy_global_to_local %p, %ato {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #shared, #smem, mutable>
      %agroup = ttg.async_commit_group tokens %acopy {loop.stage = 0 : i32, loop.cluster = 2 : i32}
      %bk = arith.remsi %i, %c3 {loop.stage = 0 : i32, loop.cluster = 2 : i32} : i32
      %bto = ttg.memdesc_index %b[%bk] {loop.stage = 0 : i32, loop.cluster = 2 : i32} : !slots -> !slot
      %bcopy = ttg.async_copy_global_to_local %p, %bto {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #shared, #smem, mutable>
      %bgroup = ttg.async_commit_group tokens %bcopy {loop.stage = 0 : i32, loop.cluster = 2 : i32}
      %await = ttg.async_wait %agroup {num = 0 : i32, loop.stage = 1 : i32, loop.cluster = 0 : i32}
      %aj = arith.remsi %i, %c3 {loop.stage = 1 : i32, loop.cluster = 0 : i32} : i32
      %afrom = ttg.memdesc_index %a[%aj] {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !slots -> !slot
      %ax = ttg.local_load %afrom token %await {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !slot -> !tile
      %bwait = ttg.async_wait %bgroup {num = 0 : i32, loop.stage = 1 : i32, loop.cluster = 1 : i32}
      %bj = arith.remsi %i, %c3 {loop.stage = 1 : i32, loop.cluster = 1 : i32} : i32
      %bfrom = ttg.memdesc_index %b[%bj] {loop.stage = 1 : i32, loop.cluster = 1 : i32} : !slots -> !slot
      %bx = ttg.local_load %bfrom token %bwait {loop.stage = 1 : i32, loop.cluster = 1 : i32} : !slot -> !tile
      %t = arith.addf %s, %ax {loop.stage = 1 : i32, loop.cluster = 4 : i32} : !tile
      %u = arith.addf %t, %bx {loop.stage = 1 : i32, loop.cluster = 4 : i32} : !tile
      scf.yield %u : !tile
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : !tile
  }

  // Two intervals ahead: one wait for both, which leaves the last interval's two under way, and its token for both.
  // CHECK-LABEL: @old
  // CHECK: scf.for
  // CHECK: %[[W:.*]] = ttg.async_wait {num = 2 : i32}
  // CHECK: ttg.local_load %{{.*}} token %[[W]]
  // CHECK-NOT: ttg.async_wait
  // CHECK: ttg.local_load %{{.*}} token %[[W]]
  // CHECK: scf.yield
  tt.func public @old(%p: tensor<512x!tt.ptr<f32>, #line>, %a: !slots, %b: !slots, %init: !tile, %n: i32) -> !tile {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (!tile) : i32 {
      %ak = arith.remsi %i, %c3 {loop.stage = 0 : i32, loop.cluster = 2 : i32} : i32
      %ato = ttg.memdesc_index %a[%ak] {loop.stage = 0 : i32, loop.cluster = 2 : i32} : !slots -> !slot
      %acopy = ttg.async_copy_global_to_local %p, %ato {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #shared, #smem, mutable>
      %agroup = ttg.async_commit_group tokens %acopy {loop.stage = 0 : i32, loop.cluster = 2 : i32}
      %bk = arith.remsi %i, %c3 {loop.stage = 0 : i32, loop.cluster = 2 : i32} : i32
      %bto = ttg.memdesc_index %b[%bk] {loop.stage = 0 : i32, loop.cluster = 2 : i32} : !slots -> !slot
      %bcopy = ttg.async_copy_global_to_local %p, %bto {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #shared, #smem, mutable>
      %bgroup = ttg.async_commit_group tokens %bcopy {loop.stage = 0 : i32, loop.cluster = 2 : i32}
      %await = ttg.async_wait %agroup {num = 0 : i32, loop.stage = 2 : i32, loop.cluster = 0 : i32}
      %aj = arith.remsi %i, %c3 {loop.stage = 2 : i32, loop.cluster = 0 : i32} : i32
      %afrom = ttg.memdesc_index %a[%aj] {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !slots -> !slot
      %ax = ttg.local_load %afrom token %await {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !slot -> !tile
      %bwait = ttg.async_wait %bgroup {num = 0 : i32, loop.stage = 2 : i32, loop.cluster = 1 : i32}
      %bj = arith.remsi %i, %c3 {loop.stage = 2 : i32, loop.cluster = 1 : i32} : i32
      %bfrom = ttg.memdesc_index %b[%bj] {loop.stage = 2 : i32, loop.cluster = 1 : i32} : !slots -> !slot
      %bx = ttg.local_load %bfrom token %bwait {loop.stage = 2 : i32, loop.cluster = 1 : i32} : !slot -> !tile
      %t = arith.addf %s, %ax {loop.stage = 2 : i32, loop.cluster = 4 : i32} : !tile
      %u = arith.addf %t, %bx {loop.stage = 2 : i32, loop.cluster = 4 : i32} : !tile
      scf.yield %u : !tile
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : !tile
  }

  // The second was made in this interval, behind the first wait: it has a wait of its own.
  // CHECK-LABEL: @apart
  // CHECK: scf.for
  // CHECK: ttg.async_wait {num = 0 : i32}
  // CHECK: ttg.local_load
  // CHECK: ttg.async_commit_group
  // CHECK: ttg.async_wait {num = 1 : i32}
  // CHECK: ttg.local_load
  // CHECK: scf.yield
  tt.func public @apart(%p: tensor<512x!tt.ptr<f32>, #line>, %a: !slots, %b: !slots, %init: !tile, %n: i32) -> !tile {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (!tile) : i32 {
      %ak = arith.remsi %i, %c3 {loop.stage = 0 : i32, loop.cluster = 2 : i32} : i32
      %ato = ttg.memdesc_index %a[%ak] {loop.stage = 0 : i32, loop.cluster = 2 : i32} : !slots -> !slot
      %acopy = ttg.async_copy_global_to_local %p, %ato {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #shared, #smem, mutable>
      %agroup = ttg.async_commit_group tokens %acopy {loop.stage = 0 : i32, loop.cluster = 2 : i32}
      %bk = arith.remsi %i, %c3 {loop.stage = 1 : i32, loop.cluster = 1 : i32} : i32
      %bto = ttg.memdesc_index %b[%bk] {loop.stage = 1 : i32, loop.cluster = 1 : i32} : !slots -> !slot
      %bcopy = ttg.async_copy_global_to_local %p, %bto {loop.stage = 1 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #shared, #smem, mutable>
      %bgroup = ttg.async_commit_group tokens %bcopy {loop.stage = 1 : i32, loop.cluster = 1 : i32}
      %await = ttg.async_wait %agroup {num = 0 : i32, loop.stage = 1 : i32, loop.cluster = 0 : i32}
      %aj = arith.remsi %i, %c3 {loop.stage = 1 : i32, loop.cluster = 0 : i32} : i32
      %afrom = ttg.memdesc_index %a[%aj] {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !slots -> !slot
      %ax = ttg.local_load %afrom token %await {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !slot -> !tile
      %bwait = ttg.async_wait %bgroup {num = 0 : i32, loop.stage = 1 : i32, loop.cluster = 3 : i32}
      %bj = arith.remsi %i, %c3 {loop.stage = 1 : i32, loop.cluster = 3 : i32} : i32
      %bfrom = ttg.memdesc_index %b[%bj] {loop.stage = 1 : i32, loop.cluster = 3 : i32} : !slots -> !slot
      %bx = ttg.local_load %bfrom token %bwait {loop.stage = 1 : i32, loop.cluster = 3 : i32} : !slot -> !tile
      %t = arith.addf %s, %ax {loop.stage = 1 : i32, loop.cluster = 4 : i32} : !tile
      %u = arith.addf %t, %bx {loop.stage = 1 : i32, loop.cluster = 4 : i32} : !tile
      scf.yield %u : !tile
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : !tile
  }

  // The first wait is of a later stage and has no place in front of the loop, where the second has: both stay.
  // CHECK-LABEL: @later
  // CHECK-NOT: scf.for
  // CHECK: ttg.async_wait {num = 2 : i32}
  // CHECK-NEXT: ttg.local_load %b
  // CHECK: scf.for
  // CHECK: ttg.async_wait {num = 5 : i32}
  // CHECK: ttg.local_load
  // CHECK: ttg.async_wait {num = 2 : i32}
  // CHECK: ttg.local_load
  // CHECK: scf.yield
  tt.func public @later(%p: tensor<512x!tt.ptr<f32>, #line>, %a: !slots, %b: !slots, %init: !tile, %n: i32) -> !tile {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (!tile) : i32 {
      %ak = arith.remsi %i, %c3 {loop.stage = 0 : i32, loop.cluster = 3 : i32} : i32
      %ato = ttg.memdesc_index %a[%ak] {loop.stage = 0 : i32, loop.cluster = 3 : i32} : !slots -> !slot
      %acopy = ttg.async_copy_global_to_local %p, %ato {loop.stage = 0 : i32, loop.cluster = 3 : i32} : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #shared, #smem, mutable>
      %agroup = ttg.async_commit_group tokens %acopy {loop.stage = 0 : i32, loop.cluster = 3 : i32}
      %bk = arith.remsi %i, %c3 {loop.stage = 0 : i32, loop.cluster = 3 : i32} : i32
      %bto = ttg.memdesc_index %b[%bk] {loop.stage = 0 : i32, loop.cluster = 3 : i32} : !slots -> !slot
      %bcopy = ttg.async_copy_global_to_local %p, %bto {loop.stage = 0 : i32, loop.cluster = 3 : i32} : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #shared, #smem, mutable>
      %bgroup = ttg.async_commit_group tokens %bcopy {loop.stage = 0 : i32, loop.cluster = 3 : i32}
      %await = ttg.async_wait %agroup {num = 0 : i32, loop.stage = 3 : i32, loop.cluster = 0 : i32}
      %aj = arith.remsi %i, %c3 {loop.stage = 3 : i32, loop.cluster = 0 : i32} : i32
      %afrom = ttg.memdesc_index %a[%aj] {loop.stage = 3 : i32, loop.cluster = 0 : i32} : !slots -> !slot
      %ax = ttg.local_load %afrom token %await {loop.stage = 3 : i32, loop.cluster = 0 : i32} : !slot -> !tile
      %bwait = ttg.async_wait %bgroup {num = 0 : i32, loop.stage = 2 : i32, loop.cluster = 1 : i32}
      %bj = arith.remsi %i, %c3 {loop.stage = 2 : i32, loop.cluster = 1 : i32} : i32
      %bfrom = ttg.memdesc_index %b[%bj] {loop.stage = 2 : i32, loop.cluster = 1 : i32} : !slots -> !slot
      %bx = ttg.local_load %bfrom token %bwait {loop.stage = 2 : i32, loop.cluster = 1 : i32} : !slot -> !tile
      %t = arith.addf %s, %ax {loop.stage = 3 : i32, loop.cluster = 4 : i32} : !tile
      %u = arith.addf %t, %bx {loop.stage = 3 : i32, loop.cluster = 4 : i32} : !tile
      scf.yield %u : !tile
    } {tt.scheduled_max_stage = 3 : i32}
    tt.return %sum : !tile
  }
}
