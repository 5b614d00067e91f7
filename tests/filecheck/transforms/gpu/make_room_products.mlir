// RUN: tritonx-opt %s -p "make-room{shared_memory=20480},allocate-shared-memory{shared_memory=20480}" | filecheck %s
// RUN: tritonx-opt %s -p "make-room{shared_memory=40960},allocate-shared-memory{shared_memory=40960}" | filecheck %s --check-prefix PLENTY

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

// Four operands of 8 KiB are there at the same time if products run beside the program. Where only two fit, each product
// is waited for, and the next one's operands are stored behind it.
// CHECK: ttg.shared = 16384 : i32
// PLENTY: ttg.shared = 32768 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.target" = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @products
  // CHECK: %[[S:.*]] = ttng.warp_group_dot %a, %b, %{{[^ ]*}} {inputPrecision = 0 : i32} :
  // CHECK-NEXT: %c = ttg.local_alloc %y {allocation.offset = 0 : i32}
  // CHECK-NEXT: %d = ttg.local_alloc %x {allocation.offset = 8192 : i32}
  // CHECK-NEXT: ttng.warp_group_dot %c, %d, %[[S]] {inputPrecision = 0 : i32} :
  // PLENTY-LABEL: @products
  // PLENTY-COUNT-4: ttg.local_alloc
  // PLENTY-COUNT-2: isAsync = true
  tt.func public @products(%x: tensor<64x64xf16, #rows>, %y: tensor<64x64xf16, #rows>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %0 = arith.constant 0 : i32
    %1 = arith.constant 1 : i32
    %total = scf.for %i = %0 to %n step %1 iter_args(%before = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %w = ttng.warp_group_dot_wait %before {pendings = 0 : i32} : tensor<64x64xf32, #mma>
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %b = ttg.local_alloc %y : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %c = ttg.local_alloc %y : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttg.local_alloc %x : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %s = ttng.warp_group_dot %a, %b, %w {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %t = ttng.warp_group_dot %c, %d, %s {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %t : tensor<64x64xf32, #mma>
    }
    %all = ttng.warp_group_dot_wait %total {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %all : tensor<64x64xf32, #mma>
  }
}
