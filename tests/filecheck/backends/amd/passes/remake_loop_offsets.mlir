// RUN: tritonx-opt %s -p 'remake-loop-offsets{registers=127}' | filecheck %s
// RUN: tritonx-opt %s -p 'remake-loop-offsets{registers=128}' | filecheck %s --check-prefix ROOM

// Each thread has a row of 64 elements, of a stride that is known at the launch.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [0, 1]}>
#r = #ttg.slice<{dim = 1, parent = #b}>
#c = #ttg.slice<{dim = 0, parent = #b}>

// ROOM-NOT: elementwise_inline_asm
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // 64 offsets and a sum of 64 words. The row's part, one number of a thread, is not known to stay the same.
  // CHECK-LABEL: tt.func public @apart
  // CHECK: %[[ROWS:.*]] = tt.make_range {end = 32
  // CHECK: %[[COLUMNS:.*]] = tt.broadcast %{{.*}} : tensor<1x64xi32, #{{.*}}> -> tensor<32x64xi32
  // CHECK: scf.for
  // CHECK-NEXT: %[[KEPT:.*]] = tt.elementwise_inline_asm ""{{.*}} %[[ROWS]]
  // CHECK-NEXT: %[[COLUMN:.*]] = tt.expand_dims %[[KEPT]]
  // CHECK-NEXT: %[[WIDE:.*]] = tt.broadcast %[[COLUMN]]
  // CHECK-NEXT: %[[OFFSETS:.*]] = arith.addi %[[WIDE]], %[[COLUMNS]]
  // CHECK-NEXT: amdg.buffer_load %{{.*}}[%[[OFFSETS]]]
  // CHECK-LABEL: tt.func public @neighbours
  tt.func public @apart(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32, %none: tensor<32x64xf32, #b>) -> tensor<32x64xf32, #b> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %rows = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #r>
    %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #c>
    %row = tt.expand_dims %rows {axis = 1 : i32} : tensor<32xi32, #r> -> tensor<32x1xi32, #b>
    %column = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #c> -> tensor<1x64xi32, #b>
    %by = tt.splat %stride : i32 -> tensor<1x64xi32, #b>
    %part = arith.muli %column, %by : tensor<1x64xi32, #b>
    %0 = tt.broadcast %row : tensor<32x1xi32, #b> -> tensor<32x64xi32, #b>
    %1 = tt.broadcast %part : tensor<1x64xi32, #b> -> tensor<32x64xi32, #b>
    %offsets = arith.addi %0, %1 : tensor<32x64xi32, #b>
    %end, %total = scf.for %i = %zero to %n step %one iter_args(%at = %p, %sum = %none) -> (!tt.ptr<f32>, tensor<32x64xf32, #b>) : i32 {
      %x = amdg.buffer_load %at[%offsets] : tensor<32x64xf32, #b>
      %more = arith.addf %sum, %x : tensor<32x64xf32, #b>
      %next = tt.addptr %at, %stride : !tt.ptr<f32>, i32
      scf.yield %next, %more : !tt.ptr<f32>, tensor<32x64xf32, #b>
    }
    tt.return %total : tensor<32x64xf32, #b>
  }

  // Neighbours are loaded together, at one offset.
  // CHECK-NOT: elementwise_inline_asm
  tt.func public @neighbours(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %none: tensor<32x64xf32, #b>) -> tensor<32x64xf32, #b> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %rows = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #r>
    %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #c>
    %row = tt.expand_dims %rows {axis = 1 : i32} : tensor<32xi32, #r> -> tensor<32x1xi32, #b>
    %column = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #c> -> tensor<1x64xi32, #b>
    %by = tt.splat %stride : i32 -> tensor<32x1xi32, #b>
    %part = arith.muli %row, %by : tensor<32x1xi32, #b>
    %0 = tt.broadcast %part : tensor<32x1xi32, #b> -> tensor<32x64xi32, #b>
    %1 = tt.broadcast %column : tensor<1x64xi32, #b> -> tensor<32x64xi32, #b>
    %offsets = arith.addi %0, %1 : tensor<32x64xi32, #b>
    %end, %total = scf.for %i = %zero to %n step %one iter_args(%at = %p, %sum = %none) -> (!tt.ptr<f32>, tensor<32x64xf32, #b>) : i32 {
      %x = amdg.buffer_load %at[%offsets] : tensor<32x64xf32, #b>
      %more = arith.addf %sum, %x : tensor<32x64xf32, #b>
      %next = tt.addptr %at, %stride : !tt.ptr<f32>, i32
      scf.yield %next, %more : !tt.ptr<f32>, tensor<32x64xf32, #b>
    }
    tt.return %total : tensor<32x64xf32, #b>
  }
}
