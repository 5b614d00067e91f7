// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Copies by the tensor memory accelerator, and descriptors.

#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @copy(%d: !tt.tensordesc<tensor<128x64xf16, #nv>>, %m: !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, %b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %n: i32, %l: i64, %c: i1, %r: !tt.tensordesc<tensor<1x64xf16, #nv>>, %mr: !ttg.memdesc<32x64xf16, #nv, #smem, mutable>, %x: tensor<32xi32, #row>, %p: !tt.ptr<i8>, %g: !tt.ptr<f16>) {
    ttng.async_tma_copy_global_to_local %d[%n, %n] %m, %b, %c : !tt.tensordesc<tensor<128x64xf16, #nv>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%n, %n] %m, %b, %c cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : !tt.tensordesc<tensor<128x64xf16, #nv>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    ttng.async_tma_copy_local_to_global %d[%n, %n] %m : !tt.tensordesc<tensor<128x64xf16, #nv>>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    ttng.async_tma_reduce add, %d[%n, %n] %m : !tt.tensordesc<tensor<128x64xf16, #nv>>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    ttng.async_tma_gather %r[%x, %n] %mr, %b, %c : !tt.tensordesc<tensor<1x64xf16, #nv>>, tensor<32xi32, #row>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<32x64xf16, #nv, #smem, mutable>, i1
    ttng.async_tma_scatter %r[%x, %n] %mr : !tt.tensordesc<tensor<1x64xf16, #nv>>, tensor<32xi32, #row>, i32, !ttg.memdesc<32x64xf16, #nv, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
    ttng.tensormap_create %p, %g, [%n, %n], [%n, %n], [%l], [%n, %n] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
    %0 = ttng.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to !tt.tensordesc<tensor<128x64xf16, #nv>>
    tt.return
  }
}

// CHECK: #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// CHECK-NEXT: #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @copy(%d: !tt.tensordesc<tensor<128x64xf16, #shared>>, %m: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %n: i32, %l: i64, %c: i1, %r: !tt.tensordesc<tensor<1x64xf16, #shared>>, %mr: !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, %x: tensor<32xi32, #blocked>, %p: !tt.ptr<i8>, %g: !tt.ptr<f16>) {
// CHECK-NEXT: ttng.async_tma_copy_global_to_local %d[%n, %n] %m, %b, %c : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: ttng.async_tma_copy_global_to_local %d[%n, %n] %m, %b, %c cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: ttng.async_tma_copy_local_to_global %d[%n, %n] %m : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: ttng.async_tma_reduce add, %d[%n, %n] %m : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: ttng.async_tma_gather %r[%x, %n] %mr, %b, %c : !tt.tensordesc<tensor<1x64xf16, #shared>>, tensor<32xi32, #blocked>, i32, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, i1
// CHECK-NEXT: ttng.async_tma_scatter %r[%x, %n] %mr : !tt.tensordesc<tensor<1x64xf16, #shared>>, tensor<32xi32, #blocked>, i32, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32}
// CHECK-NEXT: ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
// CHECK-NEXT: ttng.tensormap_create %p, %g, [%n, %n], [%n, %n], [%l], [%n, %n] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
// CHECK-NEXT: ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
// CHECK-NEXT: %0 = ttng.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to !tt.tensordesc<tensor<128x64xf16, #shared>>
// CHECK-NEXT: tt.return
