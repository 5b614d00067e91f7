// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Slices, concatenation, transposition within a thread, microscaling.

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.linear<{register = [[16, 0], [0, 1], [0, 2], [0, 32], [32, 0], [64, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @shape(%x: tensor<128x64xf16, #blocked>, %p: tensor<64x64xi8, #blocked>, %b: tensor<64x128xbf16, #blocked>, %s: tensor<64x4xi8, #blocked>, %w: tensor<64x128xbf16, #wide>, %f: tensor<128x64xf8E5M2, #blocked>, %d: !ttg.memdesc<128x64xi8, #shared, #smem, mutable>) {
    %0 = amdg.extract_slice %x [0, 32] : tensor<128x64xf16, #blocked> to tensor<128x32xf16, #blocked>
    %1 = amdg.concat %x, %x : tensor<128x64xf16, #blocked>, tensor<128x64xf16, #blocked> -> tensor<128x128xf16, #blocked>
    %2 = amdg.in_thread_transpose %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #other>
    %3 = amdg.upcast_mxfp %b, %s fp_type = e5m2 {fastMath = false} : tensor<64x128xbf16, #blocked>, tensor<64x4xi8, #blocked> -> tensor<64x128xbf16, #blocked>
    %4 = amdg.scaled_upcast_fp4 %p scale %w {axis = 1 : i32} : tensor<64x64xi8, #blocked>, tensor<64x128xbf16, #wide> -> tensor<64x128xbf16, #wide>
    %5 = amdg.scaled_upcast_fp8 %f scale %x : tensor<128x64xf8E5M2, #blocked>, tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked>
    %6 = amdg.local_load_packed_tranposed %d : !ttg.memdesc<128x64xi8, #shared, #smem, mutable> -> tensor<64x128xi8, #blocked>
    tt.return
  }
}

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: #linear = #ttg.linear<{register = {{\[\[}}16, 0], [0, 1], [0, 2], [0, 32], [32, 0], [64, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = {{\[\[}}4, 0], [8, 0]], block = []}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @shape(%x: tensor<128x64xf16, #blocked>, %p: tensor<64x64xi8, #blocked>, %b: tensor<64x128xbf16, #blocked>, %s: tensor<64x4xi8, #blocked>, %w: tensor<64x128xbf16, #blocked1>, %f: tensor<128x64xf8E5M2, #blocked>, %d: !ttg.memdesc<128x64xi8, #shared, #smem, mutable>) {
// CHECK-NEXT: %0 = amdg.extract_slice %x [0, 32] : tensor<128x64xf16, #blocked> to tensor<128x32xf16, #blocked>
// CHECK-NEXT: %1 = amdg.concat %x, %x : tensor<128x64xf16, #blocked>, tensor<128x64xf16, #blocked> -> tensor<128x128xf16, #blocked>
// CHECK-NEXT: %2 = amdg.in_thread_transpose %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #linear>
// CHECK-NEXT: %3 = amdg.upcast_mxfp %b, %s fp_type = e5m2 {fastMath = false} : tensor<64x128xbf16, #blocked>, tensor<64x4xi8, #blocked> -> tensor<64x128xbf16, #blocked>
// CHECK-NEXT: %4 = amdg.scaled_upcast_fp4 %p scale %w {axis = 1 : i32} : tensor<64x64xi8, #blocked>, tensor<64x128xbf16, #blocked1> -> tensor<64x128xbf16, #blocked1>
// CHECK-NEXT: %5 = amdg.scaled_upcast_fp8 %f scale %x : tensor<128x64xf8E5M2, #blocked>, tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked>
// CHECK-NEXT: %6 = amdg.local_load_packed_tranposed %d : !ttg.memdesc<128x64xi8, #shared, #smem, mutable> -> tensor<64x128xi8, #blocked>
// CHECK-NEXT: tt.return
