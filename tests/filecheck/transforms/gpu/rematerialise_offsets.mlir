// RUN: tritonx-opt %s -p 'rematerialise{registers=137}' | filecheck %s
// RUN: tritonx-opt %s -p 'rematerialise{registers=138}' | filecheck %s --check-prefix BEHIND
// RUN: tritonx-opt %s -p 'rematerialise{registers=184}' | filecheck %s --check-prefix ROOM
// RUN: tritonx-opt %s -p rematerialise | filecheck %s --check-prefix ROOM

// A warp has 16 of 128 rows and 4 of 16 columns a thread: 64 words of f32.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #b}>

// ROOM-NOT: tt.anew
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A sum of 64 words and a mask of 2 are held while 16 more are loaded; with 16 rows and 40 registers that makes 138.
  // The store's pointers are made anew in front of it, of the scalar and a range of their own; the load's stay.
  // BEHIND-LABEL: tt.func public @behind
  // BEHIND-NOT: tt.anew
  // BEHIND-LABEL: tt.func public @two
  // BEHIND: tt.anew
  // CHECK-LABEL: tt.func public @behind
  // CHECK: %[[RANGE:.*]] = tt.make_range {end = 128 : i32, start = 0 : i32}
  // CHECK: %[[OLD:.*]] = arith.muli
  // CHECK: tt.addptr %{{.*}}, %[[OLD]]
  // CHECK: tt.load
  // CHECK: arith.addf
  // CHECK: %[[ANEW:.*]] = tt.make_range {end = 128 : i32, start = 0 : i32, tt.anew}
  // CHECK: tt.expand_dims %[[ANEW]]
  // CHECK: %[[BY:.*]] = tt.splat %stride
  // CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %[[BY]]
  // CHECK: %[[BEGUN:.*]] = tt.addptr %{{.*}}, %[[ROWS]] {tt.divisibility = dense<16> : tensor<2xi32>}
  // CHECK: %[[PLACE:.*]] = tt.broadcast %[[BEGUN]]
  // CHECK: tt.store %[[PLACE]], %{{.*}}, %mask
  tt.func public @behind(%p: !tt.ptr<f32>, %q: !tt.ptr<i8>, %stride: i32, %sum: tensor<128x16xf32, #b>, %mask: tensor<128x16xi1, #b>) {
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #r>
    %column = tt.expand_dims %range {axis = 1 : i32} : tensor<128xi32, #r> -> tensor<128x1xi32, #b>
    %by = tt.splat %stride : i32 -> tensor<128x1xi32, #b>
    %rows = arith.muli %column, %by : tensor<128x1xi32, #b>
    %base = tt.splat %q : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>, #b>
    %begun = tt.addptr %base, %rows : tensor<128x1x!tt.ptr<i8>, #b>, tensor<128x1xi32, #b>
    %tile = tt.broadcast %begun : tensor<128x1x!tt.ptr<i8>, #b> -> tensor<128x16x!tt.ptr<i8>, #b>
    %narrow = tt.load %tile : tensor<128x16x!tt.ptr<i8>, #b>
    %x = arith.sitofp %narrow : tensor<128x16xi8, #b> to tensor<128x16xf32, #b>
    %y = arith.addf %x, %sum : tensor<128x16xf32, #b>
    %base2 = tt.splat %p : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #b>
    %begun2 = tt.addptr %base2, %rows {tt.divisibility = dense<16> : tensor<2xi32>} : tensor<128x1x!tt.ptr<f32>, #b>, tensor<128x1xi32, #b>
    %tile2 = tt.broadcast %begun2 : tensor<128x1x!tt.ptr<f32>, #b> -> tensor<128x16x!tt.ptr<f32>, #b>
    tt.store %tile2, %y, %mask : tensor<128x16x!tt.ptr<f32>, #b>
    tt.return
  }

  // Of two stores of the same offsets the second one makes them anew, and then the first one shares them with nothing.
  // CHECK-LABEL: tt.func public @two
  // CHECK-NOT: tt.anew
  // CHECK: tt.store
  // CHECK: tt.make_range {end = 128 : i32, start = 0 : i32, tt.anew}
  // CHECK: tt.store
  tt.func public @two(%p: !tt.ptr<f32>, %x: tensor<128x16xf32, #b>, %y: tensor<128x16xf32, #b>) {
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #r>
    %column = tt.expand_dims %range {axis = 1 : i32} : tensor<128xi32, #r> -> tensor<128x1xi32, #b>
    %rows = tt.broadcast %column : tensor<128x1xi32, #b> -> tensor<128x16xi32, #b>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>, #b>
    %tile = tt.addptr %base, %rows : tensor<128x16x!tt.ptr<f32>, #b>, tensor<128x16xi32, #b>
    tt.store %tile, %x : tensor<128x16x!tt.ptr<f32>, #b>
    %z = arith.addf %x, %y : tensor<128x16xf32, #b>
    tt.store %tile, %z : tensor<128x16x!tt.ptr<f32>, #b>
    tt.return
  }

  // A loop in front does not count, and in an innermost one nothing is made anew in each round.
  // CHECK-LABEL: tt.func public @loops
  // CHECK-NOT: tt.anew
  tt.func public @loops(%p: !tt.ptr<f32>, %n: i32, %sum: tensor<128x16xf32, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #r>
    %column = tt.expand_dims %range {axis = 1 : i32} : tensor<128xi32, #r> -> tensor<128x1xi32, #b>
    %rows = tt.broadcast %column : tensor<128x1xi32, #b> -> tensor<128x16xi32, #b>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>, #b>
    %tile = tt.addptr %base, %rows : tensor<128x16x!tt.ptr<f32>, #b>, tensor<128x16xi32, #b>
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%x = %sum) -> (tensor<128x16xf32, #b>) : i32 {
      %y = tt.load %tile : tensor<128x16x!tt.ptr<f32>, #b>
      %z = arith.addf %x, %y : tensor<128x16xf32, #b>
      tt.store %tile, %z : tensor<128x16x!tt.ptr<f32>, #b>
      scf.yield %z : tensor<128x16xf32, #b>
    }
    tt.store %tile, %end : tensor<128x16x!tt.ptr<f32>, #b>
    tt.return
  }

  // What nothing else uses is computed late in any case.
  // CHECK-LABEL: tt.func public @alone
  // CHECK-NOT: tt.anew
  tt.func public @alone(%p: !tt.ptr<f32>, %n: i32, %sum: tensor<128x16xf32, #b>, %more: tensor<128x16xf32, #b>) {
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #r>
    %column = tt.expand_dims %range {axis = 1 : i32} : tensor<128xi32, #r> -> tensor<128x1xi32, #b>
    %rows = tt.broadcast %column : tensor<128x1xi32, #b> -> tensor<128x16xi32, #b>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>, #b>
    %tile = tt.addptr %base, %rows : tensor<128x16x!tt.ptr<f32>, #b>, tensor<128x16xi32, #b>
    %y = arith.addf %sum, %more : tensor<128x16xf32, #b>
    tt.store %tile, %y : tensor<128x16x!tt.ptr<f32>, #b>
    tt.return
  }
}
