// RUN: tritonx-opt %s | filecheck %s
// RUN: tritonx-opt %s --print-level 3.8 | filecheck %s --check-prefix BEFORE
// RUN: tritonx-opt %s --print-level 3.9 | filecheck %s
// RUN: tritonx-opt %s --target cuda:90 -t ptx | filecheck %s --check-prefix PTX

// Since Triton 3.9 a broadcast may change the layout where no data moves: the operand has more copies of its row.

#few = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#many = #ttg.blocked<{sizePerThread = [4, 2], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>

// CHECK: %1 = tt.broadcast %0 : tensor<1x64xf32, #blocked> -> tensor<4x64xf32, #blocked1>
// BEFORE: %1 = ttg.convert_layout %0 : tensor<1x64xf32, #blocked> -> tensor<1x64xf32, #blocked1>
// BEFORE-NEXT: %2 = tt.broadcast %1 : tensor<1x64xf32, #blocked1> -> tensor<4x64xf32, #blocked1>
// PTX: st.global
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%x: f32, %o: !tt.ptr<f32>) {
    %0 = tt.splat %x : f32 -> tensor<1x64xf32, #few>
    %1 = tt.broadcast %0 : tensor<1x64xf32, #few> -> tensor<4x64xf32, #many>
    %p = tt.splat %o : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>, #many>
    tt.store %p, %1 : tensor<4x64x!tt.ptr<f32>, #many>
    tt.return
  }
}
