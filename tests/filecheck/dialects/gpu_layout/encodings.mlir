// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Every encoding, over one block and two, warps of 32 and of 64; aliases are made of those that are written out.

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @encodings(%n: i32) {
    %t0 = ub.poison : tensor<32x32xf16, #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>>
    %t1 = ub.poison : tensor<32x32xf16, #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 8, 1], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>}>>
    %t2 = ub.poison : tensor<32x32xf16, #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>>
    %t3 = ub.poison : tensor<32x32xf16, #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[1, 0]], instrShape = [16, 128, 16]}>>
    %t4 = ub.poison : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>, kWidth = 2}>>
    %t5 = ub.poison : tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>}>>
    %t6 = ub.poison : tensor<32x32xf16, #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>>
    %t7 = ub.poison : tensor<32x32xf16, #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 4], isTransposed = true, tilesPerWarp = [2, 2], elementBitWidth = 64}>>
    %t8 = ub.poison : tensor<32x32xf16, #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2]}>>
    %t9 = ub.poison : tensor<32x32xf16, #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], instrShape = [16, 16, 32]}>>
    %t10 = ub.poison : tensor<32x32xf16, #ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [16, 0]], block = []}>>
    %m0 = ub.poison : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #ttg.shared_memory, mutable>
    %m1 = ub.poison : !ttg.memdesc<32x32xf16, #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>, #ttg.shared_memory, mutable>
    %m2 = ub.poison : !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8, fp4Padded = true}>, #ttg.shared_memory, mutable>
    %m3 = ub.poison : !ttg.memdesc<32x32xf16, #ttg.padded_shared<[32:+4, 64:+8] {order = [1, 0], shape = [32, 32]}>, #ttg.shared_memory, mutable>
    %m4 = ub.poison : !ttg.memdesc<2x4xf16, #ttg.padded_shared<[512:+16] {offset = [[0, 1], [0, 2], [1, 0]], block = []}>, #ttg.shared_memory, mutable>
    %m5 = ub.poison : !ttg.memdesc<4x4xf16, #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 2]]}, alignment = 16>, #ttg.shared_memory, mutable>
    tt.return
  }
}

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #blocked1 = #ttg.blocked<{sizePerThread = [1, 8, 1], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// CHECK-NEXT: #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// CHECK-NEXT: #mma1 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = {{\[\[}}1, 0]], instrShape = [16, 128, 16]}>
// CHECK-NEXT: #blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #mma2 = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
// CHECK-NEXT: #mma3 = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 4], isTransposed = true, tilesPerWarp = [2, 2], elementBitWidth = 64}>
// CHECK-NEXT: #mma4 = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2]}>
// CHECK-NEXT: #mma5 = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], instrShape = [16, 16, 32]}>
// CHECK-NEXT: #linear = #ttg.linear<{register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}0, 8], [16, 0]], block = []}>
// CHECK-NEXT: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: #shared1 = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
// CHECK-NEXT: #shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8, fp4Padded = true}>
// CHECK-NEXT: #shared3 = #ttg.padded_shared<[32:+4, 64:+8] {order = [1, 0], shape = [32, 32]}>
// CHECK-NEXT: #shared4 = #ttg.padded_shared<[512:+16] {offset = {{\[\[}}0, 1], [0, 2], [1, 0]], block = []}>
// CHECK-NEXT: #shared5 = #ttg.shared_linear<{offset = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 2]]}, alignment = 16>
// CHECK-NEXT: module attributes {"ttg.num-warps" = 4 : i32} {
// CHECK-NEXT: tt.func @encodings(%n: i32) {
// CHECK-NEXT: %t0 = ub.poison : tensor<32x32xf16, #blocked>
// CHECK-NEXT: %t1 = ub.poison : tensor<32x32xf16, #ttg.slice<{dim = 1, parent = #blocked1}>>
// CHECK-NEXT: %t2 = ub.poison : tensor<32x32xf16, #mma>
// CHECK-NEXT: %t3 = ub.poison : tensor<32x32xf16, #mma1>
// CHECK-NEXT: %t4 = ub.poison : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
// CHECK-NEXT: %t5 = ub.poison : tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked2}>>
// CHECK-NEXT: %t6 = ub.poison : tensor<32x32xf16, #mma2>
// CHECK-NEXT: %t7 = ub.poison : tensor<32x32xf16, #mma3>
// CHECK-NEXT: %t8 = ub.poison : tensor<32x32xf16, #mma4>
// CHECK-NEXT: %t9 = ub.poison : tensor<32x32xf16, #mma5>
// CHECK-NEXT: %t10 = ub.poison : tensor<32x32xf16, #linear>
// CHECK-NEXT: %m0 = ub.poison : !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
// CHECK-NEXT: %m1 = ub.poison : !ttg.memdesc<32x32xf16, #shared1, #smem, mutable>
// CHECK-NEXT: %m2 = ub.poison : !ttg.memdesc<32x32xf16, #shared2, #smem, mutable>
// CHECK-NEXT: %m3 = ub.poison : !ttg.memdesc<32x32xf16, #shared3, #smem, mutable>
// CHECK-NEXT: %m4 = ub.poison : !ttg.memdesc<2x4xf16, #shared4, #smem, mutable>
// CHECK-NEXT: %m5 = ub.poison : !ttg.memdesc<4x4xf16, #shared5, #smem, mutable>
// CHECK-NEXT: tt.return
