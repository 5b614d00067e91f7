// RUN: not tritonx-opt %s --print-level 3.8 2>&1 | filecheck %s --check-prefix ERROR
// RUN: tritonx-opt %s --print-level 3.6 | filecheck %s
// RUN: not tritonx-opt %s --print-level 3.5 2>&1 | filecheck %s --check-prefix NONE

// What a level's text cannot say is an error with the line.

module {
  tt.func @blocks(%p: !tt.ptr<tensor<8x8xf32>>, %i: i32) {
    %0 = tt.advance %p, [%i, %i] : <tensor<8x8xf32>>
    tt.return
  }
}

// CHECK: %0 = tt.advance %p, [%i, %i] : <tensor<8x8xf32>>
// ERROR: print_level.mlir:9:5: error: Triton 3.8 has no tt.advance
// NONE: error: --print-level: '3.5' is no level of text: there are 3.6, 3.8, 3.9
