// RUN: tritonx-opt %s -p 'buffer-values{shared_memory=232448 blocks="ttng" plans=true}' | filecheck %s
// RUN: tritonx-opt %s -p 'buffer-values{shared_memory=232448 blocks="ttng" plans=true},buffer-values{shared_memory=232448 blocks="ttng"}' | filecheck %s --check-prefix=WRITTEN

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The plan of a loop stands on it as text, and nothing else is made. Written down, it is what the pass makes at once.
  // CHECK-LABEL: @product
  // CHECK-NOT: ttg.local_alloc : ()
  // CHECK: %[[X:.*]] = tt.load
  // CHECK-NEXT: ttg.local_alloc %[[X]]
  // CHECK-NEXT: %[[Y:.*]] = tt.descriptor_load
  // CHECK-NEXT: ttg.local_alloc %[[Y]]
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK: tritonx.slots = [
  // CHECK-SAME: "3 stages",
  // CHECK-SAME: "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>",
  // CHECK-SAME: "  copied by 0 at 0.1, 8 elements at once, for alloc 1",
  // CHECK-SAME: "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4",
  // CHECK-SAME: "  read by 4 at 2.0, over a round later",
  // CHECK-SAME: "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>",
  // CHECK-SAME: "  brought by 2 at 0.1, for alloc 3",
  // CHECK-SAME: "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4",
  // CHECK-SAME: "  read by 4 at 2.0, over a round later",
  // CHECK-SAME: "counter of 3 slots: at 0.1 before 0",
  // CHECK-SAME: "counter of 3 slots: at 2.0 before 4, with phases",
  // CHECK-SAME: "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4",
  // CHECK-SAME: "wait for 0: at 2.0 before 4"],
  // CHECK-SAME: tt.scheduled_max_stage = 2
  // WRITTEN-LABEL: @product
  // WRITTEN-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<3x
  // WRITTEN: ttg.local_alloc : () -> !ttg.memdesc<3x1xi64
  // WRITTEN-COUNT-3: ttng.init_barrier
  // WRITTEN: scf.for
  // WRITTEN: ttg.async_copy_global_to_local {{.*}}contiguity = 8
  // WRITTEN: ttng.barrier_expect {{.*}}, 2048
  // WRITTEN: ttng.async_tma_copy_global_to_local
  // WRITTEN: ttng.wait_barrier {{.*}}loop.stage = 2
  // WRITTEN: ttg.async_wait {{.*}}loop.stage = 2
  // WRITTEN: ttng.warp_group_dot
  // WRITTEN-NOT: tritonx.slots
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
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}
