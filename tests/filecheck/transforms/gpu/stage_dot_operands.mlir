// RUN: tritonx-opt %s --split-input-file -p "stage-dot-operands{registers=256}" | filecheck %s
// RUN: tritonx-opt %s --split-input-file -p "stage-dot-operands{registers=256}" | filecheck %s --check-prefix SLICES
// RUN: tritonx-opt %s --split-input-file -p "stage-dot-operands{shared_memory=65536 registers=256}" | filecheck %s --check-prefix MORE
// RUN: tritonx-opt %s --split-input-file -p "stage-dot-operands" | filecheck %s --check-prefix UNKNOWN

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#alone = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#p = #ttg.dot_op<{opIdx = 0, parent = #alone, kWidth = 2}>

// Rows of 64 bytes: two share the banks, so phases change every second row. Both operands are stored before either is loaded.
// CHECK: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-LABEL: @product
// CHECK: %[[A:.*]] = ttg.local_alloc %a
// CHECK-NEXT: %[[B:.*]] = ttg.local_alloc %b
// CHECK-NEXT: ttg.local_load %[[A]]
// CHECK-NEXT: ttg.local_load %[[B]]
// CHECK-NEXT: tt.dot
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%a: tensor<64x32xf16, #rows>, %b: tensor<32x32xf16, #rows>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %x = ttg.convert_layout %a : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
    %y = ttg.convert_layout %b : tensor<32x32xf16, #rows> -> tensor<32x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }

  // What a product of rows inside a warp left is the next operand as it lies.
  // CHECK-LABEL: @inside
  // CHECK-NOT: local_alloc
  // CHECK: ttg.convert_layout
  tt.func public @inside(%a: tensor<64x32xf16, #alone>) -> tensor<64x32xf16, #p> {
    %x = ttg.convert_layout %a : tensor<64x32xf16, #alone> -> tensor<64x32xf16, #p>
    tt.return %x : tensor<64x32xf16, #p>
  }
}

// -----

// A product by multiply-adds: both operands are stored, and loaded directly in front of the product, in the loop too,
// where the first of them was converted outside.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#squares = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #squares}>
#b = #ttg.dot_op<{opIdx = 1, parent = #squares}>

// SLICES: #shared = #ttg.shared_linear<{offset =
// SLICES-LABEL: @sliced
// SLICES: %[[A:.*]] = ttg.local_alloc %a
// SLICES-NOT: ttg.local_load
// SLICES: scf.for
// SLICES: %[[B:.*]] = ttg.local_alloc
// SLICES-NEXT: %[[X:.*]] = ttg.local_load %[[A]]
// SLICES-NEXT: %[[Y:.*]] = ttg.local_load %[[B]]
// SLICES-NEXT: tt.dot %[[X]], %[[Y]]
// SLICES-NOT: ttg.convert_layout
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sliced(%a: tensor<64x32xf32, #rows>, %p: tensor<32x64x!tt.ptr<f32>, #rows>, %c: tensor<64x64xf32, #squares>, %n: i32) -> tensor<64x64xf32, #squares> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = ttg.convert_layout %a : tensor<64x32xf32, #rows> -> tensor<64x32xf32, #a>
    %d = scf.for %i = %zero to %n step %one iter_args(%t = %c) -> (tensor<64x64xf32, #squares>) : i32 {
      %b = tt.load %p : tensor<32x64x!tt.ptr<f32>, #rows>
      %y = ttg.convert_layout %b : tensor<32x64xf32, #rows> -> tensor<32x64xf32, #b>
      %next = tt.dot %x, %y, %t : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #squares>
      scf.yield %next : tensor<64x64xf32, #squares>
    }
    tt.return %d : tensor<64x64xf32, #squares>
  }

  // Operands that do not fit together stay with their conversions, which cut the exchange into parts; 64 KB are enough.
  // SLICES-LABEL: @large
  // SLICES-NOT: local_alloc
  // SLICES: ttg.convert_layout
  // MORE-LABEL: @large
  // MORE-COUNT-2: ttg.local_alloc
  // MORE-NOT: ttg.convert_layout
  // MORE: tt.return
  tt.func public @large(%a: tensor<64x128xf32, #rows>, %b: tensor<128x64xf32, #rows>, %c: tensor<64x64xf32, #squares>) -> tensor<64x64xf32, #squares> {
    %x = ttg.convert_layout %a : tensor<64x128xf32, #rows> -> tensor<64x128xf32, #a>
    %y = ttg.convert_layout %b : tensor<128x64xf32, #rows> -> tensor<128x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x128xf32, #a> * tensor<128x64xf32, #b> -> tensor<64x64xf32, #squares>
    tt.return %d : tensor<64x64xf32, #squares>
  }

  // Two products after each other, 32 KB each: the second one's operands are stored when the first one is through.
  // SLICES-LABEL: @apart
  // SLICES-COUNT-2: ttg.local_alloc
  // SLICES-COUNT-2: ttg.local_load
  // SLICES: tt.dot
  // SLICES-COUNT-2: ttg.local_alloc
  // SLICES-COUNT-2: ttg.local_load
  // SLICES-NEXT: tt.dot
  tt.func public @apart(%a: tensor<64x64xf32, #rows>, %b: tensor<64x64xf32, #rows>, %c: tensor<64x64xf32, #squares>) -> tensor<64x64xf32, #squares> {
    %x = ttg.convert_layout %a : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #a>
    %y = ttg.convert_layout %b : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #b>
    %z = ttg.convert_layout %b : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #a>
    %w = ttg.convert_layout %a : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #squares>
    %e = tt.dot %z, %w, %d : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #squares>
    tt.return %e : tensor<64x64xf32, #squares>
  }
}

// -----

// A matrix unit without a matrix load reads slices too. What is converted beside its product comes first: 32 KiB of it
// leave 16 of the 48, which is too little for the 32 KiB from outside the loop.
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#wmma = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [4, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #wmma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #wmma, kWidth = 16}>

// SLICES-LABEL: @wave
// SLICES-NOT: ttg.local_alloc
// SLICES: %[[X:.*]] = ttg.convert_layout %a
// SLICES: scf.for
// SLICES: %[[B:.*]] = ttg.local_alloc
// SLICES-NEXT: %[[Y:.*]] = ttg.local_load %[[B]]
// SLICES-NEXT: tt.dot %[[X]], %[[Y]]
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @wave(%a: tensor<128x128xf16, #rows>, %p: tensor<128x128x!tt.ptr<f16>, #rows>, %c: tensor<128x128xf32, #wmma>, %n: i32) -> tensor<128x128xf32, #wmma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = ttg.convert_layout %a : tensor<128x128xf16, #rows> -> tensor<128x128xf16, #a>
    %r = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> (tensor<128x128xf32, #wmma>) : i32 {
      %v = tt.load %p : tensor<128x128x!tt.ptr<f16>, #rows>
      %y = ttg.convert_layout %v : tensor<128x128xf16, #rows> -> tensor<128x128xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<128x128xf16, #a> * tensor<128x128xf16, #b> -> tensor<128x128xf32, #wmma>
      scf.yield %d : tensor<128x128xf32, #wmma>
    }
    tt.return %r : tensor<128x128xf32, #wmma>
  }
}

// -----

// What a matrix load brings stays in registers during a loop where they suffice: 16 for a, and 64 for the result, which
// the loop carries. An operand of 128 beside a result of 128 is read for each product, but where it is unknown how many
// registers there are.
// UNKNOWN-LABEL: @again
// UNKNOWN: ttg.local_load
// UNKNOWN: scf.for
// UNKNOWN-COUNT-1: ttg.local_load
// UNKNOWN-NOT: ttg.local_load
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
// CHECK-LABEL: @held
// CHECK: ttg.local_load
// CHECK: scf.for
// CHECK-COUNT-1: ttg.local_load
// CHECK-NOT: ttg.local_load
// CHECK-LABEL: @again
// CHECK-NOT: ttg.local_load
// CHECK: scf.for
// CHECK: %[[B:.*]] = ttg.local_alloc
// CHECK-COUNT-2: ttg.local_load
// CHECK-NEXT: tt.dot
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @held(%a: tensor<64x32xf16, #rows>, %p: tensor<32x128x!tt.ptr<f16>, #rows>, %c: tensor<64x128xf32, #mma>, %n: i32) -> tensor<64x128xf32, #mma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = ttg.convert_layout %a : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
    %d = scf.for %i = %zero to %n step %one iter_args(%t = %c) -> (tensor<64x128xf32, #mma>) : i32 {
      %v = tt.load %p : tensor<32x128x!tt.ptr<f16>, #rows>
      %y = ttg.convert_layout %v : tensor<32x128xf16, #rows> -> tensor<32x128xf16, #b>
      %next = tt.dot %x, %y, %t : tensor<64x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<64x128xf32, #mma>
      scf.yield %next : tensor<64x128xf32, #mma>
    }
    tt.return %d : tensor<64x128xf32, #mma>
  }
  tt.func public @again(%a: tensor<128x128xf16, #rows>, %p: tensor<128x128x!tt.ptr<f16>, #rows>, %c: tensor<128x128xf32, #mma>, %n: i32) -> tensor<128x128xf32, #mma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = ttg.convert_layout %a : tensor<128x128xf16, #rows> -> tensor<128x128xf16, #a>
    %d = scf.for %i = %zero to %n step %one iter_args(%t = %c) -> (tensor<128x128xf32, #mma>) : i32 {
      %v = tt.load %p : tensor<128x128x!tt.ptr<f16>, #rows>
      %y = ttg.convert_layout %v : tensor<128x128xf16, #rows> -> tensor<128x128xf16, #b>
      %next = tt.dot %x, %y, %t : tensor<128x128xf16, #a> * tensor<128x128xf16, #b> -> tensor<128x128xf32, #mma>
      scf.yield %next : tensor<128x128xf32, #mma>
    }
    tt.return %d : tensor<128x128xf32, #mma>
  }
}
