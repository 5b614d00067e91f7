// RUN: tritonx-opt %s -p "allocate-shared-memory" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#tma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
#lines = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [1, 0]}>

// CHECK: ttg.shared = 8704 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Two buffers alive together lie apart; one that is needed after both have died takes their place.
  // CHECK-LABEL: @lifetimes
  // CHECK: ttg.local_alloc %a {allocation.offset = 0 : i32}
  // CHECK: ttg.local_alloc %a {allocation.offset = 4096 : i32}
  // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = 0 : i32}
  tt.func public @lifetimes(%a: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #columns> {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %n = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %y = ttg.local_load %n : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    %z = arith.addf %x, %y : tensor<32x32xf32, #rows>
    %t = ttg.convert_layout %z : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
    tt.return %t : tensor<32x32xf32, #columns>
  }

  // A buffer from before a loop is in use until the loop ends, also before its only reader. Swizzled rows start at multiples of 1024.
  // CHECK-LABEL: @loop
  // CHECK: ttg.local_alloc %a {allocation.offset = 0 : i32}
  // CHECK: ttg.local_alloc %a {allocation.offset = 4096 : i32}
  // CHECK: "tt.reduce"
  // CHECK: {allocation.offset = 8192 : i32}
  tt.func public @loop(%a: tensor<32x32xf32, #lines>, %n: i32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.000000e+00 : f32
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #lines>) -> !ttg.memdesc<32x32xf32, #tma, #smem>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #tma, #smem> -> tensor<32x32xf32, #lines>
      %k = ttg.local_alloc %a : (tensor<32x32xf32, #lines>) -> !ttg.memdesc<32x32xf32, #tma, #smem>
      %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%u: f32, %v: f32):
        %w = arith.addf %u, %v : f32
        tt.reduce.return %w : f32
      }) : (tensor<32x32xf32, #lines>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #lines}>>
      %y = ttg.local_load %k : !ttg.memdesc<32x32xf32, #tma, #smem> -> tensor<32x32xf32, #lines>
      scf.yield %s : f32
    }
    tt.return %sum : f32
  }
}
