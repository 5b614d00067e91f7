// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Descriptors that a launch makes.

#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @made(%p: !tt.ptr<f16>, %q: !tt.ptr<f64>, %n: i32, %l: i64) {
    %0 = ttng.tensormap_at_launch %p, [%n, %n], [%l, %l] {padding = 2 : i32} : <f16>, <tensor<128x64xf16, #nv>>
    %1 = ttng.tensormap_at_launch %q, [%n], [%l] : <f64>, <tensor<64xf64>>
    tt.return
  }
}

// CHECK: tt.func public @made(%p: !tt.ptr<f16>, %q: !tt.ptr<f64>, %n: i32, %l: i64) {
// CHECK-NEXT: %0 = ttng.tensormap_at_launch %p, [%n, %n], [%l, %l] {padding = 2 : i32} : <f16>, <tensor<128x64xf16, #shared>>
// CHECK-NEXT: %1 = ttng.tensormap_at_launch %q, [%n], [%l] : <f64>, <tensor<64xf64>>
// CHECK-NEXT: tt.return
