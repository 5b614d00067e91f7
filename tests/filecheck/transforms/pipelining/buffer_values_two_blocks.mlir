// RUN: tritonx-opt %s -p "buffer-values{shared_memory=34816 registers=65536}" | filecheck %s
// RUN: tritonx-opt %s -p "buffer-values{shared_memory=34816 registers=32768}" | filecheck %s --check-prefix ONE
// RUN: tritonx-opt %s -p "buffer-values{shared_memory=9216}" | filecheck %s --check-prefix NARROW

// Three slots of 8 KiB are more than half of what a multiprocessor has. Behind the op that waits for the product the
// copy takes the slot that the product has read, and there is room for a second block. What it copies from is computed
// there as well. So it is as well where there is room for one slot alone.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @in_front
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, {{.*}}, mutable>
  // CHECK: tt.addptr {{.*}}loop.cluster = 3 : i32, loop.stage = 0 : i32
  // CHECK: ttg.async_copy_global_to_local {{.*}}loop.cluster = 4 : i32, loop.stage = 0 : i32
  // CHECK: arith.addf {{.*}}loop.cluster = 2 : i32, loop.stage = 1 : i32
  // NARROW-LABEL: @in_front
  // NARROW: ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, {{.*}}, mutable>
  // NARROW: ttg.async_copy_global_to_local {{.*}}loop.cluster = 4 : i32, loop.stage = 0 : i32
  // ONE-LABEL: @in_front
  // ONE: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, {{.*}}, mutable>
  // ONE: ttg.async_copy_global_to_local {{.*}}loop.cluster = 0 : i32, loop.stage = 0 : i32
  tt.func public @in_front(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #rows>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %line = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %bases, %offsets : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %q = tt.addptr %p, %step {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>
      %a = ttg.local_alloc %x {loop.stage = 1 : i32, loop.cluster = 1 : i32} : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttng.warp_group_dot %a, %y, %zero {loop.stage = 1 : i32, loop.cluster = 1 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %e = arith.addf %c, %d {loop.stage = 1 : i32, loop.cluster = 1 : i32} : tensor<64x64xf32, #mma>
      scf.yield %e : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<64x64xf32, #mma>
  }

  // A load stays in front of what its own iteration stores behind it.
  // NARROW-LABEL: @stores_behind
  // NARROW-NOT: async_copy
  // CHECK-LABEL: @stores_behind
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, {{.*}}, mutable>
  tt.func public @stores_behind(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !ttg.memdesc<64x64xf16, #shared, #smem>, %to: !tt.ptr<f32>, %v: f32, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %line = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %bases, %offsets : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>
      tt.store %to, %v {loop.stage = 0 : i32, loop.cluster = 0 : i32} : !tt.ptr<f32>
      %a = ttg.local_alloc %x {loop.stage = 1 : i32, loop.cluster = 1 : i32} : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttng.warp_group_dot %a, %y, %zero {loop.stage = 1 : i32, loop.cluster = 1 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %e = arith.addf %c, %d {loop.stage = 1 : i32, loop.cluster = 1 : i32} : tensor<64x64xf32, #mma>
      scf.yield %e : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}
