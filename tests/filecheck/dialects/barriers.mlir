// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-level 3.6 | filecheck %s --check-prefix FIRST
// RUN: tritonx-opt %s --print-level 3.9 | filecheck %s --check-prefix LATER

// Barriers name the memory whose accesses they order, since Triton 3.8.

module {
  tt.func @barriers() {
    ttg.barrier local
    ttg.barrier all
    ttg.barrier none
    ttg.barrier global_write|local
    ttg.barrier local|global_read|global_write|tensor_read|tensor_write
    ttg.local_barrier
    gpu.barrier
    tt.return
  }
}

// CHECK: tt.func @barriers() {
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: ttg.barrier none
// CHECK-NEXT: ttg.barrier local|global_write
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tt.return

// FIRST: tt.func @barriers() {
// FIRST-NEXT: ttg.local_barrier
// FIRST-NEXT: gpu.barrier
// FIRST-NEXT: gpu.barrier
// FIRST-NEXT: gpu.barrier
// FIRST-NEXT: gpu.barrier
// FIRST-NEXT: ttg.local_barrier
// FIRST-NEXT: gpu.barrier
// FIRST-NEXT: tt.return

// LATER: tt.func @barriers() {
// LATER-NEXT: ttg.barrier local
// LATER-NEXT: ttg.barrier all
// LATER-NEXT: ttg.barrier none
// LATER-NEXT: ttg.barrier local|global_write
// LATER-NEXT: ttg.barrier all
// LATER-NEXT: ttg.barrier local
// LATER-NEXT: ttg.barrier all
// LATER-NEXT: tt.return
