// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Ops that make, reshape, permute and combine tiles.

module {
  tt.func @shape(%v: f32, %x: tensor<32x64xf32>, %r: tensor<64xf32>, %i: tensor<32x64xi32>, %k: tensor<64xi32>, %m: tensor<64xi1>, %one: tensor<1xf32>) {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %v : f32 -> tensor<64xf32>
    %2 = tt.unsplat %one : tensor<1xf32>
    %3 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
    %4 = tt.broadcast %3 : tensor<1x64xf32> -> tensor<32x64xf32>
    %5 = tt.reshape %x : tensor<32x64xf32> -> tensor<2048xf32>
    %6 = tt.reshape %x allow_reorder : tensor<32x64xf32> -> tensor<64x32xf32>
    %7 = tt.reshape %x allow_reorder efficient_layout : tensor<32x64xf32> -> tensor<2048xf32>
    %8 = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x64xf32> -> tensor<64x32xf32>
    %9 = tt.cat %r, %r : tensor<64xf32> -> tensor<128xf32>
    %10 = tt.join %x, %x : tensor<32x64xf32> -> tensor<32x64x2xf32>
    %outLHS, %outRHS = tt.split %10 : tensor<32x64x2xf32> -> tensor<32x64xf32>
    %11 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<32x64xf32>, tensor<32x64xi32>) -> tensor<32x64xf32>
    %12 = tt.gather %x[%i] {axis = 0 : i32, efficient_layout} : (tensor<32x64xf32>, tensor<32x64xi32>) -> tensor<32x64xf32>
    %13 = tt.histogram %k : tensor<64xi32> -> tensor<16xi32>
    %14 = tt.histogram %k, %m : tensor<64xi32> -> tensor<16xi32>
    tt.return
  }
}

// CHECK: tt.func @shape(%v: f32, %x: tensor<32x64xf32>, %r: tensor<64xf32>, %i: tensor<32x64xi32>, %k: tensor<64xi32>, %m: tensor<64xi1>, %one: tensor<1xf32>) {
// CHECK-NEXT: %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
// CHECK-NEXT: %1 = tt.splat %v : f32 -> tensor<64xf32>
// CHECK-NEXT: %2 = tt.unsplat %one : tensor<1xf32>
// CHECK-NEXT: %3 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
// CHECK-NEXT: %4 = tt.broadcast %3 : tensor<1x64xf32> -> tensor<32x64xf32>
// CHECK-NEXT: %5 = tt.reshape %x : tensor<32x64xf32> -> tensor<2048xf32>
// CHECK-NEXT: %6 = tt.reshape %x allow_reorder : tensor<32x64xf32> -> tensor<64x32xf32>
// CHECK-NEXT: %7 = tt.reshape %x allow_reorder efficient_layout : tensor<32x64xf32> -> tensor<2048xf32>
// CHECK-NEXT: %8 = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x64xf32> -> tensor<64x32xf32>
// CHECK-NEXT: %9 = tt.cat %r, %r : tensor<64xf32> -> tensor<128xf32>
// CHECK-NEXT: %10 = tt.join %x, %x : tensor<32x64xf32> -> tensor<32x64x2xf32>
// CHECK-NEXT: %outLHS, %outRHS = tt.split %10 : tensor<32x64x2xf32> -> tensor<32x64xf32>
// CHECK-NEXT: %11 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<32x64xf32>, tensor<32x64xi32>) -> tensor<32x64xf32>
// CHECK-NEXT: %12 = tt.gather %x[%i] {axis = 0 : i32, efficient_layout} : (tensor<32x64xf32>, tensor<32x64xi32>) -> tensor<32x64xf32>
// CHECK-NEXT: %13 = tt.histogram %k : tensor<64xi32> -> tensor<16xi32>
// CHECK-NEXT: %14 = tt.histogram %k, %m : tensor<64xi32> -> tensor<16xi32>
// CHECK-NEXT: tt.return
