// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Matrix products.

module {
  tt.func @dot(%a: tensor<32x64xf16>, %b: tensor<64x16xf16>, %c: tensor<32x16xf32>, %a32: tensor<32x64xf32>, %b32: tensor<64x16xf32>, %g: tensor<2x32x64xf16>, %h: tensor<2x64x16xf16>, %k: tensor<2x32x16xf32>, %p: tensor<32x32xi8>, %sa: tensor<32x2xi8>, %sb: tensor<16x2xi8>, %q: tensor<64x16xbf16>) {
    %0 = tt.dot %a, %b, %c : tensor<32x64xf16> * tensor<64x16xf16> -> tensor<32x16xf32>
    %1 = tt.dot %a32, %b32, %c, inputPrecision = tf32 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
    %2 = tt.dot %a32, %b32, %c, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
    %3 = tt.dot %a32, %b32, %c, inputPrecision = bf16x3 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
    %4 = tt.dot %g, %h, %k : tensor<2x32x64xf16> * tensor<2x64x16xf16> -> tensor<2x32x16xf32>
    %5 = tt.dot_scaled %p scale %sa, %q, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x16xbf16> -> tensor<32x16xf32>
    %6 = tt.dot_scaled %p scale %sa, %q scale %sb, %c lhs = e2m1 rhs = bf16 {fastMath = true} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x16xbf16>, tensor<16x2xi8> -> tensor<32x16xf32>
    tt.return
  }
}

// CHECK: tt.func @dot(%a: tensor<32x64xf16>, %b: tensor<64x16xf16>, %c: tensor<32x16xf32>, %a32: tensor<32x64xf32>, %b32: tensor<64x16xf32>, %g: tensor<2x32x64xf16>, %h: tensor<2x64x16xf16>, %k: tensor<2x32x16xf32>, %p: tensor<32x32xi8>, %sa: tensor<32x2xi8>, %sb: tensor<16x2xi8>, %q: tensor<64x16xbf16>) {
// CHECK-NEXT: %0 = tt.dot %a, %b, %c : tensor<32x64xf16> * tensor<64x16xf16> -> tensor<32x16xf32>
// CHECK-NEXT: %1 = tt.dot %a32, %b32, %c, inputPrecision = tf32 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %2 = tt.dot %a32, %b32, %c, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %3 = tt.dot %a32, %b32, %c, inputPrecision = bf16x3 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %4 = tt.dot %g, %h, %k : tensor<2x32x64xf16> * tensor<2x64x16xf16> -> tensor<2x32x16xf32>
// CHECK-NEXT: %5 = tt.dot_scaled %p scale %sa, %q, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x16xbf16> -> tensor<32x16xf32>
// CHECK-NEXT: %6 = tt.dot_scaled %p scale %sa, %q scale %sb, %c lhs = e2m1 rhs = bf16 {fastMath = true} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x16xbf16>, tensor<16x2xi8> -> tensor<32x16xf32>
// CHECK-NEXT: tt.return
