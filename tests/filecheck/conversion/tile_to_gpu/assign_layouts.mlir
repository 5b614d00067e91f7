// RUN: tritonx-opt %s -p 'assign-layouts{target="cuda:80" num_warps=4}' | filecheck %s

// The module says how it is to be launched.
// CHECK: module attributes {tritonx.shared_memory = 166912 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32}

// Aligned rows of f32: four elements a thread, everything in one layout, no conversion.
// CHECK-LABEL: @add
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[B4:blocked[0-9]*]]>
// CHECK: tt.store %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[B4]]>
tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp : tensor<1024x!tt.ptr<f32>>
  %w = arith.addf %v, %v : tensor<1024xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %op = tt.addptr %os, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %op, %w : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// A reduction gives a slice of its operand's layout; a row of numbers that is only added to rows is loaded as such a slice.
// CHECK-LABEL: @rows
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.load %{{.*}} : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #[[ROWS:blocked[0-9]*]]}>>
// CHECK: "tt.reduce"
// CHECK: (tensor<64x64xf32, #[[ROWS]]>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[ROWS]]}>>
tt.func public @rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = tt.splat %n : i32 -> tensor<64x1xi32>
  %row = arith.muli %i, %stride : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %j : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %rows, %columns : tensor<64x64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %v = tt.load %xp : tensor<64x64x!tt.ptr<f32>>
  %bs = tt.splat %b : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %bp = tt.addptr %bs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %bias = tt.load %bp : tensor<64x!tt.ptr<f32>>
  %b2 = tt.expand_dims %bias {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
  %b3 = tt.broadcast %b2 : tensor<1x64xf32> -> tensor<64x64xf32>
  %w = arith.addf %v, %b3 : tensor<64x64xf32>
  %sums = "tt.reduce"(%w) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tt.reduce.return %s : f32
  }) : (tensor<64x64xf32>) -> tensor<64xf32>
  %s1 = tt.expand_dims %sums {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %s2 = tt.broadcast %s1 : tensor<64x1xf32> -> tensor<64x64xf32>
  tt.store %xp, %s2 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// A predicate does not move: what it is computed of does, which a thread need not take apart bit by bit.
// CHECK-LABEL: @chosen
// CHECK: %[[MASK:.*]] = tt.load {{.*}} : tensor<64x64x!tt.ptr<i8>
// CHECK: ttg.convert_layout {{.*}} : tensor<64x64xi8,
// CHECK-NOT: ttg.convert_layout {{.*}}xi1,
// CHECK: tt.return
tt.func @chosen(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: !tt.ptr<i8>, %n: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0> : tensor<64x64xi8>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = tt.splat %n : i32 -> tensor<64x1xi32>
  %row = arith.muli %i, %stride : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %j : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %rows, %columns : tensor<64x64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %v = tt.load %xp : tensor<64x64x!tt.ptr<f32>>
  %across = tt.splat %n : i32 -> tensor<1x64xi32>
  %column = arith.muli %j, %across : tensor<1x64xi32>
  %down = tt.broadcast %i : tensor<64x1xi32> -> tensor<64x64xi32>
  %apart = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %turned = arith.addi %down, %apart : tensor<64x64xi32>
  %ms = tt.splat %m : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %mp = tt.addptr %ms, %turned : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %u = tt.load %mp : tensor<64x64x!tt.ptr<i8>>
  %chosen = arith.cmpi ne, %u, %zero : tensor<64x64xi8>
  %w = arith.select %chosen, %v, %none : tensor<64x64xi1>, tensor<64x64xf32>
  tt.store %xp, %w : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// What a transposed store wants is converted once; pointers are made in its layout.
// CHECK-LABEL: @transposed
// CHECK: tt.load %{{.*}} : tensor<32x32x!tt.ptr<f16>, #[[IN:blocked[0-9]*]]>
// CHECK: tt.trans
// CHECK-COUNT-1: ttg.convert_layout
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.store %{{.*}} : tensor<32x32x!tt.ptr<f16>, #[[IN]]>
tt.func public @transposed(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %i = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %j = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = tt.splat %n : i32 -> tensor<32x1xi32>
  %row = arith.muli %i, %stride : tensor<32x1xi32>
  %rows = tt.broadcast %row : tensor<32x1xi32> -> tensor<32x32xi32>
  %columns = tt.broadcast %j : tensor<1x32xi32> -> tensor<32x32xi32>
  %offsets = arith.addi %rows, %columns : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %v = tt.load %xp : tensor<32x32x!tt.ptr<f16>>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<32x32xf16> -> tensor<32x32xf16>
  tt.store %xp, %t : tensor<32x32x!tt.ptr<f16>>
  tt.return
}

// A product on the matrix unit: the loop carries the accumulator in the unit's layout, zeros and all.
// CHECK-LABEL: @product
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32, #[[MMA:mma[0-9]*]]>)
// CHECK: tt.dot %{{.*}} : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 2}>> * tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 2}>> -> tensor<64x64xf32, #[[MMA]]>
tt.func public @product(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %n: i32, %o: tensor<64x64x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32>) : i32 {
    %d = tt.dot %a, %b, %c : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.store %o, %acc : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// In full precision f32 is multiplied by the threads themselves: squares of a blocked layout.
// CHECK-LABEL: @precise
// CHECK: tt.dot %{{.*}} : tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #[[FMA:blocked[0-9]*]]}>> * tensor<32x64xf32, #ttg.dot_op<{opIdx = 1, parent = #[[FMA]]}>> -> tensor<64x64xf32, #[[FMA]]>
tt.func public @precise(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %o: tensor<64x64x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %d = tt.dot %a, %b, %zero, inputPrecision = ieee : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
  tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// An operand of multiply-adds, of which each thread needs whole rows, is widened where each element is once, and moves as
// it is multiplied: then products can read it from memory as they go.
// CHECK-LABEL: @widened
// CHECK: arith.extf %{{.*}} : tensor<64x64xf16, #[[HALF:blocked[0-9]*]]> to tensor<64x64xf32, #[[HALF]]>
// CHECK: ttg.convert_layout %{{.*}} : tensor<64x64xf32, #[[HALF]]> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 0
tt.func public @widened(%a: tensor<64x64xf16>, %b: tensor<64x64xf32>, %o: tensor<64x64x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %w = arith.extf %a : tensor<64x64xf16> to tensor<64x64xf32>
  %d = tt.dot %w, %b, %zero, inputPrecision = ieee : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// So is one that has no layout by nature: made of a column and a mask of indices, it is chosen once and then moved, not in
// each thread for whole rows.
// CHECK-LABEL: @chosen_rows
// CHECK: arith.select %{{.*}} : tensor<64x64xi1, #[[ONCE:blocked[0-9]*]]>, tensor<64x64xf32, #[[ONCE]]>
// CHECK: ttg.convert_layout %{{.*}} : tensor<64x64xf32, #[[ONCE]]> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 0
// CHECK: tt.dot
tt.func public @chosen_rows(%e: tensor<64x!tt.ptr<f32>>, %b: tensor<64x64xf32>, %o: tensor<64x64x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %column = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %row = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %i = tt.broadcast %column : tensor<64x1xi32> -> tensor<64x64xi32>
  %j = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  %mask = arith.cmpi sge, %i, %j : tensor<64x64xi32>
  %v = tt.load %e : tensor<64x!tt.ptr<f32>>
  %w = tt.expand_dims %v {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %x = tt.broadcast %w : tensor<64x1xf32> -> tensor<64x64xf32>
  %a = arith.select %mask, %x, %zero : tensor<64x64xi1>, tensor<64x64xf32>
  %d = tt.dot %a, %b, %zero, inputPrecision = ieee : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// An index is computed where it is wanted, not moved there: addresses take its sums and constants in.
// CHECK-LABEL: @row_of_each
// CHECK-NOT: ttg.convert_layout %{{.*}}xi64
// CHECK: ttg.convert_layout %{{.*}} : tensor<128xf32,
// CHECK-NOT: ttg.convert_layout
tt.func public @row_of_each(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %p: i64) {
  %row = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %wide = arith.extsi %row : tensor<128xi32> to tensor<128xi64>
  %first = tt.splat %p : i64 -> tensor<128xi64>
  %o = arith.addi %first, %wide : tensor<128xi64>
  %column = tt.expand_dims %o {axis = 1 : i32} : tensor<128xi64> -> tensor<128x1xi64>
  %stride = arith.constant dense<128> : tensor<128x1xi64>
  %start = arith.muli %column, %stride : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
  %xr = tt.addptr %xs, %start : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi64>
  %xb = tt.broadcast %xr : tensor<128x1x!tt.ptr<f32>> -> tensor<128x128x!tt.ptr<f32>>
  %d = tt.expand_dims %row {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %db = tt.broadcast %d : tensor<1x128xi32> -> tensor<128x128xi32>
  %xp = tt.addptr %xb, %db : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  %v = tt.load %xp : tensor<128x128x!tt.ptr<f32>>
  %sum = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tt.reduce.return %a : f32
  }) : (tensor<128x128xf32>) -> tensor<128xf32>
  %ss = tt.splat %s : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %sp = tt.addptr %ss, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
  tt.store %sp, %sum : tensor<128x!tt.ptr<f32>>
  tt.return
}

// What branches hand on has one layout wherever it comes from: the loads', not the default's.
// CHECK-LABEL: @around
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[B4]]>
// CHECK: cf.br ^{{.*}}(%{{.*}} : tensor<1024xf32, #[[B4]]>)
// CHECK: ^{{.*}}(%{{.*}}: tensor<1024xf32, #[[B4]]>):
// CHECK: cf.cond_br %{{.*}}, ^{{.*}}(%{{.*}} : tensor<1024xf32, #[[B4]]>), ^{{.*}}(%{{.*}}, %{{.*}} : i1, tensor<1024xf32, #[[B4]]>)
// CHECK: ^{{.*}}(%{{.*}}: i1, %{{.*}}: tensor<1024xf32, #[[B4]]>):
tt.func public @around(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: i1) {
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp : tensor<1024x!tt.ptr<f32>>
  cf.br ^again(%v : tensor<1024xf32>)
^again(%w: tensor<1024xf32>):
  %s = arith.addf %w, %v : tensor<1024xf32>
  cf.cond_br %c, ^again(%s : tensor<1024xf32>), ^end(%c, %s : i1, tensor<1024xf32>)
^end(%d: i1, %u: tensor<1024xf32>):
  tt.store %xp, %u : tensor<1024x!tt.ptr<f32>>
  tt.return
}
