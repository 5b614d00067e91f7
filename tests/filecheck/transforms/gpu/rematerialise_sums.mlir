// RUN: tritonx-opt %s -p 'rematerialise{registers=96}' | filecheck %s
// RUN: tritonx-opt %s -p 'rematerialise{registers=255}' | filecheck %s --check-prefix ROOM
// RUN: tritonx-opt %s -p rematerialise | filecheck %s --check-prefix ROOM

// A warp has 16 of 128 rows and 4 of 16 columns a thread.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Rows are the same in each round of the outer loop: 16 pointers, beside a sum of 64 registers. The columns change.
  // CHECK-LABEL: @nested
  // CHECK: scf.for
  // CHECK: %[[COLUMNS:.*]] = arith.addi
  // CHECK: %[[P:.*]] = tt.splat %p : !tt.ptr<f32> -> tensor<1x16x!tt.ptr<f32>, #{{.*}}>
  // CHECK-NEXT: %[[FIRST:.*]] = tt.addptr %[[P]], %[[COLUMNS]]
  // CHECK-NEXT: %[[WIDE:.*]] = tt.broadcast %[[FIRST]] : tensor<1x16x!tt.ptr<f32>, #{{.*}}> -> tensor<128x16x!tt.ptr<f32>, #{{.*}}>
  // CHECK-NEXT: %[[ROWS:.*]] = tt.broadcast %rows : tensor<128x1xi32, #{{.*}}> -> tensor<128x16xi32, #{{.*}}>
  // CHECK-NEXT: tt.addptr %[[WIDE]], %[[ROWS]] {tt.divisibility = dense<16> : tensor<2xi32>}
  // CHECK: scf.for
  // ROOM-LABEL: @nested
  // ROOM: %[[ROWS:.*]] = tt.addptr %{{.*}}, %rows
  // ROOM: tt.broadcast %[[ROWS]]
  tt.func public @nested(%p: !tt.ptr<f32>, %rows: tensor<128x1xi32, #b>, %columns: tensor<1x16xi32, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x16xf32, #b>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %by = tt.splat %i : i32 -> tensor<1x16xi32, #b>
      %moved = arith.addi %columns, %by : tensor<1x16xi32, #b>
      %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #b>
      %begun = tt.addptr %s, %rows : tensor<128x1x!tt.ptr<f32>, #b>, tensor<128x1xi32, #b>
      %wide = tt.broadcast %begun : tensor<128x1x!tt.ptr<f32>, #b> -> tensor<128x16x!tt.ptr<f32>, #b>
      %offsets = tt.broadcast %moved : tensor<1x16xi32, #b> -> tensor<128x16xi32, #b>
      %tile = tt.addptr %wide, %offsets {tt.divisibility = dense<16> : tensor<2xi32>} : tensor<128x16x!tt.ptr<f32>, #b>, tensor<128x16xi32, #b>
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<128x16xf32, #b>) : i32 {
        %y = arith.addf %x, %x : tensor<128x16xf32, #b>
        scf.yield %y : tensor<128x16xf32, #b>
      }
      tt.store %tile, %sum : tensor<128x16x!tt.ptr<f32>, #b>
    }
    tt.return
  }

  // Where no loop is inside, where the first offset changes too, and where the second one is as many numbers, all stays.
  // CHECK-LABEL: @single
  // CHECK: tt.addptr %{{.*}}, %rows
  tt.func public @single(%p: !tt.ptr<f32>, %rows: tensor<128x1xi32, #b>, %columns: tensor<1x16xi32, #b>, %n: i32, %sum: tensor<128x16xf32, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %by = tt.splat %i : i32 -> tensor<1x16xi32, #b>
      %moved = arith.addi %columns, %by : tensor<1x16xi32, #b>
      %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #b>
      %begun = tt.addptr %s, %rows : tensor<128x1x!tt.ptr<f32>, #b>, tensor<128x1xi32, #b>
      %wide = tt.broadcast %begun : tensor<128x1x!tt.ptr<f32>, #b> -> tensor<128x16x!tt.ptr<f32>, #b>
      %offsets = tt.broadcast %moved : tensor<1x16xi32, #b> -> tensor<128x16xi32, #b>
      %tile = tt.addptr %wide, %offsets : tensor<128x16x!tt.ptr<f32>, #b>, tensor<128x16xi32, #b>
      tt.store %tile, %sum : tensor<128x16x!tt.ptr<f32>, #b>
    }
    tt.return
  }

  // CHECK-LABEL: @both
  // CHECK: %[[ROWS:.*]] = arith.addi %rows
  // CHECK: %[[BEGUN:.*]] = tt.addptr %{{.*}}, %[[ROWS]]
  // CHECK: tt.broadcast %[[BEGUN]]
  // CHECK: %[[COLUMNS:.*]] = tt.addptr %{{.*}}, %moved_columns : tensor<1x16x!tt.ptr<f32>
  // CHECK: tt.broadcast %[[COLUMNS]]
  tt.func public @both(%p: !tt.ptr<f32>, %rows: tensor<128x1xi32, #b>, %columns: tensor<1x16xi32, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x16xf32, #b>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %down = tt.splat %i : i32 -> tensor<128x1xi32, #b>
      %moved_rows = arith.addi %rows, %down : tensor<128x1xi32, #b>
      %by = tt.splat %i : i32 -> tensor<1x16xi32, #b>
      %moved_columns = arith.addi %columns, %by : tensor<1x16xi32, #b>
      %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #b>
      %begun = tt.addptr %s, %moved_rows : tensor<128x1x!tt.ptr<f32>, #b>, tensor<128x1xi32, #b>
      %wide = tt.broadcast %begun : tensor<128x1x!tt.ptr<f32>, #b> -> tensor<128x16x!tt.ptr<f32>, #b>
      %offsets = tt.broadcast %moved_columns : tensor<1x16xi32, #b> -> tensor<128x16xi32, #b>
      %tile = tt.addptr %wide, %offsets : tensor<128x16x!tt.ptr<f32>, #b>, tensor<128x16xi32, #b>
      %s2 = tt.splat %p : !tt.ptr<f32> -> tensor<1x16x!tt.ptr<f32>, #b>
      %begun2 = tt.addptr %s2, %moved_columns : tensor<1x16x!tt.ptr<f32>, #b>, tensor<1x16xi32, #b>
      %wide2 = tt.broadcast %begun2 : tensor<1x16x!tt.ptr<f32>, #b> -> tensor<128x16x!tt.ptr<f32>, #b>
      %offsets2 = tt.broadcast %rows : tensor<128x1xi32, #b> -> tensor<128x16xi32, #b>
      %tile2 = tt.addptr %wide2, %offsets2 : tensor<128x16x!tt.ptr<f32>, #b>, tensor<128x16xi32, #b>
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<128x16xf32, #b>) : i32 {
        %y = arith.addf %x, %x : tensor<128x16xf32, #b>
        scf.yield %y : tensor<128x16xf32, #b>
      }
      tt.store %tile, %sum : tensor<128x16x!tt.ptr<f32>, #b>
      tt.store %tile2, %sum : tensor<128x16x!tt.ptr<f32>, #b>
    }
    tt.return
  }
}
