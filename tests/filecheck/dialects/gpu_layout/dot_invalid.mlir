// RUN: tritonx-opt %s --split-input-file --verify-diagnostics


#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#other = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#p = #ttg.dot_op<{opIdx = 1, parent = #other, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%n: !ttg.memdesc<32x32xf16, #shared, #smem>, %x: tensor<64x32xf16, #a>, %y: tensor<32x32xf16, #b>, %c: tensor<64x32xf32, #mma>) {
    // expected-error@+1 {{operand 1 must be a tensor, or memory and the layout to read it in}}
    %0 = ttg.local_dot %x, %n, %c : tensor<64x32xf16, #a> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#other = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#p = #ttg.dot_op<{opIdx = 1, parent = #other, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%n: !ttg.memdesc<32x32xf16, #shared, #smem>, %x: tensor<64x32xf16, #a>, %y: tensor<32x32xf16, #b>, %c: tensor<64x32xf32, #mma>) {
    // expected-error@+1 {{operand 1 must be read in the layout of operand 1 of tensor<64x32xf32}}
    %0 = ttg.local_dot %x, %n, %c {bLayout = #p} : tensor<64x32xf16, #a> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#other = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#p = #ttg.dot_op<{opIdx = 1, parent = #other, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%n: !ttg.memdesc<32x32xf16, #shared, #smem>, %x: tensor<64x32xf16, #a>, %y: tensor<32x32xf16, #b>, %c: tensor<64x32xf32, #mma>) {
    // expected-error@+1 {{operand 1 must be read in the layout of operand 1 of tensor<64x32xf32}}
    %0 = ttg.local_dot %x, %n, %c {bLayout = #a} : tensor<64x32xf16, #a> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#other = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#p = #ttg.dot_op<{opIdx = 1, parent = #other, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%n: !ttg.memdesc<32x32xf16, #shared, #smem>, %x: tensor<64x32xf16, #a>, %y: tensor<32x32xf16, #b>, %c: tensor<64x32xf32, #mma>) {
    // expected-error@+1 {{operand 0 has a layout by its type, and is given another}}
    %0 = ttg.local_dot %x, %n, %c {aLayout = #a, bLayout = #b} : tensor<64x32xf16, #a> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#other = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#p = #ttg.dot_op<{opIdx = 1, parent = #other, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%n: !ttg.memdesc<32x32xf16, #shared, #smem>, %x: tensor<64x32xf16, #a>, %y: tensor<32x32xf16, #b>, %c: tensor<64x32xf32, #mma>) {
    // expected-error@+1 {{one operand at least lies in shared memory; 'tt.dot' has both in registers}}
    %0 = ttg.local_dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return
  }
}
