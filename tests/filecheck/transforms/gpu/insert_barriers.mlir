// RUN: tritonx-opt %s -p "allocate-shared-memory,insert-barriers" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#own = #ttg.blocked<{sizePerThread = [4, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Written, then read: one barrier. Read twice: none in between.
  // CHECK-LABEL: @once
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func public @once(%a: tensor<32x32xf32, #rows>) -> (tensor<32x32xf32, #rows>, tensor<32x32xf32, #columns>) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %y = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #columns>
    tt.return %x, %y : tensor<32x32xf32, #rows>, tensor<32x32xf32, #columns>
  }

  // Of loads after each other only the one waits that must; what the other has read by then can be written.
  // CHECK-LABEL: @neighbours
  // CHECK: ttg.local_barrier
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_store
  tt.func public @neighbours(%a: tensor<32x32xf32, #rows>, %b: tensor<32x32xf32, #rows>) -> (tensor<32x32xf32, #rows>, tensor<32x32xf32, #rows>, tensor<32x32xf32, #columns>) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %w = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #columns>
    %n = ttg.local_alloc %b : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
    %y = ttg.local_load %n : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    ttg.local_store %b, %m : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    tt.return %x, %y, %w : tensor<32x32xf32, #rows>, tensor<32x32xf32, #rows>, tensor<32x32xf32, #columns>
  }

  // Round a loop the store of the next iteration meets the load of this one.
  // CHECK-LABEL: @loop
  // CHECK: scf.for
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: scf.yield
  tt.func public @loop(%a: tensor<32x32xf32, #rows>, %n: i32) -> tensor<32x32xf32, #rows> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (tensor<32x32xf32, #rows>) : i32 {
      ttg.local_store %s, %m : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
      %y = arith.addf %x, %s : tensor<32x32xf32, #rows>
      scf.yield %y : tensor<32x32xf32, #rows>
    }
    tt.return %sum : tensor<32x32xf32, #rows>
  }

  // Only the first round reads what others have written just before: one barrier in front of the loops serves all.
  // CHECK-LABEL: @first_round
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: scf.for
  // CHECK-NOT: ttg.local_barrier
  // CHECK: tt.return
  tt.func public @first_round(%a: tensor<32x32xf32, #rows>, %z: tensor<32x32xf32, #columns>, %n: i32) -> tensor<32x32xf32, #columns> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<32x32xf32, #columns>) : i32 {
      %t = scf.for %j = %c0 to %i step %c1 iter_args(%u = %s) -> (tensor<32x32xf32, #columns>) : i32 {
        %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #columns>
        %y = arith.addf %x, %u : tensor<32x32xf32, #columns>
        scf.yield %y : tensor<32x32xf32, #columns>
      }
      scf.yield %t : tensor<32x32xf32, #columns>
    }
    tt.return %sum : tensor<32x32xf32, #columns>
  }

  // The outer loop writes each round, the inner one only reads: a barrier in front of the inner loop, and one in front
  // of the store, which the round before has read.
  // CHECK-LABEL: @inner_loop
  // CHECK: scf.for
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: scf.yield
  // CHECK: tt.return
  tt.func public @inner_loop(%a: tensor<32x32xf32, #rows>, %z: tensor<32x32xf32, #columns>, %n: i32) -> tensor<32x32xf32, #columns> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<32x32xf32, #columns>) : i32 {
      ttg.local_store %a, %m : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
      %t = scf.for %j = %c0 to %i step %c1 iter_args(%u = %s) -> (tensor<32x32xf32, #columns>) : i32 {
        %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #columns>
        %y = arith.addf %x, %u : tensor<32x32xf32, #columns>
        scf.yield %y : tensor<32x32xf32, #columns>
      }
      scf.yield %t : tensor<32x32xf32, #columns>
    }
    tt.return %sum : tensor<32x32xf32, #columns>
  }

  // A conversion synchronises inside itself; what uses its memory next waits for its reads.
  // CHECK-LABEL: @scratch
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.return
  tt.func public @scratch(%a: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> {
    %x = ttg.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
    %y = ttg.convert_layout %x : tensor<32x32xf32, #columns> -> tensor<32x32xf32, #rows>
    tt.return %y : tensor<32x32xf32, #rows>
  }

  // What was copied asynchronously is there for all threads after a wait and a barrier; other slots of a buffer are not waited for.
  // CHECK-LABEL: @copies
  // CHECK: ttg.async_wait
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: tt.return
  tt.func public @copies(%p: tensor<32x32x!tt.ptr<f32>, #rows>, %a: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    %m0 = ttg.memdesc_index %m[%c0] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %m1 = ttg.memdesc_index %m[%c1] : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %m0 : tensor<32x32x!tt.ptr<f32>, #rows> -> <32x32xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    %x = ttg.local_load %m0 : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
    ttg.local_store %a, %m1 : tensor<32x32xf32, #rows> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    tt.return %x : tensor<32x32xf32, #rows>
  }

  // Conversions in which every warp keeps to its rows do not wait for other warps, not even round a loop; a conversion
  // that other warps take part in does, before and inside.
  // CHECK-LABEL: @warps
  // CHECK: scf.for
  // CHECK-NOT: ttg.local_barrier
  // CHECK: ttg.convert_layout
  // CHECK-NOT: ttg.local_barrier
  // CHECK: scf.yield
  // CHECK: ttg.local_barrier
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.return
  tt.func public @warps(%a: tensor<64x64xf32, #mma>, %n: i32) -> (tensor<64x64xf32, #rows>, tensor<64x64xf32, #own>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = ttg.convert_layout %s : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #own>
      %y = arith.addf %x, %x : tensor<64x64xf32, #own>
      %z = ttg.convert_layout %y : tensor<64x64xf32, #own> -> tensor<64x64xf32, #mma>
      scf.yield %z : tensor<64x64xf32, #mma>
    }
    %r = ttg.convert_layout %sum : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #rows>
    %o = ttg.convert_layout %sum : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #own>
    tt.return %r, %o : tensor<64x64xf32, #rows>, tensor<64x64xf32, #own>
  }
}
