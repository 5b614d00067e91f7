// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// A block takes over the work of another one (Triton 3.8 and 3.9).

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @take_over(%r: !ttg.memdesc<2xi64, #shared, #smem, mutable>, %b: !ttg.memdesc<1xi64, #shared, #smem, mutable>) -> (i1, i32) {
    ttng.clc_try_cancel %r, %b : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared, #smem, mutable>
    %0 = ttng.clc_load_result %r : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> i128
    %1 = ttng.clc_is_canceled %0 : i128 -> i1
    %2 = ttng.clc_get_program_id %0, y : i128 -> i32
    %3 = ttng.clc_try_cancel_sync : tensor<2xi64, #blocked>
    tt.return %1, %2 : i1, i32
  }
}

// CHECK: ttng.clc_try_cancel %r, %b : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: %0 = ttng.clc_load_result %r : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> i128
// CHECK-NEXT: %1 = ttng.clc_is_canceled %0 : i128 -> i1
// CHECK-NEXT: %2 = ttng.clc_get_program_id %0, y : i128 -> i32
// CHECK-NEXT: %3 = ttng.clc_try_cancel_sync : tensor<2xi64, #blocked>
