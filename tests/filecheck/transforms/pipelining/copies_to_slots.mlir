// RUN: tritonx-opt %s -p 'buffer-values{shared_memory=232448 blocks="ttng"}' | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#other = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Both blocks come to three slots and are told of by one barrier each, which expects the bytes of both. The reader's
  // counter has a parity, which turns where it starts anew.
  // CHECK-LABEL: @together
  // CHECK-DAG: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16, {{.*}}, mutable>
  // CHECK-DAG: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf16, {{.*}}, mutable>
  // CHECK: %[[TOLD:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64, {{.*}}, mutable>
  // CHECK-NOT: ttg.local_alloc
  // CHECK-COUNT-3: ttng.init_barrier %{{.*}}, 1
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[IN:.*]] = %[[LESS:.*]], %[[OUT:.*]] = %[[LESS]], %[[OLD:.*]] = %{{.*}})
  // CHECK: %[[NEXT:.*]] = arith.addi %[[IN]], %{{.*}} {loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: %[[TO:.*]] = arith.select %{{.*}}, %{{.*}}, %[[NEXT]] {loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: %[[FULL:.*]] = ttg.memdesc_index %[[TOLD]][%[[TO]]]
  // CHECK: ttng.barrier_expect %[[FULL]], 6144 {loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: %[[AT:.*]] = ttg.memdesc_index %[[A]][%[[TO]]]
  // CHECK: ttng.async_tma_copy_global_to_local %a[%c0, %i] %[[AT]], %[[FULL]]
  // CHECK: %[[BT:.*]] = ttg.memdesc_index %[[B]][%[[TO]]]
  // CHECK: ttng.async_tma_copy_global_to_local %b[%i, %c0] %[[BT]], %[[FULL]]
  // CHECK: %[[END:.*]] = arith.cmpi sge, {{.*}}loop.stage = 2
  // CHECK: %[[FROM:.*]] = arith.select %[[END]], {{.*}}loop.stage = 2
  // CHECK: %[[TURNED:.*]] = arith.xori %[[OLD]]
  // CHECK: %[[PARITY:.*]] = arith.select %[[END]], %[[TURNED]], %[[OLD]]
  // CHECK: %[[ASKED:.*]] = ttg.memdesc_index %[[TOLD]][%[[FROM]]] {loop.cluster = 0 : i32, loop.stage = 2 : i32}
  // CHECK: ttng.wait_barrier %[[ASKED]], %[[PARITY]], {{.*}}loop.stage = 2
  // CHECK-NOT: ttng.wait_barrier
  // CHECK-DAG: %[[X:.*]] = ttg.memdesc_index %[[A]][%[[FROM]]]
  // CHECK-DAG: %[[Y:.*]] = ttg.memdesc_index %[[B]][%[[FROM]]]
  // CHECK: ttng.warp_group_dot %[[X]], %[[Y]]
  // CHECK: scf.yield %{{.*}}, %[[TO]], %[[FROM]], %[[PARITY]]
  // CHECK-COUNT-3: ttng.inval_barrier
  // CHECK: ttg.local_dealloc %[[TOLD]]
  // CHECK-NOT: tt.descriptor_load
  tt.func public @together(%a: !tt.tensordesc<tensor<64x32xf16, #shared>>, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<64x32xf16, #shared>> -> tensor<64x32xf16, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }

  // Products that follow one another wait each for its own block, at a barrier of its own. A block that the engine does
  // not write as the product reads it is copied as it is written, and read and stored anew in front of the product.
  // CHECK-LABEL: @apart
  // CHECK-DAG: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64,
  // CHECK-DAG: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64,
  // CHECK: scf.for
  // CHECK: ttng.barrier_expect %[[ONE:.*]], 2048
  // CHECK: ttng.async_tma_copy_global_to_local %b{{.*}}, %[[ONE]],
  // CHECK: ttng.barrier_expect %[[TWO:.*]], 2048
  // CHECK: ttng.async_tma_copy_global_to_local %c{{.*}}, %[[TWO]],
  // CHECK: ttng.async_tma_copy_global_to_local %odd
  // CHECK: ttng.wait_barrier
  // CHECK: %[[ODD:.*]] = ttg.local_load
  // CHECK: ttg.local_store %[[ODD]]
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot
  tt.func public @apart(%x: !ttg.memdesc<64x32xf16, #shared, #smem>, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %c: !tt.tensordesc<tensor<32x32xf16, #shared>>, %odd: !tt.tensordesc<tensor<32x32xf16, #other>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 1 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %z = tt.descriptor_load %c[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %zm = ttg.local_alloc %z {loop.stage = 1 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %w = tt.descriptor_load %odd[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #other>> -> tensor<32x32xf16, #rows>
      %wm = ttg.local_alloc %w {loop.stage = 1 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %x, %ym, %s {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      %u = ttng.warp_group_dot %x, %zm, %t {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      %v = ttng.warp_group_dot %x, %wm, %u {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %v : tensor<64x32xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }

  // A block that threads read in an earlier stage than the product, and behind it in the text: the wait is placed with
  // the first of the schedule, and stands in front of both. What is made round a loop has the loop's place in the
  // schedule of the one around it.
  // CHECK-LABEL: @read_twice
  // CHECK: ttng.init_barrier {{.*}} {loop.cluster = 3 : i32, loop.stage = 1 : i32}
  // CHECK: scf.for
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.wait_barrier {{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32}
  // CHECK: ttng.warp_group_dot
  // CHECK: ttg.local_load {{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32}
  // CHECK: ttng.inval_barrier {{.*}} {loop.cluster = 3 : i32, loop.stage = 1 : i32}
  // CHECK: ttg.local_dealloc {{.*}} {loop.cluster = 3 : i32, loop.stage = 1 : i32}
  tt.func public @read_twice(%x: !ttg.memdesc<64x32xf16, #shared, #smem>, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %none: tensor<32x32xf16, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    scf.for %j = %c0 to %n step %c32 : i32 {
      %sum, %total = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init, %e = %none) -> (tensor<64x32xf32, #mma>, tensor<32x32xf16, #rows>) : i32 {
        %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 2 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
        %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
        %t = ttng.warp_group_dot %x, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
        %f = arith.addf %e, %y {loop.stage = 1 : i32, loop.cluster = 1 : i32} : tensor<32x32xf16, #rows>
        scf.yield %t, %f : tensor<64x32xf32, #mma>, tensor<32x32xf16, #rows>
      } {tt.scheduled_max_stage = 2 : i32, loop.stage = 1 : i32, loop.cluster = 3 : i32}
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return
  }
}
