// RUN: tritonx-opt %s -p 'schedule-loops{target="cuda:90" num_stages=3}' | filecheck %s

#group = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#warp = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#one = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #warp, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #warp, kWidth = 2}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The product reads shared memory by itself: it goes first, and what is loaded takes the slot that the one before has
  // read. Loads run two intervals ahead, with all that they need; the rest is the last stage.
  // CHECK-LABEL: @asynchronous
  // CHECK: tt.load {{.*}}{loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: ttg.local_alloc {{.*}}{loop.cluster = 0 : i32, loop.stage = 2 : i32}
  // CHECK: tt.load {{.*}}{loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: ttg.local_alloc {{.*}}{loop.cluster = 0 : i32, loop.stage = 2 : i32}
  // CHECK: ttng.warp_group_dot {{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32}
  // CHECK: tt.addptr {{.*}}{loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: tt.addptr {{.*}}{loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: scf.yield
  // CHECK: {tt.scheduled_max_stage = 2 : i32}
  tt.func public @asynchronous(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<64x64xf32, #group> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #group>
    %step = arith.constant dense<64> : tensor<64x64xi32, #rows>
    %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %px = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %py = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %qx = tt.addptr %px, %offsets : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %qy = tt.addptr %py, %offsets : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %sum, %ex, %ey = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %rx = %qx, %ry = %qy) -> (tensor<64x64xf32, #group>, tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64x!tt.ptr<f16>, #rows>) : i32 {
      %u = tt.load %rx : tensor<64x64x!tt.ptr<f16>, #rows>
      %su = ttg.local_alloc %u : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %v = tt.load %ry : tensor<64x64x!tt.ptr<f16>, #rows>
      %sv = ttg.local_alloc %v : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttng.warp_group_dot %su, %sv, %c : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #group>
      %sx = tt.addptr %rx, %step : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %sy = tt.addptr %ry, %step : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      scf.yield %d, %sx, %sy : tensor<64x64xf32, #group>, tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64x!tt.ptr<f16>, #rows>
    }
    tt.return %sum : tensor<64x64xf32, #group>
  }

  // Threads wait for their own product: loads go first. What the loop says of its stages counts, not the target's.
  // CHECK-LABEL: @synchronous
  // CHECK: arith.addi {{.*}}{loop.cluster = 0 : i32, loop.stage = 0 : i32}
  // CHECK: tt.load {{.*}}{loop.cluster = 0 : i32, loop.stage = 0 : i32}
  // CHECK: ttg.convert_layout {{.*}}{loop.cluster = 1 : i32, loop.stage = 3 : i32}
  // CHECK: tt.dot {{.*}}{loop.cluster = 1 : i32, loop.stage = 3 : i32}
  // CHECK: {tt.num_stages = 4 : i32, tt.scheduled_max_stage = 3 : i32}
  tt.func public @synchronous(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<64x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #warp> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #warp>
    %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %px = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%c = %zero) -> (tensor<64x64xf32, #warp>) : i32 {
      %k = tt.splat %i : i32 -> tensor<64x64xi32, #rows>
      %at = arith.addi %k, %offsets : tensor<64x64xi32, #rows>
      %qx = tt.addptr %px, %at : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %u = tt.load %qx : tensor<64x64x!tt.ptr<f16>, #rows>
      %a = ttg.convert_layout %u : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #a>
      %d = tt.dot %a, %y, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #warp>
      scf.yield %d : tensor<64x64xf32, #warp>
    } {tt.num_stages = 4 : i32}
    tt.return %sum : tensor<64x64xf32, #warp>
  }

  // An index that is loaded: the intervals are shared out between it and what it leads to. Elements that lie apart cannot
  // be copied asynchronously: they wait in registers, one interval long, if the product takes as long as memory.
  // CHECK-LABEL: @loads_of_loads
  // CHECK: %index = tt.load {{.*}}{loop.cluster = {{[0-9]}} : i32, loop.stage = 0 : i32}
  // CHECK: %u = tt.load {{.*}}{loop.cluster = {{[0-9]}} : i32, loop.stage = 1 : i32}
  // CHECK: tt.dot {{.*}}loop.stage = 2 : i32}
  // CHECK: {tt.scheduled_max_stage = 2 : i32}
  tt.func public @loads_of_loads(%table: !tt.ptr<i32>, %x: tensor<64x128x!tt.ptr<f16>, #one>, %y: tensor<128x128xf16, #b>, %n: i32) -> tensor<64x128xf32, #warp> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #warp>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x128xf32, #warp>) : i32 {
      %entry = tt.addptr %table, %i : !tt.ptr<i32>, i32
      %index = tt.load %entry : !tt.ptr<i32>
      %k = tt.splat %index : i32 -> tensor<64x128xi32, #one>
      %qx = tt.addptr %x, %k : tensor<64x128x!tt.ptr<f16>, #one>, tensor<64x128xi32, #one>
      %u = tt.load %qx : tensor<64x128x!tt.ptr<f16>, #one>
      %a = ttg.convert_layout %u : tensor<64x128xf16, #one> -> tensor<64x128xf16, #a>
      %d = tt.dot %a, %y, %c : tensor<64x128xf16, #a> * tensor<128x128xf16, #b> -> tensor<64x128xf32, #warp>
      scf.yield %d : tensor<64x128xf32, #warp>
    }
    tt.return %sum : tensor<64x128xf32, #warp>
  }

  // Where it does not, halves that lie apart are loaded in the interval of the product: they would be packed as they come.
  // CHECK-LABEL: @short_products
  // CHECK: %index = tt.load {{.*}}{loop.cluster = {{[0-9]}} : i32, loop.stage = 0 : i32}
  // CHECK: %u = tt.load {{.*}}{loop.cluster = {{[0-9]}} : i32, loop.stage = 1 : i32}
  // CHECK: tt.dot {{.*}}loop.stage = 1 : i32}
  // CHECK: {tt.scheduled_max_stage = 1 : i32}
  tt.func public @short_products(%table: !tt.ptr<i32>, %x: tensor<64x64x!tt.ptr<f16>, #one>, %y: tensor<64x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #warp> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #warp>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #warp>) : i32 {
      %entry = tt.addptr %table, %i : !tt.ptr<i32>, i32
      %index = tt.load %entry : !tt.ptr<i32>
      %k = tt.splat %index : i32 -> tensor<64x64xi32, #one>
      %qx = tt.addptr %x, %k : tensor<64x64x!tt.ptr<f16>, #one>, tensor<64x64xi32, #one>
      %u = tt.load %qx : tensor<64x64x!tt.ptr<f16>, #one>
      %a = ttg.convert_layout %u : tensor<64x64xf16, #one> -> tensor<64x64xf16, #a>
      %d = tt.dot %a, %y, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #warp>
      scf.yield %d : tensor<64x64xf32, #warp>
    }
    tt.return %sum : tensor<64x64xf32, #warp>
  }

  // A block waits in memory whatever becomes of it, for the copy engine brings it there.
  // CHECK-LABEL: @computed_blocks
  // CHECK: tt.descriptor_load {{.*}}{loop.cluster = 0 : i32, loop.stage = 0 : i32}
  // CHECK: arith.addf {{.*}}loop.stage = 2 : i32}
  // CHECK: tt.return
  tt.func public @computed_blocks(%x: !tt.tensordesc<tensor<16x16xf16>>, %y: tensor<16x64xf16, #b>, %n: i32) -> tensor<16x64xf32, #warp> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #warp>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<16x64xf32, #warp>) : i32 {
      %u = tt.descriptor_load %x[%i, %c0] : !tt.tensordesc<tensor<16x16xf16>> -> tensor<16x16xf16, #one>
      %v = arith.addf %u, %u : tensor<16x16xf16, #one>
      %a = ttg.convert_layout %v : tensor<16x16xf16, #one> -> tensor<16x16xf16, #a>
      %d = tt.dot %a, %y, %c : tensor<16x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<16x64xf32, #warp>
      scf.yield %d : tensor<16x64xf32, #warp>
    }
    tt.return %sum : tensor<16x64xf32, #warp>
  }

  // One of 32 bytes has no slots: it writes to multiples of 128. It is loaded where it is used, where the program waits.
  // CHECK-LABEL: @small_blocks
  // CHECK-NOT: loop.stage
  // CHECK: tt.return
  tt.func public @small_blocks(%x: !tt.tensordesc<tensor<16xf16>>, %y: tensor<16x64xf16, #b>, %n: i32) -> tensor<16x64xf32, #warp> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #warp>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<16x64xf32, #warp>) : i32 {
      %u = tt.descriptor_load %x[%i] : !tt.tensordesc<tensor<16xf16>> -> tensor<16xf16, #ttg.slice<{dim = 0, parent = #a}>>
      %v = tt.expand_dims %u {axis = 0 : i32} : tensor<16xf16, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x16xf16, #a>
      %a = tt.broadcast %v : tensor<1x16xf16, #a> -> tensor<16x16xf16, #a>
      %d = tt.dot %a, %y, %c : tensor<16x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<16x64xf32, #warp>
      scf.yield %d : tensor<16x64xf32, #warp>
    }
    tt.return %sum : tensor<16x64xf32, #warp>
  }

  // What has no product is scheduled where the loop says num_stages, and only there.
  // CHECK-LABEL: @sums
  // CHECK: scf.for
  // CHECK-NOT: loop.stage
  // CHECK: scf.yield
  // CHECK: scf.for
  // CHECK: tt.load {{.*}}{loop.cluster = 0 : i32, loop.stage = 0 : i32}
  // CHECK: arith.addf {{.*}}{loop.cluster = 1 : i32, loop.stage = 1 : i32}
  // CHECK: {tt.num_stages = 2 : i32, tt.scheduled_max_stage = 1 : i32}
  tt.func public @sums(%x: tensor<64x64x!tt.ptr<f32>, #one>, %n: i32) -> tensor<64x64xf32, #one> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #one>
    %first = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #one>) : i32 {
      %k = tt.splat %i : i32 -> tensor<64x64xi32, #one>
      %q = tt.addptr %x, %k : tensor<64x64x!tt.ptr<f32>, #one>, tensor<64x64xi32, #one>
      %u = tt.load %q : tensor<64x64x!tt.ptr<f32>, #one>
      %d = arith.addf %c, %u : tensor<64x64xf32, #one>
      scf.yield %d : tensor<64x64xf32, #one>
    }
    %second = scf.for %i = %c0 to %n step %c1 iter_args(%c = %first) -> (tensor<64x64xf32, #one>) : i32 {
      %k = tt.splat %i : i32 -> tensor<64x64xi32, #one>
      %q = tt.addptr %x, %k : tensor<64x64x!tt.ptr<f32>, #one>, tensor<64x64xi32, #one>
      %u = tt.load %q : tensor<64x64x!tt.ptr<f32>, #one>
      %d = arith.addf %c, %u : tensor<64x64xf32, #one>
      scf.yield %d : tensor<64x64xf32, #one>
    } {tt.num_stages = 2 : i32}
    tt.return %second : tensor<64x64xf32, #one>
  }

  // What an iteration stores may be what the next one loads.
  // CHECK-LABEL: @in_place
  // CHECK-NOT: loop.stage
  // CHECK: tt.return
  tt.func public @in_place(%x: !tt.ptr<f16>, %y: tensor<64x64xf16, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #warp>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %k = tt.splat %i : i32 -> tensor<64x64xi32, #rows>
      %q = tt.addptr %p, %k : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %u = tt.load %q : tensor<64x64x!tt.ptr<f16>, #rows>
      %a = ttg.convert_layout %u : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #a>
      %d = tt.dot %a, %y, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #warp>
      %e = arith.truncf %d : tensor<64x64xf32, #warp> to tensor<64x64xf16, #warp>
      %f = ttg.convert_layout %e : tensor<64x64xf16, #warp> -> tensor<64x64xf16, #rows>
      tt.store %q, %f : tensor<64x64x!tt.ptr<f16>, #rows>
    }
    tt.return
  }
}
