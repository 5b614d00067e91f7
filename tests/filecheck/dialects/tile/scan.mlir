// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Scans forwards and backwards, of several operands.

module {
  tt.func @scan(%x: tensor<32x64xf32>) {
    %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<32x64xf32>) -> tensor<32x64xf32>
    %1:2 = "tt.scan"(%x, %x) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      %s = arith.mulf %a, %c : f32
      tt.scan.return %s, %d : f32, f32
    }) : (tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>)
    tt.return
  }
}

// CHECK: tt.func @scan(%x: tensor<32x64xf32>) {
// CHECK-NEXT: %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
// CHECK-NEXT: ^bb0(%a: f32, %b: f32):
// CHECK-NEXT: %s = arith.addf %a, %b : f32
// CHECK-NEXT: tt.scan.return %s : f32
// CHECK-NEXT: }) : (tensor<32x64xf32>) -> tensor<32x64xf32>
// CHECK-NEXT: %1:2 = "tt.scan"(%x, %x) <{axis = 0 : i32, reverse = true}> ({
// CHECK-NEXT: ^bb0(%a_1: f32, %b_1: f32, %c: f32, %d: f32):
// CHECK-NEXT: %s_1 = arith.mulf %a_1, %c : f32
// CHECK-NEXT: tt.scan.return %s_1, %d : f32, f32
// CHECK-NEXT: }) : (tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>)
// CHECK-NEXT: tt.return
