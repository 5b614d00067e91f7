// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Undefined values.

module {
  tt.func @ub(%n: i32) {
    %0 = ub.poison : i32
    %1 = ub.poison : tensor<64x!tt.ptr<f32>>
    tt.return
  }
  tt.func @never() {
    ub.unreachable
  }
}

// CHECK: tt.func @ub(%n: i32) {
// CHECK-NEXT: %0 = ub.poison : i32
// CHECK-NEXT: %1 = ub.poison : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: tt.return
// CHECK: ub.unreachable
