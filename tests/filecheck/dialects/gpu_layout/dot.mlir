// RUN: tritonx-opt %s | tritonx-opt | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @dot
  // CHECK-NEXT: ttg.local_dot %m, %n, %c {aLayout = #ttg.dot_op<{{.*}}>, bLayout = #ttg.dot_op<{{.*}}>} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
  // CHECK-NEXT: ttg.local_dot %x, %n, %c, inputPrecision = tf32 {bLayout = #ttg.dot_op<{{.*}}>} : tensor<64x32xf16, {{.*}}> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
  tt.func @dot(%m: !ttg.memdesc<64x32xf16, #shared, #smem>, %n: !ttg.memdesc<32x32xf16, #shared, #smem>, %x: tensor<64x32xf16, #a>, %c: tensor<64x32xf32, #mma>) {
    %0 = ttg.local_dot %m, %n, %c {aLayout = #a, bLayout = #b} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
    %1 = ttg.local_dot %x, %n, %c, inputPrecision = tf32 {bLayout = #b} : tensor<64x32xf16, #a> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
    tt.return
  }
}
