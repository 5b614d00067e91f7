// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%b: !ttg.memdesc<1xi32, #bar, #smem, mutable>) {
    // expected-error@+1 {{a barrier is a one-dimensional memory descriptor of i64, got !ttg.memdesc<1xi32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.}}
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi32, #bar, #smem, mutable>
    tt.return
  }
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%b: !ttg.memdesc<1xi64, #bar, #smem>) {
    // expected-error@+1 {{a barrier must be mutable, got !ttg.memdesc<1xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory>}}
    ttng.inval_barrier %b : !ttg.memdesc<1xi64, #bar, #smem>
    tt.return
  }
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%b: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
    // expected-error@+1 {{'count' must be positive, got 0}}
    ttng.arrive_barrier %b, 0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }
}

// -----

#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%a: !ttg.memdesc<128x64xf16, #nv, #smem>, %c: tensor<128x128xf32, #mma>) {
    // expected-error@+1 {{the last dimension of the first operand and the first of the second differ: !ttg.memdesc<128x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = f}}
    %0 = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<128x64xf16, #nv, #smem> * !ttg.memdesc<128x64xf16, #nv, #smem> -> tensor<128x128xf32, #mma>
    tt.return
  }
}

// -----

#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{the result must lie in tensor memory, got !ttg.memdesc<128x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #tt}}
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #nv, #smem, mutable>
    tt.return
  }
}

// -----

#lin = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%t: !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>) {
    // expected-error@+1 {{the shapes differ: tensor<128x64xf32, #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0}}
    %0 = ttng.tmem_load %t : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #lin>
    tt.return
  }
}

// -----

#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%t: !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>) {
    // expected-error@+1 {{columns 96 to 160 are outside of !ttg.memdesc<128x128xf32, #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>, #ttng.tensor_memory, mutable}}
    %0 = ttng.tmem_subslice %t {N = 96 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable, 128x128>
    tt.return
  }
}

// -----

#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%d: !tt.tensordesc<tensor<128x64xf16, #nv>>, %m: !ttg.memdesc<64x64xf16, #nv, #smem, mutable>, %n: i32) {
    // expected-error@+1 {{descriptor and memory differ in size: !tt.tensordesc<tensor<128x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>>}}
    ttng.async_tma_copy_local_to_global %d[%n, %n] %m : !tt.tensordesc<tensor<128x64xf16, #nv>>, !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    tt.return
  }
}

// -----

#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%d: !tt.tensordesc<tensor<128x64xi4, #nv>>, %m: !ttg.memdesc<128x64xi4, #nv, #smem, mutable>, %n: i32) {
    // expected-error@+1 {{blocks are copied of elements of 8 to 64 bits, got !tt.tensordesc<tensor<128x64xi4, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>>>}}
    ttng.async_tma_copy_local_to_global %d[%n, %n] %m : !tt.tensordesc<tensor<128x64xi4, #nv>>, !ttg.memdesc<128x64xi4, #nv, #smem, mutable>
    tt.return
  }
}

// -----

#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%d: !tt.tensordesc<tensor<128x64xf16, #nv>>, %m: !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, %n: i32) {
    // expected-error@+1 {{!tt.tensordesc<tensor<128x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>>> needs 2 coordinates, got 1}}
    ttng.async_tma_reduce add, %d[%n] %m : !tt.tensordesc<tensor<128x64xf16, #nv>>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    tt.return
  }
}

// -----

#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 64}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%d: !tt.tensordesc<tensor<128x16xsi64, #nv>>, %m: !ttg.memdesc<128x16xi64, #nv, #smem, mutable>, %n: i32) {
    // expected-error@+1 {{xor of 64-bit numbers needs unsigned ones, got !tt.tensordesc<tensor<128x16xsi64, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 64}>>>}}
    ttng.async_tma_reduce xor, %d[%n, %n] %m : !tt.tensordesc<tensor<128x16xsi64, #nv>>, !ttg.memdesc<128x16xi64, #nv, #smem, mutable>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{blockM must be 64 or 128, got 96}}
    %0 = ub.poison : !ttg.memdesc<128x128xf32, #ttng.tensor_memory_encoding<blockM = 96, blockN = 128, colStride = 1>, #ttng.tensor_memory, mutable>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{#ttng.tensor_memory_encoding lacks blockN, colStride}}
    %0 = ub.poison : !ttg.memdesc<128x128xf32, #ttng.tensor_memory_encoding<blockM = 128>, #ttng.tensor_memory, mutable>
    tt.return
  }
}

// -----

tt.func @f(%p: !tt.ptr<i8>, %a: !tt.ptr<f16>, %n: i32, %l: i64) {
  // expected-error@+1 {{'swizzle_mode' must be one of the driver's numbers, 0 to 4, got 7}}
  ttng.tensormap_create %p, %a, [%n, %n], [%n, %n], [%l], [%n, %n] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 7 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<i8, 3>, %a: !tt.ptr<f16>, %n: i32, %l: i64) {
  // expected-error@+1 {{a pointer to global memory is needed, got !tt.ptr<i8, 3>}}
  ttng.tensormap_create %p, %a, [%n, %n], [%n, %n], [%l], [%n, %n] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8, 3>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<i8>, %a: !tt.ptr<f16>, %n: i32, %l: i64) {
  // expected-error@+1 {{a tensor map has one to five dimensions, got 6}}
  ttng.tensormap_create %p, %a, [%n, %n, %n, %n, %n, %n], [%n, %n, %n, %n, %n, %n], [%l, %l, %l, %l, %l], [%n, %n, %n, %n, %n, %n] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64, i32, i32, i32, i32, i32, i32) -> ()
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<i8, 3>) {
  // expected-error@+1 {{a pointer to global memory is needed, got !tt.ptr<i8, 3>}}
  ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8, 3>
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<i8>, %n: i32, %l: i64) {
  // expected-error@+1 {{a tensor map has one to five dimensions, got 6}}
  %0 = ttng.tensormap_at_launch %p, [%n, %n, %n, %n, %n, %n], [%l, %l, %l, %l, %l, %l] : <i8>, <tensor<2x2x2x2x2x16xi8>>
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<i8>, %n: i32, %l: i64) {
  // expected-error@+1 {{!tt.tensordesc<tensor<2x16xi8>> needs 2 extents and strides, got 3 and 3}}
  %0 = ttng.tensormap_at_launch %p, [%n, %n, %n], [%l, %l, %l] : <i8>, <tensor<2x16xi8>>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%b: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
    ttng.arrive_barrier %b, 1 {multicastCTA = 0 : i32} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // expected-error@+1 {{'multicastCTA' is not supported: a block copies and arrives for itself}}
    ttng.arrive_barrier %b, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }
}
