// RUN: not tritonx-opt %s --print-level 3.9 2>&1 | filecheck %s

// An op that no version of Triton has.

module {
  tt.func @f(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
    %0 = ttng.tensormap_at_launch %p, [%n], [%s] : <f16>, <tensor<64xf16>>
    tt.return
  }
}

// CHECK: print_level_own.mlir:7:5: error: Triton 3.9 has no ttng.tensormap_at_launch
