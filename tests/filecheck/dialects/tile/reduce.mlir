// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Reductions of one and of several operands, to a tile and to a scalar.

module {
  tt.func @reduce(%x: tensor<32x64xf32>, %i: tensor<32x64xi32>, %r: tensor<64xf32>) {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<32x64xf32>) -> tensor<32xf32>
    %1:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %k: i32, %b: f32, %l: i32):
      %c = arith.cmpf ogt, %a, %b : f32
      %s = arith.select %c, %a, %b : f32
      %t = arith.select %c, %k, %l : i32
      tt.reduce.return %s, %t : f32, i32
    }) : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
    %2 = "tt.reduce"(%r) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.maxnumf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<64xf32>) -> f32
    tt.return
  }
}

// CHECK: tt.func @reduce(%x: tensor<32x64xf32>, %i: tensor<32x64xi32>, %r: tensor<64xf32>) {
// CHECK-NEXT: %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
// CHECK-NEXT: ^bb0(%a: f32, %b: f32):
// CHECK-NEXT: %s = arith.addf %a, %b : f32
// CHECK-NEXT: tt.reduce.return %s : f32
// CHECK-NEXT: }) : (tensor<32x64xf32>) -> tensor<32xf32>
// CHECK-NEXT: %1:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
// CHECK-NEXT: ^bb0(%a_1: f32, %k: i32, %b_1: f32, %l: i32):
// CHECK-NEXT: %c = arith.cmpf ogt, %a_1, %b_1 : f32
// CHECK-NEXT: %s_1 = arith.select %c, %a_1, %b_1 : f32
// CHECK-NEXT: %t = arith.select %c, %k, %l : i32
// CHECK-NEXT: tt.reduce.return %s_1, %t : f32, i32
// CHECK-NEXT: }) : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
// CHECK-NEXT: %2 = "tt.reduce"(%r) <{axis = 0 : i32}> ({
// CHECK-NEXT: ^bb0(%a_2: f32, %b_2: f32):
// CHECK-NEXT: %s_2 = arith.maxnumf %a_2, %b_2 : f32
// CHECK-NEXT: tt.reduce.return %s_2 : f32
// CHECK-NEXT: }) : (tensor<64xf32>) -> f32
// CHECK-NEXT: tt.return
