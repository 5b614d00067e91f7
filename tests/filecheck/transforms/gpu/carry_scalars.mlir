// RUN: tritonx-opt %s -p "carry-scalars" | filecheck %s

#c = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 4], order = [0, 1]}>
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The pointer is carried; tiles are made of it where they are read, in the body and behind it.
  // CHECK-LABEL: @moved
  // CHECK: %[[END:.*]] = scf.for %{{.*}} iter_args(%[[P:.*]] = %p) -> (!tt.ptr<f16>)
  // CHECK-NEXT: %[[S:.*]] = tt.splat %[[P]]
  // CHECK-NEXT: %[[ROWS:.*]] = tt.broadcast %[[S]]
  // CHECK-NEXT: %[[TILE:.*]] = tt.addptr %[[ROWS]], %offsets
  // CHECK-NEXT: tt.load %[[TILE]]
  // CHECK-NEXT: %[[NEXT:.*]] = tt.addptr %[[P]], %by : !tt.ptr<f16>, i32
  // CHECK-NEXT: %[[S2:.*]] = tt.splat %[[NEXT]]
  // CHECK-NEXT: %[[ROWS2:.*]] = tt.broadcast %[[S2]]
  // CHECK-NEXT: %[[TILE2:.*]] = tt.addptr %[[ROWS2]], %offsets
  // CHECK-NEXT: tt.load %[[TILE2]]
  // CHECK-NEXT: %[[LAST:.*]] = tt.addptr %[[NEXT]], %{{.*}} : !tt.ptr<f16>, i32
  // CHECK-NEXT: scf.yield %[[LAST]]
  // CHECK: %[[S3:.*]] = tt.splat %[[END]]
  // CHECK: %[[TILE3:.*]] = tt.addptr %{{.*}}, %offsets
  // CHECK: tt.load %[[TILE3]]
  tt.func public @moved(%p: !tt.ptr<f16>, %offsets: tensor<8x64xi32, #b>, %by: i32, %n: i32) -> tensor<8x64xf16, #b> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = arith.constant dense<64> : tensor<8x64xi32, #b>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<1x64x!tt.ptr<f16>, #b>
    %rows = tt.broadcast %s : tensor<1x64x!tt.ptr<f16>, #b> -> tensor<8x64x!tt.ptr<f16>, #b>
    %tile = tt.addptr %rows, %offsets : tensor<8x64x!tt.ptr<f16>, #b>, tensor<8x64xi32, #b>
    %step = tt.splat %by : i32 -> tensor<8x64xi32, #b>
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%q = %tile) -> (tensor<8x64x!tt.ptr<f16>, #b>) : i32 {
      %x = tt.load %q : tensor<8x64x!tt.ptr<f16>, #b>
      %r = tt.addptr %q, %step : tensor<8x64x!tt.ptr<f16>, #b>, tensor<8x64xi32, #b>
      %y = tt.load %r : tensor<8x64x!tt.ptr<f16>, #b>
      %z = tt.addptr %r, %all : tensor<8x64x!tt.ptr<f16>, #b>, tensor<8x64xi32, #b>
      scf.yield %z : tensor<8x64x!tt.ptr<f16>, #b>
    }
    %last = tt.load %end : tensor<8x64x!tt.ptr<f16>, #b>
    tt.return %last : tensor<8x64xf16, #b>
  }

  // A layout is converted in front of the loop, of the offsets: not in each round, of the pointers.
  // CHECK-LABEL: @converted
  // CHECK: %[[OFFSETS:.*]] = ttg.convert_layout %offsets : tensor<8x64xi64
  // CHECK: scf.for %{{.*}} iter_args(%[[P:.*]] = %p) -> (!tt.ptr<f16>)
  // CHECK-NEXT: %[[S:.*]] = tt.splat %[[P]]
  // CHECK-NEXT: %[[TILE:.*]] = tt.addptr %[[S]], %[[OFFSETS]]
  // CHECK-NEXT: tt.load %[[TILE]]
  tt.func public @converted(%p: !tt.ptr<f16>, %offsets: tensor<8x64xi64, #c>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = arith.constant dense<64> : tensor<8x64xi32, #b>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<8x64x!tt.ptr<f16>, #c>
    %apart = tt.addptr %s, %offsets : tensor<8x64x!tt.ptr<f16>, #c>, tensor<8x64xi64, #c>
    %tile = ttg.convert_layout %apart : tensor<8x64x!tt.ptr<f16>, #c> -> tensor<8x64x!tt.ptr<f16>, #b>
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%q = %tile) -> (tensor<8x64x!tt.ptr<f16>, #b>) : i32 {
      %x = tt.load %q : tensor<8x64x!tt.ptr<f16>, #b>
      %z = tt.addptr %q, %all : tensor<8x64x!tt.ptr<f16>, #b>, tensor<8x64xi32, #b>
      scf.yield %z : tensor<8x64x!tt.ptr<f16>, #b>
    }
    tt.return
  }

  // Each pointer moves by its own amount, or nothing is known of what they are made of.
  // CHECK-LABEL: @apart
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %tile, %{{.*}} = %given) -> (tensor<8x64x!tt.ptr<f16>, #{{.*}}>, tensor<8x64x!tt.ptr<f16>
  tt.func public @apart(%p: !tt.ptr<f16>, %given: tensor<8x64x!tt.ptr<f16>, #b>, %offsets: tensor<8x64xi32, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = arith.constant dense<64> : tensor<8x64xi32, #b>
    %tile = tt.splat %p : !tt.ptr<f16> -> tensor<8x64x!tt.ptr<f16>, #b>
    %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%q = %tile, %g = %given) -> (tensor<8x64x!tt.ptr<f16>, #b>, tensor<8x64x!tt.ptr<f16>, #b>) : i32 {
      %r = tt.addptr %q, %offsets : tensor<8x64x!tt.ptr<f16>, #b>, tensor<8x64xi32, #b>
      %h = tt.addptr %g, %all : tensor<8x64x!tt.ptr<f16>, #b>, tensor<8x64xi32, #b>
      scf.yield %r, %h : tensor<8x64x!tt.ptr<f16>, #b>, tensor<8x64x!tt.ptr<f16>, #b>
    }
    tt.return
  }
}
