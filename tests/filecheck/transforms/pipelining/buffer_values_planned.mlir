// RUN: tritonx-opt %s -p 'buffer-values{shared_memory=232448 blocks="ttng"}' | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A plan that is given is followed: more slots than are needed, and a wait that stands a stage earlier.
  // CHECK-LABEL: @product
  // CHECK-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<5x
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<5x1xi64
  // CHECK-COUNT-5: ttng.init_barrier
  // CHECK: scf.for
  // CHECK: ttg.async_wait %{{.*}} {loop.cluster = 3 : i32, loop.stage = 1 : i32, num = 0 : i32}
  // CHECK: ttng.warp_group_dot
  // CHECK-NOT: tritonx.slots
  tt.func public @product(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 5 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 5 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 5 slots: at 0.1 before 0", "counter of 5 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 1.3 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}
