// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{warps that lie over tiles as in {'warp': ((0, 2), (1, 0))} are not supported}}
tt.func @apart(%x: tensor<64x64xf32, #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 2], [1, 0]]}}>>) {
  tt.return
}
