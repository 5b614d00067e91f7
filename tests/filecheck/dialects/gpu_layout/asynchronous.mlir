// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Asynchronous copies, their groups and waits.

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @asynchronous(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %m: tensor<128x64xi1, #blocked>, %o: tensor<128x64xf16, #blocked>, %d: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) {
    %0 = ttg.async_copy_global_to_local %p, %d : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
    %1 = ttg.async_copy_global_to_local %p, %d mask %m other %o cacheModifier = cg evictionPolicy = evict_first {contiguity = 8 : i32, isVolatile = true} : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
    %2 = ttg.async_commit_group tokens %0, %1
    %3 = ttg.async_commit_group
    %4 = ttg.async_wait %2, %3 {num = 2 : i32}
    %5 = ttg.async_wait {num = 0 : i32}
    %6 = ttg.local_load %d token %4 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #blocked>
    tt.return
  }
}

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @asynchronous(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %m: tensor<128x64xi1, #blocked>, %o: tensor<128x64xf16, #blocked>, %d: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) {
// CHECK-NEXT: %0 = ttg.async_copy_global_to_local %p, %d : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %1 = ttg.async_copy_global_to_local %p, %d mask %m other %o cacheModifier = cg evictionPolicy = evict_first {contiguity = 8 : i32, isVolatile = true} : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %2 = ttg.async_commit_group tokens %0, %1
// CHECK-NEXT: %3 = ttg.async_commit_group
// CHECK-NEXT: %4 = ttg.async_wait %2, %3 {num = 2 : i32}
// CHECK-NEXT: %5 = ttg.async_wait {num = 0 : i32}
// CHECK-NEXT: %6 = ttg.local_load %d token %4 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #blocked>
// CHECK-NEXT: tt.return
