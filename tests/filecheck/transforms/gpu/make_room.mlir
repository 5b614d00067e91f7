// RUN: tritonx-opt %s -p "make-room{shared_memory=10240},allocate-shared-memory{shared_memory=10240}" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

// CHECK: ttg.shared = 8192 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Three tiles of 4096 bytes do not fit. The one that waits longest is stored where it is first read; the one that is
  // read in a loop, in front of the loop; what fits then stays.
  // CHECK-LABEL: @straight
  // CHECK: %n = ttg.local_alloc %b {allocation.offset = 0 : i32}
  // CHECK: %o = ttg.local_alloc %b {allocation.offset = 4096 : i32}
  // CHECK-NEXT: %y = ttg.local_load %n
  // CHECK-NEXT: %z = ttg.local_load %o
  // CHECK: %m = ttg.local_alloc %a {allocation.offset = 0 : i32}
  // CHECK-NEXT: %x = ttg.local_load %m
  tt.func public @straight(%a: tensor<32x32xf32, #rows>, %b: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %n = ttg.local_alloc %b : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %o = ttg.local_alloc %b : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %y = ttg.local_load %n : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %z = ttg.local_load %o : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %s = arith.addf %y, %z : tensor<32x32xf32, #rows>
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %t = arith.addf %s, %x : tensor<32x32xf32, #rows>
    tt.return %t : tensor<32x32xf32, #rows>
  }

  // CHECK-LABEL: @loop
  // CHECK: %n = ttg.local_alloc
  // CHECK: %z = ttg.local_load %o
  // CHECK: %m = ttg.local_alloc
  // CHECK-NEXT: scf.for
  tt.func public @loop(%a: tensor<32x32xf32, #rows>, %b: tensor<32x32xf32, #rows>, %count: i32) -> tensor<32x32xf32, #rows> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %n = ttg.local_alloc %b : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %o = ttg.local_alloc %b : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %y = ttg.local_load %n : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %z = ttg.local_load %o : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %s = arith.addf %y, %z : tensor<32x32xf32, #rows>
    %t = scf.for %i = %c0 to %count step %c1 iter_args(%u = %s) -> (tensor<32x32xf32, #rows>) : i32 {
      %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
      %v = arith.addf %u, %x : tensor<32x32xf32, #rows>
      scf.yield %v : tensor<32x32xf32, #rows>
    }
    tt.return %t : tensor<32x32xf32, #rows>
  }

  // There is no room where %m is read either, behind what waits there: it is read at once.
  // CHECK-LABEL: @before_others
  // CHECK: %m = ttg.local_alloc %a {allocation.offset = 0 : i32}
  // CHECK-NEXT: %x = ttg.local_load %m
  // CHECK-NEXT: %n = ttg.local_alloc {allocation.offset = 0 : i32}
  tt.func public @before_others(%a: tensor<32x32xf32, #rows>, %p: tensor<32x32x!tt.ptr<f32>, #rows>) -> tensor<32x32xf32, #rows> {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %n = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %o = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %n : tensor<32x32x!tt.ptr<f32>, #rows> -> <32x32xf32, #shared, #smem, mutable>
    %u = ttg.async_copy_global_to_local %p, %o : tensor<32x32x!tt.ptr<f32>, #rows> -> <32x32xf32, #shared, #smem, mutable>
    %w = ttg.async_wait {num = 0 : i32}
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %y = ttg.local_load %n : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
    %z = ttg.local_load %o : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #rows>
    %s = arith.addf %x, %y : tensor<32x32xf32, #rows>
    %r = arith.addf %s, %z : tensor<32x32xf32, #rows>
    tt.return %r : tensor<32x32xf32, #rows>
  }

  // Loads that stand together stay together, as a product reads them step by step.
  // CHECK-LABEL: @together
  // CHECK: %z = ttg.local_load %o
  // CHECK: %m = ttg.local_alloc %a {allocation.offset = {{0|4096}} : i32}
  // CHECK-NEXT: %y = ttg.local_load %n
  // CHECK-NEXT: %x = ttg.local_load %m
  tt.func public @together(%a: tensor<32x32xf32, #rows>, %b: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %n = ttg.local_alloc %b : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %o = ttg.local_alloc %b : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %z = ttg.local_load %o : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %s = arith.addf %z, %z : tensor<32x32xf32, #rows>
    %y = ttg.local_load %n : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %t = arith.addf %s, %x : tensor<32x32xf32, #rows>
    %u = arith.addf %t, %y : tensor<32x32xf32, #rows>
    tt.return %u : tensor<32x32xf32, #rows>
  }

  // The one that has waited longest moves, not the one that is needed last.
  // CHECK-LABEL: @longest
  // CHECK: %n = ttg.local_alloc %p8
  // CHECK: %z = ttg.local_load %o
  // CHECK: %m = ttg.local_alloc %a
  // CHECK-NEXT: %x = ttg.local_load %m
  // CHECK: %y = ttg.local_load %n
  tt.func public @longest(%a: tensor<32x32xf32, #rows>, %b: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %p0 = arith.addf %b, %b : tensor<32x32xf32, #rows>
    %p1 = arith.addf %p0, %b : tensor<32x32xf32, #rows>
    %p2 = arith.addf %p1, %b : tensor<32x32xf32, #rows>
    %p3 = arith.addf %p2, %b : tensor<32x32xf32, #rows>
    %p4 = arith.addf %p3, %b : tensor<32x32xf32, #rows>
    %p5 = arith.addf %p4, %b : tensor<32x32xf32, #rows>
    %p6 = arith.addf %p5, %b : tensor<32x32xf32, #rows>
    %p7 = arith.addf %p6, %b : tensor<32x32xf32, #rows>
    %p8 = arith.addf %p7, %b : tensor<32x32xf32, #rows>
    %n = ttg.local_alloc %p8 : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %o = ttg.local_alloc %b : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %z = ttg.local_load %o : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %q = arith.addf %z, %z : tensor<32x32xf32, #rows>
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %s = arith.addf %q, %x : tensor<32x32xf32, #rows>
    %y = ttg.local_load %n : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %t = arith.addf %s, %y : tensor<32x32xf32, #rows>
    tt.return %t : tensor<32x32xf32, #rows>
  }
}
