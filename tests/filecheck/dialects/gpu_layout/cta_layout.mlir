// RUN: tritonx-opt %s | filecheck %s
// RUN: tritonx-opt %s --print-level 3.9 | filecheck %s
// RUN: tritonx-opt %s | tritonx-opt | filecheck %s

// Warps over tiles in an order that warpsPerCTA and tilesPerWarp do not have; a zero basis is of warps with copies.

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @bases() {
    %0 = ub.poison : tensor<64x64xf32, #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[1, 0], [0, 1]]}}>>
    %1 = ub.poison : tensor<64x64xf32, #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {register = [[1, 0]], warp = [[0, 0], [0, 1]]}}>>
    tt.return
  }
}

// CHECK-DAG: #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = {{\[\[}}1, 0], [0, 1]]}}>
// CHECK-DAG: #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {register = {{\[\[}}1, 0]], warp = {{\[\[}}0, 0], [0, 1]]}}>
