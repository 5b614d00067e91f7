// RUN: tritonx-opt %s -p "buffer-values{shared_memory=28672 registers=65536}" | filecheck %s

// An operand that threads read from its slot is read in parts while they multiply, so that the copy into that slot goes
// behind the product, not behind the load: between them all of the operand would be in registers.
#threads = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @multiplied_by_threads
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x64x32xf32, {{.*}}, mutable>
  // CHECK: ttg.async_copy_global_to_local {{.*}}loop.cluster = 4 : i32, loop.stage = 0 : i32
  // CHECK: tt.dot {{.*}}loop.cluster = 2 : i32, loop.stage = 1 : i32
  tt.func public @multiplied_by_threads(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf32, #ttg.dot_op<{opIdx = 1, parent = #threads}>>, %n: i32) -> tensor<64x64xf32, #threads> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x32xi32, #rows>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #threads>
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>, #rows>
    %p = tt.addptr %bases, %offsets : tensor<64x32x!tt.ptr<f32>, #rows>, tensor<64x32xi32, #rows>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #threads>) : i32 {
      %q = tt.addptr %p, %step {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<64x32x!tt.ptr<f32>, #rows>, tensor<64x32xi32, #rows>
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<64x32x!tt.ptr<f32>, #rows>
      %m = ttg.local_alloc %x {loop.stage = 1 : i32, loop.cluster = 1 : i32} : (tensor<64x32xf32, #rows>) -> !ttg.memdesc<64x32xf32, #shared, #smem>
      %a = ttg.local_load %m {loop.stage = 1 : i32, loop.cluster = 1 : i32} : !ttg.memdesc<64x32xf32, #shared, #smem> -> tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #threads}>>
      %d = tt.dot %a, %y, %c {loop.stage = 1 : i32, loop.cluster = 1 : i32} : tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #threads}>> * tensor<32x64xf32, #ttg.dot_op<{opIdx = 1, parent = #threads}>> -> tensor<64x64xf32, #threads>
      scf.yield %d : tensor<64x64xf32, #threads>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<64x64xf32, #threads>
  }
}
