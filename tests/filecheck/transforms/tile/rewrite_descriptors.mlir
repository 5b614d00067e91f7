// RUN: tritonx-opt %s -p "rewrite-descriptors,cse,dce" | filecheck %s
// RUN: tritonx-opt %s -p "rewrite-descriptors{block-pointers-only=true}" | filecheck %s --check-prefix BLOCK

// CHECK-LABEL: @load_and_store
// CHECK-DAG: %[[H:.*]] = arith.extsi %h : i32 to i64
// CHECK-DAG: %[[I:.*]] = arith.extsi %i : i32 to i64
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi slt
// CHECK: %[[PTRS:.*]] = tt.addptr %{{.*}} : tensor<8x16x!tt.ptr<f16>>, tensor<8x16xi64>
// CHECK: %[[V:.*]] = tt.load %[[PTRS]], %[[MASK:.*]], %{{.*}} evictionPolicy = evict_last : tensor<8x16x!tt.ptr<f16>>
// CHECK: tt.store %[[PTRS]], %[[V]], %[[MASK]] : tensor<8x16x!tt.ptr<f16>>
// CHECK-NOT: descriptor
// BLOCK-LABEL: @load_and_store
// BLOCK: tt.descriptor_load
tt.func public @load_and_store(%p: !tt.ptr<f16>, %h: i32, %w: i32, %s: i64, %i: i32, %j: i32) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%h, %w], [%s, %one] : <f16>, <tensor<8x16xf16>>
  %v = tt.descriptor_load %d[%i, %j] evictionPolicy = evict_last : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.descriptor_store %d[%i, %j], %v : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  tt.return
}

// A descriptor parameter becomes base, extents, strides and the padding flag; loops carry it as such.
// CHECK-LABEL: @parameter
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i1, %n: i32
// CHECK: scf.for
// CHECK: %[[PAD:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x16xf32>
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x16x!tt.ptr<f32>>
// CHECK: tt.reshape %{{.*}} : tensor<1x16xf32> -> tensor<16xf32>
tt.func public @parameter(%d: !tt.tensordesc<tensor<1x16xf32>>, %n: i32, %q: tensor<16x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%e = %d) -> (!tt.tensordesc<tensor<1x16xf32>>) : i32 {
    %v = tt.descriptor_load %e[%i, %c0] : !tt.tensordesc<tensor<1x16xf32>> -> tensor<16xf32>
    tt.store %q, %v : tensor<16x!tt.ptr<f32>>
    scf.yield %e : !tt.tensordesc<tensor<1x16xf32>>
  }
  tt.return
}

// What is stated of other parameters stays with them; of the parts nothing is.
// CHECK-LABEL: @stated
// CHECK-SAME: (%k: i32 {tt.divisibility = 8 : i32}, %{{[^ ]*}}: !tt.ptr<f32>, %{{[^ ]*}}: i64, %{{[^ ]*}}: i64, %{{[^ ]*}}: i1, %n: i32 {tt.divisibility = 16 : i32}, %m: i32)
tt.func public @stated(%k: i32 {tt.divisibility = 8 : i32}, %d: !tt.tensordesc<tensor<16xf32>> {tt.divisibility = 4 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %m: i32) {
  %v = tt.descriptor_load %d[%k] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>
  tt.descriptor_store %d[%n], %v : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
  tt.return
}

// CHECK-LABEL: @reduce
// CHECK: tt.atomic_rmw fadd, relaxed, gpu
// CHECK: tt.atomic_rmw max, relaxed, gpu
// CHECK: tt.atomic_rmw umax, relaxed, gpu
// CHECK: tt.atomic_rmw min, relaxed, gpu, {{.*}} (tensor<8x16x!tt.ptr<bf16>>, tensor<8x16xbf16>, tensor<8x16xi1>)
tt.func public @reduce(%f: !tt.tensordesc<tensor<8x16xf32>>, %k: !tt.tensordesc<tensor<8x16xi32>>, %u: !tt.tensordesc<tensor<8x16xui32>>, %h: !tt.tensordesc<tensor<8x16xbf16>>, %x: tensor<8x16xf32>, %y: tensor<8x16xi32>, %z: tensor<8x16xbf16>, %i: i32) {
  tt.descriptor_reduce add, %f[%i, %i], %x : !tt.tensordesc<tensor<8x16xf32>>, tensor<8x16xf32>
  tt.descriptor_reduce max, %k[%i, %i], %y : !tt.tensordesc<tensor<8x16xi32>>, tensor<8x16xi32>
  tt.descriptor_reduce max, %u[%i, %i], %y : !tt.tensordesc<tensor<8x16xui32>>, tensor<8x16xi32>
  tt.descriptor_reduce min, %h[%i, %i], %z : !tt.tensordesc<tensor<8x16xbf16>>, tensor<8x16xbf16>
  tt.return
}

// CHECK-LABEL: @rows
// CHECK: tt.load {{.*}} : tensor<32x8x!tt.ptr<f32>>
// CHECK: tt.store {{.*}} : tensor<32x8x!tt.ptr<f32>>
tt.func public @rows(%d: !tt.tensordesc<tensor<1x8xf32>>, %x: tensor<32xi32>, %j: i32) {
  %v = tt.descriptor_gather %d[%x, %j] : (!tt.tensordesc<tensor<1x8xf32>>, tensor<32xi32>, i32) -> tensor<32x8xf32>
  tt.descriptor_scatter %d[%x, %j], %v : !tt.tensordesc<tensor<1x8xf32>>, tensor<32xi32>, i32, tensor<32x8xf32>
  tt.return
}

// A block pointer that walks: its offsets are loop-carried; only the checked dimension is masked.
// CHECK-LABEL: @block_pointer
// CHECK: scf.for
// CHECK-COUNT-1: arith.cmpi slt
// CHECK-NOT: arith.cmpi slt
// CHECK: tt.load
// CHECK-NOT: tt.advance
// CHECK: tt.store
// BLOCK-LABEL: @block_pointer
// BLOCK-NOT: tt.make_tensor_ptr
// BLOCK-NOT: tt.advance
tt.func public @block_pointer(%p: !tt.ptr<f32>, %h: i64, %w: i64, %s: i64, %n: i32, %q: tensor<8x16x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %one = arith.constant 1 : i64
  %b = tt.make_tensor_ptr %p, [%h, %w], [%s, %one], [%c0, %c0] {order = array<i32: 1, 0>} : !tt.ptr<tensor<8x16xf32>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %b) -> (!tt.ptr<tensor<8x16xf32>>) : i32 {
    %v = tt.load %a {boundaryCheck = array<i32: 1>, padding = 1 : i32} : !tt.ptr<tensor<8x16xf32>>
    tt.store %q, %v : tensor<8x16x!tt.ptr<f32>>
    %c = tt.advance %a, [%c0, %c16] : !tt.ptr<tensor<8x16xf32>>
    scf.yield %c : !tt.ptr<tensor<8x16xf32>>
  }
  %z = arith.constant dense<0.0> : tensor<8x16xf32>
  tt.store %r, %z : !tt.ptr<tensor<8x16xf32>>
  tt.return
}
