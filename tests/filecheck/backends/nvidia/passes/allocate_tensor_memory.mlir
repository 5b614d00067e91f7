// RUN: tritonx-opt %s -p "allocate-shared-memory,allocate-tensor-memory" | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#halves = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = [[16, 0], [32, 0]], block = []}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem64 = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
#smem = #ttg.shared_memory
// CHECK: ttg.shared = 16 : i32
// CHECK-SAME: ttg.tensor_memory_size = 128 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Two tiles that are alive together lie side by side; one that is made when the first is no longer needed takes its
  // columns. Tiles of 64 rows share columns, in the two halves of the rows.
  // CHECK-LABEL: @lives
  // CHECK: %a = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32}
  // CHECK: %b = ttng.tmem_alloc {tensor_memory_col_offset = 64 : i32, tensor_memory_row_offset = 0 : i32}
  // CHECK: %c = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32}
  // CHECK: %d = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 16 : i32}
  tt.func public @lives(%x: tensor<128x64xf32, #rows>, %y: tensor<64x64xf32, #halves>, %true: i1) {
    %a = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    %b = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.tmem_store %x, %a, %true : tensor<128x64xf32, #rows> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.tmem_store %x, %b, %true : tensor<128x64xf32, #rows> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    %c = ttng.tmem_alloc : () -> !ttg.memdesc<64x64xf32, #tmem64, #ttng.tensor_memory, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<64x64xf32, #tmem64, #ttng.tensor_memory, mutable>
    ttng.tmem_store %y, %c, %true : tensor<64x64xf32, #halves> -> !ttg.memdesc<64x64xf32, #tmem64, #ttng.tensor_memory, mutable>
    ttng.tmem_store %y, %d, %true : tensor<64x64xf32, #halves> -> !ttg.memdesc<64x64xf32, #tmem64, #ttng.tensor_memory, mutable>
    %z = ttng.tmem_load %b : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #rows>
    tt.return
  }
}
