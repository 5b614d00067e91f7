// RUN: tritonx-opt %s -p guard-null-pointers | filecheck %s

// Each access asserts that its argument is not null in the lanes that make it, and masks the others.
// CHECK-LABEL: @masked
// CHECK: %[[A:.*]] = tt.ptr_to_int %x : !tt.ptr<f32> -> i64
// CHECK: %[[NN:.*]] = arith.cmpi ne, %[[A]], %{{.*}} : i64
// CHECK: %[[KNOWN:.*]] = tt.splat %[[NN]] : i1 -> tensor<16xi1>
// CHECK: %[[OFF:.*]] = arith.xori %m, %{{.*}} : tensor<16xi1>
// CHECK: %[[HOLDS:.*]] = arith.ori %[[OFF]], %[[KNOWN]] : tensor<16xi1>
// CHECK: tt.assert %[[HOLDS]], "null pointer: x" : tensor<16xi1>
// CHECK: %[[BOTH:.*]] = arith.andi %m, %[[KNOWN]] : tensor<16xi1>
// CHECK: tt.load %{{.*}}, %[[BOTH]]
tt.func public @masked(%x: !tt.ptr<f32>, %m: tensor<16xi1>) -> tensor<16xf32> {
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %v = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
  tt.return %v : tensor<16xf32>
}

// CHECK-LABEL: @scalar
// CHECK: %[[NN:.*]] = arith.cmpi ne
// CHECK: tt.assert %[[NN]], "null pointer: x" : i1
// CHECK: tt.store %x, %v, %[[NN]] : !tt.ptr<f32>
tt.func public @scalar(%x: !tt.ptr<f32>, %v: f32) {
  tt.store %x, %v : !tt.ptr<f32>
  tt.return
}

// Of two arguments, the address that was chosen.
// CHECK-LABEL: @chosen
// CHECK: %[[P:.*]] = arith.select
// CHECK: %[[A:.*]] = tt.ptr_to_int %[[P]]
// CHECK: arith.cmpi uge, %[[A]], %{{.*}} : i64
// CHECK: tt.assert %{{.*}}, "null pointer: x or y" : i1
tt.func public @chosen(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1) -> f32 {
  %p = arith.select %c, %x, %y : !tt.ptr<f32>
  %v = tt.load %p : !tt.ptr<f32>
  tt.return %v : f32
}

// What is loaded has no argument.
// CHECK-LABEL: @loaded
// CHECK: %[[P:.*]] = tt.load
// CHECK-NOT: tt.assert
// CHECK: tt.load %[[P]]
tt.func public @loaded(%x: !tt.ptr<!tt.ptr<f32>>) -> f32 {
  %p = tt.load %x : !tt.ptr<!tt.ptr<f32>>
  %v = tt.load %p : !tt.ptr<f32>
  tt.return %v : f32
}
