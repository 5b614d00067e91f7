// RUN: tritonx-opt %s -p "rewrite-descriptors{keep-parameters=true},cse,dce" | filecheck %s

// What is only used for whole blocks stays, and knows its place among the kernel's descriptors.
// CHECK-LABEL: @kept
// CHECK-SAME: (%gathered_base: !tt.ptr<f16>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i1, %moved: !tt.tensordesc<tensor<8x16xf16>> {tt.descriptor = 1 : i32}, %i: i32
// CHECK: tt.load
// CHECK: tt.descriptor_load %moved[%i, %i]
// CHECK: tt.descriptor_store %moved[%i, %i]
tt.func public @kept(%gathered: !tt.tensordesc<tensor<1x16xf16>>, %moved: !tt.tensordesc<tensor<8x16xf16>>, %i: i32, %at: tensor<8xi32>) {
  %x = tt.descriptor_gather %gathered[%at, %i] : (!tt.tensordesc<tensor<1x16xf16>>, tensor<8xi32>, i32) -> tensor<8x16xf16>
  %y = tt.descriptor_load %moved[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  %z = arith.addf %x, %y : tensor<8x16xf16>
  tt.descriptor_store %moved[%i, %i], %z : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  tt.return
}

// Blocks of which a dimension is dropped, descriptors that go round loops and those that are made here do not.
// CHECK-LABEL: @rewritten
// CHECK-NOT: tt.descriptor
// CHECK: tt.return
tt.func public @rewritten(%narrow: !tt.tensordesc<tensor<1x16xf16>>, %carried: !tt.tensordesc<tensor<8x16xf16>>, %p: !tt.ptr<f16>, %i: i32, %n: i64) -> (tensor<16xf16>, tensor<8x16xf16>, tensor<8x16xf16>) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %x = tt.descriptor_load %narrow[%i, %i] : !tt.tensordesc<tensor<1x16xf16>> -> tensor<16xf16>
  %d = scf.for %k = %c0 to %i step %i iter_args(%e = %carried) -> (!tt.tensordesc<tensor<8x16xf16>>) : i32 {
    scf.yield %e : !tt.tensordesc<tensor<8x16xf16>>
  }
  %y = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  %m = tt.make_tensor_descriptor %p, [%i, %i], [%n, %one] : <f16>, <tensor<8x16xf16>>
  %z = tt.descriptor_load %m[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.return %x, %y, %z : tensor<16xf16>, tensor<8x16xf16>, tensor<8x16xf16>
}
