// RUN: tritonx-opt %s -p "reorder-broadcast,dce" | filecheck %s

// CHECK-LABEL: @splats
// CHECK-NEXT: arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[M:.*]] = arith.mulf %x, %{{.*}} : f32
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[M]], %y : f32
// CHECK-NEXT: %[[S:.*]] = tt.splat %[[A]] : f32 -> tensor<64xf32>
// CHECK-NEXT: tt.store %p, %[[S]]
tt.func public @splats(%x: f32, %y: f32, %p: tensor<64x!tt.ptr<f32>>) {
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %sx = tt.splat %x : f32 -> tensor<64xf32>
  %sy = tt.splat %y : f32 -> tensor<64xf32>
  %m = arith.mulf %sx, %two : tensor<64xf32>
  %a = arith.addf %m, %sy : tensor<64xf32>
  tt.store %p, %a : tensor<64x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @broadcasts
// CHECK: %[[E:.*]] = math.exp %v : tensor<4x1xf32>
// CHECK: %[[S:.*]] = tt.splat %x : f32 -> tensor<4x1xf32>
// CHECK: %[[M:.*]] = arith.mulf %[[E]], %[[S]] : tensor<4x1xf32>
// CHECK: %[[C:.*]] = arith.cmpf olt, %[[M]], %{{.*}} : tensor<4x1xf32>
// CHECK: %[[B:.*]] = tt.broadcast %[[C]] : tensor<4x1xi1> -> tensor<4x64xi1>
// CHECK: tt.store %p, %t, %[[B]]
tt.func public @broadcasts(%v: tensor<4x1xf32>, %x: f32, %t: tensor<4x64xf32>, %p: tensor<4x64x!tt.ptr<f32>>) {
  %one = arith.constant dense<1.0> : tensor<4x64xf32>
  %b = tt.broadcast %v : tensor<4x1xf32> -> tensor<4x64xf32>
  %s = tt.splat %x : f32 -> tensor<4x64xf32>
  %e = math.exp %b : tensor<4x64xf32>
  %m = arith.mulf %e, %s : tensor<4x64xf32>
  %c = arith.cmpf olt, %m, %one : tensor<4x64xf32>
  tt.store %p, %t, %c : tensor<4x64x!tt.ptr<f32>>
  tt.return
}

// Broadcasts from different shapes stay.
// CHECK-LABEL: @different
// CHECK: arith.addf {{.*}} : tensor<4x64xf32>
tt.func public @different(%v: tensor<4x1xf32>, %w: tensor<1x64xf32>, %p: tensor<4x64x!tt.ptr<f32>>) {
  %a = tt.broadcast %v : tensor<4x1xf32> -> tensor<4x64xf32>
  %b = tt.broadcast %w : tensor<1x64xf32> -> tensor<4x64xf32>
  %s = arith.addf %a, %b : tensor<4x64xf32>
  tt.store %p, %s : tensor<4x64x!tt.ptr<f32>>
  tt.return
}
