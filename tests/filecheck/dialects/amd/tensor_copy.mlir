// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Copies by the tensor data mover.

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @tensor_copy(%d: !tt.tensordesc<tensor<128x64xf16, #shared>>, %m: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %n: i32, %c: i1, %b: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
    %0 = amdg.async_tdm_copy_global_to_local %d[%n, %n] into %m, %c : !tt.tensordesc<tensor<128x64xf16, #shared>> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %1 = amdg.async_tdm_copy_global_to_local %d[%n, %n] into %m, %c, barrier = %b : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    amdg.async_tdm_copy_local_to_global %d[%n, %n] from %m : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<128x64xf16, #shared>>
    %2 = amdg.async_tdm_wait %0, %1 {num = 0 : i32}
    tt.return
  }
}

// CHECK: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
// CHECK-NEXT: tt.func @tensor_copy(%d: !tt.tensordesc<tensor<128x64xf16, #shared>>, %m: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %n: i32, %c: i1, %b: !ttg.memdesc<1xi64, #shared1, #smem, mutable>) {
// CHECK-NEXT: %0 = amdg.async_tdm_copy_global_to_local %d[%n, %n] into %m, %c : !tt.tensordesc<tensor<128x64xf16, #shared>> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %1 = amdg.async_tdm_copy_global_to_local %d[%n, %n] into %m, %c, barrier = %b : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: amdg.async_tdm_copy_local_to_global %d[%n, %n] from %m : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<128x64xf16, #shared>>
// CHECK-NEXT: %2 = amdg.async_tdm_wait %0, %1 {num = 0 : i32}
// CHECK-NEXT: tt.return
