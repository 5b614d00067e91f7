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
