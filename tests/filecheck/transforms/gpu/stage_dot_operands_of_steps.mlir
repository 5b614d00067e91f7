// RUN: tritonx-opt %s -p "stage-dot-operands" | filecheck %s

// An operand of multiply-adds is read along K as the product goes. What lies side by side in memory, for one access, is of
// one step of K or of neighbouring ones, though the threads that store it have far ones, too.
#one = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#fma = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #fma}>
#b = #ttg.dot_op<{opIdx = 1, parent = #fma}>

// CHECK: #[[A:.*]] = #ttg.shared_linear<{offset = {{\[\[}}1, 0], [2, 0], [0, 1], [0, 2], [0, 4],
// CHECK-LABEL: @steps
// CHECK: ttg.local_alloc %x : (tensor<64x64xf32, #{{.*}}>) -> !ttg.memdesc<64x64xf32, #[[A]], #smem>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @steps(%x: tensor<64x64xf32, #one>, %y: tensor<64x64xf32, #b>, %c: tensor<64x64xf32, #fma>) -> tensor<64x64xf32, #fma> {
    %a = ttg.convert_layout %x : tensor<64x64xf32, #one> -> tensor<64x64xf32, #a>
    %d = tt.dot %a, %y, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #fma>
    tt.return %d : tensor<64x64xf32, #fma>
  }
}
