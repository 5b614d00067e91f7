// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-level 3.8 | filecheck %s --check-prefix BEFORE

// Grids that begin early.

module {
  tt.func @grid() {
    tt.grid_dependency_wait
    tt.grid_dependency_launch_dependents {note}
    tt.return
  }
}

// CHECK: tt.func @grid() {
// CHECK-NEXT: tt.grid_dependency_wait
// CHECK-NEXT: tt.grid_dependency_launch_dependents {note}
// CHECK-NEXT: tt.return

// BEFORE: tt.elementwise_inline_asm "griddepcontrol.wait; // dummy $0" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
// BEFORE: tt.elementwise_inline_asm "griddepcontrol.launch_dependents; // dummy $0" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
