// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// The ops of `gpu` and `llvm` that kernels contain.

module {
  tt.func @gpu(%c: i1) {
    gpu.barrier
    %0 = gpu.thread_id x
    %1 = gpu.block_id y
    llvm.intr.assume %c : i1
    tt.return
  }
}

// CHECK: tt.func @gpu(%c: i1) {
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: %0 = gpu.thread_id x
// CHECK-NEXT: %1 = gpu.block_id y
// CHECK-NEXT: llvm.intr.assume %c : i1
// CHECK-NEXT: tt.return
