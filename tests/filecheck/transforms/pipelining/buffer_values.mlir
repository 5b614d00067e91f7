// RUN: tritonx-opt %s -p "buffer-values{shared_memory=49152}" | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Two intervals ahead, and the unit reads on after the product is issued: three slots, one counter for the copies and
  // one for their readers, one wait. Loads of what is not 4 bytes wide at least stay.
  // CHECK-LABEL: @product
  // CHECK: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16, {{.*}}, mutable>
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[IN:.*]] = %[[LESS:.*]], %[[OUT:.*]] = %[[LESS]])
  // CHECK: %[[NEXT:.*]] = arith.addi %[[IN]], %{{.*}} {loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: %[[END:.*]] = arith.cmpi sge, %[[NEXT]]
  // CHECK: %[[SLOT:.*]] = arith.select %[[END]], %{{.*}}, %[[NEXT]]
  // CHECK: %[[TO:.*]] = ttg.memdesc_index %[[A]][%[[SLOT]]]
  // CHECK: ttg.async_copy_global_to_local %{{.*}}, %[[TO]] mask %ms other %zero {contiguity = 8 : i32, loop.cluster = 1 : i32, loop.stage = 0 : i32}
  // CHECK: %[[GROUP:.*]] = ttg.async_commit_group
  // CHECK: tt.load %odd
  // CHECK: ttg.local_alloc
  // CHECK: %[[READ:.*]] = arith.select {{.*}}loop.stage = 2
  // CHECK: ttg.async_wait %[[GROUP]] {loop.cluster = 0 : i32, loop.stage = 2 : i32, num = 0 : i32}
  // CHECK: %[[FROM:.*]] = ttg.memdesc_index %[[A]][%[[READ]]]
  // CHECK: ttng.warp_group_dot %[[FROM]]
  // CHECK: scf.yield %{{.*}}, %[[SLOT]], %[[READ]]
  // CHECK: ttg.local_dealloc %[[A]]
  tt.func public @product(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i1, %odd: tensor<32x32x!tt.ptr<f16>, #rows>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x32xf16, #rows>
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %ms = tt.splat %m : i1 -> tensor<64x32xi1, #rows>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q, %ms, %zero {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.load %odd {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %b = ttng.warp_group_dot %xm, %ym, %a {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %b : tensor<64x32xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }

  // A block has 48 KiB: three slots of 16 KiB and the other operand do not fit, one stage less with two slots does.
  // CHECK-LABEL: @narrow
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x256x32xf16, {{.*}}, mutable>
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: tt.scheduled_max_stage = 1 : i32
  tt.func public @narrow(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i1, %odd: tensor<32x32x!tt.ptr<f16>, #rows>, %init: tensor<256x32xf32, #mma>, %n: i32) -> tensor<256x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<256x32xf16, #rows>
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<256x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<256x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<256x32x!tt.ptr<f16>, #rows>, tensor<256x32xi32, #rows>
    %ms = tt.splat %m : i1 -> tensor<256x32xi1, #rows>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<256x32xf32, #mma>) : i32 {
      %x = tt.load %q, %ms, %zero {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<256x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<256x32xf16, #rows>) -> !ttg.memdesc<256x32xf16, #shared, #smem>
      %y = tt.load %odd {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %b = ttng.warp_group_dot %xm, %ym, %a {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<256x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<256x32xf32, #mma>
      scf.yield %b : tensor<256x32xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<256x32xf32, #mma>
  }

  // What is loaded between two products is copied in front of both, as text as well: one wait is for both copies.
  // CHECK-LABEL: @between
  // CHECK: scf.for
  // CHECK: %[[ONE:.*]] = ttg.async_commit_group
  // CHECK: %[[TWO:.*]] = ttg.async_commit_group
  // CHECK: ttg.async_wait %[[ONE]], %[[TWO]] {loop.cluster = 0 : i32, loop.stage = 2 : i32
  // CHECK-NOT: ttg.async_wait
  // CHECK-COUNT-2: ttng.warp_group_dot
  // CHECK-NOT: ttg.async_wait
  tt.func public @between(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %odd: tensor<32x32xf16, #rows>, %init: tensor<64x32xf32, #mma>, %n: i32) -> (tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %w = ttg.local_alloc %odd : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %sums, %others = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %b = %init) -> (tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %c = ttng.warp_group_dot %xm, %w, %a {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      %y = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %d = ttng.warp_group_dot %ym, %w, %b {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %c, %d : tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sums, %others : tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>
  }

  // An interval that starts with the copies starts with the wait for what was copied two intervals before: the barrier
  // behind it is theirs as well.
  // CHECK-LABEL: @copied_first
  // CHECK: ttg.async_copy_global_to_local {{.*}}loop.cluster = 0 : i32, loop.stage = 0 : i32}
  // CHECK: ttg.async_wait %{{.*}} {loop.cluster = -1 : i32, loop.stage = 2 : i32, num = 0 : i32}
  // CHECK: ttng.warp_group_dot {{.*}}loop.cluster = 1 : i32
  tt.func public @copied_first(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !ttg.memdesc<32x32xf16, #shared, #smem>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 1 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %b = ttng.warp_group_dot %xm, %y, %a {loop.stage = 2 : i32, loop.cluster = 1 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %b : tensor<64x32xf32, #mma>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }

  // With one interval's time the next copies are on their way before those of the interval before are waited for.
  // CHECK-LABEL: @copied_first_narrow
  // CHECK: ttg.async_copy_global_to_local {{.*}}loop.cluster = 0 : i32, loop.stage = 0 : i32}
  // CHECK: ttg.async_wait %{{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32, num = 0 : i32}
  tt.func public @copied_first_narrow(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !ttg.memdesc<32x32xf16, #shared, #smem>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 1 : i32, loop.cluster = 1 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %b = ttng.warp_group_dot %xm, %y, %a {loop.stage = 1 : i32, loop.cluster = 1 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %b : tensor<64x32xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}
