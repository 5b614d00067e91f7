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

// Of sums and masks of more terms those that are broadcast from one shape are taken together.
// CHECK-LABEL: @regrouped
// CHECK-DAG: %[[A:.*]] = tt.addptr %x, %v : tensor<4x1x!tt.ptr<f32>>
// CHECK-DAG: %[[B:.*]] = tt.addptr %[[A]], %w : tensor<4x1x!tt.ptr<f32>>
// CHECK-DAG: %[[P:.*]] = tt.addptr %{{.*}}, %{{.*}} : tensor<4x64x!tt.ptr<f32>>
// CHECK-DAG: %[[M:.*]] = arith.andi %m, %k : tensor<4x1xi1>
// CHECK-DAG: %[[N:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<4x64xi1>
// CHECK: tt.store %[[P]], %t, %[[N]]
tt.func public @regrouped(%x: tensor<4x1x!tt.ptr<f32>>, %v: tensor<4x1xi32>, %w: tensor<4x1xi32>, %c: tensor<1x64xi32>, %m: tensor<4x1xi1>, %n: tensor<1x64xi1>, %k: tensor<4x1xi1>, %t: tensor<4x64xf32>) {
  %bx = tt.broadcast %x : tensor<4x1x!tt.ptr<f32>> -> tensor<4x64x!tt.ptr<f32>>
  %bv = tt.broadcast %v : tensor<4x1xi32> -> tensor<4x64xi32>
  %bw = tt.broadcast %w : tensor<4x1xi32> -> tensor<4x64xi32>
  %bc = tt.broadcast %c : tensor<1x64xi32> -> tensor<4x64xi32>
  %p1 = tt.addptr %bx, %bc : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
  %p2 = tt.addptr %p1, %bv : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
  %p3 = tt.addptr %p2, %bw : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
  %bm = tt.broadcast %m : tensor<4x1xi1> -> tensor<4x64xi1>
  %bn = tt.broadcast %n : tensor<1x64xi1> -> tensor<4x64xi1>
  %bk = tt.broadcast %k : tensor<4x1xi1> -> tensor<4x64xi1>
  %m1 = arith.andi %bm, %bn : tensor<4x64xi1>
  %m2 = arith.andi %m1, %bk : tensor<4x64xi1>
  tt.store %p3, %t, %m2 : tensor<4x64x!tt.ptr<f32>>
  tt.return
}

// What is used elsewhere as well stays, and what tells something of its sum.
// CHECK-LABEL: @used
// CHECK: %[[A:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<4x64xi32>
// CHECK: %[[B:.*]] = arith.addi %[[A]], %{{.*}} : tensor<4x64xi32>
// CHECK: %[[H:.*]] = arith.addi %{{.*}}, %{{.*}} {tt.contiguity = 4 : i32} : tensor<4x64xi32>
// CHECK: arith.addi %[[H]], %{{.*}} : tensor<4x64xi32>
tt.func public @used(%v: tensor<4x1xi32>, %c: tensor<1x64xi32>, %p: tensor<4x64x!tt.ptr<i32>>) {
  %bv = tt.broadcast %v : tensor<4x1xi32> -> tensor<4x64xi32>
  %bc = tt.broadcast %c : tensor<1x64xi32> -> tensor<4x64xi32>
  %a = arith.addi %bv, %bc : tensor<4x64xi32>
  %b = arith.addi %a, %bv : tensor<4x64xi32>
  tt.store %p, %a : tensor<4x64x!tt.ptr<i32>>
  tt.store %p, %b : tensor<4x64x!tt.ptr<i32>>
  %h = arith.addi %bv, %bc {tt.contiguity = 4 : i32} : tensor<4x64xi32>
  %d = arith.addi %h, %bv : tensor<4x64xi32>
  tt.store %p, %d : tensor<4x64x!tt.ptr<i32>>
  tt.return
}
