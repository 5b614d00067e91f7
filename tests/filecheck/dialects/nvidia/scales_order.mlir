// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-level 3.9 | tritonx-opt | filecheck %s

// The order of blocks of scales (Triton 3.9), of which one is the default.

module {
  tt.func @f(%a: !ttg.memdesc<128x8xi8, #ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>, #ttng.tensor_memory, mutable>, %b: !ttg.memdesc<128x8xi8, #ttng.tensor_memory_scales_encoding<blockRepOrder = mnThenK>, #ttng.tensor_memory, mutable>) {
    tt.return
  }
}

// CHECK-DAG: = #ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>
// CHECK-DAG: = #ttng.tensor_memory_scales_encoding<>
