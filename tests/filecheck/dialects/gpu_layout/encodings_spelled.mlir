// RUN: tritonx-opt %s | filecheck %s --check-prefix OWN
// RUN: tritonx-opt %s --print-level 3.6 | filecheck %s
// RUN: tritonx-opt %s --print-level 3.9 | filecheck %s --check-prefix LAST
// RUN: tritonx-opt %s --print-level 3.9 | tritonx-opt | filecheck %s --check-prefix OWN
// RUN: tritonx-opt %s --print-level 3.9 | tritonx-opt --print-level 3.6 | filecheck %s

// Warps over tiles as bases, and linear layouts under their other name (Triton 3.8).

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @spelled() {
    %0 = ub.poison : tensor<64x64xf32, #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {register = [[0, 1], [1, 0]], warp = [[0, 2], [2, 0]]}}>>
    %1 = ub.poison : tensor<64x64xf32, #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[1, 0], [2, 0]]}}>>
    %2 = ub.poison : tensor<4x16x16xf32, #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[1, 0, 0], [2, 0, 0]]}, rank = 3}>>
    %3 = ub.poison : tensor<32x4xf32, #ttg.generic_linear<{register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 1], [0, 2]], block = []}>>
    %4 = ub.poison : tensor<32x32xf16, #ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [2, 2], instrShape = [16, 8]}>>
    tt.return
  }
}

// CHECK-DAG: #linear = #ttg.linear<{register = [], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[\[}}0, 1], [0, 2]], block = []}>
// CHECK-DAG: #ttg.amd_wmma<{version = 2, isTranspose = false, warpsPerCTA = [2, 2], tilesPerWarp = [2, 2]}>
// CHECK-DAG: #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [4, 1]}>
// CHECK-DAG: #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [4, 1, 1]}>
// CHECK-DAG: #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>

// Of several tiles of a warp along rows 3.6 numbers the registers in another order.
// OWN-DAG: #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {register = {{\[\[}}0, 1], [1, 0]], warp = {{\[\[}}0, 2], [2, 0]]}}>
// OWN-DAG: #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [4, 1]}>

// LAST-DAG: #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {register = {{\[\[}}0, 1], [1, 0]], warp = {{\[\[}}0, 2], [2, 0]]}}>
// LAST-DAG: #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = {{\[\[}}1, 0], [2, 0]]}}>
// LAST-DAG: #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = {{\[\[}}1, 0, 0], [2, 0, 0]]}, rank = 3}>
