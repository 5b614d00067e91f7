// RUN: tritonx-opt %s -p 'decompose-dots{matrix_types="bf16 f16 f32"}' | filecheck %s
// RUN: tritonx-opt %s -p 'decompose-dots' | filecheck %s --check-prefix=NONE

// Small parts first; what they add up to is no NaN.
// CHECK-LABEL: @tf32x3
// CHECK: arith.andi
// CHECK: %[[AS:.*]] = arith.subf
// CHECK: %[[BS:.*]] = arith.subf
// CHECK: %[[D0:.*]] = tt.dot %[[AS]], %{{.*}}, %{{.*}}, inputPrecision = tf32
// CHECK: %[[D1:.*]] = tt.dot %{{.*}}, %[[BS]], %[[D0]], inputPrecision = tf32
// CHECK: arith.cmpf uno, %[[D1]], %[[D1]]
// CHECK: %[[S:.*]] = arith.select
// CHECK: %[[D2:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[S]], inputPrecision = tf32
// CHECK: arith.addf %[[D2]], %c
// NONE-LABEL: @tf32x3
// NONE: tt.dot %a, %b, %c : tensor<16x16xf32>
tt.func public @tf32x3(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// CHECK-LABEL: @bf16x6
// CHECK-COUNT-6: tt.dot {{.*}} : tensor<16x16xbf16> * tensor<16x16xbf16>
// CHECK-NOT: tt.dot
// CHECK: tt.return
tt.func public @bf16x6(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// f16 holds every value of an 8-bit float.
// CHECK-LABEL: @fp8
// CHECK: tt.fp_to_fp %a : tensor<16x16xf8E4M3FN> -> tensor<16x16xf16>
// CHECK: tt.fp_to_fp %b : tensor<16x16xf8E5M2> -> tensor<16x16xf16>
// CHECK: tt.dot {{.*}} : tensor<16x16xf16> * tensor<16x16xf16>
tt.func public @fp8(%a: tensor<16x16xf8E4M3FN>, %b: tensor<16x16xf8E5M2>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = ieee : tensor<16x16xf8E4M3FN> * tensor<16x16xf8E5M2> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// Pairs of 4-bit numbers are taken apart, scales spread over their groups.
// CHECK-LABEL: @scaled
// CHECK: tt.join
// CHECK: tt.reshape {{.*}} : tensor<32x32x2xbf16> -> tensor<32x64xbf16>
// CHECK: tt.reshape {{.*}} : tensor<32x2x32xf32> -> tensor<32x64xf32>
// CHECK: arith.mulf
// CHECK: tt.dot {{.*}} : tensor<32x64xbf16> * tensor<64x32xbf16>
// CHECK-NOT: tt.dot_scaled
tt.func public @scaled(%a: tensor<32x32xi8>, %sa: tensor<32x2xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %one = arith.constant dense<127> : tensor<32x2xi8>
  %d = tt.dot_scaled %a scale %sa, %b scale %one, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x32xf8E5M2>, tensor<32x2xi8> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
