// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Printing and assertions.

module {
  tt.func @debug(%n: i32, %x: tensor<64xf32>, %m: tensor<64xi1>) {
    tt.print "nothing" {hex = false, isSigned = array<i32>}
    tt.print "values: " {hex = true, isSigned = array<i32: 1, 0>} : %n, %x : i32, tensor<64xf32>
    tt.print "a\22b\5C\0A" {hex = false, isSigned = array<i32>}
    tt.print "part: " {extents = [[], [40 : i32]], hex = false, isSigned = array<i32: 1, 0>} : %n, %x : i32, tensor<64xf32>
    tt.assert %m, "too large" : tensor<64xi1>
    tt.return
  }
}

// CHECK: tt.func @debug(%n: i32, %x: tensor<64xf32>, %m: tensor<64xi1>) {
// CHECK-NEXT: tt.print "nothing" {hex = false, isSigned = array<i32>}
// CHECK-NEXT: tt.print "values: " {hex = true, isSigned = array<i32: 1, 0>} : %n, %x : i32, tensor<64xf32>
// CHECK-NEXT: tt.print "a\22b\\\0A" {hex = false, isSigned = array<i32>}
// CHECK-NEXT: tt.print "part: " {extents = {{\[}}[], [40 : i32]], hex = false, isSigned = array<i32: 1, 0>} : %n, %x : i32, tensor<64xf32>
// CHECK-NEXT: tt.assert %m, "too large" : tensor<64xi1>
// CHECK-NEXT: tt.return
