// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Products of warp groups, products in tensor memory, tensor memory itself.

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#nvt = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#nv8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#lin = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttng.tensor_memory_scales_encoding<>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @dot(%a: !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, %b: !ttg.memdesc<64x128xf16, #nvt, #smem, mutable>, %acc: tensor<128x128xf32, #mma>, %c: i1, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %s: !ttg.memdesc<128x8xi8, #scales, #ttng.tensor_memory, mutable>, %f: !ttg.memdesc<128x128xf8E5M2, #nv8, #smem, mutable>, %ss: !ttg.memdesc<128x8xi8, #shared, #smem, mutable>, %x: tensor<128x128xf32, #lin>) {
    %0 = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<128x64xf16, #nv, #smem, mutable> * !ttg.memdesc<64x128xf16, #nvt, #smem, mutable> -> tensor<128x128xf32, #mma>
    %1 = ttng.warp_group_dot %a, %b, %acc, %c {inputPrecision = 0 : i32, isAsync = true, maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<128x64xf16, #nv, #smem, mutable> * !ttg.memdesc<64x128xf16, #nvt, #smem, mutable> -> tensor<128x128xf32, #mma>
    %2:2 = ttng.warp_group_dot_wait %1, %a {pendings = 1 : i32} : tensor<128x128xf32, #mma>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    %t = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    %u, %token = ttng.tmem_alloc %x : (tensor<128x128xf32, #lin>) -> (!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
    %3 = ttng.tmem_load %t : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32, #lin>
    %4, %token1 = ttng.tmem_load %u[%token] : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32, #lin>
    %5, %token2 = ttng.tmem_load %u[] : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32, #lin>
    ttng.tmem_store %x, %t, %c : tensor<128x128xf32, #lin> -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    %token3 = ttng.tmem_store %x, %u[%token1], %c : tensor<128x128xf32, #lin> -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    %6 = ttng.tmem_subslice %t {N = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable, 128x128>
    ttng.tmem_copy %ss, %s : !ttg.memdesc<128x8xi8, #shared, #smem, mutable>, !ttg.memdesc<128x8xi8, #scales, #ttng.tensor_memory, mutable>
    ttng.tmem_copy %ss, %s, %bar : !ttg.memdesc<128x8xi8, #shared, #smem, mutable>, !ttg.memdesc<128x8xi8, #scales, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.tc_gen5_mma %a, %b, %t, %c, %c : !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<64x128xf16, #nvt, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    %token4 = ttng.tc_gen5_mma %a, %b, %u[%token3], %c, %c {two_ctas} : !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<64x128xf16, #nvt, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.tc_gen5_mma %a, %b, %t, %c, %c, %bar[%c], %bar[%c] {is_async} : !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<64x128xf16, #nvt, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.tc_gen5_mma_scaled %f, %f, %t, %s, %s, %c, %c lhs = e5m2 rhs = e4m3, %bar[%c] {is_async} : !ttg.memdesc<128x128xf8E5M2, #nv8, #smem, mutable>, !ttg.memdesc<128x128xf8E5M2, #nv8, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<128x8xi8, #scales, #ttng.tensor_memory, mutable>, !ttg.memdesc<128x8xi8, #scales, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.tmem_wait load
    ttng.tmem_wait store
    ttng.tc_gen5_commit %bar : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.tc_gen5_commit %bar, %c {two_ctas} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }
}

// CHECK: #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
// CHECK-NEXT: #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
// CHECK-NEXT: #shared2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// CHECK-NEXT: #tmem_scales = #ttng.tensor_memory_scales_encoding<>
// CHECK-NEXT: #shared3 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
// CHECK-NEXT: #shared4 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-NEXT: #linear = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[\[}}32, 0], [64, 0]], block = []}>
// CHECK-NEXT: #tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @dot(%a: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>, %acc: tensor<128x128xf32, #mma>, %c: i1, %bar: !ttg.memdesc<1xi64, #shared2, #smem, mutable>, %s: !ttg.memdesc<128x8xi8, #tmem_scales, #ttng.tensor_memory, mutable>, %f: !ttg.memdesc<128x128xf8E5M2, #shared3, #smem, mutable>, %ss: !ttg.memdesc<128x8xi8, #shared4, #smem, mutable>, %x: tensor<128x128xf32, #linear>) {
// CHECK-NEXT: %0 = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared1, #smem, mutable> -> tensor<128x128xf32, #mma>
// CHECK-NEXT: %1 = ttng.warp_group_dot %a, %b, %acc, %c {inputPrecision = 0 : i32, isAsync = true, maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared1, #smem, mutable> -> tensor<128x128xf32, #mma>
// CHECK-NEXT: %2:2 = ttng.warp_group_dot_wait %1, %a {pendings = 1 : i32} : tensor<128x128xf32, #mma>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %t = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
// CHECK-NEXT: %u, %token = ttng.tmem_alloc %x : (tensor<128x128xf32, #linear>) -> (!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
// CHECK-NEXT: %3 = ttng.tmem_load %t : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32, #linear>
// CHECK-NEXT: %4, %token1 = ttng.tmem_load %u[%token] : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32, #linear>
// CHECK-NEXT: %5, %token2 = ttng.tmem_load %u[] : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32, #linear>
// CHECK-NEXT: ttng.tmem_store %x, %t, %c : tensor<128x128xf32, #linear> -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
// CHECK-NEXT: %token3 = ttng.tmem_store %x, %u[%token1], %c : tensor<128x128xf32, #linear> -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
// CHECK-NEXT: %6 = ttng.tmem_subslice %t {N = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable, 128x128>
// CHECK-NEXT: ttng.tmem_copy %ss, %s : !ttg.memdesc<128x8xi8, #shared4, #smem, mutable>, !ttg.memdesc<128x8xi8, #tmem_scales, #ttng.tensor_memory, mutable>
// CHECK-NEXT: ttng.tmem_copy %ss, %s, %bar : !ttg.memdesc<128x8xi8, #shared4, #smem, mutable>, !ttg.memdesc<128x8xi8, #tmem_scales, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #shared2, #smem, mutable>
// CHECK-NEXT: ttng.tc_gen5_mma %a, %b, %t, %c, %c : !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
// CHECK-NEXT: %token4 = ttng.tc_gen5_mma %a, %b, %u[%token3], %c, %c {two_ctas} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
// CHECK-NEXT: ttng.tc_gen5_mma %a, %b, %t, %c, %c, %bar[%c], %bar[%c] {is_async} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #shared2, #smem, mutable>, !ttg.memdesc<1xi64, #shared2, #smem, mutable>
// CHECK-NEXT: ttng.tc_gen5_mma_scaled %f, %f, %t, %s, %s, %c, %c lhs = e5m2 rhs = e4m3, %bar[%c] {is_async} : !ttg.memdesc<128x128xf8E5M2, #shared3, #smem, mutable>, !ttg.memdesc<128x128xf8E5M2, #shared3, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<128x8xi8, #tmem_scales, #ttng.tensor_memory, mutable>, !ttg.memdesc<128x8xi8, #tmem_scales, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #shared2, #smem, mutable>
// CHECK-NEXT: ttng.tmem_wait load
// CHECK-NEXT: ttng.tmem_wait store
// CHECK-NEXT: ttng.tc_gen5_commit %bar : !ttg.memdesc<1xi64, #shared2, #smem, mutable>
// CHECK-NEXT: ttng.tc_gen5_commit %bar, %c {two_ctas} : !ttg.memdesc<1xi64, #shared2, #smem, mutable>
// CHECK-NEXT: tt.return
