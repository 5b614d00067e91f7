// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Access through buffer descriptors.

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @buffer(%p: !tt.ptr<f16>, %o: tensor<128x64xi32, #blocked>, %m: tensor<128x64xi1, #blocked>, %x: tensor<128x64xf16, #blocked>, %n: i32, %d: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %q: !tt.ptr<f32>, %y: tensor<128x64xf32, #blocked>) {
    %0 = amdg.buffer_load %p[%o] : tensor<128x64xf16, #blocked>
    %1 = amdg.buffer_load %p[%o], %m, %x cacheModifier = ca stride = %n : tensor<128x64xf16, #blocked>
    amdg.buffer_store %x, %p[%o] : tensor<128x64xf16, #blocked>
    amdg.buffer_store %x, %p[%o], %m cacheModifier = cs stride = %n : tensor<128x64xf16, #blocked>
    %2 = amdg.buffer_load_to_local %p[%o] into %d : <f16>[tensor<128x64xi32, #blocked>]  -> <128x64xf16, #shared, #smem, mutable>
    %3 = amdg.buffer_load_to_local %p[%o] mask = %m other = %x stride = %n cacheModifier = ca into %d {contiguity = 4 : i32} : <f16>[tensor<128x64xi32, #blocked>] tensor<128x64xf16, #blocked> -> <128x64xf16, #shared, #smem, mutable>
    %4 = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %x, %p[%o] : tensor<128x64xf16, #blocked>
    %5 = amdg.buffer_atomic_rmw exch, acq_rel, sys, %y, %q[%o], %m stride = %n : tensor<128x64xf32, #blocked>
    %6 = amdg.buffer_atomic_cas acq_rel, gpu, %x, %x, %p[%o] : tensor<128x64xf16, #blocked>
    tt.return
  }
}

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @buffer(%p: !tt.ptr<f16>, %o: tensor<128x64xi32, #blocked>, %m: tensor<128x64xi1, #blocked>, %x: tensor<128x64xf16, #blocked>, %n: i32, %d: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %q: !tt.ptr<f32>, %y: tensor<128x64xf32, #blocked>) {
// CHECK-NEXT: %0 = amdg.buffer_load %p[%o] : tensor<128x64xf16, #blocked>
// CHECK-NEXT: %1 = amdg.buffer_load %p[%o], %m, %x cacheModifier = ca stride = %n : tensor<128x64xf16, #blocked>
// CHECK-NEXT: amdg.buffer_store %x, %p[%o] : tensor<128x64xf16, #blocked>
// CHECK-NEXT: amdg.buffer_store %x, %p[%o], %m cacheModifier = cs stride = %n : tensor<128x64xf16, #blocked>
// CHECK-NEXT: %2 = amdg.buffer_load_to_local %p[%o] into %d : <f16>[tensor<128x64xi32, #blocked>]  -> <128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %3 = amdg.buffer_load_to_local %p[%o] mask = %m other = %x stride = %n cacheModifier = ca into %d {contiguity = 4 : i32} : <f16>[tensor<128x64xi32, #blocked>] tensor<128x64xf16, #blocked> -> <128x64xf16, #shared, #smem, mutable>
// CHECK-NEXT: %4 = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %x, %p[%o] : tensor<128x64xf16, #blocked>
// CHECK-NEXT: %5 = amdg.buffer_atomic_rmw exch, acq_rel, sys, %y, %q[%o], %m stride = %n : tensor<128x64xf32, #blocked>
// CHECK-NEXT: %6 = amdg.buffer_atomic_cas acq_rel, gpu, %x, %x, %p[%o] : tensor<128x64xf16, #blocked>
// CHECK-NEXT: tt.return
