// RUN: tritonx-opt %s -p "view-transposed" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#groups = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#turned = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#padded = #ttg.padded_shared<[64:+8] {order = [0, 1], shape = [64, 32]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #[[NV:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
  // CHECK-DAG: #[[TURNED:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
  // CHECK-DAG: #[[GROUPS:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
  // CHECK-LABEL: @transposed
  // CHECK-NEXT: %[[M:.*]] = ttg.local_alloc %x : (tensor<32x64xf16, #{{.*}}>) -> !ttg.memdesc<32x64xf16, #[[NV]], #smem>
  // CHECK-NEXT: ttg.memdesc_trans %[[M]] {order = array<i32: 1, 0>} : {{.*}} -> !ttg.memdesc<64x32xf16, #[[TURNED]], #smem>
  // CHECK-NEXT: %[[S:.*]] = ttg.local_alloc %x : (tensor<32x64xf16, #{{.*}}>) -> !ttg.memdesc<32x64xf16, #[[GROUPS]], #smem>
  // CHECK-NEXT: ttg.memdesc_trans %[[S]]
  tt.func public @transposed(%x: tensor<32x64xf16, #rows>) {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x64xf16, #rows> -> tensor<64x32xf16, #columns>
    %m = ttg.local_alloc %t : (tensor<64x32xf16, #columns>) -> !ttg.memdesc<64x32xf16, #nv, #smem>
    %s = ttg.local_alloc %t : (tensor<64x32xf16, #columns>) -> !ttg.memdesc<64x32xf16, #groups, #smem>
    ttg.local_dealloc %m : !ttg.memdesc<64x32xf16, #nv, #smem>
    ttg.local_dealloc %s : !ttg.memdesc<64x32xf16, #groups, #smem>
    tt.return
  }

  // There is no name for the other form, or nothing is transposed.
  // CHECK-LABEL: @as_they_are
  // CHECK: tt.trans
  // CHECK-NOT: ttg.memdesc_trans
  // CHECK: tt.return
  tt.func public @as_they_are(%x: tensor<32x64xf16, #rows>, %y: tensor<64x32xf16, #columns>) {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x64xf16, #rows> -> tensor<64x32xf16, #columns>
    %m = ttg.local_alloc %t : (tensor<64x32xf16, #columns>) -> !ttg.memdesc<64x32xf16, #padded, #smem>
    %s = ttg.local_alloc %y : (tensor<64x32xf16, #columns>) -> !ttg.memdesc<64x32xf16, #nv, #smem>
    ttg.local_dealloc %m : !ttg.memdesc<64x32xf16, #padded, #smem>
    ttg.local_dealloc %s : !ttg.memdesc<64x32xf16, #nv, #smem>
    tt.return
  }

  // Needed in both ways: one buffer, which is there before the first one that needs it.
  // CHECK-LABEL: @both
  // CHECK-NEXT: %[[B:.*]] = ttg.local_alloc %x
  // CHECK-NEXT: %[[V:.*]] = ttg.memdesc_trans %[[B]]
  // CHECK-NEXT: ttg.local_load %[[V]]
  // CHECK-NEXT: ttg.local_load %[[B]]
  tt.func public @both(%x: tensor<32x64xf16, #rows>) -> (tensor<64x32xf16, #columns>, tensor<32x64xf16, #rows>) {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x64xf16, #rows> -> tensor<64x32xf16, #columns>
    %m = ttg.local_alloc %t : (tensor<64x32xf16, #columns>) -> !ttg.memdesc<64x32xf16, #groups, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<64x32xf16, #groups, #smem> -> tensor<64x32xf16, #columns>
    %n = ttg.local_alloc %x : (tensor<32x64xf16, #rows>) -> !ttg.memdesc<32x64xf16, #turned, #smem>
    %z = ttg.local_load %n : !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<32x64xf16, #rows>
    tt.return %y, %z : tensor<64x32xf16, #columns>, tensor<32x64xf16, #rows>
  }

  // Memory that is written again is a buffer of its own.
  // CHECK-LABEL: @written_again
  // CHECK-COUNT-2: ttg.local_alloc %x
  tt.func public @written_again(%x: tensor<32x64xf16, #rows>, %w: tensor<64x32xf16, #columns>) -> (tensor<64x32xf16, #columns>, tensor<32x64xf16, #rows>) {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x64xf16, #rows> -> tensor<64x32xf16, #columns>
    %m = ttg.local_alloc %t : (tensor<64x32xf16, #columns>) -> !ttg.memdesc<64x32xf16, #groups, #smem, mutable>
    ttg.local_store %w, %m : tensor<64x32xf16, #columns> -> !ttg.memdesc<64x32xf16, #groups, #smem, mutable>
    %y = ttg.local_load %m : !ttg.memdesc<64x32xf16, #groups, #smem, mutable> -> tensor<64x32xf16, #columns>
    %n = ttg.local_alloc %x : (tensor<32x64xf16, #rows>) -> !ttg.memdesc<32x64xf16, #turned, #smem, mutable>
    %z = ttg.local_load %n : !ttg.memdesc<32x64xf16, #turned, #smem, mutable> -> tensor<32x64xf16, #rows>
    tt.return %y, %z : tensor<64x32xf16, #columns>, tensor<32x64xf16, #rows>
  }
}
