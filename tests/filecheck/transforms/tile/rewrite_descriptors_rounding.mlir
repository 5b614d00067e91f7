// RUN: tritonx-opt %s -p rewrite-descriptors,fold | filecheck %s

// Whether a kernel's descriptor rounds is no parameter. What is read through it is rounded to even behind the load, and
// infinities and NaNs stay; through another it is not, and what is written is not.
// CHECK-LABEL: @kernel
// CHECK-SAME: %d_pad_nan: i1, %e_base: !tt.ptr<f32>
// CHECK-SAME: %e_pad_nan: i1, %i: i32
// CHECK: [[V:%.*]] = tt.load
// CHECK: [[B:%.*]] = tt.bitcast [[V]] : tensor<16xf32> -> tensor<16xi32>
// CHECK: [[H:%.*]] = arith.shrui [[B]], %{{.*}}
// CHECK: [[O:%.*]] = arith.andi [[H]], %{{.*}}
// CHECK: [[A:%.*]] = arith.addi [[O]], %{{.*}}
// CHECK: [[S:%.*]] = arith.addi [[B]], [[A]]
// CHECK: [[M:%.*]] = arith.andi [[S]], %{{.*}}
// CHECK: [[R:%.*]] = tt.bitcast [[M]]
// CHECK: [[X:%.*]] = arith.andi [[B]], %{{.*}}
// CHECK: [[F:%.*]] = arith.cmpi ne, [[X]], %{{.*}}
// CHECK: [[Z:%.*]] = arith.select [[F]], [[R]], [[V]]
// CHECK: tt.store %{{.*}}, [[Z]],
// CHECK: [[W:%.*]] = tt.load
// CHECK: tt.store %{{.*}}, [[W]],
tt.func public @kernel(%d: !tt.tensordesc<tensor<16xf32>> {tt.round_f32_to_tf32 = 1 : i32}, %e: !tt.tensordesc<tensor<16xf32>>, %i: i32) {
  %v = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>
  tt.descriptor_store %e[%i], %v : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
  %w = tt.descriptor_load %e[%i] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>
  tt.descriptor_store %d[%i], %w : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
  tt.return
}

// Another function is told, of f32 alone.
// CHECK-LABEL: @called
// CHECK-SAME: %d_pad_nan: i1, %d_rounded: i1, %h_base: !tt.ptr<f16>
// CHECK-SAME: %h_pad_nan: i1, %i: i32
// CHECK: [[V:%.*]] = tt.load
// CHECK: arith.select %d_rounded, %{{.*}}, [[V]]
// CHECK: [[H:%.*]] = tt.load
// CHECK: tt.return %{{.*}}, [[H]]
tt.func private @called(%d: !tt.tensordesc<tensor<16xf32>>, %h: !tt.tensordesc<tensor<16xf16>>, %i: i32) -> (tensor<16xf32>, tensor<16xf16>) {
  %v = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>
  %w = tt.descriptor_load %h[%i] : !tt.tensordesc<tensor<16xf16>> -> tensor<16xf16>
  tt.return %v, %w : tensor<16xf32>, tensor<16xf16>
}
