// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{only the layout may change, got tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>> -> ten}}
    %0 = ttg.convert_layout %x : tensor<128x64xf16, #blocked> -> tensor<64x128xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{both types need a layout, got tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>> -> tenso}}
    %0 = ttg.convert_layout %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{memory that nothing fills must be mutable}}
    %0 = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{the shapes differ: tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>> and !ttg.memdesc<64}}
    %0 = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // expected-error@+1 {{the element types differ: tensor<128x64xf32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>> and !ttg.mem}}
    %0 = ttg.local_load %m : !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf32, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<128x64xf16, #blocked>, %m: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // expected-error@+1 {{the destination is written and must be mutable, got !ttg.memdesc<128x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #ttg.s}}
    ttg.local_store %x, %m : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared3 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [2, 1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<3x128x64xf16, #shared3, #smem>, %n: i32) {
    // expected-error@+1 {{the result must have the shape without its leading dimension, got !ttg.memdesc<3x128x64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = }}
    %0 = ttg.memdesc_index %m[%n] : !ttg.memdesc<3x128x64xf16, #shared3, #smem> -> !ttg.memdesc<64x128xf16, #shared, #smem>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // expected-error@+1 {{[48, 80) is outside of dimension 1 of !ttg.memdesc<128x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #ttg.shared_memory>}}
    %0 = ttg.memdesc_subslice %m[0, 48] : !ttg.memdesc<128x64xf16, #shared, #smem> -> !ttg.memdesc<128x32xf16, #shared, #smem, 128x64>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#tshared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // expected-error@+1 {{a view of memory that is not mutable cannot be: !ttg.memdesc<128x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #ttg.share}}
    %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #shared, #smem> -> !ttg.memdesc<64x128xf16, #tshared, #smem, mutable>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // expected-error@+1 {{the number of elements changes from !ttg.memdesc<128x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #ttg.shared_memory> to}}
    %0 = ttg.memdesc_reshape %m : !ttg.memdesc<128x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // expected-error@+1 {{the result (262144 bits) is larger than the source (131072 bits)}}
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<128x64xf16, #shared, #smem> -> !ttg.memdesc<128x64xf32, #shared, #smem>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%p: tensor<64x64xi8, #blocked>) {
    // expected-error@+1 {{dimension 0 must double, got tensor<64x64xi8, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>> -> tensor<6}}
    %0 = ttg.fp4_to_fp %p {axis = 0 : i32} : tensor<64x64xi8, #blocked> -> tensor<64x128xbf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %d: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // expected-error@+1 {{the destination is written and must be mutable, got !ttg.memdesc<128x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #ttg.s}}
    %0 = ttg.async_copy_global_to_local %p, %d : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %d: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) {
    // expected-error@+1 {{'contiguity' must be a power of two, got 3}}
    %0 = ttg.async_copy_global_to_local %p, %d {contiguity = 3 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{'num' must not be negative, got -1}}
    %0 = ttg.async_wait {num = -1 : i32}
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%n: i32) {
    // expected-error@+1 {{partition 0 must take what is captured: i32}}
    ttg.warp_specialize(%n)
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%n: i32) {
    // expected-error@+1 {{the number of warps of a partition must be a power of two, got 3}}
    ttg.warp_specialize(%n)
    default {
      ttg.warp_yield
    }
    partition0(%a: i32) num_warps(3) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%f: f32) {
    // expected-error@+1 {{expected integers, got f32}}
    %0 = ttg.predicate_stage %f, %f, %f maxStage 3 stage 1 : f32 -> i1
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{#ttg.blocked: sizePerThread must be powers of two, got [3]}}
    %0 = ub.poison : tensor<32xf32, #ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{#ttg.blocked: order must be a permutation of the dims, got [1]}}
    %0 = ub.poison : tensor<32xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [1]}>>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{#ttg.blocked lacks threadsPerWarp, warpsPerCTA}}
    %0 = ub.poison : tensor<32xf32, #ttg.blocked<{sizePerThread = [1], order = [0]}>>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{#ttg.blocked has no 'sizes', only sizePerThread, threadsPerWarp, warpsPerCTA, order, CGALayout}}
    %0 = ub.poison : tensor<32xf32, #ttg.blocked<{sizes = [1]}>>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{#ttg.nvmma_shared: swizzlingByteWidth must be 0, 32, 64 or 128, got 48}}
    %0 = ub.poison : !ttg.memdesc<32xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 48, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{a memory descriptor needs a shape of positive sizes, got [0]}}
    %0 = ub.poison : !ttg.memdesc<0xf32, #ttg.shared_memory, #ttg.shared_memory>
    tt.return
  }
}

// -----

// The thread that holds a sum must hold what it is a sum of.
#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<16x32xf32, #a>) {
    // expected-error@+1 {{the result must have the slice of}}
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tt.reduce.return %w : f32
    }) : (tensor<16x32xf32, #a>) -> tensor<16xf32, #b>
    tt.return
  }
}

// -----

#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<16x32xf32, #a>) {
    // expected-error@+1 {{data would have to move between lanes}}
    %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x32xf32, #a> -> tensor<32x16xf32, #a>
    tt.return
  }
}

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error@+1 {{is spread over 4 warps, but there are 8}}
    %0 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #a>
    tt.return
  }
}

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<128xf32, #a>) {
    // expected-error@+1 {{a layout over threads lays out no memory}}
    %0 = ttg.local_alloc %x : (tensor<128xf32, #a>) -> !ttg.memdesc<128xf32, #a, #smem>
    tt.return
  }
}

// -----

tt.func @f() {
  // expected-error@+1 {{'nbytes' must be positive, got -128}}
  %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = -128 : i32} : !tt.ptr<i8>
  tt.return
}

// -----

tt.func @f() {
  // expected-error@+1 {{'alignment' must be a power of two, got 96}}
  %0 = ttg.global_scratch_alloc {alignment = 96 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
  tt.return
}

// -----

tt.func @f() {
  // expected-error@+1 {{a pointer to global memory is needed, got !tt.ptr<i8, 3>}}
  %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8, 3>
  tt.return
}

// -----

#twice = #ttg.shared_linear<{offset = [[0, 3], [1, 0], [1, 3]]}, alignment = 16>

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f() {
    // expected-error@+1 {{shared bases have no place for some elements of the shape [2, 4]}}
    %0 = ttg.local_alloc : () -> !ttg.memdesc<2x4xf32, #twice, #ttg.shared_memory, mutable>
    tt.return
  }
}

// -----

#holes = #ttg.linear<{register = [[0, 2]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [4, 2]], block = []}>

module attributes {"ttg.num-warps" = 4 : i32} {
  // expected-error@+1 {{no thread has some elements of the tile of [8, 16] that the bases of linear span}}
  tt.func @f(%x: tensor<8x16xf32, #holes>) {
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32} {
  // expected-error@+1 {{a layout over threads lays out no memory}}
  tt.func @f(%x: !ttg.memdesc<8x16xf32, #blocked, #ttg.shared_memory>) {
    tt.return
  }
}
