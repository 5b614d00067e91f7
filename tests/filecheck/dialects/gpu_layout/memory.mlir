// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Shared memory: allocation, loads, stores, views; changes of layout.

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#tshared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @memory(%x: tensor<128x64xf16, #blocked>, %n: i32, %p: tensor<64x64xi8, #blocked>) {
    %0 = ttg.convert_layout %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #other>
    %1 = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %2 = ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %3 = ttg.local_load %1 : !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf16, #blocked>
    ttg.local_store %x, %2 : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %4 = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
    %5 = ttg.memdesc_index %4[%n] : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %6 = ttg.memdesc_subslice %5[0, 32] : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x32xf16, #shared, #smem, mutable, 128x64>
    %7 = ttg.memdesc_trans %5 {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x128xf16, #tshared, #smem, mutable>
    %8 = ttg.memdesc_reshape %5 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %9 = ttg.memdesc_reinterpret %5 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x32xf32, #shared, #smem, mutable>
    %10 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
    %11 = ttg.fp4_to_fp %p {axis = 1 : i32} : tensor<64x64xi8, #blocked> -> tensor<64x128xbf16, #wide>
    ttg.local_barrier
    ttg.local_dealloc %4 : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
    tt.return
  }
}

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK-NEXT: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: #shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
// CHECK-NEXT: #blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @memory(%x: tensor<128x64xf16, #blocked>, %n: i32, %p: tensor<64x64xi8, #blocked>) {
// CHECK-NEXT: %0 = ttg.convert_layout %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked1>
// CHECK-NEXT: %1 = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
// CHECK-NEXT: %2 = ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %3 = ttg.local_load %1 : !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf16, #blocked>
// CHECK-NEXT: ttg.local_store %x, %2 : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %4 = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %5 = ttg.memdesc_index %4[%n] : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %6 = ttg.memdesc_subslice %5[0, 32] : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x32xf16, #shared, #smem, mutable, 128x64>
// CHECK-NEXT: %7 = ttg.memdesc_trans %5 {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
// CHECK-NEXT: %8 = ttg.memdesc_reshape %5 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
// CHECK-NEXT: %9 = ttg.memdesc_reinterpret %5 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x32xf32, #shared, #smem, mutable>
// CHECK-NEXT: %10 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
// CHECK-NEXT: %11 = ttg.fp4_to_fp %p {axis = 1 : i32} : tensor<64x64xi8, #blocked> -> tensor<64x128xbf16, #blocked2>
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: ttg.local_dealloc %4 : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: tt.return
