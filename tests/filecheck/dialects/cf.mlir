// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Unstructured control flow.

module {
  tt.func @cf(%n: i32, %c: i1) {
      cf.cond_br %c, ^bb1(%n : i32), ^bb2
    ^bb1(%a: i32):
      cf.br ^bb2
    ^bb2:
      cf.assert %c, "message"
    tt.return
  }
}

// CHECK: tt.func @cf(%n: i32, %c: i1) {
// CHECK-NEXT: cf.cond_br %c, ^bb1(%n : i32), ^bb2
// CHECK-NEXT: ^bb1(%a: i32):
// CHECK-NEXT: cf.br ^bb2
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: cf.assert %c, "message"
// CHECK-NEXT: tt.return
