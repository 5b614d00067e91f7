// RUN: tritonx-opt %s -p "stage-dot-operands" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#alone = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#p = #ttg.dot_op<{opIdx = 0, parent = #alone, kWidth = 2}>

// Rows of 64 bytes: two share the banks, so phases change every second row. Both operands are stored before either is loaded.
// CHECK: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-LABEL: @product
// CHECK: %[[A:.*]] = ttg.local_alloc %a
// CHECK-NEXT: %[[B:.*]] = ttg.local_alloc %b
// CHECK-NEXT: ttg.local_load %[[A]]
// CHECK-NEXT: ttg.local_load %[[B]]
// CHECK-NEXT: tt.dot
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%a: tensor<64x32xf16, #rows>, %b: tensor<32x32xf16, #rows>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %x = ttg.convert_layout %a : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
    %y = ttg.convert_layout %b : tensor<32x32xf16, #rows> -> tensor<32x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }

  // What a product of rows inside a warp left is the next operand as it lies.
  // CHECK-LABEL: @inside
  // CHECK-NOT: local_alloc
  // CHECK: ttg.convert_layout
  tt.func public @inside(%a: tensor<64x32xf16, #alone>) -> tensor<64x32xf16, #p> {
    %x = ttg.convert_layout %a : tensor<64x32xf16, #alone> -> tensor<64x32xf16, #p>
    tt.return %x : tensor<64x32xf16, #p>
  }
}
