// RUN: tritonx-opt %s -p "rewrite-descriptors{host-rules=true}" | filecheck %s

// Of the parts of a host's descriptor is known that rows begin, and end unless it is said otherwise, with 16 bytes, and
// that elements of a row are neighbours.
// CHECK-LABEL: @kernel
// CHECK-SAME: (%d_base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d_shape0: i64, %d_shape1: i64 {tt.divisibility = 8 : i32}, %d_stride0: i64 {tt.divisibility = 8 : i32}, %d_stride1: i64, %d_pad_nan: i1, %i: i32 {tt.divisibility = 4 : i32}
// CHECK-SAME: %e_base: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %e_shape0: i64, %e_stride0: i64, %e_pad_nan: i1
// CHECK-NOT: %d_stride1 :
// CHECK-NOT: %e_stride0 :
// CHECK: tt.return
tt.func public @kernel(%d: !tt.tensordesc<tensor<8x16xf16>>, %i: i32 {tt.divisibility = 4 : i32}, %e: !tt.tensordesc<tensor<16xi8>> {tt.partial_end = 1 : i32}) {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  %w = tt.descriptor_load %e[%i] : !tt.tensordesc<tensor<16xi8>> -> tensor<16xi8>
  tt.descriptor_store %e[%i], %w : !tt.tensordesc<tensor<16xi8>>, tensor<16xi8>
  tt.return
}

// Another function's may be of any tensor.
// CHECK-LABEL: @called
// CHECK-SAME: (%d_base: !tt.ptr<f16>, %d_shape0: i64, %d_shape1: i64, %d_stride0: i64, %d_stride1: i64, %d_pad_nan: i1
// CHECK: tt.splat %d_stride1
tt.func private @called(%d: !tt.tensordesc<tensor<8x16xf16>>, %i: i32) {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  tt.return
}
