// RUN: tritonx-opt %s --split-input-file --verify-diagnostics -p 'buffer-values{shared_memory=232448 blocks="ttng"}'

// The product of the round before still reads the slot.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @few(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: op 0 overwrites what op 4 reads: 2 slots are too few}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 2 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 2 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 2 slots: at 0.1 before 0", "counter of 2 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// A wait behind the product.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @late(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: buffer 0 is read before it is waited for}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.1 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// No wait.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @none(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: there is no wait for buffer 0}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// The barrier would be told behind the copy.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @early(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: buffer 1 is on its way before its bytes are expected}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.2 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// Threads copy what they load through pointers.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @other(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: tt.descriptor_load does not bring buffer 0}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 2 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// The product would have no operand.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @unused(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: buffer 0 is brought or used by other ops, or in other places}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 3", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// Whoever waits at an mbarrier needs the parity.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @uncounted(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: stage 2 needs one counter of 3 slots with phases}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// The body has five ops.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @beyond(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: there is no op 9}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 9"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// By another schedule.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @deeper(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: the loop has 3 stages}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["4 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// The product is in stage 2.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sooner(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: buffer 0 is brought or used by other ops, or in other places}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 1.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 1.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// The number of the slot would be used before it is made.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @counted(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: a slot is taken before op 0, and counted later}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 1", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// The wait is in a later stage, and its group is made behind it in the text.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @text(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: buffer 0 is waited for before it is on its way}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.0 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 1.3 before 0"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// A view that stands behind what is loaded from it.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @taken(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: op 4 uses a slot before it is viewed}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: 3 slots of !ttg.memdesc<64x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  copied by 0 at 0.1, 8 elements at once, for alloc 1", "  viewed at 2.1 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "buffer 1: 3 slots of !ttg.memdesc<32x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>", "  brought by 2 at 0.1, for alloc 3", "  viewed at 2.1 before 4, loaded at 2.0 before 4, for 4", "  read by 4 at 2.0, over a round later", "counter of 3 slots: at 0.1 before 0", "counter of 3 slots: at 2.0 before 4, with phases", "barrier of 1: 2048 bytes expected at 0.1 before 2, waited for at 2.0 before 4", "wait for 0: at 2.0 before 4"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}

// -----

// A plan that is none.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @words(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<tensor<32x32xf16, #shared>>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %offsets = tt.broadcast %row : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    // expected-error@+1 {{tritonx.slots: no line of a plan: 'buffer 0: many slots'}}
    %sum = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xm = ttg.local_alloc %x {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<32x32xf16, #shared>> -> tensor<32x32xf16, #rows>
      %ym = ttg.local_alloc %y {loop.stage = 2 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %t = ttng.warp_group_dot %xm, %ym, %s {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<64x32xf32, #mma>
      scf.yield %t : tensor<64x32xf32, #mma>
    } {tritonx.slots = ["3 stages", "buffer 0: many slots"], tt.scheduled_max_stage = 2 : i32}
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}
