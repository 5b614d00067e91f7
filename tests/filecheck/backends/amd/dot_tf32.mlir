// RUN: tritonx-opt %s --target hip:gfx942 --option num_warps=1 --until amdgcn | filecheck %s

// 19 bits of f32 are multiplied where the program lets them be.
// CHECK-LABEL: {{^}}shortened:
// CHECK: v_mfma_f32_32x32x4_xf32
// CHECK: s_endpgm
tt.func public @shortened(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %a = tt.load %xs : tensor<32x32x!tt.ptr<f32>>
  %c = tt.dot %a, %a, %zero, inputPrecision = tf32 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  tt.store %os, %c : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: {{^}}exact:
// CHECK: v_mfma_f32_32x32x2_f32
tt.func public @exact(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %a = tt.load %xs : tensor<32x32x!tt.ptr<f32>>
  %c = tt.dot %a, %a, %zero : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  tt.store %os, %c : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
