// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-level 3.8 | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-level 3.9 | tritonx-opt | filecheck %s

#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @lookup(%m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %i: tensor<32x64xi32, #tile>) {
    %0 = ttg.local_gather %m[%i] {axis = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, tensor<32x64xi32, #tile> -> tensor<32x64xf16, #tile>
    ttg.local_scatter %m[%i], %0 {axis = 1 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, tensor<32x64xi32, #tile>, tensor<32x64xf16, #tile>
    tt.return
  }
}

// CHECK: tt.func @lookup
// CHECK-NEXT: %0 = ttg.local_gather %m[%i] {axis = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, tensor<32x64xi32, #{{.*}}> -> tensor<32x64xf16, #{{.*}}>
// CHECK-NEXT: ttg.local_scatter %m[%i], %0 {axis = 1 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, tensor<32x64xi32, #{{.*}}>, tensor<32x64xf16, #{{.*}}>
