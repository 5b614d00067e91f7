// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Memory descriptors and tokens.

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @types(%a: !ttg.memdesc<32x32xf16, #shared, #smem>, %b: !ttg.memdesc<2x32xf16, #shared, #smem, mutable, 8x64>, %t: !ttg.async.token) {
    %0 = ub.poison : !ttg.async.token
    tt.return
  }
}

// CHECK: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @types(%a: !ttg.memdesc<32x32xf16, #shared, #smem>, %b: !ttg.memdesc<2x32xf16, #shared, #smem, mutable, 8x64>, %t: !ttg.async.token) {
// CHECK-NEXT: %0 = ub.poison : !ttg.async.token
// CHECK-NEXT: tt.return
