// RUN: tritonx-opt %s -p decompose-scaled-dots | filecheck %s
// RUN: tritonx-opt %s -p 'decompose-scaled-dots{formats="e2m1 e4m3 e5m2" instructions="16x16x128 32x32x64"}' | filecheck %s --check-prefix=UNIT

// Pairs of 4-bit numbers are taken apart, scales spread over their groups.
// CHECK-LABEL: @scaled
// CHECK: tt.join
// CHECK: tt.reshape {{.*}} : tensor<32x32x2xbf16> -> tensor<32x64xbf16>
// CHECK: tt.reshape {{.*}} : tensor<32x2x32xf32> -> tensor<32x64xf32>
// CHECK: arith.mulf
// CHECK: tt.dot {{.*}} : tensor<32x64xbf16> * tensor<64x32xbf16>
// CHECK-NOT: tt.dot_scaled
// The unit takes what fills one of its instructions.
// UNIT-LABEL: @scaled
// UNIT-NOT: tt.dot {{.*}}
// UNIT: tt.dot_scaled {{.*}} lhs = e2m1 rhs = e5m2
tt.func public @scaled(%a: tensor<32x32xi8>, %sa: tensor<32x2xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %one = arith.constant dense<127> : tensor<32x2xi8>
  %d = tt.dot_scaled %a scale %sa, %b scale %one, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x32xf8E5M2>, tensor<32x2xi8> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// It has no instruction of 64 elements of K for 16 rows.
// UNIT-LABEL: @few_rows
// UNIT-NOT: tt.dot_scaled
// UNIT: tt.dot {{.*}} : tensor<16x64xbf16> * tensor<64x32xbf16>
tt.func public @few_rows(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %c: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %one = arith.constant dense<127> : tensor<16x2xi8>
  %d = tt.dot_scaled %a scale %one, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x32xf8E4M3FN> -> tensor<16x32xf32>
  tt.return %d : tensor<16x32xf32>
}

// UNIT-LABEL: @few_rows_long
// UNIT: tt.dot_scaled
tt.func public @few_rows_long(%a: tensor<16x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %c: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %one = arith.constant dense<127> : tensor<32x4xi8>
  %d = tt.dot_scaled %a, %b scale %one, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x128xf8E4M3FN> * tensor<128x32xf8E4M3FN>, tensor<32x4xi8> -> tensor<16x32xf32>
  tt.return %d : tensor<16x32xf32>
}

// Nor scales of 16 elements, scales that are floats, pairs along another dim than K, or operands of 16 bits.
// UNIT-LABEL: @groups_of_16
// UNIT-NOT: tt.dot_scaled
// UNIT: tt.dot {{.*}}
tt.func public @groups_of_16(%a: tensor<32x32xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %one = arith.constant dense<127> : tensor<32x4xi8>
  %d = tt.dot_scaled %a scale %one, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<32x32xi8>, tensor<32x4xi8> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// UNIT-LABEL: @scales_are_floats
// UNIT-NOT: tt.dot_scaled
// UNIT: tt.dot {{.*}}
tt.func public @scales_are_floats(%a: tensor<32x32xi8>, %s: tensor<32x2xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<32x32xi8>, tensor<32x2xf8E4M3FN> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// UNIT-LABEL: @pairs_along_m
// UNIT-NOT: tt.dot_scaled
// UNIT: tt.dot {{.*}}
tt.func public @pairs_along_m(%a: tensor<16x64xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %one = arith.constant dense<127> : tensor<32x2xi8>
  %d = tt.dot_scaled %a scale %one, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false, lhs_k_pack = false} : tensor<16x64xi8>, tensor<32x2xi8> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// UNIT-LABEL: @halves
// UNIT-NOT: tt.dot_scaled
// UNIT: tt.dot {{.*}}
tt.func public @halves(%a: tensor<32x32xi8>, %b: tensor<64x32xbf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %one = arith.constant dense<127> : tensor<32x2xi8>
  %d = tt.dot_scaled %a scale %one, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x32xbf16> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
