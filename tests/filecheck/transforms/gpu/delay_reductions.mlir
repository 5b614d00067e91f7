// RUN: tritonx-opt %s -p delay-reductions | filecheck %s

// A sum that is collected in a loop is carried as a tile and reduced behind the loop; the initial value joins there.
tt.func public @sum(%x: tensor<64x32xf32>, %start: tensor<32xf32>, %n: i32) -> tensor<32xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %total = scf.for %i = %zero to %n step %one iter_args(%carried = %start) -> (tensor<32xf32>) : i32 {
    %part = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x32xf32>) -> tensor<32xf32>
    %next = arith.addf %carried, %part : tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  tt.return %total : tensor<32xf32>
}
// CHECK-LABEL: tt.func public @sum
// CHECK: arith.constant dense<0.000000e+00> : tensor<64x32xf32>
// CHECK: scf.for
// CHECK-SAME: -> (tensor<64x32xf32>)
// CHECK-NOT: tt.reduce
// CHECK: arith.addf {{.*}} : tensor<64x32xf32>
// CHECK: "tt.reduce"
// CHECK: arith.addf {{.*}} : tensor<32xf32>
// CHECK: tt.return

// The carried value is read in the loop: the reduction stays.
tt.func public @read(%x: tensor<64x32xf32>, %start: tensor<32xf32>, %n: i32) -> tensor<32xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %total = scf.for %i = %zero to %n step %one iter_args(%carried = %start) -> (tensor<32xf32>) : i32 {
    %part = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x32xf32>) -> tensor<32xf32>
    %half = arith.mulf %carried, %carried : tensor<32xf32>
    %next = arith.addf %half, %part : tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  tt.return %total : tensor<32xf32>
}
// CHECK-LABEL: tt.func public @read
// CHECK: scf.for
// CHECK-SAME: -> (tensor<32xf32>)
// CHECK: "tt.reduce"
