// RUN: tritonx-opt %s -p "transpose-in-memory" | filecheck %s

#group = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#row_major = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#column_major = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#swizzled = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#padded = #ttg.padded_shared<[64:+8] {order = [0, 1], shape = [64, 128]}>
#smem = #ttg.shared_memory

// CHECK: [[ROWS:#shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false
// CHECK: [[COLUMNS:#shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true
// CHECK: module
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @once
  // CHECK-NOT: tt.trans
  // CHECK: [[M:%.*]] = ttg.local_alloc %x : (tensor<64x64xf16, {{#blocked[0-9]*}}>) -> !ttg.memdesc<64x64xf16, [[ROWS]], #smem>
  // CHECK: [[V:%.*]] = ttg.memdesc_trans [[M]] {order = array<i32: 1, 0>} : {{.*}} -> !ttg.memdesc<64x64xf16, [[COLUMNS]], #smem>
  // CHECK: ttng.warp_group_dot %q, [[V]]
  tt.func @once(%x: tensor<64x64xf16, #rows>, %q: !ttg.memdesc<64x64xf16, #row_major, #smem>, %c: tensor<64x64xf32, #group>) -> tensor<64x64xf32, #group> {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %m = ttg.local_alloc %t : (tensor<64x64xf16, #columns>) -> !ttg.memdesc<64x64xf16, #column_major, #smem>
    %d = ttng.warp_group_dot %q, %m, %c : !ttg.memdesc<64x64xf16, #row_major, #smem> * !ttg.memdesc<64x64xf16, #column_major, #smem> -> tensor<64x64xf32, #group>
    tt.return %d : tensor<64x64xf32, #group>
  }

  // Needed in both ways: one buffer, which is there before the first one that needs it.
  // CHECK-LABEL: @both
  // CHECK-COUNT-1: ttg.local_alloc %x
  // CHECK: [[V:%.*]] = ttg.memdesc_trans
  // CHECK: ttng.warp_group_dot %q, [[V]]
  // CHECK-NOT: ttg.local_alloc
  // CHECK: ttng.warp_group_dot %q, %n
  tt.func @both(%x: tensor<64x64xf16, #rows>, %q: !ttg.memdesc<64x64xf16, #row_major, #smem>, %c: tensor<64x64xf32, #group>) -> tensor<64x64xf32, #group> {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %m = ttg.local_alloc %t : (tensor<64x64xf16, #columns>) -> !ttg.memdesc<64x64xf16, #column_major, #smem>
    %d = ttng.warp_group_dot %q, %m, %c : !ttg.memdesc<64x64xf16, #row_major, #smem> * !ttg.memdesc<64x64xf16, #column_major, #smem> -> tensor<64x64xf32, #group>
    %n = ttg.local_alloc %x : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #row_major, #smem>
    %e = ttng.warp_group_dot %q, %n, %d : !ttg.memdesc<64x64xf16, #row_major, #smem> * !ttg.memdesc<64x64xf16, #row_major, #smem> -> tensor<64x64xf32, #group>
    tt.return %e : tensor<64x64xf32, #group>
  }

  // Another kind of memory, of another shape; the transposed tile itself is needed too.
  // CHECK-LABEL: @swizzled
  // CHECK: [[T:%.*]] = tt.trans
  // CHECK: [[M:%.*]] = ttg.local_alloc %x : {{.*}} -> !ttg.memdesc<128x64xf16,
  // CHECK: ttg.memdesc_trans [[M]] {{.*}} -> !ttg.memdesc<64x128xf16,
  // CHECK: tt.return {{.*}}[[T]]
  tt.func @swizzled(%x: tensor<128x64xf16, #rows>) -> (tensor<64x128xf16, #columns>, tensor<64x128xf16, #columns>) {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<128x64xf16, #rows> -> tensor<64x128xf16, #columns>
    %m = ttg.local_alloc %t : (tensor<64x128xf16, #columns>) -> !ttg.memdesc<64x128xf16, #swizzled, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<64x128xf16, #swizzled, #smem> -> tensor<64x128xf16, #columns>
    tt.return %y, %t : tensor<64x128xf16, #columns>, tensor<64x128xf16, #columns>
  }

  // Memory that is written again, and such as no other encoding says transposed, stay.
  // CHECK-LABEL: @stays
  // CHECK-NOT: memdesc_trans
  // CHECK: tt.return
  tt.func @stays(%x: tensor<128x64xf16, #rows>, %z: tensor<64x128xf16, #columns>) -> tensor<64x128xf16, #columns> {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<128x64xf16, #rows> -> tensor<64x128xf16, #columns>
    %m = ttg.local_alloc %t : (tensor<64x128xf16, #columns>) -> !ttg.memdesc<64x128xf16, #swizzled, #smem, mutable>
    ttg.local_store %z, %m : tensor<64x128xf16, #columns> -> !ttg.memdesc<64x128xf16, #swizzled, #smem, mutable>
    %n = ttg.local_alloc %t : (tensor<64x128xf16, #columns>) -> !ttg.memdesc<64x128xf16, #padded, #smem>
    %y = ttg.local_load %n : !ttg.memdesc<64x128xf16, #padded, #smem> -> tensor<64x128xf16, #columns>
    tt.return %y : tensor<64x128xf16, #columns>
  }
}
