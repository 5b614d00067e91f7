// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{#ttg.amd_wmma: ctaLayout bases must have 2 entries, got [2]}}
tt.func @ranks(%x: tensor<64x64xf32, #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[2], [1, 0]]}}>>) {
  tt.return
}
