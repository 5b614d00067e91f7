// RUN: tritonx-opt %s --target hip:gfx950 --option num_warps=1 --until amdgcn | filecheck %s

// 8-bit floats are multiplied 64 of K at a time, by an instruction that is told both types, without scales.
// CHECK-LABEL: {{^}}floats:
// CHECK-NOT: v_mfma_scale
// CHECK: v_mfma_f32_32x32x64_f8f6f4 {{.*}} {{cbsz|blgp}}:1
// CHECK: s_endpgm
tt.func public @floats(%x: !tt.ptr<f8E4M3FN>, %y: !tt.ptr<f8E5M2>, %out: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<32x64x!tt.ptr<f8E4M3FN>>
  %ys = tt.splat %y : !tt.ptr<f8E5M2> -> tensor<64x32x!tt.ptr<f8E5M2>>
  %a = tt.load %xs : tensor<32x64x!tt.ptr<f8E4M3FN>>
  %b = tt.load %ys : tensor<64x32x!tt.ptr<f8E5M2>>
  %c = tt.dot %a, %b, %zero : tensor<32x64xf8E4M3FN> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  tt.store %os, %c : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: {{^}}integers:
// CHECK: v_mfma_i32_32x32x32_i8
tt.func public @integers(%x: !tt.ptr<i8>, %out: !tt.ptr<i32>) {
  %zero = arith.constant dense<0> : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<i8> -> tensor<32x32x!tt.ptr<i8>>
  %a = tt.load %xs : tensor<32x32x!tt.ptr<i8>>
  %c = tt.dot %a, %a, %zero : tensor<32x32xi8> * tensor<32x32xi8> -> tensor<32x32xi32>
  %os = tt.splat %out : !tt.ptr<i32> -> tensor<32x32x!tt.ptr<i32>>
  tt.store %os, %c : tensor<32x32x!tt.ptr<i32>>
  tt.return
}
