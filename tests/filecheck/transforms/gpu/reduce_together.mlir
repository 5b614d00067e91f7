// RUN: tritonx-opt %s -p "reduce-together" | filecheck %s
// RUN: tritonx-opt %s -p "reduce-together{shared-memory=48}" | filecheck %s --check-prefix SMALL

#all = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Three reductions, one of two operands: one op where the last one stands. What that needs comes earlier than what is
  // made of the first one's result.
  // With 48 bytes, of which each operand takes 16, two operands and one make one.
  // SMALL-LABEL: @independent
  // SMALL: "tt.reduce"(%x, %y, %i) <
  // SMALL: "tt.reduce"(%p) <
  // CHECK-LABEL: @independent
  // CHECK: %p = arith.mulf %x, %y
  // CHECK-NEXT: %s, %m, %at, %t = "tt.reduce"(%x, %y, %i, %p) <{axis = 0 : i32}> ({
  // CHECK-NEXT: ^{{.*}}(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: i32, %[[D:.*]]: f32, %[[E:.*]]: f32, %[[F:.*]]: f32, %[[G:.*]]: i32, %[[H:.*]]: f32):
  // CHECK-NEXT: arith.addf %[[A]], %[[E]]
  // CHECK-NEXT: arith.cmpf ogt, %[[B]], %[[F]]
  // CHECK: arith.select %{{.*}}, %[[C]], %[[G]]
  // CHECK: arith.maxnumf %[[D]], %[[H]]
  // CHECK: tt.reduce.return
  // CHECK-NOT: "tt.reduce"
  // CHECK: %twice = arith.addf %s, %s
  // CHECK-NEXT: tt.return %twice, %m, %at, %t
  tt.func public @independent(%x: tensor<1024xf32, #all>, %y: tensor<1024xf32, #all>, %i: tensor<1024xi32, #all>) -> (f32, f32, i32, f32) {
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32, #all>) -> f32
    %twice = arith.addf %s, %s : f32
    %m, %at = "tt.reduce"(%y, %i) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %n: i32, %b: f32, %k: i32):
      %g = arith.cmpf ogt, %a, %b : f32
      %c = arith.select %g, %a, %b : f32
      %l = arith.select %g, %n, %k : i32
      tt.reduce.return %c, %l : f32, i32
    }) : (tensor<1024xf32, #all>, tensor<1024xi32, #all>) -> (f32, i32)
    %p = arith.mulf %x, %y : tensor<1024xf32, #all>
    %t = "tt.reduce"(%p) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32, #all>) -> f32
    tt.return %twice, %m, %at, %t : f32, f32, i32, f32
  }

  // The second needs the first; a barrier, a loop or an atomic stands between; a combine function traps; no warps meet.
  // CHECK-LABEL: @apart
  // CHECK-COUNT-8: "tt.reduce"(%{{[^,]*}})
  // CHECK-NOT: "tt.reduce"
  // CHECK: tt.return
  tt.func public @apart(%x: tensor<1024xf32, #all>, %y: tensor<64x32xf32, #rows>) -> (f32, f32, f32, f32, f32) {
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32, #all>) -> f32
    %sx = tt.splat %s : f32 -> tensor<1024xf32, #all>
    %d = arith.subf %x, %sx : tensor<1024xf32, #all>
    %t = "tt.reduce"(%d) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32, #all>) -> f32
    ttg.local_barrier
    %u = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32, #all>) -> f32
    ttg.local_barrier
    %v = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %g = arith.cmpf ogt, %a, %b : f32
      tt.assert %g, "falling" : i1
      tt.reduce.return %a : f32
    }) : (tensor<1024xf32, #all>) -> f32
    %w = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.minnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32, #all>) -> f32
    %p = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x32xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %q = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x32xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %pq = arith.addf %p, %q : tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %z = "tt.reduce"(%pq) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>) -> f32
    tt.return %t, %u, %v, %w, %z : f32, f32, f32, f32, f32
  }
}
