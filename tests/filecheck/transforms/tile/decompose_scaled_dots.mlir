// RUN: tritonx-opt %s -p decompose-scaled-dots | filecheck %s

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
