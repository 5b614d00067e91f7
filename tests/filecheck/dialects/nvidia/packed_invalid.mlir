// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%f: tensor<512xf32, #b>) {
  // expected-error@+1 {{fma takes 3 operands, got 2}}
  %0 = ttng.packed_arith fma %f, %f : (tensor<512xf32, #b>, tensor<512xf32, #b>) -> tensor<512xf32, #b>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%f: tensor<512xf32, #b>) {
  // expected-error@+1 {{there is no max that gives f32x2 of f32x2, f32x2}}
  %0 = ttng.packed_arith max %f, %f : (tensor<512xf32, #b>, tensor<512xf32, #b>) -> tensor<512xf32, #b>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%f: tensor<512xf64, #b>) {
  // expected-error@+1 {{no packed arithmetic of f64, only of f32, f16, bf16, f8E5M2, f8E4M3FN}}
  %0 = ttng.packed_arith add %f, %f : (tensor<512xf64, #b>, tensor<512xf64, #b>) -> tensor<512xf64, #b>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%f: tensor<512xf32, #b>, %g: tensor<256xf32, #b>) {
  // expected-error@+1 {{operands and result must have the same shape}}
  %0 = ttng.packed_arith add %f, %g : (tensor<512xf32, #b>, tensor<256xf32, #b>) -> tensor<512xf32, #b>
  tt.return
}
