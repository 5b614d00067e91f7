// RUN: tritonx-opt %s -p "fuse-operand-loads" | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
!m = !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
!n = !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
!once = !ttg.memdesc<64x32xf16, #shared, #smem>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Both operands, wherever their loads stand as long as nothing in between writes.
  // CHECK-LABEL: @both
  // CHECK-NOT: local_load
  // CHECK: ttg.local_dot %m, %n, %{{.*}}, inputPrecision = tf32 {aLayout = {{.*}}opIdx = 0{{.*}}, bLayout = {{.*}}opIdx = 1
  // CHECK-NEXT: tt.return
  tt.func @both(%m: !m, %n: !n, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %y = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
    %x = ttg.local_load %m : !m -> tensor<64x32xf16, #a>
    %s = arith.addf %c, %c : tensor<64x32xf32, #mma>
    %d = tt.dot %x, %y, %s, inputPrecision = tf32 : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }

  // What another op reads, too, is in registers anyway.
  // CHECK-LABEL: @one
  // CHECK: %[[X:.*]] = ttg.local_load %m
  // CHECK-NOT: local_load
  // CHECK: ttg.local_dot %[[X]], %n, %c {bLayout
  tt.func @one(%m: !m, %n: !n, %c: tensor<64x32xf32, #mma>) -> (tensor<64x32xf32, #mma>, tensor<64x32xf16, #a>) {
    %x = ttg.local_load %m : !m -> tensor<64x32xf16, #a>
    %y = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d, %x : tensor<64x32xf32, #mma>, tensor<64x32xf16, #a>
  }

  // Memory that is written in between is read before, and so is what a barrier, or another buffer, stands behind.
  // CHECK-LABEL: @written
  // CHECK: ttg.local_load %m
  // CHECK-NEXT: ttg.local_store %z, %m
  // CHECK-NEXT: ttg.local_dot %{{.*}}, %n
  // CHECK: ttg.local_load %m
  // CHECK-NEXT: ttg.local_barrier
  // CHECK-NEXT: ttg.local_dot %{{.*}}, %n
  // CHECK: ttg.local_load %m
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.local_dot %{{.*}}, %n
  // CHECK: ttg.local_load %m
  // CHECK-NEXT: ttg.async_wait
  // CHECK-NEXT: ttg.local_dot %{{.*}}, %n
  tt.func @written(%m: !m, %n: !n, %z: tensor<64x32xf16, #rows>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %x = ttg.local_load %m : !m -> tensor<64x32xf16, #a>
    ttg.local_store %z, %m : tensor<64x32xf16, #rows> -> !m
    %y = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    %x1 = ttg.local_load %m : !m -> tensor<64x32xf16, #a>
    ttg.local_barrier
    %y1 = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
    %d1 = tt.dot %x1, %y1, %d : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    %x2 = ttg.local_load %m : !m -> tensor<64x32xf16, #a>
    %o = ttg.local_alloc %z : (tensor<64x32xf16, #rows>) -> !m
    %y2 = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
    %d2 = tt.dot %x2, %y2, %d1 : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    %x3 = ttg.local_load %m : !m -> tensor<64x32xf16, #a>
    %t = ttg.async_wait {num = 0 : i32}
    %y3 = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
    %d3 = tt.dot %x3, %y3, %d2 : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d3 : tensor<64x32xf32, #mma>
  }

  // A buffer that is written where it is made and never again is read behind what waits or writes; behind what takes
  // memory, which it would live with, only where it lives longer in any case, as around a loop.
  // CHECK-LABEL: @once
  // CHECK: %[[OUTER:.*]] = ttg.local_alloc
  // CHECK: scf.for
  // CHECK-NOT: ttg.local_load %[[OUTER]]
  // CHECK: ttg.local_dot %[[OUTER]], %n, %{{.*}} {aLayout
  // CHECK: %[[INNER:.*]] = ttg.local_alloc
  // CHECK-NOT: ttg.local_load %[[INNER]]
  // CHECK: ttg.local_dot %[[INNER]], %n
  // CHECK: %[[NEXT:.*]] = ttg.local_alloc
  // CHECK: %[[READ:.*]] = ttg.local_load %[[NEXT]]
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.local_dot %[[READ]], %n
  tt.func @once(%n: !n, %z: tensor<64x32xf16, #rows>, %c: tensor<64x32xf32, #mma>, %count: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %outer = ttg.local_alloc %z : (tensor<64x32xf16, #rows>) -> !once
    %r = scf.for %i = %c0 to %count step %c1 iter_args(%s = %c) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = ttg.local_load %outer : !once -> tensor<64x32xf16, #a>
      %o = ttg.local_alloc %z : (tensor<64x32xf16, #rows>) -> !m
      ttg.local_barrier
      %y = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
      %d = tt.dot %x, %y, %s : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
      %inner = ttg.local_alloc %z : (tensor<64x32xf16, #rows>) -> !once
      %x1 = ttg.local_load %inner : !once -> tensor<64x32xf16, #a>
      ttg.local_store %z, %o : tensor<64x32xf16, #rows> -> !m
      %t = ttg.async_wait {num = 0 : i32}
      %y1 = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
      %d1 = tt.dot %x1, %y1, %d : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
      %next = ttg.local_alloc %z : (tensor<64x32xf16, #rows>) -> !once
      %x2 = ttg.local_load %next : !once -> tensor<64x32xf16, #a>
      %o1 = ttg.local_alloc %z : (tensor<64x32xf16, #rows>) -> !m
      %y2 = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
      %d2 = tt.dot %x2, %y2, %d1 : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
      scf.yield %d2 : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }

  // A load outside of the loop is made once.
  // CHECK-LABEL: @outside
  // CHECK: ttg.local_load %m
  // CHECK: scf.for
  // CHECK: ttg.local_dot %{{.*}}, %n
  tt.func @outside(%m: !m, %n: !n, %c: tensor<64x32xf32, #mma>, %count: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = ttg.local_load %m : !m -> tensor<64x32xf16, #a>
    %r = scf.for %i = %c0 to %count step %c1 iter_args(%s = %c) -> (tensor<64x32xf32, #mma>) : i32 {
      %y = ttg.local_load %n : !n -> tensor<32x32xf16, #b>
      %d = tt.dot %x, %y, %s : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
}
