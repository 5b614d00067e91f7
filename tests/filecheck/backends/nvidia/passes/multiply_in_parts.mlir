// RUN: tritonx-opt %s -p "multiply-in-parts" | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 8]}>
#words = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [0, 1]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Half of K is loaded while the other one is multiplied; what is added to the first time is not read where it is not
  // wanted.
  // CHECK-LABEL: @halves
  // CHECK: scf.for
  // CHECK: %[[M0:.*]] = ttg.memdesc_subslice %m[0, 0] : {{.*}} -> !ttg.memdesc<64x16xf32, #{{.*}}, #smem, mutable, 64x32>
  // CHECK-NEXT: %[[A0:.*]] = ttg.local_load %[[M0]]
  // CHECK-NEXT: %[[B0:.*]] = ttg.memdesc_subslice %b[0, 0] : {{.*}} -> !ttg.memdesc<16x64xf32, #{{.*}}, #smem, mutable, 32x64>
  // CHECK-NEXT: %[[D0:.*]] = ttng.warp_group_dot %[[A0]], %[[B0]], %{{.*}}, %use
  // CHECK-NEXT: %[[M1:.*]] = ttg.memdesc_subslice %m[0, 16]
  // CHECK-NEXT: %[[A1:.*]] = ttg.local_load %[[M1]]
  // CHECK-NEXT: %[[B1:.*]] = ttg.memdesc_subslice %b[16, 0]
  // CHECK-NEXT: %[[D:.*]] = ttng.warp_group_dot %[[A1]], %[[B1]], %[[D0]] {
  // CHECK-NEXT: scf.yield %[[D]]
  tt.func public @halves(%m: !ttg.memdesc<64x32xf32, #words, #smem, mutable>, %b: !ttg.memdesc<32x64xf32, #nv, #smem, mutable>, %c: tensor<64x64xf32, #mma>, %n: i32, %use: i1) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.local_load %m : !ttg.memdesc<64x32xf32, #words, #smem, mutable> -> tensor<64x32xf32, #a>
      %d = ttng.warp_group_dot %a, %b, %sum, %use {inputPrecision = 0 : i32} : tensor<64x32xf32, #a> * !ttg.memdesc<32x64xf32, #nv, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // The memory is written in between; and no loop is there, whose last round a load would wait for.
  // CHECK-LABEL: @whole
  // CHECK-NOT: memdesc_subslice
  // CHECK: tt.return
  tt.func public @whole(%m: !ttg.memdesc<64x32xf32, #words, #smem, mutable>, %b: !ttg.memdesc<32x64xf32, #nv, #smem, mutable>, %c: tensor<64x64xf32, #mma>, %n: i32, %x: tensor<64x32xf32, #a>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.local_load %m : !ttg.memdesc<64x32xf32, #words, #smem, mutable> -> tensor<64x32xf32, #a>
      ttg.local_store %x, %m : tensor<64x32xf32, #a> -> !ttg.memdesc<64x32xf32, #words, #smem, mutable>
      %d = ttng.warp_group_dot %a, %b, %sum {inputPrecision = 0 : i32} : tensor<64x32xf32, #a> * !ttg.memdesc<32x64xf32, #nv, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    %a = ttg.local_load %m : !ttg.memdesc<64x32xf32, #words, #smem, mutable> -> tensor<64x32xf32, #a>
    %e = ttng.warp_group_dot %a, %b, %r {inputPrecision = 0 : i32} : tensor<64x32xf32, #a> * !ttg.memdesc<32x64xf32, #nv, #smem, mutable> -> tensor<64x64xf32, #mma>
    tt.return %e : tensor<64x64xf32, #mma>
  }
}
